/**
 * The contract between an operator and whatever hosts it: the embedded engine, the test harness, the simulator, later a
 * Flink task. An operator knows no thread, no clock, no channel and no checkpoint storage. It is fed elements,
 * watermarks and time, and is asked for its state.
 *
 * Life: construct → setup → (state restored by the host before setup's context is handed over) → open →
 * process… / watermarks / timers / snapshots → endInput for each input → finish → close. `close` is called in every case,
 * after a failure too, once, and must not emit.
 *
 * Order: operators of a chain are opened tail first; `context.output` is final when `open` is called. `compile` comes after
 * `open`, once per input. For each element of a keyed operator the host sets the key first. A watermark: first the
 * event-time timers up to it (InternalTimerService.advanceWatermark, perhaps in slices, no element in between), then
 * `processWatermark`. As time goes on: first what was scheduled, then the timers of processing time. A snapshot: `prepareSnapshot`, the
 * barrier, `snapshotState`, operator state, keyed state, without an element in between; then the asynchronous part.
 * Time is not state: after a restore the inputs bring the watermark again.
 *
 * Threads: all calls come from one thread, never re-entrantly, except that `Output.collect` may call the next operator.
 *
 * Exactly-once: what changes results must be in keyed state, operator state or timers. `snapshotState` is called between
 * two elements, after `prepareSnapshot` and after the barrier was sent on; restoring means that the checkpoint completed.
 * (Sources for the shape: org.apache.flink.streaming.api.operators.StreamOperator; Hazelcast Jet's Processor.)
 */
import type { Logger } from '../base/index.ts';
import type { Platform } from '../platform/index.ts';
import type { KeyedStateBackend, OperatorStateBackend, TimerQueue } from '../state/index.ts';
import type { TypeInformation } from '../types/index.ts';
import type { ElementInHand } from './failed-element.ts';
import type { MetricGroup } from './metric-group.ts';
import type { Output } from './output.ts';

/** What timers call back. The backend's current key is the timer's key. */
export interface Triggerable<N> {
  onEventTime(timestampMs: number, namespace: N): void;
  onProcessingTime(timestampMs: number, namespace: N): void;
}

/** Timers of one operator, for the current key (InternalTimerService in Flink). */
export interface TimerService<N> {
  currentWatermark(): number;
  /** Milliseconds since the epoch, as the host says; constant within one batch. */
  currentProcessingTime(): number;
  registerEventTimeTimer(namespace: N, timestampMs: number): void;
  deleteEventTimeTimer(namespace: N, timestampMs: number): void;
  /** Deletes the timer of `from` at `fromMs` and registers one of `to` at `toMs`. */
  moveEventTimeTimer(from: N, fromMs: number, to: N, toMs: number): void;
  /** No event-time timer that was restored is later; -Infinity if there was none. */
  lastRestoredEventTime(): number;
  /** The same for timers of both kinds. */
  lastRestoredTime(): number;
  registerProcessingTimeTimer(namespace: N, timestampMs: number): void;
  deleteProcessingTimeTimer(namespace: N, timestampMs: number): void;
}

/** The job's identity, and the outside world, for sinks and sources only. The same for all operators of an execution. */
export interface OperatorServices {
  readonly platform: Platform;
  readonly logger: Logger;
  readonly jobId: string;
  readonly lineageId: string;
  readonly restoredCheckpointId: number | undefined;
  /** What the user gave the whole job. */
  readonly globalJobParameters: Readonly<Record<string, string>>;
  readonly checkpointingEnabled: boolean;
  /** Hands results to the client of the job (the collect sink), in order. `values` must be structured-clonable. */
  deliver(channelId: string, values: readonly unknown[]): void;
}

/** Elements of an operator list state that become known in the asynchronous part of a snapshot. */
export interface OperatorStateContribution {
  readonly name: string;
  readonly mode: 'split' | 'union';
  readonly type: TypeInformation<unknown> | undefined;
  readonly values: readonly unknown[];
}

/** Everything an operator may use. Handed over by `setup`. */
export interface OperatorContext<Out = unknown> {
  /** The name as the user sees it, and the uid (given or generated): for error messages. */
  readonly operatorName: string;
  readonly operatorUid: string;
  readonly jobName: string;
  readonly subtaskIndex: number;
  readonly parallelism: number;
  readonly maxParallelism: number;
  /** 0 for the first execution, then one more per restart. */
  readonly attemptNumber: number;
  /** True if state of this operator was restored (even if it was empty). */
  readonly isRestored: boolean;
  readonly output: Output<Out>;
  /** Names are Flink's where Flink has one, e.g. `numLateRecordsDropped`. */
  readonly metrics: MetricGroup;
  /** `platform` and `deliver` are for operators that reach out of the process (sinks, sources). */
  readonly services: OperatorServices;
  /** Asserts that the operator is keyed. */
  readonly keyedState: KeyedStateBackend;
  readonly operatorState: OperatorStateBackend;
  /** Timers with `name`, unique in the operator. Ask once, in `open`. Keyed operators only. */
  timerService<N>(name: string, namespace: TypeInformation<N>, triggerable: Triggerable<N>): TimerService<N>;
  /** Processing time as the host says: the wall clock, which may be set; constant within one batch. Not for intervals. */
  processingTimeMs(): number;
  /** For intervals: milliseconds since an arbitrary start, never going back, as the host says; constant within one batch. */
  monotonicMs(): number;
  /**
   * Asks the host to call `callback` at the given time, by `monotonicMs` (in the past: in the next turn), between two
   * elements, on the operator's thread, when outputs and the operators after this one can take what it emits. May be called
   * at any time. Not state: set it again in `open`. For what depends neither on keys nor on the wall clock: periodic
   * watermarks, asynchronous results.
   */
  schedule(atMonotonicMs: number, callback: (monotonicMs: number) => void): void;
  /** Wakes the host's loop after an asynchronous completion (async functions, committers). Any time, any place. */
  wake(): void;
  /** Fails the task from outside a call, e.g. from a rejected promise. */
  fail(error: unknown): void;
  /**
   * Wraps what user code threw: USER_FUNCTION_FAILED naming operator, subtask; an error that is wrapped already is returned
   * as it is. `element` is for calls outside `processElement`: there the host knows the record.
   */
  wrapUserError(error: unknown, what: string, element?: ElementInHand): Error;
}

/** What all operators have. Base class `AbstractStreamOperator`'s defaults live in operator-defaults.ts. */
export interface StreamOperator<Out = unknown> {
  setup(context: OperatorContext<Out>): void;
  /** May be asynchronous (a user's open() may await). No element comes before it resolved. */
  open(): void | Promise<void>;
  /** The combined watermark of all inputs. Timers up to it have fired already when the host calls this. */
  processWatermark(watermarkMs: number): void;
  processWatermarkStatus(idle: boolean): void;
  /** Before the barrier is sent on: emit what must be before it. */
  prepareSnapshot?(checkpointId: number): void;
  /**
   * Puts what is not in keyed state into operator state. Synchronous and short. A returned promise is the asynchronous
   * part (e.g. syncing a pending file): the checkpoint is acknowledged after it resolved, and declined if it rejects. It
   * must not touch operator state any more, but may resolve to contributions: elements that this snapshot holds in addition
   * under their state's name (which must not be registered with elements of its own in the same snapshot).
   */
  snapshotState?(checkpointId: number): void | Promise<readonly OperatorStateContribution[]>;
  /** The checkpoint completed (never for one that was aborted). A rejected promise fails the task. */
  notifyCheckpointComplete?(checkpointId: number): void | Promise<void>;
  notifyCheckpointAborted?(checkpointId: number): void;
  /** No more elements on this input (0 or 1). */
  endInput?(input: 0 | 1): void;
  /** All inputs have ended and all timers that will fire have fired: flush. May be asynchronous. */
  finish?(): void | Promise<void>;
  /**
   * A promise while the operator cannot take more elements (a full async buffer, a slow disk), and after `endInput` while it
   * has not emitted all it will before `finish`; undefined otherwise. Asked once a batch. Meanwhile the host feeds no records
   * and fires no timers, but watermarks, barriers and scheduled calls go on.
   */
  busy?(): Promise<void> | undefined;
  close?(): void | Promise<void>;
}

/**
 * How the chain's generator may inline an operator instead of calling it: `fn(value)` in its caller's loop. `refuse` makes
 * the error for a result that is not allowed: of a map a promise, of a filter anything but true and false.
 */
export interface InlineForm {
  readonly kind: 'map' | 'filter';
  readonly fn: (value: never) => unknown;
  readonly refuse: (result: unknown) => Error;
}

export interface OneInputOperator<In = unknown, Out = unknown> extends StreamOperator<Out> {
  /** For keyed operators the backend's current key is set (unless the records of an input have no keys). */
  processElement(value: In, timestampMs: number): void;
  readonly inline?: InlineForm;
  /**
   * Makes a version of `processElement` for this instance alone (base/generated-code.ts says why). `label` names it in
   * stacks and profiles. Called after `open`. Default: processElement is called.
   */
  compile?(label: string): (value: In, timestampMs: number) => void;
}

export interface TwoInputOperator<In1 = unknown, In2 = unknown, Out = unknown> extends StreamOperator<Out> {
  processElement1(value: In1, timestampMs: number): void;
  processElement2(value: In2, timestampMs: number): void;
  compile1?(label: string): (value: In1, timestampMs: number) => void;
  compile2?(label: string): (value: In2, timestampMs: number) => void;
}

export type AnyOperator = OneInputOperator<never, never> | TwoInputOperator<never, never, never>;

/** Makes a fresh operator for one subtask and attempt. */
export type OperatorFactory = () => AnyOperator;

/** Timers of a queue plus the queue itself, as hosts drive them. Re-exported for hosts and the harness. */
export type { TimerQueue };
