/** Values that are known as objects are not written into their rows before a snapshot: it has those of long before. */
import { KnownValues } from '../../../engine/src/state/heap/known-values.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

export const knownValuesNotWritten: Bug = {
  name: 'known-values-not-written',
  description: 'snapshots lack the latest values of state that are known as objects',
  seedsMax: 60,
  kinds: ['results', 'state'],
  workload: 'iterated-state',
  focus: { strikes: ['task-failure', 'thread-loss', 'process-kill'] },
  plant: () => replaceMethod<(this: unknown) => void>(KnownValues, 'writeAll', () => () => undefined),
};
