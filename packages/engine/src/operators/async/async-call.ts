/**
 * One element of an asynchronous operator: the calls that are made for it and how far they are. Changed by
 * async-wait-operator.ts between two elements only; what users call at any time is AnswerFuture, which hands the answer on
 * and changes nothing.
 *
 *     waiting ──ask──► asked ──answer──────────────► done
 *                      ▲   │                          ▲
 *                 ask  │   │ answer to be retried     │ answer
 *                      │   ▼                          │
 *                 backing-off ──timeout──► timed-out ─┘
 *                          asked ──timeout──┘
 *
 * Invariant I1: at most one future of a call counts; the answers of the others are ignored and their signals aborted.
 */
import { assert, MillraceError, NO_TIMESTAMP } from '../../base/index.ts';
import { describe } from '../user-result.ts';
import type { ResultFuture } from './async-function.ts';

/** Results, or the error in their place. */
export type Answer<Out> =
  | { readonly results: readonly Out[]; readonly failed: false }
  | { readonly error: unknown; readonly failed: true };

export type CallState = 'waiting' | 'asked' | 'backing-off' | 'timed-out' | 'done';

const TRANSITIONS: Readonly<Record<CallState, readonly CallState[]>> = {
  waiting: ['asked'],
  asked: ['backing-off', 'timed-out', 'done'],
  'backing-off': ['asked', 'timed-out'],
  'timed-out': ['done'],
  done: [],
};

export class AsyncCall<In, Out> {
  readonly value: In;
  readonly timestampMs: number;
  /** Times at which something must happen, by the monotonic clock; Infinity: never. */
  deadlineMs = Number.POSITIVE_INFINITY;
  retryAtMs = Number.POSITIVE_INFINITY;
  /** Once it is done. */
  results: readonly Out[] = [];
  /** Calls so far. */
  attempts = 0;
  /** Whose answer counts (I1). */
  future: AnswerFuture<In, Out> | undefined;
  private current: CallState = 'waiting';

  constructor(value: In, timestampMs: number) {
    this.value = value;
    this.timestampMs = timestampMs;
  }

  get state(): CallState {
    return this.current;
  }

  become(next: CallState): void {
    assert(TRANSITIONS[this.current].includes(next), `an asynchronous call was ${this.current}, not ${next}`);
    this.current = next;
  }
}

/** What the user's function gets: of one attempt, or of the answer in its place after the timeout. */
export class AnswerFuture<In, Out> implements ResultFuture<Out> {
  readonly call: AsyncCall<In, Out>;
  readonly attempt: number;
  /** The user's function, for errors. */
  readonly what: string;
  private readonly operatorName: string;
  private readonly receive: (answer: Answer<Out>) => void;
  private isAnswered = false;
  private isAborted = false;
  private reason: unknown;
  /** Made when somebody asks for the signal. */
  private controller: AbortController | undefined;

  /** `receive` is called once at most. */
  constructor(
    call: AsyncCall<In, Out>,
    what: string,
    operatorName: string,
    receive: (answer: Answer<Out>) => void,
  ) {
    this.call = call;
    this.attempt = call.attempts;
    this.what = what;
    this.operatorName = operatorName;
    this.receive = receive;
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.isAborted) this.controller.abort(this.reason);
    }
    return this.controller.signal;
  }

  timestamp(): number | undefined {
    const { timestampMs } = this.call;
    return timestampMs === NO_TIMESTAMP ? undefined : timestampMs;
  }

  complete(results: Iterable<Out>): void {
    if (typeof results !== 'object' || results === null || !(Symbol.iterator in results)) {
      return this.completeExceptionally(this.notIterable(results));
    }
    try {
      this.answer({ results: Array.isArray(results) ? results : Array.from(results), failed: false });
    } catch (error) {
      this.completeExceptionally(error);
    }
  }

  completeExceptionally(error: unknown): void {
    this.answer({ error, failed: true });
  }

  /** Without `reason` the signal says that it was aborted. Not for one that was answered: nothing goes on there. */
  abort(reason?: unknown): void {
    this.isAborted = true;
    this.reason = reason;
    this.controller?.abort(reason);
  }

  private notIterable(found: unknown): MillraceError {
    const operator = this.operatorName;
    return new MillraceError(
      'RESULT_NOT_ALLOWED',
      `The ${this.what} of operator '${operator}' must answer with an iterable of results (an array, a generator), found ` +
        `${describe(found)}.`,
      { details: { operator } },
    );
  }

  private answer(answer: Answer<Out>): void {
    if (this.isAnswered) return;
    this.isAnswered = true;
    this.receive(answer);
  }
}
