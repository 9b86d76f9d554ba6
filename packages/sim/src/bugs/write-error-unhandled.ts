/** Nobody looks at the promise of a snapshot that is written: if the disk fails, the rejection ends the process. */
import { TaskCheckpoint } from '../../../engine/src/runtime/task-checkpoint.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

type Finish = (this: unknown, entry: unknown) => Promise<void>;

export const writeErrorUnhandled: Bug = {
  name: 'write-error-unhandled',
  description: 'errors of writing a snapshot are not handled',
  seedsMax: 100,
  kinds: ['unhandled-rejection'],
  workload: 'keyed-counts',
  focus: { strikes: ['disk-error', 'disk-late-error'] },
  plant: () =>
    replaceMethod<Finish>(
      TaskCheckpoint,
      'finish',
      (original) =>
        function (this: unknown, entry) {
          const finished = original.call(this, entry);
          return new Promise((resolve) => void finished.then(resolve));
        },
    ),
};
