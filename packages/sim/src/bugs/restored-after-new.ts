/** Data in flight of an earlier run is processed when nothing new is there, not before: it comes too late. */
import { InputGate } from '../../../engine/src/exchange/input-gate.ts';
import { Task } from '../../../engine/src/runtime/task.ts';
import { replaceMethod, undoAll } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

type Next = (this: InputGate) => number;
type Turn = (this: TaskInsides) => boolean;

interface TaskInsides {
  readonly gate: InputGate;
  inputTurn(monotonicMs: number): boolean;
}

/** A channel of this run that has something. */
function newChannel(gate: InputGate): number {
  if (gate.hasAnnouncement()) return -1;
  for (let channel = 0; channel < gate.channelCount; channel++)
    if (!gate.isBlocked(channel) && gate.backlog(channel) > 0) return channel;
  return -1;
}

export const restoredAfterNew: Bug = {
  name: 'restored-after-new',
  description: 'restored data in flight is processed after what arrives, out of order',
  seedsMax: 60,
  kinds: ['results', 'unexpected-error', 'hang'],
  workload: 'slow-sink',
  focus: { strikes: ['task-failure', 'thread-loss', 'process-kill'] },
  plant: () => {
    let readsRestored = false;
    const next = replaceMethod<Next>(
      InputGate,
      'next',
      (original) =>
        function (this: InputGate) {
          return readsRestored || !this.hasRestored ? original.call(this) : newChannel(this);
        },
    );
    const turn = replaceMethod<Turn>(
      Task,
      'restoredTurn',
      (original) =>
        function (this: TaskInsides) {
          if (newChannel(this.gate) >= 0) return this.inputTurn(0);
          readsRestored = true;
          try {
            return original.call(this);
          } finally {
            readsRestored = false;
          }
        },
    );
    return undoAll(next, turn);
  },
};
