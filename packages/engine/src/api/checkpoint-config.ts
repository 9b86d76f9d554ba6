/**
 * The settings of checkpoints by setters (org.apache.flink.streaming.api.environment.CheckpointConfig). A view of the
 * job's configuration: every setter writes it under the key of Flink, every getter reads it.
 *
 * Setters that say "not needed" or "no effect yet" check and store the value: what they control is always so, or does not
 * exist.
 */
import {
  ALIGNED_CHECKPOINT_TIMEOUT,
  APPROXIMATE_LOCAL_RECOVERY,
  CHECKPOINTING_INTERVAL,
  CHECKPOINTING_INTERVAL_DURING_BACKLOG,
  CHECKPOINTING_MAX_CONCURRENT,
  CHECKPOINTING_MIN_PAUSE,
  CHECKPOINTING_MODE,
  CHECKPOINTING_RETENTION,
  CHECKPOINTING_TIMEOUT,
  CHECKPOINTING_TOLERABLE_FAILURES,
  type Configuration,
  type Duration,
  durationMs,
  FORCE_UNALIGNED,
  MAX_SUBTASKS_PER_CHANNEL_STATE_FILE,
  MillraceError,
  PREFER_CHECKPOINT_FOR_RECOVERY,
  RESTORE_WITHOUT_CHANNEL_STATE,
  UNALIGNED_ENABLED,
  UNALIGNED_INTERRUPTIBLE_TIMERS,
} from '../base/index.ts';
import { setChecked, setDuration } from './checked-setting.ts';
import { type CheckpointStorageChoice, setCheckpointDirectory } from './checkpoint-storage-choice.ts';
import { type CheckpointingMode, ExternalizedCheckpointCleanup } from './checkpointing-mode.ts';

/** What `setFailOnCheckpointingErrors(false)` tolerates: any number. */
const UNLIMITED_FAILURES = 0x7fffffff;

/**
 * How checkpoints are taken, with Flink's setters. What they set is what the configuration keys
 * `execution.checkpointing.*` set.
 */
export class CheckpointConfig {
  /** As in Java, where the constants are a member of this class. */
  static readonly ExternalizedCheckpointCleanup = ExternalizedCheckpointCleanup;

  readonly #configuration: Configuration;

  constructor(configuration: Configuration) {
    this.#configuration = configuration;
  }

  /** True if checkpoints are taken periodically. */
  isCheckpointingEnabled(): boolean {
    return this.getCheckpointInterval() > 0;
  }

  /** Milliseconds; -1 if checkpoints are off. */
  getCheckpointInterval(): number {
    const intervalMs = this.#configuration.get(CHECKPOINTING_INTERVAL);
    return intervalMs === undefined || intervalMs === 0 ? -1 : intervalMs;
  }

  /** Time from the start of one checkpoint to the start of the next; at least 10 ms. */
  setCheckpointInterval(interval: Duration): void {
    const setter = 'setCheckpointInterval';
    if (durationMs(interval, setter) === 0) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `${setter}(0): expected at least 10 ms; disableCheckpointing() turns it off`,
      );
    }
    setDuration(this.#configuration, CHECKPOINTING_INTERVAL, interval, setter);
  }

  /** No periodic checkpoints. */
  disableCheckpointing(): void {
    this.#configuration.unset(CHECKPOINTING_INTERVAL);
  }

  /** Exactly-once, unless at-least-once was set. */
  getCheckpointingMode(): CheckpointingMode {
    return this.#configuration.get(CHECKPOINTING_MODE);
  }

  /** Whether a record may change state twice after a failure (at-least-once) or not (exactly-once, the default). */
  setCheckpointingMode(mode: CheckpointingMode): void {
    setChecked(this.#configuration, CHECKPOINTING_MODE, mode, 'setCheckpointingMode');
  }

  /** Flink 2's name of `getCheckpointingMode`. */
  getCheckpointingConsistencyMode(): CheckpointingMode {
    return this.getCheckpointingMode();
  }

  /** Flink 2's name of {@link setCheckpointingMode}. */
  setCheckpointingConsistencyMode(mode: CheckpointingMode): void {
    setChecked(this.#configuration, CHECKPOINTING_MODE, mode, 'setCheckpointingConsistencyMode');
  }

  /** Milliseconds after which a checkpoint that is not complete is given up. */
  getCheckpointTimeout(): number {
    return this.#configuration.get(CHECKPOINTING_TIMEOUT);
  }

  /** A checkpoint that takes longer is given up; at least 10 ms, 10 minutes by default. */
  setCheckpointTimeout(timeout: Duration): void {
    setDuration(this.#configuration, CHECKPOINTING_TIMEOUT, timeout, 'setCheckpointTimeout');
  }

  /** Milliseconds between the end of a checkpoint and the start of the next. */
  getMinPauseBetweenCheckpoints(): number {
    return this.#configuration.get(CHECKPOINTING_MIN_PAUSE);
  }

  /** Least time between the end of one checkpoint and the start of the next; it wins over the interval. */
  setMinPauseBetweenCheckpoints(pause: Duration): void {
    setDuration(this.#configuration, CHECKPOINTING_MIN_PAUSE, pause, 'setMinPauseBetweenCheckpoints');
  }

  /** How many checkpoints may be under way at a time. */
  getMaxConcurrentCheckpoints(): number {
    return this.#configuration.get(CHECKPOINTING_MAX_CONCURRENT);
  }

  /** At least 1, the default; savepoints count, but begin whatever the number. Must be 1 with unaligned checkpoints. */
  setMaxConcurrentCheckpoints(count: number): void {
    setChecked(this.#configuration, CHECKPOINTING_MAX_CONCURRENT, count, 'setMaxConcurrentCheckpoints');
  }

  /** How many checkpoints in a row may fail before the job fails. */
  getTolerableCheckpointFailureNumber(): number {
    return this.#configuration.get(CHECKPOINTING_TOLERABLE_FAILURES);
  }

  /** How many checkpoints may fail one after the other before the job fails over; 0 by default. */
  setTolerableCheckpointFailureNumber(count: number): void {
    setChecked(
      this.#configuration,
      CHECKPOINTING_TOLERABLE_FAILURES,
      count,
      'setTolerableCheckpointFailureNumber',
    );
  }

  /** True if the first failed checkpoint fails the job. */
  isFailOnCheckpointingErrors(): boolean {
    return this.getTolerableCheckpointFailureNumber() === 0;
  }

  /** Old: true tolerates no failed checkpoint, false any number. */
  setFailOnCheckpointingErrors(fail: boolean): void {
    const count = checkedBoolean(fail, 'setFailOnCheckpointingErrors') ? 0 : UNLIMITED_FAILURES;
    this.#configuration.set(CHECKPOINTING_TOLERABLE_FAILURES, count);
  }

  /** True unless the checkpoints are deleted at every end (NO_EXTERNALIZED_CHECKPOINTS). */
  isExternalizedCheckpointsEnabled(): boolean {
    return this.getExternalizedCheckpointCleanup() !== 'NO_EXTERNALIZED_CHECKPOINTS';
  }

  /** What becomes of the checkpoints at the end of the job; DELETE_ON_CANCELLATION by default. */
  getExternalizedCheckpointCleanup(): ExternalizedCheckpointCleanup {
    return this.#configuration.get(CHECKPOINTING_RETENTION);
  }

  /** Flink 2's name of `getExternalizedCheckpointCleanup`. */
  getExternalizedCheckpointRetention(): ExternalizedCheckpointCleanup {
    return this.getExternalizedCheckpointCleanup();
  }

  /** What becomes of the checkpoints of a job that is cancelled or fails. */
  enableExternalizedCheckpoints(cleanup: ExternalizedCheckpointCleanup): void {
    setChecked(this.#configuration, CHECKPOINTING_RETENTION, cleanup, 'enableExternalizedCheckpoints');
  }

  /** A later name of {@link enableExternalizedCheckpoints}. */
  setExternalizedCheckpointCleanup(cleanup: ExternalizedCheckpointCleanup): void {
    setChecked(this.#configuration, CHECKPOINTING_RETENTION, cleanup, 'setExternalizedCheckpointCleanup');
  }

  /** Flink 2's name of {@link enableExternalizedCheckpoints}. */
  setExternalizedCheckpointRetention(retention: ExternalizedCheckpointCleanup): void {
    setChecked(this.#configuration, CHECKPOINTING_RETENTION, retention, 'setExternalizedCheckpointRetention');
  }

  /** A directory (URI or path), or a storage object. */
  setCheckpointStorage(storage: string | URL | CheckpointStorageChoice): void {
    if (typeof storage === 'object' && !(storage instanceof URL)) storage.applyTo(this.#configuration);
    else setCheckpointDirectory(this.#configuration, String(storage), 'setCheckpointStorage');
  }

  /** See `setPreferCheckpointForRecovery`. */
  isPreferCheckpointForRecovery(): boolean {
    return this.#configuration.get(PREFER_CHECKPOINT_FOR_RECOVERY);
  }

  /**
   * Recover from the newest checkpoint even if there is a newer savepoint that the job was stopped with (no other
   * savepoints are recovered from), at a restart and when the job is started from `latest`. Unsafe: what came between the
   * two is done again, and sinks may show it twice.
   */
  setPreferCheckpointForRecovery(prefer: boolean): void {
    setChecked(this.#configuration, PREFER_CHECKPOINT_FOR_RECOVERY, prefer, 'setPreferCheckpointForRecovery');
  }

  /** See `enableUnalignedCheckpoints`. */
  isUnalignedCheckpointsEnabled(): boolean {
    return this.#configuration.get(UNALIGNED_ENABLED);
  }

  /**
   * Let barriers overtake records, which become part of the checkpoint: it then completes in time also if records wait for
   * a slow operator. Needs the mode EXACTLY_ONCE and one checkpoint at a time; anything else is refused when the job is
   * executed. Savepoints are always aligned.
   */
  enableUnalignedCheckpoints(enabled = true): void {
    setChecked(this.#configuration, UNALIGNED_ENABLED, enabled, 'enableUnalignedCheckpoints');
  }

  /** Milliseconds; see `setAlignedCheckpointTimeout`. */
  getAlignedCheckpointTimeout(): number {
    return this.#configuration.get(ALIGNED_CHECKPOINT_TIMEOUT);
  }

  /** With unaligned checkpoints: barriers overtake after that time, counted from the trigger; 0, the default: at once. */
  setAlignedCheckpointTimeout(timeout: Duration): void {
    setDuration(this.#configuration, ALIGNED_CHECKPOINT_TIMEOUT, timeout, 'setAlignedCheckpointTimeout');
  }

  /** Old name of {@link setAlignedCheckpointTimeout}. */
  setAlignmentTimeout(timeout: Duration): void {
    setDuration(this.#configuration, ALIGNED_CHECKPOINT_TIMEOUT, timeout, 'setAlignmentTimeout');
  }

  /** See `setForceUnalignedCheckpoints`. */
  isForceUnalignedCheckpoints(): boolean {
    return this.#configuration.get(FORCE_UNALIGNED);
  }

  /** Not needed: unaligned checkpoints work with custom partitioners without it. */
  setForceUnalignedCheckpoints(forced: boolean): void {
    setChecked(this.#configuration, FORCE_UNALIGNED, forced, 'setForceUnalignedCheckpoints');
  }

  /** See `enableUnalignedCheckpointsInterruptibleTimers`. */
  isUnalignedCheckpointsInterruptibleTimersEnabled(): boolean {
    return this.#configuration.get(UNALIGNED_INTERRUPTIBLE_TIMERS);
  }

  /** Not needed: barriers are always let through while many timers fire. */
  enableUnalignedCheckpointsInterruptibleTimers(enabled: boolean): void {
    const setter = 'enableUnalignedCheckpointsInterruptibleTimers';
    setChecked(this.#configuration, UNALIGNED_INTERRUPTIBLE_TIMERS, enabled, setter);
  }

  /** The number set by `setMaxSubtasksPerChannelStateFile`. */
  getMaxSubtasksPerChannelStateFile(): number {
    return this.#configuration.get(MAX_SUBTASKS_PER_CHANNEL_STATE_FILE);
  }

  /** At least 1. Not needed: records in flight go into the file that each task writes anyway. */
  setMaxSubtasksPerChannelStateFile(count: number): void {
    setChecked(
      this.#configuration,
      MAX_SUBTASKS_PER_CHANNEL_STATE_FILE,
      count,
      'setMaxSubtasksPerChannelStateFile',
    );
  }

  /** Milliseconds; 0: no checkpoints during a backlog; the normal interval if none was set. */
  getCheckpointIntervalDuringBacklog(): number {
    return this.#configuration.get(CHECKPOINTING_INTERVAL_DURING_BACKLOG) ?? this.getCheckpointInterval();
  }

  /** 0 (no periodic checkpoints meanwhile) or at least the normal interval, which is the default. */
  setCheckpointIntervalDuringBacklog(interval: Duration): void {
    const setter = 'setCheckpointIntervalDuringBacklog';
    setDuration(this.#configuration, CHECKPOINTING_INTERVAL_DURING_BACKLOG, interval, setter);
  }

  /** The id set by `setCheckpointIdOfIgnoredInFlightData`. */
  getCheckpointIdOfIgnoredInFlightData(): number {
    return this.#configuration.get(RESTORE_WITHOUT_CHANNEL_STATE);
  }

  /**
   * The checkpoint with this number is restored without its records in flight: they are never processed, and a warning says
   * how many bytes they were. For data that cannot be read any more. -1: none.
   */
  setCheckpointIdOfIgnoredInFlightData(checkpointId: number): void {
    const setter = 'setCheckpointIdOfIgnoredInFlightData';
    setChecked(this.#configuration, RESTORE_WITHOUT_CHANNEL_STATE, checkpointId, setter);
  }

  /** See `enableApproximateLocalRecovery`. */
  isApproximateLocalRecoveryEnabled(): boolean {
    return this.#configuration.get(APPROXIMATE_LOCAL_RECOVERY);
  }

  /** No effect yet. */
  enableApproximateLocalRecovery(enabled: boolean): void {
    setChecked(this.#configuration, APPROXIMATE_LOCAL_RECOVERY, enabled, 'enableApproximateLocalRecovery');
  }
}

function checkedBoolean(value: unknown, setter: string): boolean {
  if (typeof value === 'boolean') return value;
  throw new MillraceError('INVALID_ARGUMENT', `${setter}(${String(value)}): expected true or false`);
}
