/**
 * Loops that emit records, generated per reader.
 *
 * Called by the readers of this floor when they are made. If all jobs of a process emitted through one loop, its
 * `output.collect` would become megamorphic with the second job and lose half its speed (base/generated-code.ts).
 */
import { generateCode } from '../base/index.ts';
import type { SourceOutput } from '../runtime/index.ts';

/** Emits the records with index `from` (inclusive) to `to` (exclusive); returns the last record. */
export type EmitRange<T> = (output: SourceOutput<T>, from: number, to: number) => T | undefined;

/** Emits one record. */
export type EmitOne<T> = (output: SourceOutput<T>, value: T) => void;

/** The timestamp of a record, in milliseconds since the epoch. */
export type TimestampOf<T> = (value: T) => number;

/** What a generated text may refer to, by name. */
export type Captured = Readonly<Record<string, unknown>>;

/** A loop over `expression`, which may use `i` (the index) and the names of `captured`. */
export function compileEmitRange<T>(
  what: string,
  expression: string,
  captured: Captured,
  timestampOf: TimestampOf<T> | undefined,
): EmitRange<T> {
  const collect =
    timestampOf === undefined ? 'output.collect(value)' : 'output.collect(value, timestampOf(value))';
  return generateCode<EmitRange<T>>(
    what,
    { ...captured, timestampOf },
    `return function emitRange(output, from, to) {
      let value;
      for (let i = from; i < to; i++) {
        value = ${expression};
        ${collect};
      }
      return value;
    };`,
  );
}

/** A call of `output.collect` of its own, for readers that parse record by record. */
export function compileEmitOne<T>(what: string, timestampOf: TimestampOf<T> | undefined): EmitOne<T> {
  const collect =
    timestampOf === undefined ? 'output.collect(value)' : 'output.collect(value, timestampOf(value))';
  return generateCode<EmitOne<T>>(
    what,
    { timestampOf },
    `return function emitOne(output, value) { ${collect}; };`,
  );
}
