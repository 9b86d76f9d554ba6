/** The user's way to choose the subtask of a record (org.apache.flink.api.common.functions.Partitioner). */
import { MillraceError } from '../base/index.ts';
import { assertSynchronous } from '../operators/index.ts';
import type { PartitionFunction } from '../runtime/index.ts';

/**
 * Answers with the index of the subtask that the record with this key goes to: a whole number from 0 to
 * `numPartitions` - 1. A function, or an object with a method `partition`; pure: one object serves all sending subtasks.
 */
export type Partitioner<K> =
  | ((key: K, numPartitions: number) => number)
  /** The subtask for `key`: from 0 to `numPartitions` - 1. */
  | { partition(key: K, numPartitions: number): number };

/** The function to call. Throws INVALID_ARGUMENT for anything else, PROMISE_NOT_EXPECTED for an async one. */
export function partitionFunction<K>(partitioner: Partitioner<K>): PartitionFunction {
  if (typeof partitioner === 'function') {
    assertSynchronous(partitioner, 'partitioner');
    return partitioner;
  }
  if (typeof partitioner?.partition !== 'function') {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      'partitionCustom(…): expected a function (key, numPartitions) => index, or an object with a method partition',
    );
  }
  assertSynchronous(partitioner.partition, 'method partition of the partitioner');
  return (key: K, numPartitions) => partitioner.partition(key, numPartitions);
}
