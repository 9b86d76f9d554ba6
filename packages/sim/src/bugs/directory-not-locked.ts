/** Two processes may run the same job at a time, one of which was thought dead. */
import { ManualFiles } from '../../../engine/src/testing/manual-files.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

export const directoryNotLocked: Bug = {
  name: 'directory-not-locked',
  description: 'the directory of a job is not locked while it runs',
  seedsMax: 300,
  kinds: ['results', 'unexpected-error', 'checkpoint-id', 'files', 'savepoint'],
  workload: 'keyed-counts',
  focus: { strikes: ['double-start', 'process-freeze'] },
  plant: () => replaceMethod(ManualFiles, 'lockDirectory', () => async () => ({ release: async () => {} })),
};
