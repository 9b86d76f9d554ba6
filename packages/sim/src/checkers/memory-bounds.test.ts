import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { CheckpointEvent } from '../../../engine/src/checkpoint/index.ts';
import { MemoryBounds } from './memory-bounds.ts';

const acknowledge = (checkpointId: number, persistedBytes: number): CheckpointEvent =>
  ({
    type: 'acknowledge',
    acknowledgement: { checkpointId, metrics: { persistedBytes } },
  }) as CheckpointEvent;

it('what waits beside rings has a bound', () => {
  const bounds = new MemoryBounds({ overflowBytesMax: 100, inFlightBytesMax: 0 });
  bounds.overflowed(100);
  assert.equal(bounds.problem, undefined);
  bounds.overflowed(101);
  assert.equal(bounds.problem, '101 bytes wait beside the rings of a sender, more than 100');
});

it('data in flight of one checkpoint has a bound, over all its subtasks', () => {
  const bounds = new MemoryBounds({ overflowBytesMax: 0, inFlightBytesMax: 100 });
  const [one, another] = [{}, {}];
  for (const coordinator of [one, another]) bounds.told(coordinator, acknowledge(1, 60));
  bounds.told(one, acknowledge(2, 100));
  assert.equal(bounds.problem, undefined);
  bounds.told(one, acknowledge(1, 60));
  assert.equal(bounds.problem, 'checkpoint 1 holds 120 bytes in flight, more than 100');
});
