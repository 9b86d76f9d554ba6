/**
 * Windows of a keyed stream (org.apache.flink.streaming.runtime.operators.windowing.WindowOperator).
 *
 *     element ─► assigner ─► for each window: late? ─► contents.add ─► trigger ─► FIRE: window function ─► results
 *     timer ───────────────────────────────────────────────────────► trigger ─► FIRE; at clean-up time: window removed
 *
 * A window is late when its clean-up time, maxTimestamp + allowed lateness, is not after the watermark. An element none of
 * whose windows took it, and that is late itself, goes to the late side output or is counted (numLateRecordsDropped).
 * Results get the timestamp maxTimestamp.
 *
 * Invariants:
 * I1 A window that has contents has a clean-up timer (but for those that end beyond the end of time).
 * I2 Of merging windows, contents are kept under the state window (merging-window-set.ts), timers under the window itself.
 */
import { MAX_WATERMARK, MillraceError, NO_TIMESTAMP } from '../../base/index.ts';
import type { OneInputOperator, TimerService, Triggerable } from '../../runtime/index.ts';
import { type ListState, ListStateDescriptor } from '../../state/index.ts';
import { Types } from '../../types/index.ts';
import type { Collector, FunctionOrFactory, ProcessWindowFunction, WindowFunction } from '../functions.ts';
import { FunctionOperator } from '../operator-defaults.ts';
import type { OutputTag } from '../output-tag.ts';
import { specialise } from '../specialise.ts';
import { assertSynchronous, describe, refuseResult, resultNotAllowed } from '../user-result.ts';
import { makeFixedWindowAdd } from './fixed-window-add.ts';
import { MergingWindowSet, type WindowAndState, type WindowMerge } from './merging-window-set.ts';
import { TIME_WINDOW_TYPE, TimeWindow } from './time-window.ts';
import { EventTimeTrigger, ProcessingTimeTrigger, type Trigger, type TriggerResult } from './trigger.ts';
import type { WindowAssigner } from './window-assigner.ts';
import {
  checkContentsSpec,
  createWindowContents,
  type WindowContents,
  type WindowContentsSpec,
} from './window-contents.ts';
import { WindowFunctionContext, WindowTriggerContext } from './window-function-context.ts';

/** What is done with the contents when a window fires. */
export type WindowEvaluation<K, Content, Out> =
  | {
      readonly kind: 'process';
      readonly fn: FunctionOrFactory<ProcessWindowFunction<Content, Out, K, TimeWindow>>;
    }
  | { readonly kind: 'apply'; readonly fn: WindowFunction<Content, Out, K, TimeWindow> };

export interface WindowOptions<K, In, Acc, Content, Out> {
  readonly assigner: WindowAssigner<In>;
  /** The assigner's default trigger if undefined. */
  readonly trigger?: Trigger<In>;
  /** How long after its end a window still takes elements; 0 if undefined. Event time only. */
  readonly allowedLatenessMs?: number;
  /** Where late elements go; undefined: they are counted and dropped. */
  readonly lateTag?: OutputTag<In>;
  readonly contents: WindowContentsSpec<In, Acc, Content>;
  /** undefined: the contents themselves are emitted. */
  readonly evaluation?: WindowEvaluation<K, Content, Out>;
}

/** Flink's names of the timers and of the set of merging windows. */
const WINDOW_TIMERS = 'window-timers';
const MERGING_WINDOW_SET = 'merging-window-set';

const FUNCTION = 'window function';
const CLEAR = 'clear method of the window function';
const TRIGGER = 'trigger';

export class WindowOperator<K, In, Acc, Content, Out>
  extends FunctionOperator<ProcessWindowFunction<Content, Out, K, TimeWindow>, Out>
  implements OneInputOperator<In, Out>, Triggerable<TimeWindow>
{
  private readonly options: WindowOptions<K, In, Acc, Content, Out>;
  private readonly assigner: WindowAssigner<In>;
  private readonly trigger: Trigger<In>;
  /** The assigner's own trigger: its timers are known, and some of the work of I1 need not be done twice. */
  private readonly hasDefaultTrigger: boolean;
  private readonly latenessMs: number;
  private contents!: WindowContents<In>;
  private timers!: TimerService<TimeWindow>;
  private triggerContext!: WindowTriggerContext;
  private functionContext!: WindowFunctionContext;
  private mergingSets: ListState<WindowAndState> | undefined;
  private lateRecordsDropped!: { inc(): void };
  private process!: (value: In, timestampMs: number) => void;
  private readonly out: Collector<Out> = {
    collect: (value) => this.context.output.collect(value, this.functionContext.current.maxTimestamp()),
  };

  /** Throws INVALID_ARGUMENT for options that do not fit, PROMISE_NOT_EXPECTED for async functions. */
  constructor(options: WindowOptions<K, In, Acc, Content, Out>) {
    super(windowFunctionOf(options.evaluation), ['process', 'clear', 'snapshotState'], true);
    checkContentsSpec(options.contents);
    this.options = options;
    this.assigner = options.assigner;
    this.trigger = options.trigger ?? options.assigner.getDefaultTrigger();
    const defaultTrigger = this.assigner.isEventTime ? EventTimeTrigger : ProcessingTimeTrigger;
    this.hasDefaultTrigger = this.trigger.constructor === defaultTrigger;
    this.latenessMs = options.allowedLatenessMs ?? 0;
    if (!Number.isSafeInteger(this.latenessMs) || this.latenessMs < 0) {
      throw invalid(
        `The allowed lateness must be an integer of at least 0 (milliseconds), found ${describe(this.latenessMs)}.`,
      );
    }
    if (this.assigner.isMerging && !(this.trigger.canMerge() && this.trigger.onMerge !== undefined)) {
      throw invalid(
        `${this.assigner} merges windows, but the trigger cannot: its canMerge() answers false or onMerge is missing.`,
      );
    }
  }

  processElement(value: In, timestampMs: number): void {
    this.process(value, timestampMs);
  }

  compile(label: string): (value: In, timestampMs: number) => void {
    const { grid, isEventTime } = this.assigner;
    this.process = (value, timestampMs) => this.addElement(value, timestampMs);
    if (grid !== undefined && this.hasDefaultTrigger) {
      this.process = specialise(
        makeFixedWindowAdd<In>,
        label,
      )({
        ...grid,
        state: this.contents.fast,
        scratch: new TimeWindow(),
        timers: this.timers,
        isEventTime,
        noTimestamp: NO_TIMESTAMP,
        addSlowly: (startMs, value, timestampMs) =>
          this.addToWindow(new TimeWindow(startMs, startMs + grid.sizeMs), undefined, value, timestampMs),
        skipped: (value, timestampMs) => this.handleSkipped(value, timestampMs),
        missingTimestamp: () => this.missingTimestamp(),
        wrap: this.wrapper(this.contentsWhat),
      });
    }
    return this.process;
  }

  onEventTime(timestampMs: number, window: TimeWindow): void {
    this.onTimer(window, timestampMs, true);
  }

  onProcessingTime(timestampMs: number, window: TimeWindow): void {
    this.onTimer(window, timestampMs, false);
  }

  protected override prepare(): void {
    const { context, assigner } = this;
    this.contents = createWindowContents(context.keyedState, this.options.contents, context.operatorName);
    this.timers = context.timerService(WINDOW_TIMERS, TIME_WINDOW_TYPE, this);
    this.triggerContext = new WindowTriggerContext(this.timers);
    this.functionContext = new WindowFunctionContext(context, this.timers, assigner.isMerging);
    this.lateRecordsDropped = context.metrics.counter('numLateRecordsDropped');
    if (assigner.isMerging) {
      const pair = Types.TUPLE(TIME_WINDOW_TYPE, TIME_WINDOW_TYPE);
      this.mergingSets = context.keyedState.getListState(
        new ListStateDescriptor<WindowAndState>(MERGING_WINDOW_SET, pair),
      );
    }
    this.compile('window');
  }

  /** The general way: any assigner, any trigger. */
  private addElement(value: In, timestampMs: number): void {
    const { assigner } = this;
    if (assigner.isEventTime && timestampMs === NO_TIMESTAMP) throw this.missingTimestamp();
    const timeMs = assigner.isEventTime ? timestampMs : this.timers.currentProcessingTime();
    let windows: TimeWindow[];
    try {
      windows = assigner.assignWindows(value, timeMs);
    } catch (error) {
      throw this.context.wrapUserError(error, 'window assigner');
    }
    const set = this.loadMergingSet();
    let isSkipped = true;
    for (const window of windows) {
      const actual = set === undefined ? window : this.mergeInto(set, window);
      if (this.addToWindow(actual, set, value, timestampMs)) isSkipped = false;
    }
    this.storeMergingSet(set);
    if (isSkipped) this.handleSkipped(value, timestampMs);
  }

  /** False if the window is late. */
  private addToWindow(
    window: TimeWindow,
    set: MergingWindowSet | undefined,
    value: In,
    timestampMs: number,
  ): boolean {
    if (this.isLate(window)) {
      set?.retire(window);
      return false;
    }
    if (!Number.isSafeInteger(window.end)) throw this.windowOutOfRange(window);
    this.contents.setNamespace(set?.stateWindowOf(window) ?? window);
    try {
      this.contents.add(value);
    } catch (error) {
      throw this.context.wrapUserError(error, this.contentsWhat);
    }
    this.triggerContext.window = window;
    const result = this.askTrigger(() =>
      this.trigger.onElement(value, timestampMs, window, this.triggerContext),
    );
    this.act(result, window);
    this.registerCleanupTimer(window);
    return true;
  }

  /** Adds a window to the set, moves state and timers as it says, and answers the window that holds it now. */
  private mergeInto(set: MergingWindowSet, added: TimeWindow): TimeWindow {
    const { window, merge } = set.add(added);
    if (merge !== undefined) this.applyMerge(merge);
    return window;
  }

  private applyMerge(merge: WindowMerge): void {
    const { trigger, triggerContext } = this;
    triggerContext.window = merge.result;
    this.askTrigger(() => trigger.onMerge!(merge.result, triggerContext));
    for (const window of merge.merged) {
      triggerContext.window = window;
      this.askTrigger(() => trigger.clear(window, triggerContext));
      this.deleteCleanupTimer(window);
    }
    if (merge.mergedStateWindows.length === 0) return;
    try {
      this.contents.mergeNamespaces(merge.stateWindow, merge.mergedStateWindows);
    } catch (error) {
      throw this.context.wrapUserError(error, this.contentsWhat);
    }
  }

  private onTimer(window: TimeWindow, timestampMs: number, isEventTime: boolean): void {
    const set = this.loadMergingSet();
    const stateWindow = set === undefined ? window : set.stateWindowOf(window);
    // The timer of a merging window that is gone: timers of triggers that did not delete them.
    if (stateWindow === undefined) return;
    const { trigger, triggerContext } = this;
    this.contents.setNamespace(stateWindow);
    triggerContext.window = window;
    const result = this.askTrigger(() =>
      isEventTime
        ? trigger.onEventTime(timestampMs, window, triggerContext)
        : trigger.onProcessingTime(timestampMs, window, triggerContext),
    );
    this.act(result, window);
    if (isEventTime === this.assigner.isEventTime && timestampMs === this.cleanupTime(window)) {
      this.removeWindow(window, set);
    }
    this.storeMergingSet(set);
  }

  /** The namespace of the contents is that of the window. */
  private act(result: TriggerResult, window: TimeWindow): void {
    if (result === 'CONTINUE') return;
    if (result === 'FIRE' || result === 'FIRE_AND_PURGE') this.emit(window);
    if (result === 'PURGE' || result === 'FIRE_AND_PURGE') this.contents.clear();
  }

  private emit(window: TimeWindow): void {
    let elements: readonly unknown[] | undefined;
    try {
      elements = this.contents.elements();
    } catch (error) {
      throw this.context.wrapUserError(error, this.contentsWhat);
    }
    if (elements === undefined) return;
    this.functionContext.current = window;
    let result: unknown;
    try {
      const key = this.context.keyedState.currentKey as K;
      result = this.fn.process(key, this.functionContext, elements as readonly Content[], this.out);
    } catch (error) {
      throw this.context.wrapUserError(error, FUNCTION);
    }
    if (result !== undefined) refuseResult(result, FUNCTION, this.context.operatorName);
  }

  private removeWindow(window: TimeWindow, set: MergingWindowSet | undefined): void {
    this.contents.clear();
    // At the clean-up time the one timer of a default trigger has fired.
    if (!this.hasDefaultTrigger) {
      this.triggerContext.window = window;
      this.askTrigger(() => this.trigger.clear(window, this.triggerContext));
    }
    set?.retire(window);
    if (this.fn.clear === undefined) return;
    this.functionContext.current = window;
    let result: unknown;
    try {
      result = this.fn.clear(this.functionContext);
    } catch (error) {
      throw this.context.wrapUserError(error, CLEAR);
    }
    if (result !== undefined) refuseResult(result, CLEAR, this.context.operatorName);
  }

  private handleSkipped(value: In, timestampMs: number): void {
    if (!this.assigner.isEventTime || timestampMs + this.latenessMs > this.timers.currentWatermark()) return;
    const tag = this.options.lateTag;
    if (tag === undefined) this.lateRecordsDropped.inc();
    else this.context.output.collectSide(tag.id, value, timestampMs);
  }

  private isLate(window: TimeWindow): boolean {
    return this.assigner.isEventTime && this.cleanupTime(window) <= this.timers.currentWatermark();
  }

  private cleanupTime(window: TimeWindow): number {
    if (!this.assigner.isEventTime) return window.maxTimestamp();
    return Math.min(window.maxTimestamp() + this.latenessMs, MAX_WATERMARK);
  }

  private registerCleanupTimer(window: TimeWindow): void {
    const timeMs = this.cleanupTime(window);
    if (timeMs === MAX_WATERMARK || this.triggerSetsCleanupTimer) return;
    if (this.assigner.isEventTime) this.timers.registerEventTimeTimer(window, timeMs);
    else this.timers.registerProcessingTimeTimer(window, timeMs);
  }

  private deleteCleanupTimer(window: TimeWindow): void {
    const timeMs = this.cleanupTime(window);
    if (timeMs === MAX_WATERMARK || this.triggerSetsCleanupTimer) return;
    if (this.assigner.isEventTime) this.timers.deleteEventTimeTimer(window, timeMs);
    else this.timers.deleteProcessingTimeTimer(window, timeMs);
  }

  /** The default triggers set a timer at the end of the window: without lateness that is the clean-up time. */
  private get triggerSetsCleanupTimer(): boolean {
    return this.hasDefaultTrigger && (this.latenessMs === 0 || !this.assigner.isEventTime);
  }

  private loadMergingSet(): MergingWindowSet | undefined {
    return this.mergingSets === undefined ? undefined : new MergingWindowSet(this.mergingSets.get());
  }

  private storeMergingSet(set: MergingWindowSet | undefined): void {
    if (set?.isChanged) this.mergingSets!.update(set.contents);
  }

  private askTrigger<R>(call: () => R): R {
    let result: R;
    try {
      result = call();
    } catch (error) {
      throw this.context.wrapUserError(error, TRIGGER);
    }
    if (result instanceof Promise)
      throw resultNotAllowed(result, TRIGGER, this.context.operatorName, 'its answer');
    return result;
  }

  private get contentsWhat(): string {
    const { kind } = this.options.contents;
    return kind === 'elements' ? 'window contents' : `${kind} function`;
  }

  private missingTimestamp(): MillraceError {
    const operator = this.context.operatorName;
    return new MillraceError(
      'TIMESTAMP_MISSING',
      `Operator '${operator}' has windows of event time (${this.assigner}), but a record has no timestamp. ` +
        'Did you forget the watermark strategy of the source, or assignTimestampsAndWatermarks?',
      { details: { operator } },
    );
  }

  private windowOutOfRange(window: TimeWindow): MillraceError {
    const operator = this.context.operatorName;
    const message = `Operator '${operator}': the window ${window} of a record ends beyond the largest timestamp, ${MAX_WATERMARK}.`;
    return new MillraceError('TIMESTAMP_INVALID', message, { details: { operator } });
  }
}

/** The user's function, or one that stands for its absence, as an object with `process`. */
function windowFunctionOf<K, Content, Out>(
  evaluation: WindowEvaluation<K, Content, Out> | undefined,
): FunctionOrFactory<ProcessWindowFunction<Content, Out, K, TimeWindow>> {
  if (evaluation === undefined) {
    return () => ({
      process: (_key, _context, elements, out) => {
        for (const element of elements) out.collect(element as unknown as Out);
      },
    });
  }
  if (evaluation.kind === 'process') return evaluation.fn;
  const { fn } = evaluation;
  assertSynchronous(fn, FUNCTION);
  return () => ({ process: (key, context, elements, out) => fn(key, context.window(), elements, out) });
}

function invalid(message: string): MillraceError {
  return new MillraceError('INVALID_ARGUMENT', message);
}
