/**
 * The typed options object: `getExecutionEnvironment({...})` and `env.configure({...})`. The same settings as the setters
 * and the configuration keys; every property writes one key. An unknown property is an error.
 */
import {
  ALIGNED_CHECKPOINT_TIMEOUT,
  AUTO_WATERMARK_INTERVAL,
  BUFFER_TIMEOUT,
  CHECKPOINT_DIR,
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
  type ConfigOption,
  Configuration,
  DEFAULT_PARALLELISM,
  type Duration,
  HOST,
  JOB_NAME,
  MAX_PARALLELISM,
  MillraceError,
  nearestName,
  OPERATOR_CHAINING,
  RESTORE_CLAIM_MODE,
  RESTORE_DROP_STATE,
  RESTORE_FALLBACK,
  RESTORE_IGNORE_UNCLAIMED,
  RESTORE_PATH,
  RUN_MAX_DURATION,
  RUN_MAX_RECORDS,
  SAVEPOINT_DIR,
  STATE_BACKEND,
  TASK_SLOTS,
  UNALIGNED_ENABLED,
} from '../base/index.ts';
import type { CheckpointingMode, ExternalizedCheckpointCleanup } from './checkpointing-mode.ts';
import type { RestartStrategyConfiguration } from './restart-strategies.ts';
import type { StateBackend } from './state-backend.ts';

/** Settings of checkpoints. Durations are milliseconds or texts such as '10 s'. */
export interface CheckpointingOptions {
  readonly interval?: Duration;
  readonly mode?: CheckpointingMode;
  readonly timeout?: Duration;
  readonly minPause?: Duration;
  /** Checkpoints under way at a time; 1 by default. */
  readonly maxConcurrent?: number;
  /** Let barriers overtake records, which become part of the checkpoint. */
  readonly unaligned?: boolean;
  /** With `unaligned`: how long barriers wait their turn before they overtake; 0 by default. */
  readonly alignedTimeout?: Duration;
  /** While a source works off a backlog; 0: no checkpoints meanwhile. */
  readonly intervalDuringBacklog?: Duration;
  readonly tolerableFailures?: number;
  readonly retention?: ExternalizedCheckpointCleanup;
  readonly numRetained?: number;
  readonly storage?: 'jobmanager' | 'filesystem';
  /** URI, or a path, which is taken from the working directory. */
  readonly dir?: string;
  /** Where savepoints go that name no directory: URI or path. */
  readonly savepointDir?: string;
}

/** What the job starts from. */
export interface RestoreOptions {
  /** A snapshot, or `latest`. */
  readonly path?: string;
  readonly allowNonRestoredState?: boolean;
  /** Uids of operators whose saved state is dropped. */
  readonly dropState?: readonly string[];
  /** Who owns the snapshot: you (NO_CLAIM, the default), or from now on the job (CLAIM). LEGACY is refused. */
  readonly claimMode?: 'NO_CLAIM' | 'CLAIM' | 'LEGACY';
  readonly fallback?: 'fail' | 'newest-intact';
}

/** Where an endless job ends: its sources are taken to have no more records, windows are evaluated, the job finishes. */
export interface RunOptions {
  /** Of each source, over restarts; the job's first records, always the same number. */
  readonly maxRecords?: number;
  /** From the start of the job, restarts included. */
  readonly maxDuration?: Duration;
}

/**
 * All settings of a job in one object: each property stands for one configuration key. What is absent stays as it is.
 * Durations are milliseconds or texts such as '10 s'.
 */
export interface ExecutionOptions {
  readonly jobName?: string;
  readonly parallelism?: number;
  readonly maxParallelism?: number;
  readonly host?: 'auto' | 'inline' | 'workers';
  readonly slots?: number;
  readonly operatorChaining?: boolean;
  readonly autoWatermarkInterval?: Duration;
  readonly bufferTimeout?: Duration;
  readonly stateBackend?: StateBackend | 'hashmap' | 'rocksdb' | 'jobmanager' | 'filesystem';
  readonly restartStrategy?: RestartStrategyConfiguration;
  readonly checkpointing?: CheckpointingOptions;
  readonly restore?: RestoreOptions;
  readonly run?: RunOptions;
  /** Values by configuration key, current or old, dotted or nested. */
  readonly configuration?: Configuration | Readonly<Record<string, unknown>>;
}

type OptionsOf<T> = { readonly [K in keyof T]-?: ConfigOption };

const CHECKPOINTING: OptionsOf<CheckpointingOptions> = {
  interval: CHECKPOINTING_INTERVAL,
  mode: CHECKPOINTING_MODE,
  timeout: CHECKPOINTING_TIMEOUT,
  minPause: CHECKPOINTING_MIN_PAUSE,
  maxConcurrent: CHECKPOINTING_MAX_CONCURRENT,
  unaligned: UNALIGNED_ENABLED,
  alignedTimeout: ALIGNED_CHECKPOINT_TIMEOUT,
  intervalDuringBacklog: CHECKPOINTING_INTERVAL_DURING_BACKLOG,
  tolerableFailures: CHECKPOINTING_TOLERABLE_FAILURES,
  retention: CHECKPOINTING_RETENTION,
  numRetained: CHECKPOINTING_NUM_RETAINED,
  storage: CHECKPOINT_STORAGE,
  dir: CHECKPOINT_DIR,
  savepointDir: SAVEPOINT_DIR,
};

const RESTORE: OptionsOf<RestoreOptions> = {
  path: RESTORE_PATH,
  allowNonRestoredState: RESTORE_IGNORE_UNCLAIMED,
  dropState: RESTORE_DROP_STATE,
  claimMode: RESTORE_CLAIM_MODE,
  fallback: RESTORE_FALLBACK,
};

const RUN: OptionsOf<RunOptions> = { maxRecords: RUN_MAX_RECORDS, maxDuration: RUN_MAX_DURATION };

type Special = 'stateBackend' | 'restartStrategy' | 'checkpointing' | 'restore' | 'run' | 'configuration';

const TOP: OptionsOf<Omit<ExecutionOptions, Special>> = {
  jobName: JOB_NAME,
  parallelism: DEFAULT_PARALLELISM,
  maxParallelism: MAX_PARALLELISM,
  host: HOST,
  slots: TASK_SLOTS,
  operatorChaining: OPERATOR_CHAINING,
  autoWatermarkInterval: AUTO_WATERMARK_INTERVAL,
  bufferTimeout: BUFFER_TIMEOUT,
};

const SPECIAL: readonly Special[] = [
  'stateBackend',
  'restartStrategy',
  'checkpointing',
  'restore',
  'run',
  'configuration',
];

/**
 * Writes `options` into `configuration`; what is absent or undefined stays as it is. Throws CONFIG_INVALID naming the
 * property and what was expected; nothing is written then.
 */
export function applyOptions(configuration: Configuration, options: ExecutionOptions): void {
  const changes = new Configuration();
  const {
    stateBackend,
    restartStrategy,
    checkpointing,
    restore,
    run,
    configuration: byKey,
    ...others
  } = options;
  if (byKey !== undefined) changes.addAll(byKey instanceof Configuration ? byKey : Configuration.from(byKey));
  write(changes, others, TOP, '', SPECIAL);
  write(changes, checkpointing ?? {}, CHECKPOINTING, 'checkpointing.', []);
  write(changes, restore ?? {}, RESTORE, 'restore.', []);
  write(changes, run ?? {}, RUN, 'run.', []);
  if (typeof stateBackend === 'object') stateBackend.applyTo(changes);
  else if (stateBackend !== undefined)
    write(changes, { stateBackend }, { stateBackend: STATE_BACKEND }, '', []);
  restartStrategy?.applyTo(changes);
  configuration.addAll(changes);
}

function write(
  configuration: Configuration,
  values: object,
  options: Readonly<Record<string, ConfigOption>>,
  prefix: string,
  alsoKnown: readonly string[],
): void {
  for (const [name, value] of Object.entries(values) as [string, unknown][]) {
    if (value === undefined) continue;
    if (!Object.hasOwn(options, name))
      throw unknownOption(name, prefix, [...Object.keys(options), ...alsoKnown]);
    const option = options[name]!;
    try {
      configuration.set(option, option.parse(value));
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      const found = JSON.stringify(value) ?? String(value);
      throw new MillraceError(
        'CONFIG_INVALID',
        `wrong value for the option ${prefix}${name}: ${why}, found ${found}`,
        {
          cause,
          details: { option: prefix + name, key: option.key },
        },
      );
    }
  }
}

function unknownOption(name: string, prefix: string, known: readonly string[]): MillraceError {
  const nearest = nearestName(name, known);
  const advice =
    nearest === undefined
      ? `known are ${known.join(', ')}; keys such as "parallelism.default" go into configuration`
      : `did you mean ${prefix}${nearest}?`;
  return new MillraceError('CONFIG_INVALID', `unknown option ${prefix}${name}; ${advice}`, {
    details: { option: prefix + name, nearest },
  });
}
