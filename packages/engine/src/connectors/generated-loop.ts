/**
 * Loops that emit records, generated per reader.
 *
 * Called by the readers of this floor when they are made. If all jobs of a process emitted through one loop, its
 * `output.collect` would become megamorphic with the second job and lose half its speed (base/generated-code.ts).
 */
import { generateCode, MillraceError } from '../base/index.ts';
import type { SourceOutput } from '../runtime/index.ts';

/** Emits the records with index `from` (inclusive) to `to` (exclusive). Throws PROMISE_NOT_EXPECTED if one is a promise. */
export type EmitRange<T> = (output: SourceOutput<T>, from: number, to: number) => void;

/** Emits one record. */
export type EmitOne<T> = (output: SourceOutput<T>, value: T) => void;

/** The timestamp of a record, in milliseconds since the epoch. */
export type TimestampOf<T> = (value: T) => number;

/** What a generated text may refer to, by name. */
export type Captured = Readonly<Record<string, unknown>>;

/** A loop over `expression`, which may use `i` (the index) and the names of `captured`. */
export function compileEmitRange<T>(
  what: string,
  sourceName: string,
  expression: string,
  captured: Captured,
  timestampOf: TimestampOf<T> | undefined,
): EmitRange<T> {
  const collect =
    timestampOf === undefined ? 'output.collect(value)' : 'output.collect(value, timestampOf(value))';
  return generateCode<EmitRange<T>>(
    what,
    { ...captured, timestampOf, promised: (index: number) => promised(sourceName, index) },
    `return function emitRange(output, from, to) {
      for (let i = from; i < to; i++) {
        const value = ${expression};
        if (value instanceof Promise) throw promised(i);
        ${collect};
      }
    };`,
  );
}

function promised(sourceName: string, index: number): MillraceError {
  return new MillraceError(
    'PROMISE_NOT_EXPECTED',
    `source "${sourceName}": record ${index} is a promise, expected the record itself. Do what takes time in an ` +
      'asynchronous operator behind the source (mapAsync), or use a source of an async iterable.',
    { details: { source: sourceName, index } },
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
