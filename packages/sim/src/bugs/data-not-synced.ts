/** State is acknowledged before its file is durable: a complete checkpoint refers to bytes that a power failure takes. */
import { ManualFiles } from '../../../engine/src/testing/manual-files.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

interface File {
  sync(): Promise<void>;
}

type Create = (this: ManualFiles, path: string) => Promise<File>;

/** Manifests and the job's own file. */
const OTHERS = /\/\.?_?[a-z-]*(?:metadata|job|claimed)[^/]*$/;

export const dataNotSynced: Bug = {
  name: 'data-not-synced',
  description: 'files of state are not synced before they are acknowledged',
  seedsMax: 100,
  kinds: ['results', 'unexpected-error', 'files'],
  workload: 'keyed-counts',
  focus: { strikes: ['power-failure', 'partial-power-failure'] },
  plant: () =>
    replaceMethod<Create>(
      ManualFiles,
      'create',
      (original) =>
        async function (this: ManualFiles, path) {
          const file = await original.call(this, path);
          return OTHERS.test(path) ? file : { ...file, sync: async () => {} };
        },
    ),
};
