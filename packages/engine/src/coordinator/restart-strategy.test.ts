import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createRestartStrategy,
  defaultRestartStrategy,
  EXPONENTIAL_DELAY_DEFAULTS,
  type RestartStrategySettings,
} from './restart-strategy.ts';

const exponential = (rest: object): RestartStrategySettings =>
  ({ ...EXPONENTIAL_DELAY_DEFAULTS, jitter: 0, ...rest }) as RestartStrategySettings;

test('none refuses the first restart', () => {
  const decision = createRestartStrategy({ kind: 'none' }).decide(0);
  assert.equal(decision.restart, false);
  assert.equal(decision.reason, 'Recovery is suppressed by NoRestartBackoffTimeStrategy');
});

test('fixed delay restarts so often in the life of the job', () => {
  const strategy = createRestartStrategy({ kind: 'fixed-delay', attempts: 2, delayMs: 10 });
  assert.deepEqual(
    [0, 1e9, 2e9].map((ms) => strategy.decide(ms).restart),
    [true, true, false],
  );
  assert.equal(
    strategy.decide(0).reason,
    'Recovery is suppressed by FixedDelayRestartBackoffTimeStrategy(maxNumberRestartAttempts=2, backoffTimeMS=10)',
  );
});

test('failure rate gives up when too many failures lie within the interval', () => {
  const strategy = createRestartStrategy({
    kind: 'failure-rate',
    maxFailures: 2,
    intervalMs: 1000,
    delayMs: 5,
  });
  assert.deepEqual(
    [0, 900, 1950, 2000, 2100].map((ms) => strategy.decide(ms).restart),
    [true, true, true, true, false],
  );
});

test('exponential delay doubles up to the maximum', () => {
  const strategy = createRestartStrategy(exponential({ multiplier: 2, maxBackoffMs: 10_000 }));
  let nowMs = 0;
  const delays = Array.from({ length: 6 }, () => {
    const { delayMs } = strategy.decide(nowMs);
    nowMs += delayMs + 1;
    return delayMs;
  });
  assert.deepEqual(delays, [1000, 2000, 4000, 8000, 10_000, 10_000]);
});

test('exponential delay begins anew after a long run, and gives up after so many restarts in a row', () => {
  const strategy = createRestartStrategy(exponential({ resetThresholdMs: 100_000, attemptsBeforeReset: 2 }));
  assert.equal(strategy.decide(0).delayMs, 1000);
  assert.equal(strategy.decide(1001).delayMs, 1500);
  assert.equal(strategy.decide(102_501).delayMs, 1000, 'the threshold counts from when the job ran again');
  assert.equal(strategy.decide(103_502).restart, true);
  assert.match(
    strategy.decide(106_000).reason,
    /^Recovery is suppressed by ExponentialDelayRestartBackoffTimeStrategy\(/,
  );
});

test('exponential delay lets failures during a pause share its end', () => {
  const strategy = createRestartStrategy(exponential({ attemptsBeforeReset: 2 }));
  assert.equal(strategy.decide(0).delayMs, 1000);
  assert.deepEqual(
    [300, 999].map((nowMs) => strategy.decide(nowMs).delayMs),
    [700, 1],
  );
  assert.equal(strategy.decide(1000).delayMs, 1500);
  assert.equal(strategy.decide(2600).restart, false, 'two restarts in a row were three');
});

test('the jitter stays within its factor', () => {
  for (const [random, delayMs] of [
    [0, 900],
    [0.5, 1000],
    [0.999999, 1100],
  ] as const) {
    assert.equal(
      createRestartStrategy(exponential({ jitter: 0.1 }), () => random).decide(0).delayMs,
      delayMs,
    );
  }
});

test('a job with checkpoints restarts by default, one without does not', () => {
  assert.equal(defaultRestartStrategy(true).kind, 'exponential-delay');
  assert.equal(defaultRestartStrategy(false).kind, 'none');
});
