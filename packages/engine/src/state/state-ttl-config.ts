/**
 * How long values of a state live: StateTtlConfig with Flink's names (org.apache.flink.api.common.state.StateTtlConfig).
 *
 * Given to descriptors by users; read by the backends when a state is asked for. Immutable; knows no clock.
 */
import { type Duration, durationMs, formatDuration, MillraceError, nearestName } from '../base/index.ts';

/** What makes a value live on: writing it, or reading it as well. `Disabled` stands for no time-to-live at all. */
export type StateTtlUpdateType = 'Disabled' | 'OnCreateAndWrite' | 'OnReadAndWrite';

/** Whether a value that has expired, but was not removed yet, may still be seen. */
export type StateTtlVisibility = 'NeverReturnExpired' | 'ReturnExpiredIfNotCleanedUp';

/** Removing expired values bit by bit while the state is used. */
export interface StateTtlIncrementalCleanup {
  /** Entries that may be looked at for each access to the state; at least 1. */
  readonly cleanupSize: number;
  /** True: records that do not touch the state count as accesses too. */
  readonly runCleanupForEveryRecord: boolean;
}

/** A StateTtlConfig as plain data: what its builder's methods set, under their names. */
export interface StateTtlOptions {
  /** How long a value lives after its last update: milliseconds or a text such as `'1 h'`; at least 1 ms. */
  readonly ttl: Duration;
  /** Default `OnCreateAndWrite`. */
  readonly updateType?: StateTtlUpdateType;
  /** Default `NeverReturnExpired`. */
  readonly visibility?: StateTtlVisibility;
  /** See `StateTtlConfigBuilder.cleanupFullSnapshot`. */
  readonly cleanupFullSnapshot?: boolean;
  /** See `StateTtlConfigBuilder.cleanupIncrementally`. */
  readonly cleanupIncrementally?: {
    readonly cleanupSize: number;
    readonly runCleanupForEveryRecord?: boolean;
  };
  /** See `StateTtlConfigBuilder.cleanupInRocksdbCompactFilter`. */
  readonly cleanupInRocksdbCompactFilter?: number;
  /** See `StateTtlConfigBuilder.disableCleanupInBackground`. */
  readonly disableCleanupInBackground?: boolean;
}

const UPDATE_TYPES = {
  Disabled: 'Disabled',
  OnCreateAndWrite: 'OnCreateAndWrite',
  OnReadAndWrite: 'OnReadAndWrite',
} as const;
const VISIBILITIES = {
  NeverReturnExpired: 'NeverReturnExpired',
  ReturnExpiredIfNotCleanedUp: 'ReturnExpiredIfNotCleanedUp',
} as const;
const OPTIONS = [
  'ttl',
  'updateType',
  'visibility',
  'cleanupFullSnapshot',
  'cleanupIncrementally',
  'cleanupInRocksdbCompactFilter',
  'disableCleanupInBackground',
];

const DEFAULT_CLEANUP: StateTtlIncrementalCleanup = { cleanupSize: 5, runCleanupForEveryRecord: false };
/** A thousand accesses fit one turn of a task; more rows than this for each of them would be felt as a pause. */
const CLEANUP_SIZE_MAX = 1000;

/**
 * The time-to-live of a state: each value (of a map state each entry, of a list state each element) expires when its time
 * has passed since it was last updated. Time is processing time. After a restore the time that passed meanwhile counts.
 *
 * ```ts
 * import { StateTtlConfig, Types, ValueStateDescriptor } from 'millrace';
 *
 * const seen = new ValueStateDescriptor('seen', Types.BOOLEAN);
 * seen.enableTimeToLive(StateTtlConfig.newBuilder('1 h').updateTtlOnReadAndWrite().build());
 * seen.enableTimeToLive({ ttl: '1 h', updateType: 'OnReadAndWrite' }); // the same as plain data
 * ```
 *
 * Time-to-live may be switched on, off or changed for state that was saved before: values without a time get that of the
 * restore; where it was switched off all values that are still there stay, expired ones that were not removed included.
 */
export class StateTtlConfig {
  static readonly UpdateType: typeof UPDATE_TYPES = UPDATE_TYPES;
  static readonly StateVisibility: typeof VISIBILITIES = VISIBILITIES;
  /** No time-to-live. */
  static readonly DISABLED: StateTtlConfig = new StateTtlConfig({ ttl: 1, updateType: 'Disabled' });

  private readonly options: StateTtlOptions;
  private readonly ttlMs: number;

  private constructor(options: StateTtlOptions) {
    this.options = options;
    this.ttlMs = durationMs(options.ttl, 'time-to-live of state');
    if (this.ttlMs === 0) throw invalid('it must be at least 1 ms, found 0');
  }

  /** Begins a configuration. `ttl` is in milliseconds or a text such as `'1 h'`. Throws INVALID_ARGUMENT. */
  static newBuilder(ttl: Duration): StateTtlConfigBuilder {
    return new StateTtlConfigBuilder(ttl);
  }

  /** The configuration that plain options describe; a configuration is returned as it is. Throws INVALID_ARGUMENT. */
  static of(config: StateTtlConfig | StateTtlOptions): StateTtlConfig {
    if (config instanceof StateTtlConfig) return config;
    const unknown = Object.keys(config).find((name) => !OPTIONS.includes(name));
    if (unknown !== undefined) {
      const nearest = nearestName(unknown, OPTIONS);
      const hint = nearest === undefined ? `known are ${OPTIONS.join(', ')}` : `did you mean '${nearest}'?`;
      throw invalid(`there is no option '${unknown}'; ${hint}`);
    }
    checkWord('updateType', config.updateType, UPDATE_TYPES);
    checkWord('visibility', config.visibility, VISIBILITIES);
    const { cleanupIncrementally: incrementally, cleanupInRocksdbCompactFilter: filter } = config;
    if (incrementally !== undefined) {
      checkCount('cleanupSize', incrementally.cleanupSize, CLEANUP_SIZE_MAX);
    }
    if (filter !== undefined) checkCount('cleanupInRocksdbCompactFilter', filter, Number.MAX_SAFE_INTEGER);
    return new StateTtlConfig({ ...config });
  }

  /** What makes a value live on. */
  getUpdateType(): StateTtlUpdateType {
    return this.options.updateType ?? 'OnCreateAndWrite';
  }

  /** Whether expired values may be seen. */
  getStateVisibility(): StateTtlVisibility {
    return this.options.visibility ?? 'NeverReturnExpired';
  }

  /** In milliseconds. */
  getTimeToLive(): number {
    return this.ttlMs;
  }

  /** Time is processing time. */
  getTtlTimeCharacteristic(): 'ProcessingTime' {
    return 'ProcessingTime';
  }

  /** False if the update type is `Disabled`. */
  isEnabled(): boolean {
    return this.getUpdateType() !== 'Disabled';
  }

  /** True if expired values are dropped when a snapshot is restored. */
  isCleanupFullSnapshot(): boolean {
    return this.options.cleanupFullSnapshot === true;
  }

  /** How expired values are removed in the background; undefined if they are not. */
  getIncrementalCleanup(): StateTtlIncrementalCleanup | undefined {
    const { cleanupIncrementally, disableCleanupInBackground } = this.options;
    if (cleanupIncrementally !== undefined) {
      return { runCleanupForEveryRecord: false, ...cleanupIncrementally };
    }
    return disableCleanupInBackground === true ? undefined : DEFAULT_CLEANUP;
  }

  /** All of it in one line, for messages: the same text for the same rules. */
  toString(): string {
    const cleanup = this.getIncrementalCleanup();
    const rows = cleanup?.cleanupSize ?? 0;
    const per = cleanup?.runCleanupForEveryRecord ? 'record' : 'access';
    const restore = this.isCleanupFullSnapshot() ? ', cleanupFullSnapshot' : '';
    return `${formatDuration(this.ttlMs)} ${this.getUpdateType()} ${this.getStateVisibility()} (cleaning ${rows} entries each ${per}${restore})`;
  }
}

/** Made by `StateTtlConfig.newBuilder`. Each method changes one thing and returns the builder. */
export class StateTtlConfigBuilder {
  private options: StateTtlOptions;

  /** Use `StateTtlConfig.newBuilder`. */
  constructor(ttl: Duration) {
    this.options = { ttl };
  }

  /** What makes a value live on. */
  setUpdateType(updateType: StateTtlUpdateType): this {
    return this.with({ updateType });
  }

  /** A value lives on when it is written. The default. */
  updateTtlOnCreateAndWrite(): this {
    return this.setUpdateType('OnCreateAndWrite');
  }

  /** A value lives on when it is written and when it is read. */
  updateTtlOnReadAndWrite(): this {
    return this.setUpdateType('OnReadAndWrite');
  }

  /** Whether expired values may be seen. */
  setStateVisibility(visibility: StateTtlVisibility): this {
    return this.with({ visibility });
  }

  /** Expired values are as good as gone. The default. */
  neverReturnExpired(): this {
    return this.setStateVisibility('NeverReturnExpired');
  }

  /** Expired values are seen until they are removed, which reading them does. */
  returnExpiredIfNotCleanedUp(): this {
    return this.setStateVisibility('ReturnExpiredIfNotCleanedUp');
  }

  /** Time is processing time; there is no other choice. */
  useProcessingTime(): this {
    return this;
  }

  /**
   * Drops all expired values when a snapshot is restored. (The snapshot itself is a copy of memory and has what memory
   * had; Flink leaves them out when it writes.)
   */
  cleanupFullSnapshot(): this {
    return this.with({ cleanupFullSnapshot: true });
  }

  /**
   * Removes expired values bit by bit: for each access to the state up to `cleanupSize` entries (1 to 1000) are looked at,
   * all of them in turns. With `runCleanupForEveryRecord` for each record of the operator, whether it touches the state or
   * not. This is the default with 5 and false.
   */
  cleanupIncrementally(cleanupSize: number, runCleanupForEveryRecord: boolean): this {
    return this.with({ cleanupIncrementally: { cleanupSize, runCleanupForEveryRecord } });
  }

  /** Is kept for the RocksDB state backend; the heap backend does not need it. */
  cleanupInRocksdbCompactFilter(queryTimeAfterNumEntries = 1000): this {
    return this.with({ cleanupInRocksdbCompactFilter: queryTimeAfterNumEntries });
  }

  /** Expired values are removed only when they are accessed, unless another strategy is set expressly. */
  disableCleanupInBackground(): this {
    return this.with({ disableCleanupInBackground: true });
  }

  /** Throws INVALID_ARGUMENT if a value is out of its range. */
  build(): StateTtlConfig {
    return StateTtlConfig.of(this.options);
  }

  private with(change: Partial<StateTtlOptions>): this {
    this.options = { ...this.options, ...change };
    return this;
  }
}

function checkWord(option: string, value: string | undefined, words: Readonly<Record<string, string>>): void {
  if (value === undefined || Object.hasOwn(words, value)) return;
  throw invalid(`${option} is one of ${Object.keys(words).join(', ')}, found '${value}'`);
}

function checkCount(option: string, value: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= max) return;
  throw invalid(`${option} is a whole number from 1 to ${max}, found ${String(value)}`);
}

function invalid(what: string): MillraceError {
  return new MillraceError('INVALID_ARGUMENT', `Time-to-live of state: ${what}.`);
}
