import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  CheckpointAction,
  CheckpointEvent,
  CheckpointKind,
} from '../../../engine/src/checkpoint/index.ts';
import { CheckpointConversations } from './checkpoint-conversations.ts';

const TICK: CheckpointEvent = { type: 'tick' };
const ask = (requestId: number): CheckpointEvent => ({
  type: 'triggerByHand',
  requestId,
  kind: 'checkpoint',
});
const stored = (checkpointId: number): CheckpointEvent => ({ type: 'stored', checkpointId });
const trigger = (checkpointId: number, kind: CheckpointKind = 'checkpoint'): CheckpointAction => ({
  type: 'trigger',
  barrier: { checkpointId, timestampMs: 0, kind },
  requestId: undefined,
  isPeriodic: true,
});
const giveUp = (checkpointId: number): CheckpointAction => ({
  type: 'notifyAborted',
  checkpointId,
  failure: 'expired',
  message: '',
});
const tell = (checkpointId: number): CheckpointAction => ({ type: 'notifyComplete', checkpointId });
const answer = (requestId: number): CheckpointAction => ({
  type: 'answer',
  requestId,
  answer: { type: 'completed', checkpointId: 1 },
});

/** The problem of one coordinator in process p1, which then ends by itself. */
function problemOf(
  ...turns: readonly (readonly [CheckpointEvent, ...CheckpointAction[]])[]
): string | undefined {
  const conversations = new CheckpointConversations(2);
  const coordinator = {};
  for (const [event, ...actions] of turns) conversations.decided(coordinator, 'p1', event, actions);
  conversations.ended('p1');
  return conversations.problem;
}

describe('requests', () => {
  it('are answered once, in the same turn or later', () => {
    assert.equal(problemOf([ask(1), answer(1)], [ask(2)], [TICK, answer(2)]), undefined);
  });

  it('must not be forgotten, unless their process was killed', () => {
    assert.equal(problemOf([ask(1)]), 'in p1 request 1 was never answered');
    const killed = new CheckpointConversations(1);
    killed.decided({}, 'p1', ask(1), []);
    killed.ended('p2');
    assert.equal(killed.problem, undefined);
  });

  it('must not be answered twice, or unasked', () => {
    assert.equal(problemOf([ask(1), answer(1), answer(1)]), 'in p1 request 1 was answered twice');
    assert.match(problemOf([TICK, answer(7)]) ?? '', /nobody had asked/);
  });
});

describe('checkpoints', () => {
  it('complete or are given up, once', () => {
    const turns = [
      [TICK, trigger(1)],
      [stored(1), tell(1), trigger(2)],
      [TICK, giveUp(2)],
    ] as const;
    assert.equal(problemOf(...turns), undefined);
    assert.match(problemOf(...turns, [TICK, giveUp(2)]) ?? '', /2 was given up, and was not under way/);
  });

  it('are told of when they are stored, not before', () => {
    assert.match(problemOf([TICK, trigger(1), tell(1)]) ?? '', /1 was told of before it was stored/);
  });

  it('have ids that rise', () => {
    assert.match(problemOf([TICK, trigger(2)], [stored(2), trigger(2)]) ?? '', /2 was triggered after 2/);
  });

  it('are under way as many as may be, savepoints beside them', () => {
    assert.equal(problemOf([TICK, trigger(1), trigger(2), trigger(3, 'savepoint')]), undefined);
    assert.match(problemOf([TICK, trigger(1), trigger(2), trigger(3)]) ?? '', /3 checkpoints .* 2 may be/);
  });

  it('of two coordinators have nothing to do with each other', () => {
    const conversations = new CheckpointConversations(1);
    for (const process of ['p1', 'p2']) conversations.decided({}, process, TICK, [trigger(1)]);
    assert.equal(conversations.problem, undefined);
  });
});
