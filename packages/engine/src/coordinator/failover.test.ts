/** What is decided after a failure, and how it is told. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MillraceError } from '../base/index.ts';
import { type FailedElement, keepElement } from '../runtime/index.ts';
import { Failover, restartText } from './failover.ts';
import { pipelinedRegions } from './pipelined-regions.ts';
import type { RestartStrategySettings } from './restart-strategy.ts';

const RECORD: FailedElement = {
  kind: 'record',
  record: '{id: 7}',
  timestampMs: 12,
  timeDomain: undefined,
  key: '"a"',
  namespace: undefined,
};

const failover = (settings: RestartStrategySettings, includesElements = true) =>
  new Failover(settings, includesElements, () => 0.5);

const userError = (element?: FailedElement, operator = 'parse') =>
  keepElement(
    new MillraceError(
      'USER_FUNCTION_FAILED',
      `The map function of operator '${operator}' threw Error: boom`,
      {
        cause: new Error('boom'),
        details: { operator },
      },
    ),
    element,
  );

const fixed = (attempts: number): RestartStrategySettings => ({ kind: 'fixed-delay', attempts, delayMs: 5 });

describe('a failure', () => {
  it('is told with the record, its timestamp and its key, and keeps code, cause and place', () => {
    const failure = userError(RECORD);
    const { error, restart } = failover({ kind: 'none' }).decide(failure, 0);
    assert.equal(restart, false);
    assert.equal(
      error.message,
      'The map function of operator \'parse\' threw Error: boom. It was processing the record {id: 7} (timestamp 12, key "a").',
    );
    assert.equal((error as MillraceError).code, 'USER_FUNCTION_FAILED');
    assert.equal((error.cause as Error).message, 'boom');
    assert.deepEqual((error as MillraceError).details, {
      operator: 'parse',
      element: { kind: 'record', record: '{id: 7}', timestampMs: 12, key: '"a"' },
    });
    assert.match(error.stack!, /It was processing the record.*\n +at .*failover\.test\.ts/);
  });

  it('is told with the timer', () => {
    const timer: FailedElement = { ...RECORD, kind: 'timer', record: undefined, timeDomain: 'event' };
    const told = (element: FailedElement) => failover(fixed(1)).decide(userError(element), 0).error.message;
    assert.match(told(timer), /boom\. It was called for the event-time timer of key "a" at 12\.$/);
    assert.match(
      told({
        ...timer,
        timeDomain: 'processing',
        timestampMs: 1_700_000_000_000,
        namespace: 'TimeWindow {start: 0}',
      }),
      /the processing-time timer of key "a" and TimeWindow \{start: 0\} at 1700000000000 = 2023-11-14T22:13:20\.000Z\.$/,
    );
  });

  it('shows no record, key or time where that is not wanted, and still knows the same one again', () => {
    const quiet = failover(fixed(5), false);
    quiet.decide(userError(RECORD), 0);
    const { error } = quiet.decide(userError(RECORD), 1);
    assert.doesNotMatch(error.message, /id: 7|"a"|12/);
    assert.match(error.message, /The same record failed 2 times in a row/);
    assert.equal((error as MillraceError).details.element, undefined);
  });

  it('without a record is told as it is', () => {
    const failure = new Error('the network is gone');
    assert.equal(failover(fixed(1)).decide(failure, 0).error, failure);
  });
});

describe('a record that fails again and again', () => {
  it('is recognised from the second time on, as long as nothing else fails in its operator', () => {
    const one = failover(fixed(9));
    const told = (element: FailedElement, operator?: string) =>
      one.decide(userError(element, operator), 0).error.message;
    const again = (times: number) =>
      new RegExp(`The same record failed ${times} times in a row and will probably`);
    assert.doesNotMatch(told(RECORD), /in a row/);
    assert.match(told(RECORD), again(2));
    assert.doesNotMatch(told(RECORD, 'another operator'), /in a row/);
    assert.match(told(RECORD), again(3));
    assert.doesNotMatch(told({ ...RECORD, timestampMs: 13 }), /in a row/);
    assert.doesNotMatch(told(RECORD), /in a row/);
  });
});

describe('the end of a restart storm', () => {
  it('is told with the number of restarts, their time and the rule that ended them', () => {
    const storm = failover(fixed(3));
    for (const nowMs of [1000, 4000, 8000])
      assert.equal(storm.decide(userError(RECORD), nowMs).restart, true);
    const { restart, error } = storm.decide(userError(RECORD), 13_000);
    assert.equal(restart, false);
    assert.match(
      error.message,
      /^The map function of operator 'parse' threw Error: boom\. It was processing the record \{id: 7\} \(.*\)\. The same record failed 4 times in a row .* The job is given up after 3 restarts within 12 s: Recovery is suppressed by FixedDelayRestartBackoffTimeStrategy\(maxNumberRestartAttempts=3, backoffTimeMS=5\)\.$/,
    );
  });

  it('that never began is told too, unless no strategy was wanted', () => {
    assert.match(
      failover(fixed(0)).decide(new Error('x'), 0).error.message,
      /^x\. The job is not restarted: Recovery is suppressed by FixedDelay/,
    );
    assert.equal(failover({ kind: 'none' }).decide(new Error('x'), 0).error.message, 'x');
  });

  it('comes at once for what a restart cannot cure', () => {
    const storm = failover(fixed(3));
    storm.decide(new Error('x'), 0);
    const hopeless = new MillraceError('RESTORE_MISMATCH', 'It does not fit.');
    const { restart, error } = storm.decide(hopeless, 2000);
    assert.equal(restart, false);
    assert.equal(
      error.message,
      'It does not fit. The job is given up after 1 restart within 2 s: A restart cannot cure this.',
    );
    assert.equal(failover(fixed(3)).decide(hopeless, 0).error, hopeless);
  });
});

describe('the log line of a restart', () => {
  it('says what restarts, from what and where in the program it failed', () => {
    const failure = userError();
    (failure.cause as Error).stack =
      'Error: boom\n    at node:internal/x:1:1\n    at parse (file:///app/job.ts:3:7)';
    const decision = failover(fixed(1)).decide(failure, 0);
    assert.match(
      restartText('orders', decision, 3, undefined),
      /^Job 'orders' failed and starts again from checkpoint 3 in 5 ms \(restart 1 of 1\): The map .* threw Error: boom \(at file:\/\/\/app\/job\.ts:3:7\)$/,
    );
    const vertex = { index: 0, source: {}, operators: [{ name: 'clicks' }] };
    const [region] = pipelinedRegions({ vertices: [vertex], edges: [] } as never, 'region');
    assert.match(
      restartText('orders', decision, undefined, region),
      /^Of job 'orders' the part of 'clicks' failed and starts again from the beginning in 5 ms \(restart 1 of 1\); the rest goes on: /,
    );
  });
});
