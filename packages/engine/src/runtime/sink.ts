/**
 * The contract of sinks (Flink's Sink V2): a writer, and for exactly-once a committer.
 *
 * Two-phase commit. At a barrier the writer hands out committables (what was written since the last barrier, durable but
 * not visible) and goes on with something new. They are part of the checkpoint. After the checkpoint completed the
 * committer makes them visible. After a failure the committables of the restored checkpoint are committed again: commit
 * must be idempotent. What was written after that checkpoint is aborted at start, also what subtasks wrote that no longer
 * exist. The commit key is (lineage id, checkpoint id): a job that was forked from a savepoint never touches the
 * transactions of the other branch.
 */
import type { Logger } from '../base/index.ts';
import type { Platform } from '../platform/index.ts';
import type { TypeInformation } from '../types/index.ts';

/** How often a result appears: once, at least once, or without a promise. */
export type DeliveryGuarantee = 'exactly-once' | 'at-least-once' | 'none';

/** Where a stream ends. See `millrace/connector` for those who write one. */
export interface Sink<In, CommT = unknown, StateT = unknown> {
  /** What the sink guarantees with checkpointing on; shown in plans and documentation. */
  readonly guarantee: DeliveryGuarantee;
  /**
   * The writer of one subtask, with what the writers saved of the same subtask, or of others after a change of the
   * parallelism.
   */
  createWriter(
    context: SinkContext,
    restored: readonly StateT[],
  ): SinkWriter<In, CommT, StateT> | Promise<SinkWriter<In, CommT, StateT>>;
  /**
   * What makes visible what writers have prepared, after the checkpoint that holds it. Without it nothing is
   * committed.
   */
  createCommitter?(context: SinkContext): Committer<CommT>;
  readonly committableType?: TypeInformation<CommT>;
  readonly writerStateType?: TypeInformation<StateT>;
}

/** Where a writer or a committer runs. */
export interface SinkContext {
  readonly platform: Platform;
  readonly logger: Logger;
  readonly sinkName: string;
  readonly sinkUid: string;
  readonly jobId: string;
  /** Changes at every fork (a start from a path, not from `latest`); keys of transactions contain it. */
  readonly lineageId: string;
  readonly subtaskIndex: number;
  readonly parallelism: number;
  readonly attemptNumber: number;
  /** The checkpoint this execution was restored from; undefined for a fresh start. */
  readonly restoredCheckpointId: number | undefined;
  /** False if the job takes no checkpoints: then everything is committed at the end only. */
  readonly checkpointingEnabled: boolean;
  /** Hands results to the client of the job (the collect sink), in order. */
  deliver(channelId: string, values: readonly unknown[]): void;
  /** Fails the job. */
  fail(error: unknown): void;
}

/** Writes the records of one subtask. */
export interface SinkWriter<In, CommT, StateT> {
  /** Synchronous; may buffer. */
  write(value: In, timestampMs: number): void;
  /** The combined watermark of the input, in milliseconds since the epoch. */
  writeWatermark?(watermarkMs: number): void;
  /** A promise while the writer cannot take more; undefined when it can. Asked once a batch. Barriers come meanwhile. */
  busy?(): Promise<void> | undefined;
  /**
   * At a barrier, and once more at the end of input (checkpointId is then that of the final checkpoint, and `endOfInput` is
   * true: nothing may be held back). Before the first await the writer must have switched to something new; the promise may
   * make the old durable meanwhile.
   */
  prepareCommit(checkpointId: number, endOfInput: boolean): readonly CommT[] | Promise<readonly CommT[]>;
  /** Synchronous, right after prepareCommit was called. */
  snapshotState?(checkpointId: number): readonly StateT[];
  /** In every case, also after a failure. */
  close(): void | Promise<void>;
}

/** Makes visible what writers have prepared. */
export interface Committer<CommT> {
  /**
   * Makes the committables visible. Idempotent; rejects only if it must not be given up (retries of its own are its own).
   * `checkpointId` is undefined for committables that come from a restored checkpoint.
   */
  commit(committables: readonly CommT[], checkpointId: number | undefined): Promise<void>;
  /**
   * Once per start and subtask, after the restored committables were committed, before the writer is made: aborts what
   * earlier executions of this lineage left of this sink (`sinkUid`). What other subtasks have pending, restored or new, must
   * stay: go by checkpoint ids above the restored one. So must what other sinks have: those in another part of the job may be
   * running, as a part restarts alone.
   */
  abortLeftovers?(): Promise<void>;
  /** In every case, also after a failure. */
  close(): void | Promise<void>;
}
