/** Records that are handed over as objects within a thread are not written into the checkpoint whose barrier overtakes them. */
import { LentRecords } from '../../../engine/src/exchange/lent-records.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

export const lentRecordsNotCaptured: Bug = {
  name: 'lent-records-not-captured',
  description: 'overtaken records that wait as objects are not in the checkpoint',
  seedsMax: 200,
  kinds: ['results', 'unexpected-error'],
  workload: 'slow-sink',
  focus: { strikes: ['task-failure', 'thread-loss', 'process-kill'] },
  plant: () => replaceMethod<() => Uint8Array>(LentRecords, 'encode', () => () => new Uint8Array(0)),
};
