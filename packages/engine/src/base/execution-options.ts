/** The configuration keys of execution: state backends, restarts, the pipeline, the host and its exchanges. */
import {
  booleanValue,
  type ConfigOption,
  doubleValue,
  durationValue,
  enumValue,
  integerValue,
  mapValue,
  memoryValue,
  optionWithDefault,
  optionWithoutDefault,
  textValue,
} from './config-option.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const MIB = 1024 * 1024;

/** The highest max parallelism, as in Flink: key groups are numbered by 15 bits and one. */
export const MAX_PARALLELISM_LIMIT = 32768;

export const STATE_BACKEND = optionWithDefault(
  'state.backend.type',
  enumValue(['hashmap', 'rocksdb', 'jobmanager', 'filesystem'], { memory: 'jobmanager' }),
  'hashmap',
  {
    description:
      'Where working state lives: `hashmap` in memory; `rocksdb` on disk, with the package @millrace/state-rocksdb. The old ' +
      'names `jobmanager` and `filesystem` mean `hashmap` with snapshots in memory or in the directory of checkpoints.',
    deprecatedKeys: ['state.backend'],
  },
);
export const ASYNC_SNAPSHOTS = optionWithDefault('state.backend.async', booleanValue, true, {
  description: 'Write snapshots while records are processed; false only to look for faults.',
});
export const MAX_MEMORY_STATE_SIZE = optionWithDefault(
  'millrace.state.max-memory-state-size',
  memoryValue({ minBytes: 1 }),
  5 * MIB,
  {
    description:
      'The largest state of one subtask that is kept in the memory of the process as part of a checkpoint.',
  },
);

export const RESTART_STRATEGY = optionWithoutDefault(
  'restart-strategy.type',
  enumValue(['none', 'fixed-delay', 'failure-rate', 'exponential-delay'], {
    off: 'none',
    disable: 'none',
    fixeddelay: 'fixed-delay',
    failurerate: 'failure-rate',
    exponentialdelay: 'exponential-delay',
  }),
  {
    description: 'What follows a failure. Absent: `none` without checkpoints, `exponential-delay` with them.',
    deprecatedKeys: ['restart-strategy'],
  },
);
export const FAILOVER_STRATEGY = optionWithDefault(
  'jobmanager.execution.failover-strategy',
  enumValue(['region', 'full']),
  'region',
  {
    description:
      'What a failure of a task restarts: `region` the part of the job that is connected with it, in threads of its own, ' +
      'while the rest goes on; `full` the whole job.',
  },
);
export const FIXED_DELAY_ATTEMPTS = optionWithDefault(
  'restart-strategy.fixed-delay.attempts',
  integerValue({ min: 0 }),
  1,
  { description: 'How often the job is restarted in its life.' },
);
export const FIXED_DELAY_DELAY = optionWithDefault(
  'restart-strategy.fixed-delay.delay',
  durationValue(),
  SECOND_MS,
  { description: 'Time between a failure and the restart.' },
);
export const FAILURE_RATE_MAX_FAILURES = optionWithDefault(
  'restart-strategy.failure-rate.max-failures-per-interval',
  integerValue({ min: 1 }),
  1,
  { description: 'How many failures within the interval are followed by a restart.' },
);
export const FAILURE_RATE_INTERVAL = optionWithDefault(
  'restart-strategy.failure-rate.failure-rate-interval',
  durationValue({ minMs: 1 }),
  MINUTE_MS,
  { description: 'The interval in which failures are counted.' },
);
export const FAILURE_RATE_DELAY = optionWithDefault(
  'restart-strategy.failure-rate.delay',
  durationValue(),
  SECOND_MS,
  { description: 'Time between a failure and the restart.' },
);
export const EXPONENTIAL_INITIAL_BACKOFF = optionWithDefault(
  'restart-strategy.exponential-delay.initial-backoff',
  durationValue({ minMs: 1 }),
  SECOND_MS,
  { description: 'Time between the first failure and the restart.' },
);
export const EXPONENTIAL_MAX_BACKOFF = optionWithDefault(
  'restart-strategy.exponential-delay.max-backoff',
  durationValue({ minMs: 1 }),
  MINUTE_MS,
  { description: 'The longest time between a failure and the restart.' },
);
export const EXPONENTIAL_MULTIPLIER = optionWithDefault(
  'restart-strategy.exponential-delay.backoff-multiplier',
  doubleValue({ min: 1 }),
  1.5,
  { description: 'By how much the time grows with each failure.' },
);
export const EXPONENTIAL_RESET_THRESHOLD = optionWithDefault(
  'restart-strategy.exponential-delay.reset-backoff-threshold',
  durationValue({ minMs: 1 }),
  60 * MINUTE_MS,
  { description: 'After that time without failure the first delay counts again.' },
);
export const EXPONENTIAL_JITTER = optionWithDefault(
  'restart-strategy.exponential-delay.jitter-factor',
  doubleValue({ min: 0, max: 1 }),
  0.1,
  { description: 'The delay is longer or shorter by up to that part of it, at random.' },
);
export const EXPONENTIAL_ATTEMPTS = optionWithoutDefault(
  'restart-strategy.exponential-delay.attempts-before-reset-backoff',
  integerValue({ min: 1 }),
  { description: 'How many restarts are tried before the delay is reset; absent: any number.' },
);

export const DEFAULT_PARALLELISM = optionWithDefault(
  'parallelism.default',
  integerValue({ min: 1, max: MAX_PARALLELISM_LIMIT }),
  1,
  { description: 'Subtasks of each operator that sets none itself.' },
);
export const MAX_PARALLELISM = optionWithoutDefault(
  'pipeline.max-parallelism',
  integerValue({ min: 1, max: MAX_PARALLELISM_LIMIT }),
  {
    description:
      'Key groups of each operator that sets none itself: the highest parallelism that the state can be restored with. ' +
      'Absent: one and a half times the parallelism, rounded up to a power of two, at least 128.',
  },
);
export const JOB_NAME = optionWithoutDefault('pipeline.name', textValue, {
  description: 'The name of the job; what `execute(name)` is given wins.',
});
export const AUTO_WATERMARK_INTERVAL = optionWithDefault(
  'pipeline.auto-watermark-interval',
  durationValue(),
  200,
  { description: 'How often watermarks are made; 0: never but at the end of input.' },
);
export const GLOBAL_JOB_PARAMETERS = optionWithDefault(
  'pipeline.global-job-parameters',
  mapValue,
  {},
  { description: 'Texts that every function of the job can read, by name.' },
);
export const OPERATOR_CHAINING = optionWithDefault('pipeline.operator-chaining.enabled', booleanValue, true, {
  description: 'Run operators that need no exchange between them as one task.',
  deprecatedKeys: ['pipeline.operator-chaining'],
});
export const BUFFER_TIMEOUT = optionWithDefault('execution.buffer-timeout.interval', durationValue(), 100, {
  description: 'A segment that is not full is sent after that time.',
  deprecatedKeys: ['execution.buffer-timeout'],
});
export const TASK_SLOTS = optionWithoutDefault(
  'taskmanager.numberOfTaskSlots',
  integerValue({ min: 1, max: MAX_PARALLELISM_LIMIT }),
  {
    description:
      'Worker threads of the host `workers`. Absent: as many as the highest parallelism of the job.',
  },
);
export const CANCELLATION_TIMEOUT = optionWithDefault(
  'task.cancellation.timeout',
  durationValue({ minMs: 1 }),
  3 * MINUTE_MS,
  {
    description: 'A task that has not ended that long after it was cancelled is ended with its thread.',
  },
);

export const HOST = optionWithDefault('millrace.host', enumValue(['auto', 'inline', 'workers']), 'auto', {
  description:
    'Where subtasks run: `inline` all in the thread that calls `execute`; `workers` in worker threads that load the ' +
    "job's module again; `auto` inline if the highest parallelism is 1, else workers.",
});
export const ERRORS_INCLUDE_ELEMENTS = optionWithDefault(
  'millrace.errors.include-elements',
  booleanValue,
  true,
  {
    description:
      'Errors and logs show the record at which a function failed, its key and its timestamp, shortened to 200 characters. ' +
      'Set `false` where records hold what must not get into logs; what functions themselves put into their errors is shown.',
  },
);
export const RUN_MAX_RECORDS = optionWithoutDefault('millrace.run.max-records', integerValue({ min: 1 }), {
  description:
    'Each source ends after so many records, as if there were no more: the job then finishes. Counted over restarts.',
});
export const RUN_MAX_DURATION = optionWithoutDefault(
  'millrace.run.max-duration',
  durationValue({ minMs: 1 }),
  {
    description:
      'The sources end after so much time, as if there were no more records: the job then finishes.',
  },
);
export const SEGMENT_SIZE = optionWithDefault(
  'millrace.exchange.segment-size',
  memoryValue({ minBytes: 128, maxBytes: 16 * MIB }),
  32 * 1024,
  {
    description: 'Bytes of a segment of an exchange, a multiple of 8; less if a job has very many channels.',
  },
);
export const SEGMENTS_PER_CHANNEL = optionWithDefault(
  'millrace.exchange.segments-per-channel',
  integerValue({ min: 4, max: 1024 }),
  8,
  { description: 'Segments between two subtasks, a power of two; the producer stops when all are full.' },
);
const ROCKSDB: readonly ConfigOption[] = [
  optionWithoutDefault('state.backend.rocksdb.localdir', textValue, {
    description: 'Where RocksDB keeps its files.',
    deprecatedKeys: ['state.backend.rocksdb.checkpointdir'],
    effect: 'later',
  }),
  optionWithDefault('state.backend.rocksdb.checkpoint.transfer.thread.num', integerValue({ min: 1 }), 4, {
    description: 'Files of RocksDB that are copied at a time.',
    effect: 'later',
  }),
  optionWithDefault(
    'state.backend.rocksdb.timer-service.factory',
    enumValue(['ROCKSDB', 'HEAP']),
    'ROCKSDB',
    {
      description: 'Where timers are kept.',
      effect: 'later',
    },
  ),
  optionWithDefault('state.backend.rocksdb.predefined-options', textValue, 'DEFAULT', {
    description: 'A set of options of RocksDB by name.',
    effect: 'later',
  }),
  optionWithDefault('state.backend.rocksdb.memory.managed', booleanValue, true, {
    description: 'All instances of RocksDB share one budget of memory.',
    effect: 'later',
  }),
  optionWithoutDefault('state.backend.rocksdb.memory.fixed-per-slot', memoryValue(), {
    description: 'Memory of RocksDB in each slot.',
    effect: 'later',
  }),
  optionWithDefault('state.backend.rocksdb.memory.write-buffer-ratio', doubleValue({ min: 0, max: 1 }), 0.5, {
    description: 'The part of the memory for what is not written yet.',
    effect: 'later',
  }),
  optionWithDefault(
    'state.backend.rocksdb.memory.high-prio-pool-ratio',
    doubleValue({ min: 0, max: 1 }),
    0.1,
    { description: 'The part of the memory for indexes and filters.', effect: 'later' },
  ),
  optionWithDefault('state.backend.rocksdb.memory.partitioned-index-filters', booleanValue, false, {
    description: 'Load indexes and filters in parts.',
    effect: 'later',
  }),
];

/** Keys of Flink that are read and checked, and whose values nobody asks for. */
const WITHOUT_MECHANISM: readonly ConfigOption[] = [
  optionWithDefault('execution.runtime-mode', enumValue(['STREAMING', 'BATCH', 'AUTOMATIC']), 'STREAMING', {
    description: 'Bounded jobs are run as streams.',
    effect: 'later',
  }),
  optionWithDefault('pipeline.object-reuse', booleanValue, false, {
    description: 'Chained operators hand records over as they are; that is always so.',
    effect: 'later',
  }),
  optionWithDefault('task.cancellation.interval', durationValue(), 30 * SECOND_MS, {
    description: 'How often a task that does not end is told again.',
    effect: 'later',
  }),
  optionWithDefault('state.changelog.enabled', booleanValue, false, {
    description: 'Write each change of the state to a log at once.',
    deprecatedKeys: ['state.backend.changelog.enabled'],
    effect: 'later',
  }),
  optionWithDefault('state.backend.latency-track.keyed-state-enabled', booleanValue, false, {
    description: 'Measure how long accesses to state take.',
    effect: 'later',
  }),
];

export const EXECUTION_OPTIONS: readonly ConfigOption[] = [
  STATE_BACKEND,
  ASYNC_SNAPSHOTS,
  MAX_MEMORY_STATE_SIZE,
  FAILOVER_STRATEGY,
  RESTART_STRATEGY,
  FIXED_DELAY_ATTEMPTS,
  FIXED_DELAY_DELAY,
  FAILURE_RATE_MAX_FAILURES,
  FAILURE_RATE_INTERVAL,
  FAILURE_RATE_DELAY,
  EXPONENTIAL_INITIAL_BACKOFF,
  EXPONENTIAL_MAX_BACKOFF,
  EXPONENTIAL_MULTIPLIER,
  EXPONENTIAL_RESET_THRESHOLD,
  EXPONENTIAL_JITTER,
  EXPONENTIAL_ATTEMPTS,
  DEFAULT_PARALLELISM,
  MAX_PARALLELISM,
  JOB_NAME,
  AUTO_WATERMARK_INTERVAL,
  GLOBAL_JOB_PARAMETERS,
  OPERATOR_CHAINING,
  BUFFER_TIMEOUT,
  TASK_SLOTS,
  CANCELLATION_TIMEOUT,
  HOST,
  ERRORS_INCLUDE_ELEMENTS,
  RUN_MAX_DURATION,
  RUN_MAX_RECORDS,
  SEGMENT_SIZE,
  SEGMENTS_PER_CHANNEL,
  ...ROCKSDB,
  ...WITHOUT_MECHANISM,
];
