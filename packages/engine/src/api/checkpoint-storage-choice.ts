/** Where snapshots go, as users say it (Flink's CheckpointStorage classes). Each writes the configuration. */
import {
  CHECKPOINT_DIR,
  CHECKPOINT_INLINE_THRESHOLD,
  CHECKPOINT_STORAGE,
  type Configuration,
  MAX_MEMORY_STATE_SIZE,
} from '../base/index.ts';
import { setChecked } from './checked-setting.ts';

/** Something that `setCheckpointStorage` takes. */
export interface CheckpointStorageChoice {
  /** Writes the choice into a configuration. Called by `setCheckpointStorage`. */
  applyTo(configuration: Configuration): void;
}

/** Snapshots in the memory of the process: gone with it. */
export class JobManagerCheckpointStorage implements CheckpointStorageChoice {
  readonly #maxStateSizeBytes: number | undefined;

  /** `maxStateSizeBytes` is the largest state of one subtask; 5 MiB by default. */
  constructor(maxStateSizeBytes?: number) {
    this.#maxStateSizeBytes = maxStateSizeBytes;
  }

  applyTo(configuration: Configuration): void {
    if (this.#maxStateSizeBytes !== undefined) {
      setChecked(
        configuration,
        MAX_MEMORY_STATE_SIZE,
        this.#maxStateSizeBytes,
        'new JobManagerCheckpointStorage',
      );
    }
    configuration.set(CHECKPOINT_STORAGE, 'jobmanager');
  }
}

/** Snapshots in a directory. */
export class FileSystemCheckpointStorage implements CheckpointStorageChoice {
  readonly #directory: string;
  readonly #inlineThresholdBytes: number | undefined;

  /**
   * @param directory URI, or a path, which is taken from the working directory
   * @param inlineThresholdBytes smaller state goes into the manifest; 0 to 1 MiB, -1 or absent: as configured
   */
  constructor(directory: string | URL, inlineThresholdBytes = -1) {
    this.#directory = String(directory);
    this.#inlineThresholdBytes = inlineThresholdBytes === -1 ? undefined : inlineThresholdBytes;
  }

  applyTo(configuration: Configuration): void {
    if (this.#inlineThresholdBytes !== undefined) {
      const setter = 'new FileSystemCheckpointStorage';
      setChecked(configuration, CHECKPOINT_INLINE_THRESHOLD, this.#inlineThresholdBytes, setter);
    }
    setCheckpointDirectory(configuration, this.#directory, 'new FileSystemCheckpointStorage');
  }
}

/** Snapshots go to files below `directory`. */
export function setCheckpointDirectory(
  configuration: Configuration,
  directory: string,
  setter: string,
): void {
  setChecked(configuration, CHECKPOINT_DIR, directory, setter);
  configuration.set(CHECKPOINT_STORAGE, 'filesystem');
}
