/**
 * Where a `hash` or `custom` edge sends a record, asked for one record at a time: for records in flight that are given to
 * the subtasks of another run. Record writers do the same in generated code; what they answer to mistakes of user functions
 * is written here once.
 */
import { MillraceError } from '../base/index.ts';
import { keyGroupOf, subtaskOf } from '../state/index.ts';
import type { KeySerializer } from '../types/index.ts';
import type { PartitionFunction } from './element.ts';

export interface RecordRouting {
  /** The receiving subtask. Throws as `RecordWriter.collect` does. */
  receiverOf(value: unknown): number;
  /** Hash of its key, as the edge writes it before the record; undefined for an edge without. */
  readonly hashOf: ((value: unknown) => number) | undefined;
}

/** Of a `hash` edge. `label` is for errors: "output of operator 'x'". */
export function hashRouting(
  label: string,
  key: { readonly selector: (value: never) => unknown; readonly serializer: KeySerializer<unknown> },
  receivers: number,
  maxParallelism: number,
): RecordRouting {
  const failed = failureOf(`key selector of the ${label}`);
  const hashOf = (value: unknown): number =>
    key.serializer.hash(guarded(() => key.selector(value as never), failed));
  const receiverOf = (value: unknown): number =>
    subtaskOf(keyGroupOf(hashOf(value), maxParallelism), receivers, maxParallelism);
  return { receiverOf, hashOf };
}

/** Of a `custom` edge. */
export function customRouting(
  label: string,
  custom: { readonly selector: (value: never) => unknown; readonly partitioner: PartitionFunction },
  receivers: number,
): RecordRouting {
  const selectorFailed = failureOf(`key selector of the ${label}`);
  const partitionerFailed = failureOf(`partitioner of the ${label}`);
  const refused = notAPartitionOf(label, receivers);
  const receiverOf = (value: unknown): number => {
    const key = guarded(() => custom.selector(value as never), selectorFailed);
    const index = guarded(() => custom.partitioner(key as never, receivers), partitionerFailed);
    if (index >>> 0 !== index || index >= receivers) throw refused(index);
    return index;
  };
  return { receiverOf, hashOf: undefined };
}

function guarded<T>(call: () => T, failed: (thrown: unknown) => Error): T {
  try {
    return call();
  } catch (thrown) {
    throw failed(thrown);
  }
}

/** Makes the error for an answer of a partitioner that is no index of one of `count` subtasks. */
export function notAPartitionOf(label: string, count: number): (answer: unknown) => Error {
  return (answer) => {
    const found = typeof answer === 'number' ? String(answer) : `${typeof answer} ${String(answer)}`;
    return new MillraceError(
      'RESULT_NOT_ALLOWED',
      `The partitioner of the ${label} must answer with a whole number from 0 to ${count - 1}, the index of ` +
        `one of ${count} subtasks; found ${found}.`,
      { details: { found, partitions: count } },
    );
  };
}

/** Makes the error for what a function of the user threw. */
export function failureOf(what: string): (thrown: unknown) => Error {
  return (thrown) => {
    if (thrown instanceof MillraceError) return thrown;
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return new MillraceError('USER_FUNCTION_FAILED', `The ${what} failed: ${reason}`, { cause: thrown });
  };
}
