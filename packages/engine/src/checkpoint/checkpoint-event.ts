/**
 * What the checkpoint coordinator is told and what it wants done: its events and actions.
 *
 * Events come from the JobManager's loop in the order in which things happened; actions are carried out in order. An
 * action that takes time is answered by an event later.
 */
import type { ErrorCode } from '../base/index.ts';
import type { SubtaskAttempt, TaskAcknowledgement, TaskDecline } from './acknowledgement.ts';
import type { CheckpointBarrier, CheckpointKind } from './barrier.ts';
import type { CheckpointFailure } from './checkpoint-failure.ts';

/** When something happened. All rules go by monotonic time; wall time is what barriers and reports carry. */
export interface EventTime {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** Identifies a request; the asker's business. Each is answered exactly once. */
export type RequestId = number | string;

/** Somebody asks for a checkpoint or savepoint. */
export interface CheckpointRequest {
  readonly requestId: RequestId;
  readonly kind: CheckpointKind;
  /** Where a savepoint of somebody goes; undefined: it is one of the job's checkpoints, though the job may stop with it. */
  readonly targetDirectory?: string | undefined;
}

export type CheckpointEvent =
  /** Time has passed: at least when `wakeAt` asked for it. */
  | { readonly type: 'tick' }
  /** All subtasks run (at the start, after each restart): from now on checkpoints are taken, and these have to answer. */
  | { readonly type: 'allTasksRunning'; readonly subtasks: readonly SubtaskAttempt[] }
  /** The job was restored from it: ids go on after it, and it is the newest complete one. */
  | { readonly type: 'restored'; readonly checkpointId: number; readonly isRetained: boolean }
  /** An earlier execution used ids up to this one: new ones are higher. */
  | { readonly type: 'idsTaken'; readonly highest: number }
  /** Somebody asks for a checkpoint or savepoint. Checkpoint 0, before the first record, is asked for like this. */
  | ({ readonly type: 'triggerByHand' } & CheckpointRequest)
  /** Answers of `makePlace`. Too late if the request was answered meanwhile. */
  | { readonly type: 'placed'; readonly requestId: RequestId }
  | {
      readonly type: 'placeFailed';
      readonly requestId: RequestId;
      readonly failure: 'trigger-failed' | 'expired';
      readonly message: string;
    }
  /** All data was processed: one more checkpoint, at once, until it is complete. No periodic ones from now on. */
  | { readonly type: 'finalCheckpoint'; readonly requestId: RequestId }
  /** A source works off a backlog from now on, or no longer. `source` tells it from others. */
  | { readonly type: 'backlog'; readonly source: string; readonly isProcessing: boolean }
  /** The trigger was carried out: the barrier is on its way. The last task may have acknowledged it before. */
  | { readonly type: 'triggered'; readonly checkpointId: number }
  /** The trigger could not be carried out: no directory, an enumerator that failed. */
  | { readonly type: 'triggerFailed'; readonly checkpointId: number; readonly message: string }
  | { readonly type: 'acknowledge'; readonly acknowledgement: TaskAcknowledgement }
  | { readonly type: 'decline'; readonly decline: TaskDecline }
  /** Answers of `store`. */
  | { readonly type: 'stored'; readonly checkpointId: number }
  | {
      readonly type: 'storeFailed';
      readonly checkpointId: number;
      readonly message: string;
      /** `unknown`: it may yet turn out to be complete; nobody restores before it was discarded. */
      readonly outcome: 'absent' | 'unknown';
    }
  /** The files of an aborted checkpoint are gone for good (answer of `discardFiles`). */
  | { readonly type: 'discarded'; readonly checkpointId: number }
  /**
   * Some tasks failed and are restarted, all (the default) or a part of the job. What is in flight will not be answered by
   * them: no checkpoints until `allTasksRunning`.
   */
  | {
      readonly type: 'taskFailed';
      readonly message: string;
      readonly failure?: 'task-failed' | 'region-failover';
    }
  /** The job ends. */
  | { readonly type: 'shutdown'; readonly message: string };

/** The answer to a request. */
export type CheckpointAnswer =
  | { readonly type: 'completed'; readonly checkpointId: number }
  | {
      readonly type: 'failed';
      /** undefined: it was refused before it got an id. */
      readonly checkpointId: number | undefined;
      readonly failure: CheckpointFailure;
      readonly message: string;
    };

export type CheckpointAction =
  /**
   * Make the directory of a savepoint, which begins when that is there. Answered by `placed` or `placeFailed`, in bounded
   * time; what comes after the request was answered is to be removed.
   */
  | { readonly type: 'makePlace'; readonly requestId: RequestId; readonly targetDirectory: string }
  /** Make the place if it is not there, snapshot enumerators, tell the sources. Answered by `triggered` or `triggerFailed`. */
  | {
      readonly type: 'trigger';
      readonly barrier: CheckpointBarrier;
      readonly requestId: RequestId | undefined;
      readonly isPeriodic: boolean;
    }
  /** Write the manifest of it. Answered by `stored` or `storeFailed`. Other stores may be under way. */
  | {
      readonly type: 'store';
      readonly checkpointId: number;
      readonly acknowledgements: readonly TaskAcknowledgement[];
    }
  /** Tell all tasks and coordinators that run: they may commit. */
  | { readonly type: 'notifyComplete'; readonly checkpointId: number }
  /** Tell all tasks and coordinators that it will never be complete. */
  | {
      readonly type: 'notifyAborted';
      readonly checkpointId: number;
      readonly failure: CheckpointFailure;
      readonly message: string;
    }
  /** Remove what was written for it; when nothing is left, answer with `discarded`. Try again later if it fails. */
  | { readonly type: 'discardFiles'; readonly checkpointId: number }
  /** Delete a completed checkpoint that is no longer retained. */
  | { readonly type: 'subsume'; readonly checkpointId: number }
  | { readonly type: 'answer'; readonly requestId: RequestId; readonly answer: CheckpointAnswer }
  /** After `taskFailed`: restore from this checkpoint (undefined: there is none). Not before this action. */
  | { readonly type: 'readyToRestore'; readonly checkpointId: number | undefined }
  /** The job has to fail (its restart strategy decides what then). */
  | { readonly type: 'failJob'; readonly code: ErrorCode; readonly message: string }
  /** No checkpoint completed for three intervals: tell people. Once, until one completes. */
  | { readonly type: 'alarm'; readonly sinceMs: number; readonly message: string }
  /** Send a `tick` at this monotonic time; replaces the wish before. undefined: none is needed. */
  | { readonly type: 'wakeAt'; readonly monotonicMs: number | undefined };
