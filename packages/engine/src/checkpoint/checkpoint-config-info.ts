/**
 * The settings of checkpointing as Apache Flink's REST API gives them. Pure; handed out by the client of a job.
 * (org.apache.flink.runtime.rest.messages.checkpoints.CheckpointConfigInfo.)
 */
import type { CheckpointSettings } from './settings.ts';

/** The greatest number of Flink's, as near as JavaScript comes: 9223372036854775807. */
const NO_INTERVAL = 2 ** 63;

/** How checkpoints are taken. Times in milliseconds. */
export interface CheckpointConfigInfo {
  readonly mode: 'exactly_once' | 'at_least_once';
  /** 2^63 if there are no periodic checkpoints; in JSON for Flink's clients that has to be 9223372036854775807. */
  readonly interval: number;
  readonly timeout: number;
  readonly min_pause: number;
  readonly max_concurrent: number;
  /** `enabled`: what becomes of checkpoints at the end was set. */
  readonly externalization: { readonly enabled: boolean; readonly delete_on_cancellation: boolean };
  readonly state_backend: string;
  readonly checkpoint_storage: string;
  readonly unaligned_checkpoints: boolean;
  readonly tolerable_failed_checkpoints: number;
  readonly aligned_checkpoint_timeout: number;
  readonly checkpoints_after_tasks_finish: boolean;
  readonly state_changelog_enabled: boolean;
  readonly changelog_storage: string;
  readonly changelog_periodic_materialization_interval: number;
}

/** What `settings` amounts to. */
export function checkpointConfigInfo(settings: CheckpointSettings): CheckpointConfigInfo {
  const { mode, retention, storage } = settings;
  return {
    mode: mode === 'EXACTLY_ONCE' ? 'exactly_once' : 'at_least_once',
    interval: settings.intervalMs ?? NO_INTERVAL,
    timeout: settings.timeoutMs,
    min_pause: settings.minPauseMs,
    max_concurrent: settings.maxConcurrent,
    externalization: {
      enabled: retention !== 'NO_EXTERNALIZED_CHECKPOINTS',
      delete_on_cancellation: retention !== 'RETAIN_ON_CANCELLATION',
    },
    state_backend: 'HashMapStateBackend',
    checkpoint_storage:
      storage.kind === 'filesystem' ? 'FileSystemCheckpointStorage' : 'JobManagerCheckpointStorage',
    unaligned_checkpoints: settings.alignedTimeoutMs !== undefined,
    tolerable_failed_checkpoints: settings.tolerableFailures,
    aligned_checkpoint_timeout: settings.alignedTimeoutMs ?? 0,
    checkpoints_after_tasks_finish: true,
    state_changelog_enabled: false,
    changelog_storage: '',
    changelog_periodic_materialization_interval: 0,
  };
}
