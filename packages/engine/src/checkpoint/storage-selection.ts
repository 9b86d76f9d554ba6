/** Makes the checkpoint storage that the settings ask for. */
import type { Platform } from '../platform/index.ts';
import type { CheckpointStorage } from './checkpoint-storage.ts';
import { FileCheckpointStorage } from './file-storage.ts';
import { MemoryCheckpointStorage } from './memory-storage.ts';
import type { CheckpointStorageSettings } from './settings.ts';

/** Not opened yet. Throws FILE_SYSTEM_SCHEME_UNKNOWN for a directory of an unknown scheme. */
export function createCheckpointStorage(
  platform: Platform,
  settings: CheckpointStorageSettings,
): CheckpointStorage {
  if (settings.kind === 'jobmanager')
    return new MemoryCheckpointStorage(platform, settings.maxStateSizeBytes);
  const { uri: directory, inlineThresholdBytes } = settings;
  platform.fileSystem(directory);
  return new FileCheckpointStorage(platform, { directory, inlineThresholdBytes });
}
