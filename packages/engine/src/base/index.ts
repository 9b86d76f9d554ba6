/** The front door of the floor: errors, assertions, time, logging, configuration, metrics, pools of buffers. */
export { assert, unreachable } from './assert.ts';
export { BufferPool } from './buffer-pool.ts';
export {
  ALIGNED_CHECKPOINT_TIMEOUT,
  APPROXIMATE_LOCAL_RECOVERY,
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
  CHECKPOINTS_AFTER_TASKS_FINISH,
  FORCE_UNALIGNED,
  INCREMENTAL_CHECKPOINTS,
  MAX_SUBTASKS_PER_CHANNEL_STATE_FILE,
  PREFER_CHECKPOINT_FOR_RECOVERY,
  RESTORE_CLAIM_MODE,
  RESTORE_DROP_STATE,
  RESTORE_FALLBACK,
  RESTORE_IGNORE_UNCLAIMED,
  RESTORE_PATH,
  RESTORE_WITHOUT_CHANNEL_STATE,
  SAVEPOINT_DIR,
  SHORTEST_CHECKPOINT_TIME_MS,
  UNALIGNED_ENABLED,
  UNALIGNED_INTERRUPTIBLE_TIMERS,
} from './checkpoint-options.ts';
export { CHECKPOINTS_HISTORY, EXCEPTION_HISTORY_SIZE } from './cluster-options.ts';
export {
  booleanValue,
  type ConfigOption,
  durationValue,
  enumValue,
  integerValue,
  type OptionEffect,
  textValue,
  type ValueType,
} from './config-option.ts';
export { CONFIG_OPTIONS, findOption, nearestKey } from './config-options.ts';
export { Configuration, type ConfigurationOrigin } from './configuration.ts';
export { type ConfigurationSyntax, syntaxOf } from './configuration-text.ts';
export { Duration, durationMs, formatDuration, parseDuration, Time } from './duration.ts';
export {
  deserializeError,
  hasCode,
  MillraceError,
  type SerializedError,
  serializeError,
} from './error.ts';
export { ERROR_CODES, type ErrorCode, type ErrorCodeInfo, type Fault, type Retry } from './error-codes.ts';
export {
  ASYNC_SNAPSHOTS,
  AUTO_WATERMARK_INTERVAL,
  BUFFER_TIMEOUT,
  CANCELLATION_TIMEOUT,
  DEFAULT_PARALLELISM,
  ERRORS_INCLUDE_ELEMENTS,
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
  GLOBAL_JOB_PARAMETERS,
  HOST,
  JOB_NAME,
  MAX_MEMORY_STATE_SIZE,
  MAX_PARALLELISM,
  OPERATOR_CHAINING,
  RESTART_STRATEGY,
  RUN_MAX_DURATION,
  RUN_MAX_RECORDS,
  SEGMENT_SIZE,
  SEGMENTS_PER_CHANNEL,
  STATE_BACKEND,
  TASK_SLOTS,
} from './execution-options.ts';
export { generateCode, reuseGeneratedCode } from './generated-code.ts';
export { requireLibrary } from './library.ts';
export { type Logger, type LogLevel, lineLogger, silentLogger } from './logger.ts';
export { formatMemorySize, type MemorySize, memorySizeBytes, parseMemorySize } from './memory-size.ts';
export { METRICS, type Metric, type MetricScope, type MetricType } from './metrics.ts';
export { nearestName } from './nearest-name.ts';
export { counted, readableBytes, readableCount, readableDuration } from './readable-amount.ts';
export { ignoreRejection } from './refused-promise.ts';
export { MAX_WATERMARK, MIN_WATERMARK, NO_TIMESTAMP } from './time.ts';
export { durationWithUnitMs, isTimeUnit, TimeUnit } from './time-unit.ts';
