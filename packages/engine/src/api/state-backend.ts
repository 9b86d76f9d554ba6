/**
 * The state backends as users choose them (`env.setStateBackend(new FsStateBackend(…))`), with the constructors of Flink.
 * Each writes the configuration; nothing is opened here.
 */
import {
  ASYNC_SNAPSHOTS,
  CHECKPOINT_INLINE_THRESHOLD,
  CHECKPOINT_STORAGE,
  type Configuration,
  MAX_MEMORY_STATE_SIZE,
  MillraceError,
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

/** Working state in memory, snapshots in the memory of the process: for development. */
export class MemoryStateBackend implements StateBackend {
  readonly #maxStateSizeBytes: number | undefined;
  readonly #async: boolean;

  /**
   * @param maxStateSizeBytes the largest state of one subtask, 5 MiB by default; a checkpoint with a larger one fails
   * @param async false: the operator stops while its snapshot is written (to look for faults)
   */
  constructor(maxStateSizeBytes?: number | boolean, async = true) {
    const onlyAsync = typeof maxStateSizeBytes === 'boolean';
    this.#maxStateSizeBytes = onlyAsync ? undefined : maxStateSizeBytes;
    this.#async = onlyAsync ? maxStateSizeBytes : async;
  }

  applyTo(configuration: Configuration): void {
    const setter = 'new MemoryStateBackend';
    setChecked(configuration, ASYNC_SNAPSHOTS, this.#async, setter);
    if (this.#maxStateSizeBytes !== undefined) {
      setChecked(configuration, MAX_MEMORY_STATE_SIZE, this.#maxStateSizeBytes, setter);
    }
    configuration.set(STATE_BACKEND, 'hashmap').set(CHECKPOINT_STORAGE, 'jobmanager');
  }
}

/** Working state in memory, snapshots in a directory. */
export class FsStateBackend implements StateBackend {
  readonly #uri: string;
  readonly #inlineThresholdBytes: number | undefined;
  readonly #async: boolean;

  /**
   * @param uri the directory of checkpoints, as `file:///…` or a path, which is taken from the working directory
   * @param asyncOrThreshold false: the operator stops while its snapshot is written; a number: state of fewer bytes goes
   *   into the manifest
   */
  constructor(uri: string | URL, asyncOrThreshold: boolean | number = true, async = true) {
    this.#uri = String(uri);
    this.#inlineThresholdBytes = typeof asyncOrThreshold === 'number' ? asyncOrThreshold : undefined;
    this.#async = typeof asyncOrThreshold === 'boolean' ? asyncOrThreshold : async;
  }

  applyTo(configuration: Configuration): void {
    const setter = 'new FsStateBackend';
    setChecked(configuration, ASYNC_SNAPSHOTS, this.#async, setter);
    if (this.#inlineThresholdBytes !== undefined) {
      setChecked(configuration, CHECKPOINT_INLINE_THRESHOLD, this.#inlineThresholdBytes, setter);
    }
    setCheckpointDirectory(configuration, this.#uri, setter);
    configuration.set(STATE_BACKEND, 'hashmap');
  }
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
