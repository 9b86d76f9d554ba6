/**
 * What an execution goes by: the configuration with defaults filled in and settings that depend on each other resolved.
 * Pure; called by the environment when a job is executed.
 */
import {
  ALIGNED_CHECKPOINT_TIMEOUT,
  ASYNC_SNAPSHOTS,
  AUTO_WATERMARK_INTERVAL,
  BUFFER_TIMEOUT,
  CANCELLATION_TIMEOUT,
  CHECKPOINT_DIR,
  CHECKPOINT_INLINE_THRESHOLD,
  CHECKPOINT_STORAGE,
  CHECKPOINTING_INTERVAL,
  CHECKPOINTING_INTERVAL_DURING_BACKLOG,
  CHECKPOINTING_MAX_CONCURRENT,
  CHECKPOINTING_MIN_PAUSE,
  CHECKPOINTING_MODE,
  CHECKPOINTING_NUM_RETAINED,
  CHECKPOINTING_RETENTION,
  CHECKPOINTING_TIMEOUT,
  CHECKPOINTING_TOLERABLE_FAILURES,
  CHECKPOINTS_HISTORY,
  type Configuration,
  DEFAULT_PARALLELISM,
  ERRORS_INCLUDE_ELEMENTS,
  EXCEPTION_HISTORY_SIZE,
  EXPONENTIAL_ATTEMPTS,
  EXPONENTIAL_INITIAL_BACKOFF,
  EXPONENTIAL_JITTER,
  EXPONENTIAL_MAX_BACKOFF,
  EXPONENTIAL_MULTIPLIER,
  EXPONENTIAL_RESET_THRESHOLD,
  FAILOVER_STRATEGY,
  FAILURE_RATE_DELAY,
  FAILURE_RATE_INTERVAL,
  FAILURE_RATE_MAX_FAILURES,
  FIXED_DELAY_ATTEMPTS,
  FIXED_DELAY_DELAY,
  formatDuration,
  HOST,
  MAX_MEMORY_STATE_SIZE,
  MillraceError,
  PREFER_CHECKPOINT_FOR_RECOVERY,
  RESTART_STRATEGY,
  RESTORE_CLAIM_MODE,
  RESTORE_DROP_STATE,
  RESTORE_FALLBACK,
  RESTORE_IGNORE_UNCLAIMED,
  RESTORE_PATH,
  RESTORE_WITHOUT_CHANNEL_STATE,
  RUN_MAX_DURATION,
  RUN_MAX_RECORDS,
  SAVEPOINT_DIR,
  SEGMENT_SIZE,
  SEGMENTS_PER_CHANNEL,
  STATE_BACKEND,
  TASK_SLOTS,
  UNALIGNED_ENABLED,
} from '../base/index.ts';
import type { CheckpointSettings, CheckpointStorageSettings } from '../checkpoint/index.ts';
import type { FailoverStrategy, RestartStrategySettings, StatisticsLimits } from '../coordinator/index.ts';
import { rocksDbNotInstalled } from './state-backend.ts';

/** What a job starts from. */
export interface RestoreSettings {
  /** A snapshot, or `latest`; undefined: a fresh start. */
  readonly path: string | undefined;
  readonly allowNonRestoredState: boolean;
  /** Uids of operators whose saved state is dropped. */
  readonly dropStateOf: readonly string[];
  /** The checkpoint that is restored without its records in flight; undefined: none is. */
  readonly ignoredInFlightOf: number | undefined;
  /** Who owns the snapshot that the job starts from: the user, or from then on the job. */
  readonly claimMode: 'NO_CLAIM' | 'CLAIM';
  /** If the newest checkpoint is damaged, or another job has claimed it. */
  readonly fallback: 'fail' | 'newest-intact';
}

/** Everything the executor must know beside the graph. Plain data. */
export interface ExecutionSettings {
  readonly checkpoint: CheckpointSettings;
  readonly restart: RestartStrategySettings;
  readonly failoverStrategy: FailoverStrategy;
  /** Errors and logs show the record at which a function failed. */
  readonly includesElements: boolean;
  readonly restore: RestoreSettings;
  /** Of operators that set none. */
  readonly parallelism: number;
  readonly host: 'auto' | 'inline' | 'workers';
  /** undefined: as many as the highest parallelism. */
  readonly slots: number | undefined;
  readonly autoWatermarkIntervalMs: number;
  readonly bufferTimeoutMs: number;
  readonly cancellationTimeoutMs: number;
  /** Where savepoints go that name no directory. */
  readonly savepointDirectory: string | undefined;
  /** Each source ends after so many records, and after so much time. */
  readonly maxRecords: number | undefined;
  readonly maxDurationMs: number | undefined;
  readonly segmentSizeBytes: number;
  readonly segmentsPerChannel: number;
  /** How much is remembered for reports. */
  readonly statisticsLimits: StatisticsLimits;
  /** Sentences to log when the job starts. */
  readonly warnings: readonly string[];
}

const LONGEST_PAUSE_MS = 365 * 24 * 3_600_000;

/**
 * The settings that `configuration` amounts to. Throws CONFIG_INVALID for settings that contradict each other and
 * STATE_BACKEND_NOT_INSTALLED.
 */
export function resolveSettings(configuration: Configuration): ExecutionSettings {
  const get = configuration.get.bind(configuration);
  if (get(STATE_BACKEND) === 'rocksdb') throw rocksDbNotInstalled(`${STATE_BACKEND.key}: rocksdb`);
  checkExchange(configuration);
  const checkpoint = resolveCheckpoints(configuration);
  return {
    checkpoint,
    restart: resolveRestart(configuration, checkpoint.intervalMs !== undefined),
    failoverStrategy: get(FAILOVER_STRATEGY),
    includesElements: get(ERRORS_INCLUDE_ELEMENTS),
    restore: {
      path: get(RESTORE_PATH),
      allowNonRestoredState: get(RESTORE_IGNORE_UNCLAIMED),
      dropStateOf: get(RESTORE_DROP_STATE) ?? [],
      ignoredInFlightOf:
        get(RESTORE_WITHOUT_CHANNEL_STATE) < 0 ? undefined : get(RESTORE_WITHOUT_CHANNEL_STATE),
      claimMode: resolveClaimMode(configuration),
      fallback: get(RESTORE_FALLBACK),
    },
    parallelism: get(DEFAULT_PARALLELISM),
    host: get(HOST),
    slots: get(TASK_SLOTS),
    autoWatermarkIntervalMs: get(AUTO_WATERMARK_INTERVAL),
    bufferTimeoutMs: get(BUFFER_TIMEOUT),
    cancellationTimeoutMs: get(CANCELLATION_TIMEOUT),
    savepointDirectory: get(SAVEPOINT_DIR),
    maxRecords: get(RUN_MAX_RECORDS),
    maxDurationMs: get(RUN_MAX_DURATION),
    segmentSizeBytes: get(SEGMENT_SIZE),
    segmentsPerChannel: get(SEGMENTS_PER_CHANNEL),
    statisticsLimits: { checkpoints: get(CHECKPOINTS_HISTORY), exceptions: get(EXCEPTION_HISTORY_SIZE) },
    warnings: warningsOf(configuration),
  };
}

/** Without a path nothing is restored, and nobody asks whose it is. */
function resolveClaimMode(configuration: Configuration): RestoreSettings['claimMode'] {
  const mode = configuration.get(RESTORE_CLAIM_MODE);
  if (mode !== 'LEGACY') return mode;
  if (configuration.get(RESTORE_PATH) === undefined) return 'NO_CLAIM';
  throw new MillraceError(
    'CONFIG_INVALID',
    `"${RESTORE_CLAIM_MODE.key}" is LEGACY, which is refused: in that mode nobody owns the snapshot, so nobody can know when ` +
      'it may be deleted. Use NO_CLAIM (it stays yours and is never deleted) or CLAIM (the job owns it and deletes it when ' +
      'it is outdated).',
    { details: { key: RESTORE_CLAIM_MODE.key } },
  );
}

function resolveCheckpoints(configuration: Configuration): CheckpointSettings {
  const get = configuration.get.bind(configuration);
  const minPauseMs = Math.min(get(CHECKPOINTING_MIN_PAUSE), LONGEST_PAUSE_MS);
  const setIntervalMs = get(CHECKPOINTING_INTERVAL) ?? 0;
  // Checkpoints are never more frequent than the pause allows.
  const intervalMs = setIntervalMs === 0 ? undefined : Math.max(setIntervalMs, minPauseMs);
  checkContradictions(configuration, setIntervalMs);
  return {
    intervalMs,
    mode: get(CHECKPOINTING_MODE),
    timeoutMs: get(CHECKPOINTING_TIMEOUT),
    minPauseMs,
    maxConcurrent: get(CHECKPOINTING_MAX_CONCURRENT),
    alignedTimeoutMs: get(UNALIGNED_ENABLED) ? get(ALIGNED_CHECKPOINT_TIMEOUT) : undefined,
    intervalDuringBacklogMs: get(CHECKPOINTING_INTERVAL_DURING_BACKLOG),
    tolerableFailures: get(CHECKPOINTING_TOLERABLE_FAILURES),
    retention: get(CHECKPOINTING_RETENTION),
    retainedCount: Math.max(1, get(CHECKPOINTING_NUM_RETAINED)),
    storage: resolveStorage(configuration),
    asyncSnapshots: get(ASYNC_SNAPSHOTS),
    preferCheckpoint: get(PREFER_CHECKPOINT_FOR_RECOVERY),
  };
}

/** What a ring can be: its header says why. */
function checkExchange(configuration: Configuration): void {
  const segments = configuration.get(SEGMENTS_PER_CHANNEL);
  const sizeBytes = configuration.get(SEGMENT_SIZE);
  const refused = (key: string, value: number, expected: string): MillraceError =>
    new MillraceError('CONFIG_INVALID', `"${key}" is ${value}: expected ${expected}`, { details: { key } });
  if ((segments & (segments - 1)) !== 0)
    throw refused(SEGMENTS_PER_CHANNEL.key, segments, 'a power of two, such as 8');
  if (sizeBytes % 8 !== 0) throw refused(SEGMENT_SIZE.key, sizeBytes, 'a multiple of 8, such as 32768');
}

function checkContradictions(configuration: Configuration, intervalMs: number): void {
  const backlogMs = configuration.get(CHECKPOINTING_INTERVAL_DURING_BACKLOG);
  if (backlogMs !== undefined && backlogMs !== 0 && backlogMs < intervalMs) {
    throw new MillraceError(
      'CONFIG_INVALID',
      `"${CHECKPOINTING_INTERVAL_DURING_BACKLOG.key}" is ${formatDuration(backlogMs)}, shorter than ` +
        `"${CHECKPOINTING_INTERVAL.key}", ${formatDuration(intervalMs)}: set 0 or at least that`,
    );
  }
  if (!configuration.get(UNALIGNED_ENABLED)) return;
  const needs = (key: string, value: unknown, wanted: string): MillraceError =>
    new MillraceError(
      'CONFIG_INVALID',
      `"${key}" is ${value}: with unaligned checkpoints ("${UNALIGNED_ENABLED.key}") it must be ${wanted}`,
      { details: { key } },
    );
  const mode = configuration.get(CHECKPOINTING_MODE);
  if (mode !== 'EXACTLY_ONCE') throw needs(CHECKPOINTING_MODE.key, mode, 'EXACTLY_ONCE');
  const concurrent = configuration.get(CHECKPOINTING_MAX_CONCURRENT);
  if (concurrent > 1) throw needs(CHECKPOINTING_MAX_CONCURRENT.key, concurrent, '1');
}

function resolveStorage(configuration: Configuration): CheckpointStorageSettings {
  const backend = configuration.get(STATE_BACKEND);
  const uri = configuration.get(CHECKPOINT_DIR);
  const implied = backend === 'jobmanager' || backend === 'filesystem' ? backend : undefined;
  const kind =
    implied ?? configuration.get(CHECKPOINT_STORAGE) ?? (uri === undefined ? 'jobmanager' : 'filesystem');
  if (kind === 'jobmanager') return { kind, maxStateSizeBytes: configuration.get(MAX_MEMORY_STATE_SIZE) };
  if (uri === undefined) {
    throw new MillraceError(
      'CONFIG_INVALID',
      `checkpoints are to be written to files, but no directory is set: set "${CHECKPOINT_DIR.key}", or ` +
        'env.setStateBackend(new FsStateBackend("file:///…"))',
      { details: { key: CHECKPOINT_DIR.key } },
    );
  }
  return { kind, uri, inlineThresholdBytes: configuration.get(CHECKPOINT_INLINE_THRESHOLD) };
}

function resolveRestart(configuration: Configuration, checkpointing: boolean): RestartStrategySettings {
  const get = configuration.get.bind(configuration);
  const kind = get(RESTART_STRATEGY) ?? (checkpointing ? 'exponential-delay' : 'none');
  switch (kind) {
    case 'none':
      return { kind };
    case 'fixed-delay':
      return { kind, attempts: get(FIXED_DELAY_ATTEMPTS), delayMs: get(FIXED_DELAY_DELAY) };
    case 'failure-rate':
      return {
        kind,
        maxFailures: get(FAILURE_RATE_MAX_FAILURES),
        intervalMs: get(FAILURE_RATE_INTERVAL),
        delayMs: get(FAILURE_RATE_DELAY),
      };
    case 'exponential-delay': {
      const initialBackoffMs = get(EXPONENTIAL_INITIAL_BACKOFF);
      const maxBackoffMs = get(EXPONENTIAL_MAX_BACKOFF);
      if (initialBackoffMs > maxBackoffMs) {
        throw new MillraceError(
          'CONFIG_INVALID',
          `"${EXPONENTIAL_INITIAL_BACKOFF.key}" (${formatDuration(initialBackoffMs)}) is longer than ` +
            `"${EXPONENTIAL_MAX_BACKOFF.key}" (${formatDuration(maxBackoffMs)})`,
        );
      }
      return {
        kind,
        initialBackoffMs,
        maxBackoffMs,
        multiplier: get(EXPONENTIAL_MULTIPLIER),
        resetThresholdMs: get(EXPONENTIAL_RESET_THRESHOLD),
        jitter: get(EXPONENTIAL_JITTER),
        attemptsBeforeReset: get(EXPONENTIAL_ATTEMPTS) ?? Number.POSITIVE_INFINITY,
      };
    }
  }
}

function warningsOf(configuration: Configuration): string[] {
  const warnings = configuration.warnings();
  if (configuration.get(CHECKPOINTING_NUM_RETAINED) < 1) {
    warnings.push(`"${CHECKPOINTING_NUM_RETAINED.key}" is below 1: one checkpoint is retained`);
  }
  if (configuration.get(ALIGNED_CHECKPOINT_TIMEOUT) > 0 && !configuration.get(UNALIGNED_ENABLED)) {
    warnings.push(
      `"${ALIGNED_CHECKPOINT_TIMEOUT.key}" means nothing unless "${UNALIGNED_ENABLED.key}" is true`,
    );
  }
  if (configuration.get(PREFER_CHECKPOINT_FOR_RECOVERY)) {
    warnings.push(
      'checkpoints are preferred for recovery: if there is a newer savepoint, what came between is done again, and ' +
        'sinks may show it twice',
    );
  }
  const backend = configuration.get(STATE_BACKEND);
  if (backend === 'jobmanager' || backend === 'filesystem') {
    warnings.push(
      `the state backend "${backend}" is an old name: set "${STATE_BACKEND.key}" to hashmap and ` +
        `"${CHECKPOINT_STORAGE.key}" to ${backend}`,
    );
  }
  return warnings;
}
