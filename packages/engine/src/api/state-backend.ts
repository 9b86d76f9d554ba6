/**
 * The state backends as users choose them (`env.setStateBackend(new FsStateBackend(…))`), with the constructors of Flink.
 * Each writes the configuration; nothing is opened here.
 */
import {
  ASYNC_SNAPSHOTS,
  CHECKPOINT_INLINE_THRESHOLD,
  CHECKPOINT_STORAGE,
  type ConfigOption,
  type Configuration,
  MAX_MEMORY_STATE_SIZE,
  MillraceError,
  SAVEPOINT_DIR,
  STATE_BACKEND,
} from '../base/index.ts';
import { setChecked } from './checked-setting.ts';
import { setCheckpointDirectory } from './checkpoint-storage-choice.ts';

/** Something that `setStateBackend` takes. */
export interface StateBackend {
  /** Throws INVALID_ARGUMENT for values that are not allowed, STATE_BACKEND_NOT_INSTALLED. */
  applyTo(configuration: Configuration): void;
}

/** Working state in memory. Where snapshots go is set apart: `execution.checkpointing.dir` or `setCheckpointStorage`. */
export class HashMapStateBackend implements StateBackend {
  applyTo(configuration: Configuration): void {
    configuration.set(STATE_BACKEND, 'hashmap');
  }
}

/** A location, or null and undefined for none, as in Java. */
type Location = string | URL | null | undefined;

/** What both old backends are told beside their places. null and undefined: as configured. */
interface OldBackendSettings {
  readonly savepoints?: unknown;
  readonly async?: unknown;
}

/** Working state in memory, snapshots in the memory of the process: for development. */
export class MemoryStateBackend implements StateBackend {
  readonly #checkpointPath: unknown;
  readonly #maxStateSizeBytes: unknown;
  readonly #others: OldBackendSettings;

  /**
   * @param async false: the operator stops while its snapshot is written (to look for faults)
   */
  constructor(async?: boolean);
  /**
   * @param maxStateSizeBytes the largest state of one subtask, 5 MiB by default; a checkpoint with a larger one fails
   * @param async false: the operator stops while its snapshot is written
   */
  constructor(maxStateSizeBytes: number, async?: boolean);
  /**
   * @param checkpointPath a directory for checkpoints, so that they outlive the process; then no size is too large
   * @param savepointPath the directory of savepoints that name none
   * @param maxStateSizeBytes the largest state of one subtask, if checkpoints are kept in memory
   * @param async false: the operator stops while its snapshot is written
   */
  constructor(
    checkpointPath: Location,
    savepointPath: Location,
    maxStateSizeBytes?: number,
    async?: boolean | null,
  );
  constructor(...given: readonly unknown[]) {
    const [first, second, third, fourth] = given;
    if (typeof first === 'boolean') {
      this.#others = { async: first };
    } else if (typeof first === 'number' || given.length < 2) {
      this.#maxStateSizeBytes = first;
      this.#others = { async: second };
    } else {
      this.#checkpointPath = first;
      this.#maxStateSizeBytes = third;
      this.#others = { savepoints: second, async: fourth };
    }
  }

  applyTo(configuration: Configuration): void {
    const setter = 'new MemoryStateBackend';
    applyOthers(configuration, this.#others, setter);
    setIfGiven(configuration, MAX_MEMORY_STATE_SIZE, this.#maxStateSizeBytes, setter);
    const path = this.#checkpointPath;
    if (isGiven(path)) setCheckpointDirectory(configuration, String(path), setter);
    else configuration.set(CHECKPOINT_STORAGE, 'jobmanager');
    configuration.set(STATE_BACKEND, 'hashmap');
  }
}

/** Working state in memory, snapshots in a directory. */
export class FsStateBackend implements StateBackend {
  readonly #uri: string;
  readonly #inlineThresholdBytes: unknown;
  readonly #writeBufferBytes: unknown;
  readonly #others: OldBackendSettings;

  /**
   * @param uri the directory of checkpoints, as `file:///…` or a path, which is taken from the working directory
   * @param async false: the operator stops while its snapshot is written
   */
  constructor(uri: string | URL, async?: boolean);
  /**
   * @param uri the directory of checkpoints
   * @param inlineThresholdBytes state of fewer bytes goes into the manifest; 0 to 1 MiB, -1: as configured
   * @param async false: the operator stops while its snapshot is written
   */
  constructor(uri: string | URL, inlineThresholdBytes: number, async?: boolean);
  /**
   * @param uri the directory of checkpoints
   * @param savepointUri the directory of savepoints that name none
   * @param inlineThresholdBytes state of fewer bytes goes into the manifest; 0 to 1 MiB, -1: as configured
   * @param writeBufferBytes accepted as Flink has it, without effect: state is written in pieces of 1 MiB
   * @param async false: the operator stops while its snapshot is written
   */
  constructor(
    uri: string | URL,
    savepointUri: Location,
    inlineThresholdBytes?: number,
    writeBufferBytes?: number,
    async?: boolean | null,
  );
  constructor(uri: string | URL, ...given: readonly unknown[]) {
    const [second, third, fourth, fifth] = given;
    this.#uri = String(uri);
    if (typeof second === 'boolean') {
      this.#others = { async: second };
    } else if (typeof second === 'number') {
      this.#inlineThresholdBytes = second;
      this.#others = { async: third };
    } else {
      this.#inlineThresholdBytes = third;
      this.#writeBufferBytes = fourth;
      this.#others = { savepoints: second, async: fifth };
    }
  }

  applyTo(configuration: Configuration): void {
    const setter = 'new FsStateBackend';
    applyOthers(configuration, this.#others, setter);
    const [threshold, buffer] = [this.#inlineThresholdBytes, this.#writeBufferBytes];
    if (threshold !== -1) setIfGiven(configuration, CHECKPOINT_INLINE_THRESHOLD, threshold, setter);
    if (isGiven(buffer) && !(Number.isSafeInteger(buffer) && (buffer as number) >= -1)) {
      const message = `${setter}: the write buffer has ${String(buffer)} bytes; expected an integer, -1 or more`;
      throw new MillraceError('INVALID_ARGUMENT', message);
    }
    setCheckpointDirectory(configuration, this.#uri, setter);
    configuration.set(STATE_BACKEND, 'hashmap');
  }
}

function isGiven(value: unknown): value is NonNullable<unknown> {
  return value !== undefined && value !== null;
}

/** What the option does not take is refused as a value of the setter. */
function setIfGiven<T>(
  configuration: Configuration,
  option: ConfigOption<T>,
  value: unknown,
  setter: string,
): void {
  if (isGiven(value)) setChecked(configuration, option, value as NonNullable<T>, setter);
}

function applyOthers(
  configuration: Configuration,
  { savepoints, async }: OldBackendSettings,
  setter: string,
): void {
  setIfGiven(configuration, ASYNC_SNAPSHOTS, async, setter);
  setIfGiven(configuration, SAVEPOINT_DIR, isGiven(savepoints) ? String(savepoints) : undefined, setter);
}

/** Working state in RocksDB. Its package does not exist yet: `setStateBackend` refuses it. */
export class RocksDBStateBackend implements StateBackend {
  readonly #uri: string;

  /**
   * @param uri the directory of checkpoints
   * @param incremental write only what changed since the last checkpoint
   */
  constructor(uri: string | URL, incremental = false) {
    this.#uri = String(uri);
    if (typeof incremental !== 'boolean') {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        'new RocksDBStateBackend(uri, incremental): expected true or false',
      );
    }
  }

  applyTo(): never {
    throw rocksDbNotInstalled(`new RocksDBStateBackend(${JSON.stringify(this.#uri)})`);
  }
}

/** STATE_BACKEND_NOT_INSTALLED for RocksDB. `where` is what asked for it. */
export function rocksDbNotInstalled(where: string): MillraceError {
  return new MillraceError(
    'STATE_BACKEND_NOT_INSTALLED',
    `${where}: the RocksDB state backend is a package of its own, @millrace/state-rocksdb, which is not installed. ` +
      'State in memory with checkpoints in the same directory: new FsStateBackend(uri), or state.backend.type: hashmap.',
    { details: { backend: 'rocksdb' } },
  );
}
