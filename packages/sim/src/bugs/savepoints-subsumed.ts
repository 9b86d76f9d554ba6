/** Savepoints are taken for checkpoints of the job: when one of these is deleted, older savepoints go, too. */
import { CheckpointDriver } from '../../../engine/src/coordinator/checkpoint-driver.ts';
import { JobStatistics } from '../../../engine/src/coordinator/job-statistics.ts';
import { replaceMethod, undoAll } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

interface Snapshot {
  readonly kind: 'checkpoint' | 'savepoint';
}

interface Driver {
  readonly options: {
    readonly statistics: object;
    readonly storage: { delete(snapshot: Snapshot): Promise<void> };
  };
}

type Completed = (this: object, snapshot: Snapshot) => void;
type Subsume = (this: Driver, checkpointId: number) => Promise<void>;

export const savepointsSubsumed: Bug = {
  name: 'savepoints-subsumed',
  description: 'savepoints are deleted together with older checkpoints',
  seedsMax: 60,
  kinds: ['savepoint'],
  workload: 'keyed-counts',
  focus: { strikes: [] },
  plant: () => {
    const savepoints = new WeakMap<object, Snapshot[]>();
    return undoAll(
      replaceMethod<Completed>(
        JobStatistics,
        'checkpointCompleted',
        (original) =>
          function (this: object, snapshot) {
            if (snapshot.kind === 'savepoint')
              savepoints.set(this, [...(savepoints.get(this) ?? []), snapshot]);
            original.call(this, snapshot);
          },
      ),
      replaceMethod<Subsume>(
        CheckpointDriver,
        'subsume',
        (original) =>
          async function (this: Driver, checkpointId) {
            const { statistics, storage } = this.options;
            for (const savepoint of savepoints.get(statistics)?.splice(0) ?? [])
              await storage.delete(savepoint);
            await original.call(this, checkpointId);
          },
      ),
    );
  },
};
