/** Who judges runs is tested first. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MillraceError } from '../../../engine/src/base/index.ts';
import type { SimulatedEvent } from '../../../engine/src/testing/simulation/index.ts';
import { CheckpointIds } from './checkpoint-ids.ts';
import { describeError, isExcusable, unexpectedRestart } from './excusable-error.ts';
import { firstDifference } from './multiset.ts';

describe('the comparison of results', () => {
  it('finds what is missing, what is there twice, and what should not be there', () => {
    assert.equal(firstDifference(['b', 'a'], ['a', 'b']), undefined);
    assert.equal(firstDifference(['a'], ['a', 'b']), 'b: 0 instead of 1 times');
    assert.equal(firstDifference(['a', 'a'], ['a']), 'a: 2 instead of 1 times');
    assert.equal(firstDifference(['a', 'c'], ['a']), 'c: 1 instead of 0 times');
  });
});

describe('ids of checkpoints', () => {
  const of = (...details: readonly string[]): string | undefined => {
    const ids = new CheckpointIds();
    const thread = { process: { name: 'p1' } } as SimulatedEvent['thread'];
    for (const detail of details) ids.event({ kind: 'file', detail, thread } as SimulatedEvent);
    return ids.problem;
  };
  const complete = (id: number): string[] => [
    `rename /c/j/chk-${id}/.metadata-1 to /c/j/chk-${id}/_metadata`,
    `syncDirectory /c/j/chk-${id}`,
    'syncDirectory /c/j',
  ];

  it('may rise, and come again', () => {
    assert.equal(of(...complete(1), ...complete(2), ...complete(2), ...complete(5)), undefined);
  });

  it('must not go back', () => {
    assert.match(
      of(...complete(2), ...complete(1)) ?? '',
      /checkpoint 1 of \/c\/j completes in p1 after 2 in p1/,
    );
  });

  it('may go back to before one that was never complete, or was removed at once', () => {
    assert.equal(of(complete(2)[0]!, ...complete(1)), undefined);
    assert.equal(of(...complete(2), 'delete /c/j/chk-2/_metadata', ...complete(1)), undefined);
    assert.equal(
      of(complete(2)[0]!, 'delete /c/j/chk-2/_metadata', 'syncDirectory /c/j', ...complete(1)),
      undefined,
    );
  });
});

describe('errors of a job', () => {
  it('are excused if they, or what caused them, say what was done to it', () => {
    const cause = new Error('EIO (a fault of the simulation)');
    assert.ok(isExcusable(new MillraceError('USER_FUNCTION_FAILED', 'it failed', { cause }), false));
    assert.ok(isExcusable(new MillraceError('SLOT_LOST', 'gone'), false));
  });

  it('are not if the code is at fault, or the data', () => {
    for (const error of [
      new TypeError('x is not a function'),
      new MillraceError('ASSERTION_FAILED', 'never'),
      new MillraceError('SNAPSHOT_CORRUPT', 'a file is missing'),
    ])
      assert.ok(!isExcusable(error, false), error.message);
  });

  it('of a job that runs already are excused beside another process of it, those of missing files never', () => {
    const inUse = new MillraceError('CHECKPOINT_DIRECTORY_IN_USE', 'it is running already');
    assert.ok(isExcusable(inUse, true));
    assert.ok(!isExcusable(inUse, false));
    assert.ok(!isExcusable(new MillraceError('SNAPSHOT_CORRUPT', 'a file is missing'), true));
  });

  it('are also seen in the warning of a restart in place', () => {
    const warning = "warn Job 'a' failed and starts again from checkpoint 1 in 5.5 ms (restart 1 of 9): ";
    assert.equal(unexpectedRestart(`${warning}x is not a function`), 'x is not a function');
    assert.equal(unexpectedRestart(`${warning}threw Error: a failure of the simulation`), undefined);
    assert.equal(unexpectedRestart(`${warning}The thread of slot 1 of job 'a' is gone: it died`), undefined);
    assert.equal(unexpectedRestart('warn Checkpoint 1 took 5 ms'), undefined);
  });

  it('are described with their causes and the place of the first', () => {
    const text = describeError(new MillraceError('SLOT_LOST', 'gone', { cause: new Error('why') }));
    assert.match(text, /^SLOT_LOST: gone\nError: why\n\s+at /);
  });
});
