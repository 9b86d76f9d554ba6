/**
 * Runs a sink function: sync, or asynchronous with a bounded number of calls under way (Flink's StreamSink).
 *
 *     record ──► invoke ──returns a promise──► under way ──resolved──► done
 *        └─ too many under way ─► waits ─┘
 *
 * At a snapshot the operator goes on at once; the snapshot waits until all records before it are done, then for `flush`.
 * Nothing is undone after a failure: at-least-once.
 */
import { MIN_WATERMARK, MillraceError, NO_TIMESTAMP } from '../../base/index.ts';
import type { ElementInHand, OneInputOperator, OperatorStateContribution } from '../../runtime/index.ts';
import type { FunctionOrFactory } from '../functions.ts';
import { FunctionOperator } from '../operator-defaults.ts';
import { specialise } from '../specialise.ts';
import { InFlightCalls } from './in-flight-calls.ts';
import type { RichSinkFunction, SinkFunctionContext } from './sink-function.ts';

const INVOKE = 'invoke function of the sink';
const FLUSH = 'flush function of the sink';

interface RecordTime {
  timestampMs: number;
}

interface InvokeEnv<In> {
  readonly fn: { invoke(value: In, context: SinkFunctionContext): unknown };
  readonly time: RecordTime;
  readonly context: SinkFunctionContext;
  readonly calls: InFlightCalls<In>;
  readonly wrap: (error: unknown) => Error;
  readonly follow: (
    result: PromiseLike<unknown>,
    ticket: number,
    record: { readonly value: In; readonly timestampMs: number },
  ) => void;
}

const makeInvoke = <In>({ fn, time, context, calls, wrap, follow }: InvokeEnv<In>) => {
  return (value: In, timestampMs: number): void => {
    if (calls.isFull) return calls.wait(value, timestampMs);
    time.timestampMs = timestampMs;
    let result: unknown;
    try {
      result = fn.invoke(value, context);
    } catch (error) {
      throw wrap(error);
    }
    if (typeof result === 'object' && result !== null && 'then' in result)
      follow(result as PromiseLike<unknown>, calls.begin(), { value, timestampMs });
  };
};

export class SinkFunctionOperator<In>
  extends FunctionOperator<RichSinkFunction<In>, never>
  implements OneInputOperator<In, never>
{
  private readonly calls: InFlightCalls<In>;
  private readonly time: RecordTime = { timestampMs: NO_TIMESTAMP };
  private watermarkMs = MIN_WATERMARK;
  private readonly recordContext: SinkFunctionContext = {
    currentProcessingTime: () => this.context.processingTimeMs(),
    currentWatermark: () => this.watermarkMs,
    timestamp: () => (this.time.timestampMs === NO_TIMESTAMP ? undefined : this.time.timestampMs),
  };
  /** The last flush, and all before it. */
  private flushed: Promise<void> = Promise.resolve();
  private isClosed = false;
  private process!: (value: In, timestampMs: number) => void;

  /** Throws INVALID_ARGUMENT for what is no sink function, or if `maxInFlightRequests` is not a whole number above 0. */
  constructor(given: FunctionOrFactory<RichSinkFunction<In>>, maxInFlightRequests: number) {
    super(given, ['invoke', 'flush', 'snapshotState'], false);
    if (!(Number.isSafeInteger(maxInFlightRequests) && maxInFlightRequests > 0)) {
      const message = `addSink: maxInFlightRequests is ${maxInFlightRequests}, expected a whole number above 0`;
      throw new MillraceError('INVALID_ARGUMENT', message);
    }
    this.calls = new InFlightCalls(maxInFlightRequests);
  }

  processElement(value: In, timestampMs: number): void {
    this.process(value, timestampMs);
  }

  override processWatermark(watermarkMs: number): void {
    this.watermarkMs = watermarkMs;
    super.processWatermark(watermarkMs);
  }

  busy(): Promise<void> | undefined {
    return this.calls.room();
  }

  override snapshotState(checkpointId: number): Promise<readonly OperatorStateContribution[]> {
    super.snapshotState(checkpointId);
    return this.flush().then(() => []);
  }

  finish(): Promise<void> {
    return this.flush();
  }

  override close(): void | Promise<void> {
    this.isClosed = true;
    this.calls.drop();
    return super.close();
  }

  compile(unique: string): (value: In, timestampMs: number) => void {
    this.process = specialise(
      makeInvoke<In>,
      unique,
    )({
      fn: this.fn,
      time: this.time,
      context: this.recordContext,
      calls: this.calls,
      wrap: this.wrapper(INVOKE),
      follow: (result, ticket, record) => this.follow(result, ticket, record),
    });
    return this.process;
  }

  protected override prepare(): void {
    this.compile('sink-function');
  }

  /** Waits for a call, and begins what waited for its end. */
  private follow(result: PromiseLike<unknown>, ticket: number, record: ElementInHand): void {
    result.then(
      () => {
        this.calls.done(ticket);
        this.callWaiting();
      },
      (error: unknown) => this.failed(error, INVOKE, record),
    );
  }

  private callWaiting(): void {
    while (!this.isClosed) {
      const record = this.calls.next();
      if (record === undefined) return;
      const { ticket, value, timestampMs } = record;
      this.time.timestampMs = timestampMs;
      try {
        const result: unknown = this.fn.invoke(value, this.recordContext);
        if (isPromiseLike(result)) this.follow(result, ticket, record);
        else this.calls.done(ticket);
      } catch (error) {
        this.failed(error, INVOKE, record);
        return;
      }
    }
  }

  /** When all records so far are done, and the flush of every earlier snapshot. */
  private flush(): Promise<void> {
    const accepted = this.calls.allSoFar();
    const before = this.flushed;
    const { fn } = this;
    this.flushed = (async () => {
      await accepted;
      await before;
      try {
        await fn.flush?.();
      } catch (error) {
        throw this.failed(error, FLUSH);
      }
    })();
    // Whoever waits for it is told; `failed` has failed the task already.
    this.flushed.catch(() => {});
    return this.flushed;
  }

  private failed(error: unknown, what: string, record?: ElementInHand): Error {
    const wrapped = this.context.wrapUserError(error, what, record);
    this.calls.fail(wrapped);
    if (!this.isClosed) this.context.fail(wrapped);
    return wrapped;
  }
}

function isPromiseLike(result: unknown): result is PromiseLike<unknown> {
  return typeof result === 'object' && result !== null && 'then' in result;
}
