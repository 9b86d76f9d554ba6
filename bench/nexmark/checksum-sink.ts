/** The sink of the queries: adds up a checksum over its results, and leaves that of each subtask in a file. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sink } from '@millrace/engine/connector';
import { Checksum, type ChecksumValue } from './checksum.ts';

export function checksumSink<R>(
  directory: string,
  add: (result: R, checksum: Checksum) => void,
): Sink<R, never, never> {
  return {
    guarantee: 'none',
    createWriter: ({ subtaskIndex }) => {
      const checksum = new Checksum();
      return {
        write: (result) => add(result, checksum),
        prepareCommit: () => [],
        close: () => writeFileSync(fileOf(directory, subtaskIndex), JSON.stringify(checksum.value())),
      };
    },
  };
}

/** Of all subtasks together. Throws if one has left nothing. */
export function readChecksum(directory: string, subtasks: number): ChecksumValue {
  const checksum = new Checksum();
  for (let subtask = 0; subtask < subtasks; subtask++) {
    checksum.merge(JSON.parse(readFileSync(fileOf(directory, subtask), 'utf8')) as ChecksumValue);
  }
  return checksum.value();
}

function fileOf(directory: string, subtask: number): string {
  return join(directory, `checksum-${subtask}.json`);
}
