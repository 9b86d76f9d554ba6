/**
 * Windows of a keyed stream (org.apache.flink.streaming.runtime.operators.windowing.WindowOperator).
 *
 *     element ─► assigner ─► for each window: late? ─► contents.add ─► trigger ─► FIRE: window function ─► results
 *     timer ───────────────────────────────────────────────────────► trigger ─► FIRE; at clean-up time: window removed
 *
 * Windows, assigners, triggers and evictors may be the user's own; windows of a whole stream are those of one key.
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
import { type TypeInformation, Types } from '../../types/index.ts';
import type { Collector } from '../functions.ts';
import { FunctionOperator } from '../operator-defaults.ts';
import type { OutputTag } from '../output-tag.ts';
import { specialise } from '../specialise.ts';
import { assertMethods, describe, refuseResult, resultNotAllowed } from '../user-result.ts';
import { createEvictingContents } from './evicting-contents.ts';
import type { Evictor } from './evictor.ts';
import { makeFixedWindowAdd } from './fixed-window-add.ts';
import { EVENT_TIMERS, KnownTimers, PROCESSING_TIMERS } from './known-timers.ts';
import {
  type MergingRules,
  MergingWindowSet,
  type WindowAndState,
  type WindowMerge,
  windowEquality,
} from './merging-window-set.ts';
import { makeSessionAdd } from './session-add.ts';
import { EventTimeTrigger, ProcessingTimeTrigger } from './time-trigger.ts';
import { isInRange, TIME_WINDOW_TYPE, TimeWindow } from './time-window.ts';
import type { Trigger, TriggerResult } from './trigger.ts';
import { makeTriggeredWindowAdd } from './triggered-window-add.ts';
import { Window } from './window.ts';
import {
  type FixedWindowGrid,
  gridOf,
  isMerging,
  isSessions,
  type MergingWindowAssigner,
  type WindowAssigner,
  type WindowAssignerContext,
} from './window-assigner.ts';
import {
  checkContentsSpec,
  createWindowContents,
  type FastContents,
  type WindowContents,
  type WindowContentsSpec,
} from './window-contents.ts';
import {
  type AnyWindowFunction,
  type CallWindowFunction,
  WINDOW_FUNCTION,
  type WindowEvaluation,
  windowCall,
  windowFunctionOf,
} from './window-evaluation.ts';
import { WindowFunctionContext, WindowTriggerContext } from './window-function-context.ts';
import { mergedIntoThePast, missingTimestamp, windowOutOfRange } from './wrong-window.ts';

export interface WindowOptions<K, In, Acc, Content, Out, W extends Window = TimeWindow> {
  readonly assigner: WindowAssigner<In, W>;
  /** The assigner's default trigger if undefined. */
  readonly trigger?: Trigger<In, NoInfer<W>>;
  /** With an evictor all elements are kept, and reduced only when the window fires. */
  readonly evictor?: Evictor<In, NoInfer<W>>;
  /** How long after its end a window still takes elements; 0 if undefined. Event time only. */
  readonly allowedLatenessMs?: number;
  /** Where late elements go; undefined: they are counted and dropped. */
  readonly lateTag?: OutputTag<In>;
  readonly contents: WindowContentsSpec<In, Acc, Content>;
  /** undefined: the contents themselves are emitted. */
  readonly evaluation?: WindowEvaluation<K, Content, Out, W>;
}

/** Flink's names of the timers and of the set of merging windows. */
const WINDOW_TIMERS = 'window-timers';
const MERGING_WINDOW_SET = 'merging-window-set';

const CLEAR = 'clear method of the window function';
const TRIGGER = 'trigger';
const ASSIGNER = 'window assigner';
const RESULTS = "'CONTINUE', 'FIRE', 'PURGE' or 'FIRE_AND_PURGE'";

export class WindowOperator<K, In, Acc, Content, Out, W extends Window = TimeWindow>
  extends FunctionOperator<AnyWindowFunction<K, Content, Out, W>, Out>
  implements OneInputOperator<In, Out>, Triggerable<W>
{
  private readonly options: WindowOptions<K, In, Acc, Content, Out, W>;
  private readonly assigner: WindowAssigner<In, W>;
  private readonly isEventTime: boolean;
  private readonly trigger: Trigger<In, W>;
  /** The assigner's own trigger: its timers are known, and some of the work of I1 need not be done twice. */
  private readonly hasDefaultTrigger: boolean;
  private readonly latenessMs: number;
  /** Undefined where it is of no use: default triggers register little, windows that merge have others each time. */
  private known: KnownTimers | undefined;
  private contents!: WindowContents<In, W>;
  private timers!: TimerService<W>;
  private assignerContext!: WindowAssignerContext;
  private triggerContext!: WindowTriggerContext<W>;
  private functionContext!: WindowFunctionContext<W>;
  private mergingRules!: MergingRules<W>;
  private mergingSets: ListState<WindowAndState<W>> | undefined;
  private lateRecordsDropped!: { inc(): void };
  private process!: (value: In, timestampMs: number) => void;
  private call!: CallWindowFunction<K, Content, Out, W>;
  private readonly out: Collector<Out> = {
    collect: (value) => this.context.output.collect(value, this.functionContext.current.maxTimestamp()),
  };

  /** Throws INVALID_ARGUMENT for options that do not fit, PROMISE_NOT_EXPECTED for async functions. */
  constructor(options: WindowOptions<K, In, Acc, Content, Out, W>) {
    super(windowFunctionOf(options.evaluation), ['process', 'clear', 'snapshotState'], true);
    checkContentsSpec(options.contents);
    checkUserParts(options);
    this.options = options;
    this.assigner = options.assigner;
    this.isEventTime = options.assigner.isEventTime();
    this.trigger = options.trigger ?? options.assigner.getDefaultTrigger();
    const defaultTrigger = this.isEventTime ? EventTimeTrigger : ProcessingTimeTrigger;
    this.hasDefaultTrigger = this.trigger.constructor === defaultTrigger;
    this.latenessMs = options.allowedLatenessMs ?? 0;
    if (!Number.isSafeInteger(this.latenessMs) || this.latenessMs < 0) {
      throw invalid(
        `The allowed lateness must be an integer of at least 0 (milliseconds), found ${describe(this.latenessMs)}.`,
      );
    }
    if (isMerging(this.assigner) && !(this.trigger.canMerge() && this.trigger.onMerge !== undefined)) {
      throw invalid(
        `${this.assigner} merges windows, but the trigger cannot: its canMerge() answers false or onMerge is missing.`,
      );
    }
  }

  processElement(value: In, timestampMs: number): void {
    this.process(value, timestampMs);
  }

  compile(label: string): (value: In, timestampMs: number) => void {
    const addElement = (value: In, timestampMs: number): void => this.addElement(value, timestampMs);
    this.process = addElement;
    const grid = gridOf(this.assigner);
    const state = this.contents.fast;
    if (grid !== undefined && !this.hasDefaultTrigger) this.compileTriggered(grid, label);
    else if (grid !== undefined && state !== undefined) this.compileFixed(grid, state, label);
    if (isSessions(this.assigner) && this.isEventTime && this.hasDefaultTrigger) this.compileSessions(label);
    return this.process;
  }

  // An assigner with a grid has windows of time.
  private compileFixed(grid: FixedWindowGrid, state: FastContents<In, W>, label: string): void {
    const wrap = this.wrapper(this.contentsWhat);
    this.process = specialise(
      makeFixedWindowAdd<In>,
      label,
    )({
      ...grid,
      state: state as unknown as FastContents<In, TimeWindow>,
      scratch: new TimeWindow(),
      timers: this.timers as unknown as TimerService<TimeWindow>,
      isEventTime: this.isEventTime,
      noTimestamp: NO_TIMESTAMP,
      ...this.timersMissing(),
      renewTimers: (startMs) => this.renewTimers(gridWindow<W>(startMs, grid.sizeMs)),
      addSlowly: (startMs, value, timestampMs, isCurrent) =>
        this.addToWindow(gridWindow<W>(startMs, grid.sizeMs), undefined, value, timestampMs, isCurrent),
      skipped: (value, timestampMs) => this.handleSkipped(value, timestampMs),
      missingTimestamp: () => this.missingTimestamp(),
      failed: (startMs, error) => {
        const window = gridWindow<W>(startMs, grid.sizeMs);
        return isInRange(window) ? wrap(error) : this.windowOutOfRange(window);
      },
    });
  }

  private compileTriggered(grid: FixedWindowGrid, label: string): void {
    const contents = this.contents as unknown as WindowContents<In, TimeWindow>;
    this.process = specialise(
      makeTriggeredWindowAdd<In>,
      label,
    )({
      ...grid,
      contents,
      fast: contents.fast,
      trigger: this.trigger as unknown as Trigger<In>,
      triggerContext: this.triggerContext as unknown as WindowTriggerContext<TimeWindow>,
      known: this.known,
      timers: this.timers,
      isEventTime: this.isEventTime,
      latenessMs: this.latenessMs,
      restoredUntilMs: this.timers.lastRestoredTime(),
      noTimestamp: NO_TIMESTAMP,
      maxWatermark: MAX_WATERMARK,
      windowAt: (startMs) => {
        const window = gridWindow<W>(startMs, grid.sizeMs);
        if (!isInRange(window)) throw this.windowOutOfRange(window);
        return window as unknown as TimeWindow;
      },
      act: (result, window) => this.act(result, window as unknown as W),
      skipped: (value, timestampMs) => this.handleSkipped(value, timestampMs),
      missingTimestamp: () => this.missingTimestamp(),
      contentsFailed: this.wrapper(this.contentsWhat),
      triggerFailed: this.wrapper(TRIGGER),
    });
  }

  private compileSessions(label: string): void {
    // Sessions are windows of time.
    const of = (window: TimeWindow): W => window as unknown as W;
    this.process = specialise(
      makeSessionAdd<In>,
      label,
    )({
      sets: this.mergingSets as unknown as ListState<WindowAndState<TimeWindow>>,
      contents: this.contents as unknown as WindowContents<In, TimeWindow>,
      timers: this.timers,
      assign: (value, timestampMs) => {
        if (timestampMs === NO_TIMESTAMP) return undefined;
        const windows: readonly Window[] = this.assignWindows(value, timestampMs);
        const [window] = windows;
        return windows.length === 1 && window instanceof TimeWindow ? window : undefined;
      },
      isInRange,
      ...this.timersMissing(),
      moveTimers: (window, grown) => this.moveTimers(of(window), of(grown)),
      addSlowly: (value, timestampMs) => this.addElement(value, timestampMs),
      failed: (error) => this.context.wrapUserError(error, this.contentsWhat),
    });
  }

  /** Which windows may lack timers after a restart though they have contents: those that had fired and were kept. */
  private timersMissing(): { readonly restoredUntilMs: number; readonly keptFromMs: number } {
    const { isEventTime, latenessMs } = this;
    return {
      restoredUntilMs: isEventTime ? this.timers.lastRestoredEventTime() : Number.NEGATIVE_INFINITY,
      keptFromMs: isEventTime && latenessMs > 0 ? MAX_WATERMARK - latenessMs : Number.POSITIVE_INFINITY,
    };
  }

  onEventTime(timestampMs: number, window: W): void {
    this.onTimer(window, timestampMs, true);
  }

  onProcessingTime(timestampMs: number, window: W): void {
    this.onTimer(window, timestampMs, false);
  }

  protected override prepare(): void {
    const { context, assigner, options } = this;
    const { windowType } = assigner;
    const { operatorName, keyedState } = context;
    this.timers = context.timerService(WINDOW_TIMERS, windowType, this);
    this.assignerContext = { getCurrentProcessingTime: () => this.timers.currentProcessingTime() };
    const parts = { context, timers: this.timers, windowType };
    // Start and end are what tells these windows apart.
    const isTime = (windowType as unknown) === TIME_WINDOW_TYPE;
    if (isTime && !this.hasDefaultTrigger && !isMerging(assigner)) this.known = new KnownTimers(keyedState);
    const cleanup = { isEventTime: this.isEventTime, timeOf: (window: W) => this.cleanupTimerOf(window) };
    this.triggerContext = new WindowTriggerContext(parts, cleanup, this.known);
    this.functionContext = new WindowFunctionContext(parts, isMerging(assigner));
    this.contents =
      options.evictor === undefined
        ? createWindowContents(keyedState, options.contents, windowType, operatorName)
        : createEvictingContents({
            backend: keyedState,
            spec: options.contents,
            windowType,
            evictor: options.evictor,
            evictorContext: this.triggerContext,
            operatorName,
            wrap: (error, what) => context.wrapUserError(error, what),
          });
    this.call = windowCall(options.evaluation, this.fn);
    this.lateRecordsDropped = context.metrics.counter('numLateRecordsDropped');
    if (isMerging(assigner)) this.prepareMerging(assigner);
    this.compile('window');
  }

  private prepareMerging(assigner: MergingWindowAssigner<In, W>): void {
    const { windowType } = assigner;
    const pair = Types.TUPLE(windowType, windowType) as TypeInformation<WindowAndState<W>>;
    this.mergingSets = this.context.keyedState.getListState(
      new ListStateDescriptor<WindowAndState<W>>(MERGING_WINDOW_SET, pair),
    );
    this.mergingRules = {
      isSame: windowEquality(windowType),
      mergeWindows: (windows, callback) => assigner.mergeWindows(windows, callback),
    };
  }

  /** The general way: any assigner, any trigger. */
  private addElement(value: In, timestampMs: number): void {
    if (this.isEventTime && timestampMs === NO_TIMESTAMP) throw this.missingTimestamp();
    const set = this.loadMergingSet();
    let isSkipped = true;
    for (const window of this.assignWindows(value, timestampMs)) {
      const actual = set === undefined ? window : this.mergeInto(set, window);
      if (this.addToWindow(actual, set, value, timestampMs)) isSkipped = false;
    }
    this.storeMergingSet(set);
    if (isSkipped) this.handleSkipped(value, timestampMs);
  }

  private assignWindows(value: In, timestampMs: number): readonly W[] {
    try {
      const answer = this.assigner.assignWindows(value, timestampMs, this.assignerContext);
      if (typeof answer?.[Symbol.iterator] !== 'function') throw this.noWindows(answer);
      const windows = Array.isArray(answer) ? (answer as readonly W[]) : [...answer];
      for (const window of windows) if (!(window instanceof Window)) throw this.noWindows(window);
      return windows;
    } catch (error) {
      throw this.context.wrapUserError(error, ASSIGNER);
    }
  }

  /** False if the window is late. `isCurrent` says that its namespace is that of the contents already. */
  private addToWindow(
    window: W,
    set: MergingWindowSet<W> | undefined,
    value: In,
    timestampMs: number,
    isCurrent = false,
  ): boolean {
    if (this.isLate(window)) {
      set?.retire(window);
      return false;
    }
    const { contents, trigger, triggerContext } = this;
    if (!isInRange(window)) throw this.windowOutOfRange(window);
    if (!isCurrent) contents.setNamespace(set?.stateWindowOf(window) ?? window);
    try {
      contents.add(value, timestampMs);
    } catch (error) {
      throw this.context.wrapUserError(error, this.contentsWhat);
    }
    this.known?.select(window as unknown as TimeWindow);
    triggerContext.window = window;
    let result: TriggerResult;
    try {
      result = trigger.onElement(value, timestampMs, window, triggerContext);
    } catch (error) {
      throw this.context.wrapUserError(error, TRIGGER);
    }
    this.act(result, window);
    this.registerCleanupTimer(window);
    this.known?.deselect();
    return true;
  }

  /** Adds a window to the set, moves state and timers as it says, and answers the window that holds it now. */
  private mergeInto(set: MergingWindowSet<W>, added: W): W {
    const { context } = this;
    let change: ReturnType<MergingWindowSet<W>['add']>;
    try {
      change = set.add(added);
    } catch (error) {
      throw context.wrapUserError(error, ASSIGNER);
    }
    for (const merge of change.merges) this.applyMerge(merge);
    return change.window;
  }

  private applyMerge({ result, merged, stateWindow, mergedStateWindows }: WindowMerge<W>): void {
    const { trigger, triggerContext, context, assigner, timers } = this;
    if (this.isLate(result)) {
      throw mergedIntoThePast(context.operatorName, String(assigner), result, timers.currentWatermark());
    }
    triggerContext.window = result;
    triggerContext.mergedWindows = merged;
    let answer: unknown;
    try {
      answer = trigger.onMerge!(result, triggerContext);
    } catch (error) {
      throw context.wrapUserError(error, TRIGGER);
    }
    if (answer !== undefined) refuseResult(answer, TRIGGER, context.operatorName);
    for (const window of merged) {
      this.clearTrigger(window);
      this.deleteCleanupTimer(window);
    }
    triggerContext.mergedWindows = [];
    if (mergedStateWindows.length === 0) return;
    try {
      this.contents.mergeNamespaces(stateWindow, mergedStateWindows);
    } catch (error) {
      throw context.wrapUserError(error, this.contentsWhat);
    }
  }

  private onTimer(window: W, timestampMs: number, isEventTime: boolean): void {
    const kind = isEventTime ? EVENT_TIMERS : PROCESSING_TIMERS;
    this.known?.noteGone(kind, timestampMs, window as unknown as TimeWindow);
    const set = this.loadMergingSet();
    const stateWindow = set === undefined ? window : set.stateWindowOf(window);
    // The timer of a merging window that is gone: timers of triggers that did not delete them.
    if (stateWindow === undefined) return;
    const { trigger, triggerContext } = this;
    this.contents.setNamespace(stateWindow);
    triggerContext.window = window;
    let result: TriggerResult;
    try {
      result = isEventTime
        ? trigger.onEventTime(timestampMs, window, triggerContext)
        : trigger.onProcessingTime(timestampMs, window, triggerContext);
    } catch (error) {
      throw this.context.wrapUserError(error, TRIGGER);
    }
    this.act(result, window);
    if (isEventTime === this.isEventTime && timestampMs === this.cleanupTime(window)) {
      this.removeWindow(window, set);
    }
    this.storeMergingSet(set);
  }

  /** The namespace of the contents is that of the window. */
  private act(result: TriggerResult, window: W): void {
    switch (result) {
      case 'CONTINUE':
        return;
      case 'FIRE':
        return this.emit(window);
      case 'PURGE':
        return this.contents.clear();
      case 'FIRE_AND_PURGE':
        this.emit(window);
        return this.contents.clear();
      default:
        throw resultNotAllowed(result, TRIGGER, this.context.operatorName, RESULTS);
    }
  }

  private emit(window: W): void {
    const { contents, context, functionContext } = this;
    let elements: readonly unknown[] | undefined;
    try {
      elements = contents.elements(window);
    } catch (error) {
      throw context.wrapUserError(error, this.contentsWhat);
    }
    if (elements === undefined) return;
    functionContext.current = window;
    let result: unknown;
    try {
      const key = context.keyedState.currentKey as K;
      result = this.call(key, functionContext, elements as readonly Content[], this.out);
    } catch (error) {
      throw context.wrapUserError(error, WINDOW_FUNCTION);
    }
    if (result !== undefined) refuseResult(result, WINDOW_FUNCTION, context.operatorName);
    contents.evaluated?.(window);
  }

  private removeWindow(window: W, set: MergingWindowSet<W> | undefined): void {
    const { context, functionContext } = this;
    this.contents.clear();
    // At the clean-up time the one timer of a default trigger has fired.
    if (!this.hasDefaultTrigger) this.clearTrigger(window);
    set?.retire(window);
    if (this.fn.clear === undefined) return;
    functionContext.current = window;
    let result: unknown;
    try {
      result = this.fn.clear(functionContext);
    } catch (error) {
      throw context.wrapUserError(error, CLEAR);
    }
    if (result !== undefined) refuseResult(result, CLEAR, context.operatorName);
  }

  private clearTrigger(window: W): void {
    const { triggerContext } = this;
    triggerContext.window = window;
    triggerContext.isClearing = true;
    let answer: unknown;
    try {
      answer = this.trigger.clear(window, triggerContext);
    } catch (error) {
      throw this.context.wrapUserError(error, TRIGGER);
    }
    triggerContext.isClearing = false;
    if (answer !== undefined) refuseResult(answer, TRIGGER, this.context.operatorName);
  }

  private handleSkipped(value: In, timestampMs: number): void {
    if (!this.isEventTime || timestampMs + this.latenessMs > this.timers.currentWatermark()) return;
    const tag = this.options.lateTag;
    if (tag === undefined) this.lateRecordsDropped.inc();
    else this.context.output.collectSide(tag.id, value, timestampMs);
  }

  private isLate(window: W): boolean {
    return this.isEventTime && this.cleanupTime(window) <= this.timers.currentWatermark();
  }

  private cleanupTime(window: W): number {
    if (!this.isEventTime) return window.maxTimestamp();
    return Math.min(window.maxTimestamp() + this.latenessMs, MAX_WATERMARK);
  }

  /** When the operator's own timer for the removal of the window fires; undefined if there is none. */
  private cleanupTimerOf(window: W): number | undefined {
    // The default triggers set a timer at the end of the window: without lateness that is the clean-up time.
    if (this.hasDefaultTrigger && (this.latenessMs === 0 || !this.isEventTime)) return undefined;
    const timeMs = this.cleanupTime(window);
    return timeMs === MAX_WATERMARK ? undefined : timeMs;
  }

  private registerCleanupTimer(window: W): void {
    const timeMs = this.cleanupTimerOf(window);
    if (timeMs === undefined) return;
    const { triggerContext } = this;
    triggerContext.window = window;
    if (this.isEventTime) triggerContext.registerEventTimeTimer(timeMs);
    else triggerContext.registerProcessingTimeTimer(timeMs);
  }

  private deleteCleanupTimer(window: W): void {
    const timeMs = this.cleanupTimerOf(window);
    if (timeMs === undefined) return;
    if (this.isEventTime) this.timers.deleteEventTimeTimer(window, timeMs);
    else this.timers.deleteProcessingTimeTimer(window, timeMs);
  }

  /** For the default trigger of event time, and windows that are not over. */
  private renewTimers(window: W): void {
    this.timers.registerEventTimeTimer(window, window.maxTimestamp());
    this.registerCleanupTimer(window);
  }

  /** As `renewTimers` for `grown`; those of `window` go, unless the two are the same. */
  private moveTimers(window: W, grown: W): void {
    const { timers } = this;
    if (window === grown) return this.renewTimers(window);
    timers.moveEventTimeTimer(window, window.maxTimestamp(), grown, grown.maxTimestamp());
    const timeMs = this.cleanupTimerOf(window);
    const grownTimeMs = this.cleanupTimerOf(grown);
    if (timeMs === undefined) return;
    if (grownTimeMs === undefined) timers.deleteEventTimeTimer(window, timeMs);
    else timers.moveEventTimeTimer(window, timeMs, grown, grownTimeMs);
  }

  private loadMergingSet(): MergingWindowSet<W> | undefined {
    const { mergingSets } = this;
    return mergingSets === undefined ? undefined : new MergingWindowSet(this.mergingRules, mergingSets.get());
  }

  private storeMergingSet(set: MergingWindowSet<W> | undefined): void {
    if (set?.isChanged) this.mergingSets!.update(set.contents);
  }

  private get contentsWhat(): string {
    const { kind } = this.options.contents;
    return kind === 'elements' ? 'window contents' : `${kind} function`;
  }

  private noWindows(found: unknown): MillraceError {
    return resultNotAllowed(found, ASSIGNER, this.context.operatorName, 'windows, which extend Window');
  }

  private missingTimestamp(): MillraceError {
    return missingTimestamp(this.context.operatorName, String(this.assigner));
  }

  private windowOutOfRange(window: W): MillraceError {
    return windowOutOfRange(this.context.operatorName, window);
  }
}

/** Refuses what is no assigner, trigger or evictor, and methods that are declared async. */
function checkUserParts<In, W extends Window>(parts: {
  readonly assigner: WindowAssigner<In, W>;
  readonly trigger?: Trigger<In, W>;
  readonly evictor?: Evictor<In, W>;
}): void {
  const { assigner, trigger, evictor } = parts;
  assertMethods(assigner, ASSIGNER, ['assignWindows', 'getDefaultTrigger', 'isEventTime']);
  if (trigger !== undefined) {
    assertMethods(trigger, TRIGGER, ['onElement', 'onEventTime', 'onProcessingTime', 'clear']);
  }
  if (evictor !== undefined) assertMethods(evictor, 'evictor', ['evictBefore', 'evictAfter']);
}

function gridWindow<W>(startMs: number, sizeMs: number): W {
  return new TimeWindow(startMs, startMs + sizeMs) as unknown as W;
}

function invalid(message: string): MillraceError {
  return new MillraceError('INVALID_ARGUMENT', message);
}
