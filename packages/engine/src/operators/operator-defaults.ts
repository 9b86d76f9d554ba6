/**
 * What operators do unless they say otherwise: watermarks and status go on, everything else is nothing. All operators of
 * this floor extend one of the two classes.
 */
import type { OperatorContext, StreamOperator } from '../runtime/index.ts';
import { checkFunctionObject, type TakenFunction, takeFunction } from './function-instance.ts';
import {
  type FunctionOrFactory,
  type FunctionSnapshotContext,
  type RichFunction,
  setRuntimeContext,
} from './functions.ts';
import { FunctionRuntimeContext } from './runtime-context.ts';
import { refuseResult } from './user-result.ts';

export abstract class AbstractStreamOperator<Out> implements StreamOperator<Out> {
  protected context!: OperatorContext<Out>;

  setup(context: OperatorContext<Out>): void {
    this.context = context;
  }

  open(): void | Promise<void> {}

  processWatermark(watermarkMs: number): void {
    this.context.output.emitWatermark(watermarkMs);
  }

  processWatermarkStatus(idle: boolean): void {
    this.context.output.emitWatermarkStatus(idle);
  }

  /** Makes the function that names this operator in what user code threw. `what` is e.g. `map function`. */
  protected wrapper(what: string): (error: unknown) => Error {
    const context = this.context;
    return (error) => context.wrapUserError(error, what);
  }

  /** Makes the function that refuses a promise where none is expected; other results are ignored. */
  protected promiseRefuser(what: string): (result: unknown) => void {
    const context = this.context;
    return (result) => refuseResult(result, what, context.operatorName);
  }
}

/** An operator around a user's object with a life: takes it, opens it, tells it of checkpoints, closes it. */
export abstract class FunctionOperator<F extends RichFunction, Out> extends AbstractStreamOperator<Out> {
  private readonly given: FunctionOrFactory<F>;
  private readonly methods: readonly string[];
  private readonly isKeyed: boolean;
  private taken: TakenFunction<F> | undefined;
  private isOpen = false;

  /** `methods` are those that must be there and must be synchronous; the first is the one that makes it such a function. */
  protected constructor(given: FunctionOrFactory<F>, methods: readonly string[], isKeyed: boolean) {
    super();
    checkFunctionObject(given, methods);
    this.given = given;
    this.methods = methods;
    this.isKeyed = isKeyed;
  }

  /** From `open` on. */
  protected get fn(): F {
    return this.taken!.fn;
  }

  private get user(): Partial<RichFunction> {
    return this.taken!.user;
  }

  override open(): void | Promise<void> {
    this.taken = takeFunction(this.given, this.methods, this.context.operatorName);
    this.prepare();
    this.isOpen = true;
    const runtime = this.runtimeContext();
    setRuntimeContext(this.user, runtime);
    const open = (): void | Promise<void> => this.userCall('open function', () => this.user.open?.(runtime));
    const initialized = this.userCall('initializeState function', () => this.user.initializeState?.(runtime));
    return initialized === undefined ? open() : initialized.then(open);
  }

  /** Before the user's open: state, timers, contexts. */
  protected prepare(): void {}

  /** What the user's open is handed. */
  protected runtimeContext(): FunctionRuntimeContext {
    return new FunctionRuntimeContext(this.context, this.isKeyed);
  }

  snapshotState(checkpointId: number): void {
    if (this.user.snapshotState === undefined) return;
    const context: FunctionSnapshotContext = { getCheckpointId: () => checkpointId };
    this.synchronously('snapshotState function', () => this.user.snapshotState!(context));
  }

  notifyCheckpointComplete(checkpointId: number): void | Promise<void> {
    return this.userCall('notifyCheckpointComplete function', () =>
      this.user.notifyCheckpointComplete?.(checkpointId),
    );
  }

  notifyCheckpointAborted(checkpointId: number): void {
    this.synchronously('notifyCheckpointAborted function', () =>
      this.user.notifyCheckpointAborted?.(checkpointId),
    );
  }

  close(): void | Promise<void> {
    const taken = this.taken;
    if (taken === undefined) return;
    this.taken = undefined;
    taken.release();
    if (this.isOpen) return this.userCall('close function', () => taken.user.close?.());
  }

  /** Calls user code that must answer at once: what it throws names it, a promise is refused. Not for every record. */
  protected synchronously(what: string, call: () => unknown): void {
    let result: unknown;
    try {
      result = call();
    } catch (error) {
      throw this.context.wrapUserError(error, what);
    }
    if (result !== undefined) refuseResult(result, what, this.context.operatorName);
  }

  private userCall(what: string, call: () => void | Promise<void>): void | Promise<void> {
    const wrap = this.wrapper(what);
    try {
      const result = call();
      if (!(result instanceof Promise)) return;
      return result.catch((error: unknown) => {
        throw wrap(error);
      });
    } catch (error) {
      throw wrap(error);
    }
  }
}
