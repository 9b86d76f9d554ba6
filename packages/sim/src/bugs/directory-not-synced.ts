/** Directories are not synced: files of a complete checkpoint are gone after a power failure. */
import { ManualFiles } from '../../../engine/src/testing/manual-files.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

export const directoryNotSynced: Bug = {
  name: 'directory-not-synced',
  description: 'names of new files are never made durable',
  seedsMax: 100,
  kinds: ['results', 'unexpected-error'],
  workload: 'keyed-counts',
  focus: { strikes: ['power-failure', 'partial-power-failure'] },
  plant: () => replaceMethod(ManualFiles, 'syncDirectory', () => async () => {}),
};
