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
import type { MetricGroup } from './metric-group.ts';

/** Whether a source comes to an end by itself. */
export type Boundedness = 'bounded' | 'unbounded';

/**
 * How often a record of a source takes effect when the job fails and goes on from a checkpoint. `at-most-once`: the
 * source cannot be read again, what was under way at the failure is lost.
 */
export type SourceGuarantee = 'exactly-once' | 'at-least-once' | 'at-most-once';

/** A split: plain data with an id that is unique in the source. Its position, if any, is part of it. */
export interface SourceSplit {
  readonly splitId: string;
}

/** Where records come from. See `millrace/connector` for those who write one. */
export interface Source<T, SplitT extends SourceSplit = SourceSplit, EnumT = unknown> {
  readonly boundedness: Boundedness;
  /** Default: `exactly-once`. */
  readonly guarantee?: SourceGuarantee;
  /** Of the records; undefined: undescribed. */
  readonly outputType?: TypeInformation<T>;
  /** The one that finds splits and hands them to readers; for a job that starts anew. */
  createEnumerator(context: EnumeratorContext<SplitT>): SplitEnumerator<EnumT>;
  /** The same for a job that goes on: `state` is what its enumerator has saved. */
  restoreEnumerator(context: EnumeratorContext<SplitT>, state: EnumT): SplitEnumerator<EnumT>;
  /** What reads the splits of one subtask. */
  createReader(context: ReaderContext): SourceReader<T, SplitT>;
}

/** Where an enumerator runs, and its way to the readers. */
export interface EnumeratorContext<SplitT> {
  readonly platform: Platform;
  readonly logger: Logger;
  readonly sourceName: string;
  readonly parallelism: number;
  /** Gives a split to a reader. */
  assignSplit(split: SplitT, subtaskIndex: number): void;
  /** The reader gets no more splits: it ends when it has read those it has. */
  signalNoMoreSplits(subtaskIndex: number): void;
  /** Tells a reader something that is not a split: plain data, in order with splits and barriers. Not in any snapshot. */
  sendEventToSourceReader(subtaskIndex: number, event: unknown): void;
  /**
   * Whether the source works off old records, whose results nobody waits for: then checkpoints are taken every
   * `execution.checkpointing.interval-during-backlog`, if that is set. False until it is called; holds until it is called
   * again. May be called at any time, also in `start`.
   */
  setIsProcessingBacklog(isProcessingBacklog: boolean): void;
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
  /** What a reader sent by `sendSourceEventToCoordinator`, in order with its requests. */
  handleSourceEvent?(subtaskIndex: number, event: unknown): void | Promise<void>;
  /** For reports: what readers were given so far, before a restore too, in the unit of their `progress`. */
  amountAssigned?(): number;
  /** What is needed to go on: plain data. Synchronous. */
  snapshotState(): EnumT;
  /** In every case, also after a failure. */
  close(): void | Promise<void>;
}

/** Where a reader runs, and its way to the enumerator. */
export interface ReaderContext {
  readonly platform: Platform;
  readonly logger: Logger;
  /** For error messages: the operator's name. */
  readonly sourceName: string;
  /** Of the source operator; undefined: nobody counts. */
  readonly metrics?: MetricGroup;
  readonly subtaskIndex: number;
  readonly parallelism: number;
  /** 0 for the first execution, then one more for each restart of the job in this process. */
  readonly attemptNumber: number;
  /** Asks the enumerator for a split; the answer comes as addSplits or noMoreSplits. */
  requestSplit(): void;
  /** Tells the enumerator something: plain data, in order with requests. */
  sendSourceEventToCoordinator(event: unknown): void;
  /** Wakes the task loop: something became available. */
  wake(): void;
  /** Fails the task from outside a call. */
  fail(error: unknown): void;
}

/** Where a reader puts records. */
export interface SourceOutput<T> {
  /** Without a timestamp the watermark strategy's assigner, or none, gives one. */
  collect(value: T, timestampMs?: number): void;
}

/** How far a reader has come. */
export interface ReaderProgress {
  /** Read by this reader since it began. */
  readonly done: number;
  /** What is left of the splits it has now; undefined: it does not know. */
  readonly left?: number | undefined;
  /** Of the whole source, all readers; undefined: it does not know, or has no end. */
  readonly total: number | undefined;
  readonly unit: 'records' | 'bytes';
}

/** `more`: call again. `nothing`: nothing now; the reader calls context.wake() later. `end`: all splits are read and no more come. */
export type PollStatus = 'more' | 'nothing' | 'end';

/** All calls come from the task's thread and do not overlap. */
export interface SourceReader<T, SplitT> {
  /** Before the first split. */
  start(): void | Promise<void>;
  /** Splits to read: new ones, or after a restore those of the snapshot. */
  addSplits(splits: readonly SplitT[]): void;
  /** When these are read the reader is at its end. */
  noMoreSplits(): void;
  /** What the enumerator sent by `sendEventToSourceReader`. */
  handleSourceEvents?(event: unknown): void;
  /** Emits at most `maxRecords` records. Never blocks, never awaits; I/O happens beside it. */
  poll(output: SourceOutput<T>, maxRecords: number): PollStatus;
  /** The splits with their positions as of the last emitted record. Synchronous. */
  snapshotState(checkpointId: number): SplitT[];
  /** After that checkpoint completed; not for every one, and not on time. */
  notifyCheckpointComplete?(checkpointId: number): void | Promise<void>;
  /** Progress for reports. */
  progress?(): ReaderProgress;
  /** In every case, also after a failure. */
  close(): void | Promise<void>;
}
