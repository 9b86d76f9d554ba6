/**
 * When a file of FileSink ends and the next begins (org.apache.flink.streaming.api.functions.sink.filesystem.RollingPolicy).
 *
 * Asked by the writer of each subtask: before each record, at each checkpoint, and by the clock at each checkpoint and
 * once a bucket check interval. A file that has ended becomes visible with the next checkpoint that completes; a file that
 * goes on over a checkpoint becomes visible with the first one after its end. Policies are shared by the subtasks of a
 * thread and know no state.
 */
import {
  type Duration,
  durationMs,
  type MemorySize,
  MillraceError,
  memorySizeBytes,
} from '../../base/index.ts';

/** The file that is asked about. */
export interface PartFileInfo {
  /** The directory of the file below that of the sink. */
  getBucketId(): string;
  /** Wall time in milliseconds, by the clock as it is set now: `currentTimeMs` less this is the file's age. */
  getCreationTime(): number;
  /** Bytes so far. What is not compressed yet counts as it is. */
  getSize(): number;
  /** Wall time of the batch that brought the last record, in milliseconds, by the clock as it is set now. */
  getLastUpdateTime(): number;
}

/** Each answers true if the file is to end. Called often: cheap, and without side effects. */
export interface RollingPolicy<T> {
  /** At each checkpoint. */
  shouldRollOnCheckpoint(file: PartFileInfo): boolean;
  /** Before `record` is written: if true, it begins a new file. */
  shouldRollOnEvent(file: PartFileInfo, record: T): boolean;
  /** At each checkpoint and once a bucket check interval, by the wall clock. */
  shouldRollOnProcessingTime(file: PartFileInfo, currentTimeMs: number): boolean;
}

/** A policy by which each file ends with its checkpoint at the latest: what bulk formats need. To be extended. */
export abstract class CheckpointRollingPolicy<T> implements RollingPolicy<T> {
  shouldRollOnCheckpoint(): true {
    return true;
  }
  abstract shouldRollOnEvent(file: PartFileInfo, record: T): boolean;
  abstract shouldRollOnProcessingTime(file: PartFileInfo, currentTimeMs: number): boolean;
}

const ON_CHECKPOINT_PART_SIZE = '1 gb';
const DEFAULT_PART_SIZE = '128 mb';
const DEFAULT_INTERVAL = '1 min';

/** A new file at each checkpoint, and after one that has more than a size: results appear once a checkpoint. */
export class OnCheckpointRollingPolicy extends CheckpointRollingPolicy<unknown> {
  readonly #maxPartSizeBytes: number;

  /** `maxPartSize`: bytes, or text such as `'64 mb'`; default 1 GB. Throws INVALID_ARGUMENT. */
  constructor(options: { readonly maxPartSize?: MemorySize } = {}) {
    super();
    const { maxPartSize = ON_CHECKPOINT_PART_SIZE } = options;
    this.#maxPartSizeBytes = memorySizeBytes(maxPartSize, 'OnCheckpointRollingPolicy: maxPartSize');
  }

  /** One with the default size, by Flink's name. */
  static build(): OnCheckpointRollingPolicy {
    return new OnCheckpointRollingPolicy();
  }

  shouldRollOnEvent(file: PartFileInfo): boolean {
    return file.getSize() > this.#maxPartSizeBytes;
  }

  shouldRollOnProcessingTime(): boolean {
    return false;
  }
}

/** When files of a DefaultRollingPolicy end. */
export interface DefaultRollingPolicyOptions {
  /** Bytes, or text such as `'64 mb'`: a file that has more is followed by the next. Default 128 MB. */
  readonly maxPartSize?: MemorySize;
  /** How long a file is written to at most; default a minute. */
  readonly rolloverInterval?: Duration;
  /** How long a file waits for its next record; default a minute. */
  readonly inactivityInterval?: Duration;
}

/**
 * Files by size and time, whatever the checkpoints. Fewer and larger files than with a policy that rolls on checkpoints;
 * their results appear with the first checkpoint after their end.
 */
export class DefaultRollingPolicy implements RollingPolicy<unknown> {
  readonly #maxPartSizeBytes: number;
  readonly #rolloverIntervalMs: number;
  readonly #inactivityIntervalMs: number;

  /** Throws INVALID_ARGUMENT. */
  constructor(options: DefaultRollingPolicyOptions = {}) {
    const { maxPartSize = DEFAULT_PART_SIZE } = options;
    const { rolloverInterval = DEFAULT_INTERVAL, inactivityInterval = DEFAULT_INTERVAL } = options;
    this.#maxPartSizeBytes = memorySizeBytes(maxPartSize, 'DefaultRollingPolicy: maxPartSize');
    this.#rolloverIntervalMs = positiveMs(rolloverInterval, 'DefaultRollingPolicy: rolloverInterval');
    this.#inactivityIntervalMs = positiveMs(inactivityInterval, 'DefaultRollingPolicy: inactivityInterval');
  }

  /** The same in Flink's words. */
  static builder(): DefaultRollingPolicyBuilder {
    return new DefaultRollingPolicyBuilder();
  }

  shouldRollOnCheckpoint(file: PartFileInfo): boolean {
    return file.getSize() > this.#maxPartSizeBytes;
  }

  shouldRollOnEvent(file: PartFileInfo): boolean {
    return file.getSize() > this.#maxPartSizeBytes;
  }

  shouldRollOnProcessingTime(file: PartFileInfo, currentTimeMs: number): boolean {
    return (
      currentTimeMs - file.getCreationTime() >= this.#rolloverIntervalMs ||
      currentTimeMs - file.getLastUpdateTime() >= this.#inactivityIntervalMs
    );
  }
}

/** Collects DefaultRollingPolicyOptions. Immutable: each call gives a new builder. */
export class DefaultRollingPolicyBuilder {
  readonly #options: DefaultRollingPolicyOptions;

  constructor(options: DefaultRollingPolicyOptions = {}) {
    this.#options = options;
  }

  /** Bytes, or text such as `'64 mb'`. */
  withMaxPartSize(maxPartSize: MemorySize): DefaultRollingPolicyBuilder {
    return new DefaultRollingPolicyBuilder({ ...this.#options, maxPartSize });
  }

  /** How long a file is written to at most. */
  withRolloverInterval(rolloverInterval: Duration): DefaultRollingPolicyBuilder {
    return new DefaultRollingPolicyBuilder({ ...this.#options, rolloverInterval });
  }

  /** How long a file waits for its next record. */
  withInactivityInterval(inactivityInterval: Duration): DefaultRollingPolicyBuilder {
    return new DefaultRollingPolicyBuilder({ ...this.#options, inactivityInterval });
  }

  /** Throws INVALID_ARGUMENT. */
  build(): DefaultRollingPolicy {
    return new DefaultRollingPolicy(this.#options);
  }
}

/** Milliseconds above 0. Throws INVALID_ARGUMENT naming `what`. */
export function positiveMs(interval: Duration, what: string): number {
  const ms = durationMs(interval, what);
  if (ms > 0) return ms;
  throw new MillraceError('INVALID_ARGUMENT', `${what}: expected a duration above 0, found ${interval}`);
}
