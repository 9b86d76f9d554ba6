/**
 * The contract of sources (Flink's FLIP-27): splits, an enumerator that hands them out, readers that read them.
 *
 * Where they run: the enumerator beside the JobManager, readers in the tasks, in other threads. They talk by messages
 * through their contexts only; splits and enumerator state must therefore be structured-clonable plain data.
 *
 * Exactly-once. A reader's snapshot holds, for each of its splits, the position after the last record it emitted before
 * the barrier. The enumerator's snapshot holds what it has not handed out. A split is in exactly one of the two in every
 * checkpoint: assignments and barriers travel on one ordered path. Start positions ("latest", a directory listing) are
 * resolved once, before checkpoint 0, and are plain numbers from then on; restored positions are never filtered by a
 * live listing.
 */
import type { Logger } from '../base/index.ts';
import type { Platform } from '../platform/index.ts';
import type { TypeInformation } from '../types/index.ts';
import type { OperatorMetrics } from './operator.ts';

export type Boundedness = 'bounded' | 'unbounded';

/** A split: plain data with an id that is unique in the source. Its position, if any, is part of it. */
export interface SourceSplit {
  readonly splitId: string;
}

export interface Source<T, SplitT extends SourceSplit = SourceSplit, EnumT = unknown> {
  readonly boundedness: Boundedness;
  /** Of the records; undefined: undescribed. */
  readonly outputType?: TypeInformation<T>;
  createEnumerator(context: EnumeratorContext<SplitT>): SplitEnumerator<EnumT>;
  restoreEnumerator(context: EnumeratorContext<SplitT>, state: EnumT): SplitEnumerator<EnumT>;
  createReader(context: ReaderContext): SourceReader<T, SplitT>;
}

export interface EnumeratorContext<SplitT> {
  readonly platform: Platform;
  readonly logger: Logger;
  readonly sourceName: string;
  readonly parallelism: number;
  /** Gives a split to a reader. */
  assignSplit(split: SplitT, subtaskIndex: number): void;
  /** The reader gets no more splits: it ends when it has read those it has. */
  signalNoMoreSplits(subtaskIndex: number): void;
  /** Fails the job. */
  fail(error: unknown): void;
}

/** Calls do not overlap; a returned promise is awaited before the next call and before any snapshot. */
export interface SplitEnumerator<EnumT> {
  /** Resolves start positions. Called once, before anything else; after a restore as well. */
  start(): void | Promise<void>;
  /** A reader has registered (at the start and after every restart). */
  addReader(subtaskIndex: number): void | Promise<void>;
  /** A reader has nothing to read and asks for a split. */
  handleSplitRequest(subtaskIndex: number): void | Promise<void>;
  /** What is needed to go on: plain data. Synchronous. */
  snapshotState(): EnumT;
  close(): void | Promise<void>;
}

export interface ReaderContext {
  readonly platform: Platform;
  readonly logger: Logger;
  /** For error messages: the operator's name. */
  readonly sourceName: string;
  /** Of the source operator; undefined: nobody counts. */
  readonly metrics?: OperatorMetrics;
  readonly subtaskIndex: number;
  readonly parallelism: number;
  /** Asks the enumerator for a split; the answer comes as addSplits or noMoreSplits. */
  requestSplit(): void;
  /** Wakes the task loop: something became available. */
  wake(): void;
  /** Fails the task from outside a call. */
  fail(error: unknown): void;
}

export interface SourceOutput<T> {
  /** Without a timestamp the watermark strategy's assigner, or none, gives one. */
  collect(value: T, timestampMs?: number): void;
}

/** `more`: call again. `nothing`: nothing now; the reader calls context.wake() later. `end`: all splits are read and no more come. */
export type PollStatus = 'more' | 'nothing' | 'end';

/** All calls come from the task's thread and do not overlap. */
export interface SourceReader<T, SplitT> {
  start(): void | Promise<void>;
  addSplits(splits: readonly SplitT[]): void;
  noMoreSplits(): void;
  /** Emits at most about `maxRecords` records. Never blocks, never awaits; I/O happens beside it. */
  poll(output: SourceOutput<T>, maxRecords: number): PollStatus;
  /** The splits with their positions as of the last emitted record. Synchronous. */
  snapshotState(checkpointId: number): SplitT[];
  notifyCheckpointComplete?(checkpointId: number): void | Promise<void>;
  /**
   * Progress for reports: records or bytes that this reader has read since it began, and how many the whole source has
   * (all readers; undefined if it does not know).
   */
  progress?(): {
    readonly done: number;
    readonly total: number | undefined;
    readonly unit: 'records' | 'bytes';
  };
  close(): void | Promise<void>;
}
