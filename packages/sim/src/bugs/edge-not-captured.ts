/** Of a task with several input edges only the data in flight of the last is saved. */
import { InputGate } from '../../../engine/src/exchange/input-gate.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

type TakeCapture = (this: InputGate) => { readonly channel: number }[];

export const edgeNotCaptured: Bug = {
  name: 'edge-not-captured',
  description: 'of a union only the data in flight of one edge is in the checkpoint',
  seedsMax: 100,
  kinds: ['results', 'unexpected-error'],
  workload: 'slow-sink',
  focus: { strikes: ['task-failure', 'thread-loss', 'process-kill'] },
  plant: () =>
    replaceMethod<TakeCapture>(
      InputGate,
      'takeCapture',
      (original) =>
        function (this: InputGate) {
          const captures = original.call(this);
          const edgeOf = (channel: number): number | undefined => this.channel(channel).edgeIndex;
          if (this.channelCount === 0) return captures;
          const last = edgeOf(this.channelCount - 1);
          return captures.filter(({ channel }) => edgeOf(channel) === last);
        },
    ),
};
