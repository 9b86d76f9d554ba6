/**
 * When and how often an asynchronous call is made again (Flink's AsyncRetryStrategies and RetryPredicates). Asked by
 * async-wait-operator.ts, which counts the attempts and waits. Strategies keep no state: one serves all calls.
 */
import { type Duration, durationMs, MillraceError } from '../../base/index.ts';

/** Which answers are reasons to ask again. */
export interface AsyncRetryPredicate<Out> {
  /** True for results with which the call counts as failed. */
  resultPredicate?(results: readonly Out[]): boolean;
  /** True for an error that may be gone when the call is made again. */
  exceptionPredicate?(error: unknown): boolean;
}

/** Decides about the calls for one record. All its retries must fit into the timeout. */
export interface AsyncRetryStrategy<Out> {
  /** `currentAttempts` calls were made so far, at least 1: may there be another? */
  canRetry(currentAttempts: number): boolean;
  /** Milliseconds until then. */
  getBackoffTimeMillis(currentAttempts: number): number;
  /** Which answers are reasons to ask again. */
  getRetryPredicate(): AsyncRetryPredicate<Out>;
}

/** A retry strategy in plain words. */
export interface AsyncRetryOptions<Out> {
  /** Calls after the first; at least 1. */
  readonly attempts: number;
  /** The pause before the first retry: milliseconds or a text such as '100 ms'. */
  readonly delay: Duration;
  /** Each pause is so many times the one before; default 1: all are the same. */
  readonly multiplier?: number;
  /** No pause is longer; default: no limit. */
  readonly maxDelay?: Duration;
  /** Which errors are retried; default: all. */
  readonly ifException?: (error: unknown) => boolean;
  /** Which results are retried; default: none. */
  readonly ifResult?: (results: readonly Out[]) => boolean;
}

/** Common answers to: is this a reason to ask again? */
export const RetryPredicates = {
  /** No result. */
  EMPTY_RESULT_PREDICATE: (results: readonly unknown[]): boolean => results.length === 0,
  /** Any error. */
  HAS_EXCEPTION_PREDICATE: (_error: unknown): boolean => true,
  /** An error of this class. */
  createExceptionTypePredicate:
    (errorClass: abstract new (...parameters: never[]) => unknown) =>
    (error: unknown): boolean =>
      error instanceof errorClass,
};

abstract class RetryStrategyBuilder<Out> {
  readonly #maxAttempts: number;
  #ifResult: ((results: readonly Out[]) => boolean) | undefined;
  #ifException: ((error: unknown) => boolean) | undefined;

  constructor(maxAttempts: number) {
    if (!Number.isSafeInteger(maxAttempts) || maxAttempts < 1) {
      throw invalid(`maxAttempts must be a whole number of at least 1, found ${String(maxAttempts)}`);
    }
    this.#maxAttempts = maxAttempts;
  }

  /** Retries results for which `predicate` is true. */
  ifResult(predicate: (results: readonly Out[]) => boolean): this {
    this.#ifResult = predicate;
    return this;
  }

  /** Retries errors for which `predicate` is true. */
  ifException(predicate: (error: unknown) => boolean): this {
    this.#ifException = predicate;
    return this;
  }

  /** Throws INVALID_ARGUMENT if nothing would ever be retried. */
  build(): AsyncRetryStrategy<Out> {
    const predicate: AsyncRetryPredicate<Out> = {
      ...(this.#ifResult && { resultPredicate: this.#ifResult }),
      ...(this.#ifException && { exceptionPredicate: this.#ifException }),
    };
    if (this.#ifResult === undefined && this.#ifException === undefined) {
      throw invalid(
        'neither ifResult nor ifException was called, so nothing would be retried. For all errors: ' +
          'ifException(RetryPredicates.HAS_EXCEPTION_PREDICATE)',
      );
    }
    const maxAttempts = this.#maxAttempts;
    return {
      canRetry: (currentAttempts) => currentAttempts <= maxAttempts,
      getBackoffTimeMillis: (currentAttempts) => this.backoffMs(currentAttempts),
      getRetryPredicate: () => predicate,
    };
  }

  protected abstract backoffMs(currentAttempts: number): number;
}

/** The same pause before each retry. */
class FixedDelayRetryStrategyBuilder<Out> extends RetryStrategyBuilder<Out> {
  readonly #backoffMs: number;

  /** `maxAttempts`: retries after the first call, as Flink counts them; `backoffTimeMillis`: the pause before each. */
  constructor(maxAttempts: number, backoffTimeMillis: number) {
    super(maxAttempts);
    this.#backoffMs = checkedMs('backoffTimeMillis', backoffTimeMillis);
  }

  protected backoffMs(): number {
    return this.#backoffMs;
  }
}

/** Each pause is longer than the one before. */
class ExponentialBackoffDelayRetryStrategyBuilder<Out> extends RetryStrategyBuilder<Out> {
  readonly #initialMs: number;
  readonly #maxMs: number;
  readonly #multiplier: number;

  /** Pauses in milliseconds: `initialDelay`, then `multiplier` times the one before, at most `maxRetryDelay`. */
  constructor(maxAttempts: number, initialDelay: number, maxRetryDelay: number, multiplier: number) {
    super(maxAttempts);
    this.#initialMs = checkedMs('initialDelay', initialDelay);
    this.#maxMs = checkedMs('maxRetryDelay', maxRetryDelay);
    if (!(multiplier >= 1)) throw invalid(`multiplier must be at least 1, found ${String(multiplier)}`);
    this.#multiplier = multiplier;
  }

  protected backoffMs(currentAttempts: number): number {
    const delayMs = this.#initialMs * this.#multiplier ** (currentAttempts - 1);
    return Math.floor(Math.min(delayMs, this.#maxMs));
  }
}

/** Builders of the two usual strategies. */
export const AsyncRetryStrategies = {
  FixedDelayRetryStrategyBuilder,
  ExponentialBackoffDelayRetryStrategyBuilder,
};

/** The strategy that the options describe. Throws INVALID_ARGUMENT. */
export function retryStrategyOf<Out>(options: AsyncRetryOptions<Out>): AsyncRetryStrategy<Out> {
  const { attempts, delay, multiplier = 1, maxDelay, ifException, ifResult } = options;
  const delayMs = durationMs(delay, 'retry.delay');
  const maxMs = maxDelay === undefined ? Number.MAX_SAFE_INTEGER : durationMs(maxDelay, 'retry.maxDelay');
  const builder = new ExponentialBackoffDelayRetryStrategyBuilder<Out>(attempts, delayMs, maxMs, multiplier);
  builder.ifException(ifException ?? RetryPredicates.HAS_EXCEPTION_PREDICATE);
  if (ifResult !== undefined) builder.ifResult(ifResult);
  return builder.build();
}

function checkedMs(name: string, value: number): number {
  if (Number.isFinite(value) && value >= 0) return value;
  throw invalid(`${name} must be a number of milliseconds, found ${String(value)}`);
}

function invalid(what: string): MillraceError {
  return new MillraceError('INVALID_ARGUMENT', `Retry strategy of an asynchronous function: ${what}.`);
}
