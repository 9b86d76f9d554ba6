import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Configuration, hasCode } from '../base/index.ts';
import { type ExecutionSettings, resolveSettings } from './execution-settings.ts';
import { RestartStrategies, type RestartStrategyConfiguration } from './restart-strategies.ts';
import {
  FsStateBackend,
  HashMapStateBackend,
  MemoryStateBackend,
  RocksDBStateBackend,
  type StateBackend,
} from './state-backend.ts';

/** As in Flink 2. */
const EXPONENTIAL_DELAY_DEFAULTS = {
  kind: 'exponential-delay',
  initialBackoffMs: 1000,
  maxBackoffMs: 60_000,
  multiplier: 1.5,
  resetThresholdMs: 3_600_000,
  jitter: 0.1,
  attemptsBeforeReset: Number.POSITIVE_INFINITY,
};

const settingsOf = (values: Record<string, unknown>): ExecutionSettings =>
  resolveSettings(Configuration.from(values));

function withBackend(backend: StateBackend, before: Record<string, unknown> = {}): ExecutionSettings {
  const configuration = Configuration.from(before);
  backend.applyTo(configuration);
  return resolveSettings(configuration);
}

function withRestart(
  strategy: RestartStrategyConfiguration,
  before: Record<string, unknown> = {},
): ExecutionSettings['restart'] {
  const configuration = Configuration.from(before);
  strategy.applyTo(configuration);
  return resolveSettings(configuration).restart;
}

const refusedWith =
  (code: 'CONFIG_INVALID' | 'INVALID_ARGUMENT' | 'STATE_BACKEND_NOT_INSTALLED', message: RegExp) =>
  (error: unknown): boolean =>
    hasCode(error, code) && message.test((error as Error).message);

describe('the settings of checkpoints', () => {
  it('are those of Flink if nothing is set: none', () => {
    assert.deepEqual(settingsOf({}).checkpoint, {
      intervalMs: undefined,
      mode: 'EXACTLY_ONCE',
      timeoutMs: 600_000,
      minPauseMs: 0,
      maxConcurrent: 1,
      alignedTimeoutMs: undefined,
      intervalDuringBacklogMs: undefined,
      tolerableFailures: 0,
      retention: 'DELETE_ON_CANCELLATION',
      retainedCount: 1,
      storage: { kind: 'jobmanager', maxStateSizeBytes: 5 * 1024 * 1024 },
      asyncSnapshots: true,
      preferCheckpoint: false,
    });
  });

  it('never ask for checkpoints more often than the pause allows; the pause is at most a year', () => {
    const checkpoint = (interval: unknown, pause: unknown) =>
      settingsOf({ 'execution.checkpointing.interval': interval, 'execution.checkpointing.min-pause': pause })
        .checkpoint;
    assert.equal(checkpoint('1 s', '5 s').intervalMs, 5000);
    assert.equal(checkpoint('5 s', '1 s').intervalMs, 5000);
    assert.equal(checkpoint(0, '1 s').intervalMs, undefined);
    assert.equal(checkpoint('1 s', '500 d').minPauseMs, 365 * 86_400_000);
  });

  it('keep at least one checkpoint, with a warning', () => {
    const settings = settingsOf({ 'state.checkpoints.num-retained': 0 });
    assert.equal(settings.checkpoint.retainedCount, 1);
    assert.ok(settings.warnings.some((warning) => /below 1: one checkpoint is retained/.test(warning)));
  });

  it('that contradict each other are refused', () => {
    assert.throws(
      () =>
        settingsOf({
          'execution.checkpointing.unaligned.enabled': true,
          'execution.checkpointing.max-concurrent-checkpoints': 2,
        }),
      refusedWith(
        'CONFIG_INVALID',
        /max-concurrent-checkpoints" is 2: with unaligned checkpoints .* it must be 1/,
      ),
    );
    assert.throws(
      () =>
        settingsOf({
          'execution.checkpointing.unaligned': true,
          'execution.checkpointing.mode': 'AT_LEAST_ONCE',
        }),
      refusedWith('CONFIG_INVALID', /mode" is AT_LEAST_ONCE: with unaligned .* it must be EXACTLY_ONCE/),
    );
    assert.throws(
      () =>
        settingsOf({
          'execution.checkpointing.interval': '10 s',
          'execution.checkpointing.interval-during-backlog': '5 s',
        }),
      refusedWith('CONFIG_INVALID', /is 5 s, shorter than .*, 10 s: set 0 or at least that/),
    );
  });

  it('let barriers overtake at once if they are unaligned, or after the time that was set', () => {
    const checkpoint = (values: Record<string, unknown>) => settingsOf(values).checkpoint.alignedTimeoutMs;
    assert.equal(checkpoint({ 'execution.checkpointing.unaligned': true }), 0);
    assert.equal(
      checkpoint({
        'execution.checkpointing.unaligned.enabled': true,
        'execution.checkpointing.alignment-timeout': '500 ms',
      }),
      500,
    );
    assert.equal(checkpoint({ 'execution.checkpointing.aligned-checkpoint-timeout': '500 ms' }), undefined);
  });

  it('warn of what is without meaning or unsafe', () => {
    const { warnings } = settingsOf({
      'execution.checkpointing.aligned-checkpoint-timeout': '500 ms',
      'millrace.recovery.prefer-checkpoint': true,
      'state.backend': 'filesystem',
      'state.checkpoints.dir': '/a',
    });
    for (const expected of [
      /aligned-checkpoint-timeout" means nothing unless "execution\.checkpointing\.unaligned\.enabled" is true/,
      /sinks may show it twice/,
      /"filesystem" is an old name/,
    ]) {
      assert.ok(
        warnings.some((warning) => expected.test(warning)),
        String(expected),
      );
    }
  });
});

describe('where checkpoints go', () => {
  it('is the directory if there is one, else memory, unless the storage is set', () => {
    const storage = (values: Record<string, unknown>) => settingsOf(values).checkpoint.storage;
    assert.equal(storage({}).kind, 'jobmanager');
    assert.deepEqual(storage({ 'state.checkpoints.dir': 'file:///a/b' }), {
      kind: 'filesystem',
      uri: 'file:///a/b',
      inlineThresholdBytes: 20 * 1024,
    });
    assert.equal(
      storage({ 'state.checkpoints.dir': '/a', 'execution.checkpointing.storage': 'jobmanager' }).kind,
      'jobmanager',
    );
    assert.equal(
      storage({ 'state.backend': 'jobmanager', 'state.checkpoints.dir': '/a' }).kind,
      'jobmanager',
    );
    assert.equal(
      storage({ 'state.backend': 'filesystem', 'state.checkpoints.dir': '/a' }).kind,
      'filesystem',
    );
  });

  it('must be known for files, and not be the root', () => {
    for (const values of [
      { 'state.backend': 'filesystem' },
      { 'execution.checkpointing.storage': 'filesystem' },
    ]) {
      assert.throws(
        () => settingsOf(values),
        refusedWith('CONFIG_INVALID', /no directory is set: set "execution\.checkpointing\.dir"/),
      );
    }
    for (const root of ['/', 'file:///', 'hdfs://', '//']) {
      assert.throws(
        () => settingsOf({ 'state.checkpoints.dir': root }),
        refusedWith('CONFIG_INVALID', /expected a directory below the root/),
        root,
      );
    }
  });
});

describe('a state backend', () => {
  it('in memory limits each state to 5 MiB or what it is given, and may stop while it writes', () => {
    assert.deepEqual(withBackend(new MemoryStateBackend()).checkpoint.storage, {
      kind: 'jobmanager',
      maxStateSizeBytes: 5 * 1024 * 1024,
    });
    const { checkpoint } = withBackend(new MemoryStateBackend(10 * 1024 * 1024, false), {
      'state.checkpoints.dir': '/a',
    });
    assert.deepEqual(checkpoint.storage, { kind: 'jobmanager', maxStateSizeBytes: 10 * 1024 * 1024 });
    assert.equal(checkpoint.asyncSnapshots, false);
    assert.equal(withBackend(new MemoryStateBackend(false)).checkpoint.asyncSnapshots, false);
    assert.throws(
      () => withBackend(new MemoryStateBackend(-1)),
      refusedWith('INVALID_ARGUMENT', /new MemoryStateBackend\(-1\)/),
    );
  });

  it('with files writes to its directory', () => {
    const { checkpoint } = withBackend(new FsStateBackend('hdfs://namenode/checkpoints', false));
    assert.deepEqual(checkpoint.storage, {
      kind: 'filesystem',
      uri: 'hdfs://namenode/checkpoints',
      inlineThresholdBytes: 20 * 1024,
    });
    assert.equal(checkpoint.asyncSnapshots, false);
    assert.equal(withBackend(new FsStateBackend('/a', 0)).checkpoint.asyncSnapshots, true);
    assert.throws(
      () => withBackend(new FsStateBackend('')),
      refusedWith('INVALID_ARGUMENT', /new FsStateBackend/),
    );
    assert.throws(
      () => withBackend(new FsStateBackend('/a', 2 * 1024 * 1024)),
      refusedWith('INVALID_ARGUMENT', /at most 1 mb/),
    );
  });

  it('of Flink 1.13 leaves the storage alone', () => {
    const settings = withBackend(new HashMapStateBackend(), { 'state.checkpoints.dir': '/a' });
    assert.equal(settings.checkpoint.storage.kind, 'filesystem');
  });

  it('for RocksDB says which package is missing', () => {
    const expected = refusedWith(
      'STATE_BACKEND_NOT_INSTALLED',
      /@millrace\/state-rocksdb, which is not installed/,
    );
    assert.throws(() => withBackend(new RocksDBStateBackend('hdfs://namenode/checkpoints', true)), expected);
    assert.throws(() => settingsOf({ 'state.backend': 'rocksdb' }), expected);
  });
});

describe('the restart strategy', () => {
  it('is none without checkpoints and exponential delay with them, unless it is set', () => {
    assert.deepEqual(settingsOf({}).restart, { kind: 'none' });
    assert.deepEqual(
      settingsOf({ 'execution.checkpointing.interval': '1 s' }).restart,
      EXPONENTIAL_DELAY_DEFAULTS,
    );
    assert.deepEqual(
      settingsOf({ 'execution.checkpointing.interval': '1 s', 'restart-strategy': 'off' }).restart,
      { kind: 'none' },
    );
  });

  it('is set by keys', () => {
    assert.deepEqual(
      settingsOf({ 'restart-strategy': 'fixeddelay', 'restart-strategy.fixed-delay.delay': '10 s' }).restart,
      { kind: 'fixed-delay', attempts: 1, delayMs: 10_000 },
    );
    const limited = settingsOf({
      'restart-strategy.type': 'exponential-delay',
      'restart-strategy.exponential-delay.attempts-before-reset-backoff': 4,
    }).restart;
    assert.deepEqual(limited, { ...EXPONENTIAL_DELAY_DEFAULTS, attemptsBeforeReset: 4 });
  });

  it('is set by the methods of RestartStrategies', () => {
    assert.deepEqual(withRestart(RestartStrategies.noRestart()), { kind: 'none' });
    assert.deepEqual(withRestart(RestartStrategies.fixedDelayRestart(3, '10 s')), {
      kind: 'fixed-delay',
      attempts: 3,
      delayMs: 10_000,
    });
    assert.deepEqual(withRestart(RestartStrategies.failureRateRestart(3, '5 min', 2000)), {
      kind: 'failure-rate',
      maxFailures: 3,
      intervalMs: 300_000,
      delayMs: 2000,
    });
    assert.deepEqual(withRestart(RestartStrategies.exponentialDelayRestart(1, 1000, 1.1, 2000, 0)), {
      kind: 'exponential-delay',
      initialBackoffMs: 1,
      maxBackoffMs: 1000,
      multiplier: 1.1,
      resetThresholdMs: 2000,
      jitter: 0,
      attemptsBeforeReset: Number.POSITIVE_INFINITY,
    });
    assert.deepEqual(
      withRestart(RestartStrategies.fallBackRestart(), { 'restart-strategy': 'fixed-delay' }),
      {
        kind: 'none',
      },
    );
  });

  it('with wrong numbers is refused, naming the parameter', () => {
    const cases: [RestartStrategyConfiguration, RegExp][] = [
      [RestartStrategies.fixedDelayRestart(-1, 10), /fixedDelayRestart attempts\(-1\): expected at least 0/],
      [RestartStrategies.fixedDelayRestart(1, 'later'), /fixedDelayRestart delay: expected a duration/],
      [RestartStrategies.failureRateRestart(0, 10, 10), /failureRateRestart maxFailures\(0\)/],
      [RestartStrategies.exponentialDelayRestart(1, 2, 0.5, 4, 0), /multiplier\(0.5\): expected at least 1/],
      [RestartStrategies.exponentialDelayRestart(1, 2, 2, 4, 2), /jitter\(2\): expected at most 1/],
    ];
    for (const [strategy, message] of cases) {
      assert.throws(() => withRestart(strategy), refusedWith('INVALID_ARGUMENT', message));
    }
    assert.throws(
      () => withRestart(RestartStrategies.exponentialDelayRestart('2 min', '1 min', 2, 4, 0)),
      refusedWith('CONFIG_INVALID', /initial-backoff" \(2 min\) is longer than .*max-backoff" \(1 min\)/),
    );
  });
});

describe('the settings of an execution', () => {
  it('say what it starts from, where it runs and how', () => {
    const settings = settingsOf({
      'execution.savepoint.path': 'latest',
      'execution.savepoint.ignore-unclaimed-state': true,
      'millrace.restore.drop-state': 'a; b',
      'millrace.restore.fallback': 'newest-intact',
      'execution.state-recovery.without-channel-state.checkpoint-id': 7,
      'millrace.host': 'inline',
      'parallelism.default': 4,
      'taskmanager.numberOfTaskSlots': 2,
      'execution.buffer-timeout': '5 ms',
    });
    assert.deepEqual(settings.restore, {
      path: 'latest',
      allowNonRestoredState: true,
      dropStateOf: ['a', 'b'],
      ignoredInFlightOf: 7,
      claimMode: 'NO_CLAIM',
      fallback: 'newest-intact',
    });
    assert.equal(settings.host, 'inline');
    assert.equal(settings.parallelism, 4);
    assert.equal(settings.slots, 2);
    assert.equal(settings.bufferTimeoutMs, 5);
    assert.equal(settings.autoWatermarkIntervalMs, 200);
    assert.equal(settings.cancellationTimeoutMs, 180_000);
  });
});

describe('the sizes of exchanges', () => {
  it('are those that a ring can have', () => {
    const { segmentSizeBytes, segmentsPerChannel } = settingsOf({
      'millrace.exchange.segment-size': '4kb',
      'millrace.exchange.segments-per-channel': 16,
    });
    assert.deepEqual([segmentSizeBytes, segmentsPerChannel], [4096, 16]);
    const refused = (key: string, value: number, why: RegExp): void =>
      assert.throws(() => settingsOf({ [key]: value }), refusedWith('CONFIG_INVALID', why));
    refused('millrace.exchange.segments-per-channel', 6, /power of two/);
    refused('millrace.exchange.segment-size', 1001, /multiple of 8/);
  });
});
