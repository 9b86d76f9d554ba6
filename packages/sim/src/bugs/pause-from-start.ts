/** The minimum pause counts from the beginning of a checkpoint, not from its end: slow ones follow each other at once. */
import { CheckpointTrigger } from '../../../engine/src/checkpoint/checkpoint-trigger.ts';
import { replaceMethod, undoAll } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

type Started = (this: { lastEndMs: number }, nowMs: number) => void;

export const pauseFromStart: Bug = {
  name: 'pause-from-start',
  description: 'the pause between checkpoints counts from the start of the one before',
  seedsMax: 100,
  kinds: ['checkpoint'],
  workload: 'keyed-counts',
  focus: { strikes: [], settings: { 'execution.checkpointing.min-pause': 20 } },
  plant: () =>
    undoAll(
      replaceMethod<Started>(
        CheckpointTrigger,
        'started',
        (original) =>
          function (this: { lastEndMs: number }, nowMs) {
            original.call(this, nowMs);
            this.lastEndMs = nowMs;
          },
      ),
      replaceMethod(CheckpointTrigger, 'ended', () => () => {}),
    ),
};
