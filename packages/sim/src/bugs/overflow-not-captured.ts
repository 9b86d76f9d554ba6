/** A barrier that overtakes leaves behind what waits in the sender for room in the ring: it is gone after a failure. */
import { ChannelOutput } from '../../../engine/src/exchange/channel-output.ts';
import { replaceMethod, undoAll } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

type Announce = (this: ChannelOutput, ...parameters: unknown[]) => unknown[];

const forgetful = (original: Announce): Announce =>
  function (this: ChannelOutput, ...parameters) {
    original.apply(this, parameters);
    return [];
  };

export const overflowNotCaptured: Bug = {
  name: 'overflow-not-captured',
  description: 'overtaken records that wait for room in a ring are not in the checkpoint',
  seedsMax: 200,
  kinds: ['results', 'unexpected-error'],
  workload: 'slow-sink',
  focus: { strikes: ['task-failure', 'thread-loss', 'process-kill'] },
  plant: () =>
    undoAll(
      replaceMethod<Announce>(ChannelOutput, 'announce', forgetful),
      replaceMethod<Announce>(ChannelOutput, 'overtakeWith', forgetful),
    ),
};
