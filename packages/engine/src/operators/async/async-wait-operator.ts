/**
 * Runs an asynchronous function: many calls at a time, results in the order of the records or as they come, never across
 * a watermark (Flink's AsyncWaitOperator).
 *
 *     record ──► queue ──► call, if fewer than `capacity` are not emitted; else it waits, and the operator is busy
 *                            answer, at any time ──► inbox ──► next turn: retry, fail, or completed in the queue
 *     turn (a scheduled call, between two elements): inbox, timeouts and retries that are due, emit, begin what waits
 *
 * Nothing is decided or emitted outside a turn of the host: so outputs have room, errors reach the task, and time is the
 * host's: the monotonic one, so that a wall clock that is set neither ends a call nor holds it up. What the host feeds
 * before it asks `busy` again (a batch, a turn of a source) waits in the queue uncalled.
 *
 * At a snapshot all elements that were not emitted become operator state, whether called, answered or not; after a restore
 * they are called again, with attempts and timeout counted anew. Barriers do not wait for answers.
 *
 * The end of the input changes nothing: what is to be asked again is asked again. Flink then takes the next answer as the
 * last, so that the end of a bounded job fails where the middle does not.
 *
 * Invariants:
 * I1 At most `capacity` elements are called and not emitted.
 * I2 `nextDueMs` is not later than any deadline or retry of an unanswered call, and a wake is scheduled not later than it.
 */
import { formatDuration, MillraceError } from '../../base/index.ts';
import type { OneInputOperator } from '../../runtime/index.ts';
import { type ListState, ListStateDescriptor } from '../../state/index.ts';
import { type TypeInformation, Types } from '../../types/index.ts';
import type { FunctionOrFactory } from '../functions.ts';
import { FunctionOperator } from '../operator-defaults.ts';
import { describe, resultNotAllowed } from '../user-result.ts';
import { isPromiseLike } from './answering-function.ts';
import { type Answer, AnswerFuture, AsyncCall } from './async-call.ts';
import type { AsyncAnswer, AsyncFunction, ResultFuture } from './async-function.ts';
import { AsyncRuntimeContext } from './async-runtime-context.ts';
import { ElementQueue, Mark } from './element-queue.ts';
import type { AsyncRetryStrategy } from './retry-strategy.ts';

const ELEMENTS = 'async-elements';
const RETRY_BACKOFF = 'getBackoffTimeMillis function of the retry strategy';
/** Elements that are emitted in one turn, so that what they emit finds room. */
const EMITTED_PER_TURN = 1000;
/** For `schedule`: in the next turn. */
const NEXT_TURN = Number.NEGATIVE_INFINITY;

export interface AsyncWaitOptions<In, Out> {
  /** For errors: `mapAsync function`. */
  readonly what: string;
  /** False: as they are completed, between watermarks. */
  readonly ordered: boolean;
  /** At least 1. */
  readonly capacity: number;
  /** For all attempts together; 0: none. */
  readonly timeoutMs: number;
  readonly retry: AsyncRetryStrategy<Out> | undefined;
  /** Of the elements in snapshots. */
  readonly inputType: TypeInformation<In> | undefined;
}

export class AsyncWaitOperator<In, Out>
  extends FunctionOperator<AsyncFunction<In, Out>, Out>
  implements OneInputOperator<In, Out>
{
  private readonly options: AsyncWaitOptions<In, Out>;
  private readonly queue: ElementQueue<AsyncCall<In, Out>>;
  /** In the queue and not called yet, in order. */
  private readonly waiting: AsyncCall<In, Out>[] = [];
  /** Called, and not answered for good. */
  private readonly unanswered = new Set<AsyncCall<In, Out>>();
  private inbox: { readonly future: AnswerFuture<In, Out>; readonly answer: Answer<Out> }[] = [];
  private elements!: ListState<[In, number]>;
  /** Called and not emitted (I1). */
  private calledCount = 0;
  private nextDueMs = Number.POSITIVE_INFINITY;
  /** The earliest wake that is scheduled. */
  private wakeAtMs = Number.POSITIVE_INFINITY;
  private isTurnRequested = false;
  private isInputEnded = false;
  private isClosed = false;
  /** Made when the host waits; resolves when the operator is busy no more. */
  private room: PromiseWithResolvers<void> | undefined;

  /** Throws INVALID_ARGUMENT for what is no asynchronous function. */
  constructor(given: FunctionOrFactory<AsyncFunction<In, Out>>, options: AsyncWaitOptions<In, Out>) {
    super(given, ['asyncInvoke', 'timeout', 'snapshotState'], false);
    this.options = options;
    this.queue = new ElementQueue(options.ordered);
  }

  processElement(value: In, timestampMs: number): void {
    this.add(value, timestampMs);
    this.callWaiting(this.context.monotonicMs());
    this.scheduleWake();
  }

  override processWatermark(watermarkMs: number): void {
    this.queue.addMark(new Mark(watermarkMs, undefined));
    this.takeTurn(this.context.monotonicMs());
  }

  /** In its place among the records too: what follows an idle status would come from an idle input. */
  override processWatermarkStatus(idle: boolean): void {
    this.queue.addMark(new Mark(undefined, idle));
    this.takeTurn(this.context.monotonicMs());
  }

  override snapshotState(checkpointId: number): void {
    super.snapshotState(checkpointId);
    this.elements.update(
      Array.from(this.queue.elements(), ({ value, timestampMs }): [In, number] => [value, timestampMs]),
    );
  }

  endInput(): void {
    this.isInputEnded = true;
    this.requestTurn();
  }

  busy(): Promise<void> | undefined {
    if (!this.isFull) return undefined;
    this.room ??= Promise.withResolvers();
    return this.room.promise;
  }

  /** Answers that come later are ignored. */
  override close(): void | Promise<void> {
    this.isClosed = true;
    for (const { future } of this.unanswered) future!.abort();
    return super.close();
  }

  protected override prepare(): void {
    const { inputType } = this.options;
    const type = Types.TUPLE(inputType ?? Types.GENERIC<In>(), Types.LONG);
    this.elements = this.context.operatorState.getListState(
      new ListStateDescriptor<[In, number]>(ELEMENTS, type as TypeInformation<[In, number]>),
    );
    const restored = this.elements.get();
    this.elements.clear();
    for (const [value, timestampMs] of restored) this.add(value, timestampMs);
    if (restored.length > 0) this.requestTurn();
  }

  protected override runtimeContext(): AsyncRuntimeContext {
    return new AsyncRuntimeContext(this.context);
  }

  /** Takes no more elements; after the end of input: has not emitted all. */
  private get isFull(): boolean {
    if (this.isInputEnded) return !this.queue.isEmpty;
    return this.calledCount >= this.options.capacity || this.waiting.length > 0;
  }

  private add(value: In, timestampMs: number): void {
    const call = new AsyncCall<In, Out>(value, timestampMs);
    this.queue.add(call);
    this.waiting.push(call);
  }

  private requestTurn(): void {
    if (this.isTurnRequested || this.isClosed) return;
    this.isTurnRequested = true;
    this.context.schedule(NEXT_TURN, (nowMs) => {
      this.isTurnRequested = false;
      this.takeTurn(nowMs);
    });
  }

  private takeTurn(nowMs: number): void {
    this.takeAnswers(nowMs);
    this.emit();
    this.callWaiting(nowMs);
    this.meetDeadlines(nowMs);
    this.scheduleWake();
    if (this.isFull) return;
    this.room?.resolve();
    this.room = undefined;
  }

  private takeAnswers(nowMs: number): void {
    const { inbox } = this;
    if (inbox.length === 0) return;
    this.inbox = [];
    for (const { future, answer } of inbox) {
      const { call } = future;
      if (call.future !== future) continue;
      const backoffMs = this.backoffMs(call, answer);
      if (backoffMs !== undefined) {
        call.become('backing-off');
        call.retryAtMs = nowMs + backoffMs;
        this.nextDueMs = Math.min(this.nextDueMs, call.retryAtMs);
        continue;
      }
      if (answer.failed) throw this.context.wrapUserError(answer.error, future.what, call);
      call.become('done');
      call.results = answer.results;
      this.unanswered.delete(call);
      this.queue.complete(call);
    }
  }

  private emit(): void {
    const { output } = this.context;
    for (let emitted = 0; emitted < EMITTED_PER_TURN; ) {
      const next = this.queue.take();
      if (next === undefined) return;
      if (next instanceof Mark) {
        this.emitMark(next);
        continue;
      }
      for (const result of next.results) output.collect(result, next.timestampMs);
      this.calledCount--;
      emitted++;
    }
    this.requestTurn();
  }

  /** An input that becomes active does so before its watermark, one that becomes idle after it. */
  private emitMark({ watermarkMs, idle }: Mark): void {
    const { output } = this.context;
    if (idle === false) output.emitWatermarkStatus(false);
    if (watermarkMs !== undefined) output.emitWatermark(watermarkMs);
    if (idle === true) output.emitWatermarkStatus(true);
  }

  private callWaiting(nowMs: number): void {
    const { capacity, timeoutMs } = this.options;
    while (this.calledCount < capacity) {
      const call = this.waiting.shift();
      if (call === undefined) return;
      this.calledCount++;
      this.unanswered.add(call);
      if (timeoutMs > 0) {
        call.deadlineMs = nowMs + timeoutMs;
        this.nextDueMs = Math.min(this.nextDueMs, call.deadlineMs);
      }
      this.call(call);
    }
  }

  /** Times out and retries what is due. */
  private meetDeadlines(nowMs: number): void {
    if (nowMs < this.nextDueMs) return;
    let nextDueMs = Number.POSITIVE_INFINITY;
    for (const call of this.unanswered) {
      if (call.deadlineMs <= nowMs) this.timeOut(call);
      else if (call.state === 'backing-off' && call.retryAtMs <= nowMs) this.call(call);
      nextDueMs = Math.min(nextDueMs, call.deadlineMs, call.retryAtMs);
    }
    this.nextDueMs = nextDueMs;
  }

  /** I2 */
  private scheduleWake(): void {
    if (this.nextDueMs >= this.wakeAtMs) return;
    this.wakeAtMs = this.nextDueMs;
    this.context.schedule(this.nextDueMs, (nowMs) => {
      if (nowMs >= this.wakeAtMs) this.wakeAtMs = Number.POSITIVE_INFINITY;
      this.takeTurn(nowMs);
    });
  }

  private call(call: AsyncCall<In, Out>): void {
    call.become('asked');
    call.attempts++;
    call.retryAtMs = Number.POSITIVE_INFINITY;
    this.ask(call, this.options.what, (future) => this.fn.asyncInvoke(call.value, future));
  }

  private timeOut(call: AsyncCall<In, Out>): void {
    const error = this.timeoutError(call);
    if (call.state === 'asked') call.future!.abort(error);
    if (this.fn.timeout === undefined) throw this.context.wrapUserError(error, this.options.what, call);
    call.become('timed-out');
    call.deadlineMs = call.retryAtMs = Number.POSITIVE_INFINITY;
    this.ask(call, 'timeout function', (future) => this.fn.timeout!(call.value, future));
  }

  private ask(
    call: AsyncCall<In, Out>,
    what: string,
    invoke: (future: ResultFuture<Out>) => AsyncAnswer<Out>,
  ): void {
    const future = new AnswerFuture(call, what, this.context.operatorName, (answer) => {
      if (this.isClosed) return;
      this.inbox.push({ future, answer });
      this.requestTurn();
    });
    call.future = future;
    try {
      const promise = invoke(future);
      if (!isPromiseLike(promise)) return;
      promise.then(
        (results) => {
          if (results !== undefined) future.complete(results);
        },
        (error: unknown) => future.completeExceptionally(error),
      );
    } catch (error) {
      future.completeExceptionally(error);
    }
  }

  /** Milliseconds until the call is made again; undefined if the answer is final. */
  private backoffMs(call: AsyncCall<In, Out>, answer: Answer<Out>): number | undefined {
    const { retry } = this.options;
    if (retry === undefined || call.state !== 'asked') return undefined;
    try {
      const predicate = retry.getRetryPredicate();
      const isReason = answer.failed
        ? predicate.exceptionPredicate?.(answer.error)
        : predicate.resultPredicate?.(answer.results);
      if (isReason !== true || !retry.canRetry(call.attempts)) return undefined;
      const backoffMs = retry.getBackoffTimeMillis(call.attempts);
      if (backoffMs >= 0) return backoffMs;
      throw resultNotAllowed(backoffMs, RETRY_BACKOFF, this.context.operatorName, 'milliseconds');
    } catch (error) {
      throw this.context.wrapUserError(error, 'retry strategy', call);
    }
  }

  private timeoutError({ value, attempts }: AsyncCall<In, Out>): MillraceError {
    const { operatorName, operatorUid, subtaskIndex } = this.context;
    const { what, timeoutMs } = this.options;
    return new MillraceError(
      'ASYNC_TIMEOUT',
      `The ${what} of operator '${operatorName}' (subtask ${subtaskIndex}) did not answer within ` +
        `${formatDuration(timeoutMs)}, in ${attempts === 1 ? '1 call' : `${attempts} calls`}, for ${describe(value)}. ` +
        'Set a longer timeout, or give an answer in its place (onTimeout of mapAsync, the method timeout of an AsyncFunction).',
      { details: { operator: operatorName, uid: operatorUid, subtask: subtaskIndex, timeoutMs } },
    );
  }
}
