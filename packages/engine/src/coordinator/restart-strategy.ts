/**
 * Whether a job that failed is restarted, and after which pause. Pure; asked by the job's state machine at each failure,
 * with monotonic time. One object a job: it remembers earlier failures.
 *
 *   none                never
 *   fixed-delay         `attempts` restarts in the life of the job
 *   failure-rate        until more than `maxFailures` failures lie within `intervalMs`
 *   exponential-delay   pause initial, × multiplier at each failure, at most max, ± jitter; begins anew after
 *                       `resetThresholdMs` without failure; gives up after `attemptsBeforeReset` restarts in a row.
 *                       Failures of other parts of the job during a pause share its end: it was one event that hit all
 *
 * Failures that a restart cannot cure (a user's mistake found at restore) are not asked about: the caller ends the job.
 *
 * (org.apache.flink.runtime.executiongraph.failover: the RestartBackoffTimeStrategy classes and their texts.)
 */
import { unreachable } from '../base/index.ts';

export type RestartStrategySettings =
  | { readonly kind: 'none' }
  | { readonly kind: 'fixed-delay'; readonly attempts: number; readonly delayMs: number }
  | {
      readonly kind: 'failure-rate';
      readonly maxFailures: number;
      readonly intervalMs: number;
      readonly delayMs: number;
    }
  | {
      readonly kind: 'exponential-delay';
      readonly initialBackoffMs: number;
      readonly maxBackoffMs: number;
      readonly multiplier: number;
      readonly resetThresholdMs: number;
      /** 0 .. 1; the pause is multiplied by 1 ± this. */
      readonly jitter: number;
      /** Infinity: never gives up. */
      readonly attemptsBeforeReset: number;
    };

/** What `exponential-delay` means when nothing more is said: the default of jobs with checkpoints. */
export const EXPONENTIAL_DELAY_DEFAULTS: RestartStrategySettings = {
  kind: 'exponential-delay',
  initialBackoffMs: 1000,
  maxBackoffMs: 60_000,
  multiplier: 1.5,
  resetThresholdMs: 3_600_000,
  jitter: 0.1,
  attemptsBeforeReset: Number.POSITIVE_INFINITY,
};

/** The strategy of a job that sets none. */
export function defaultRestartStrategy(isCheckpointed: boolean): RestartStrategySettings {
  return isCheckpointed ? EXPONENTIAL_DELAY_DEFAULTS : { kind: 'none' };
}

export interface RestartDecision {
  readonly restart: boolean;
  /** Before the restart; 0 if there is none. */
  readonly delayMs: number;
  /** For people; if there is no restart, why. */
  readonly reason: string;
}

export interface RestartStrategy {
  /** The job failed at `failureAtMs` (monotonic). */
  decide(failureAtMs: number): RestartDecision;
}

/**
 * `random` gives numbers in [0, 1) for the jitter of `exponential-delay`: Platform.random.next. Without it there is none.
 */
export function createRestartStrategy(
  settings: RestartStrategySettings,
  random: () => number = () => 0.5,
): RestartStrategy {
  return new RememberingStrategy(settings, random);
}

class RememberingStrategy implements RestartStrategy {
  private readonly settings: RestartStrategySettings;
  private readonly random: () => number;
  private restarts = 0;
  private failureTimes: number[] = [];
  private backoffMs = 0;
  /** When the job ran again, or would have, after the last failure. */
  private resumedMs = Number.NEGATIVE_INFINITY;

  constructor(settings: RestartStrategySettings, random: () => number) {
    this.settings = settings;
    this.random = random;
  }

  decide(failureAtMs: number): RestartDecision {
    const { settings } = this;
    switch (settings.kind) {
      case 'none':
        return refuse('NoRestartBackoffTimeStrategy');
      case 'fixed-delay':
        return this.fixedDelay(settings);
      case 'failure-rate':
        return this.failureRate(settings, failureAtMs);
      case 'exponential-delay':
        return this.exponentialDelay(settings, failureAtMs);
      default:
        return unreachable(settings);
    }
  }

  private fixedDelay({
    attempts,
    delayMs,
  }: RestartStrategySettings & { kind: 'fixed-delay' }): RestartDecision {
    if (this.restarts >= attempts) {
      return refuse(
        `FixedDelayRestartBackoffTimeStrategy(maxNumberRestartAttempts=${attempts}, backoffTimeMS=${delayMs})`,
      );
    }
    this.restarts++;
    return accept(delayMs, `restart ${this.restarts} of ${attempts}`);
  }

  private failureRate(
    { maxFailures, intervalMs, delayMs }: RestartStrategySettings & { kind: 'failure-rate' },
    nowMs: number,
  ): RestartDecision {
    this.failureTimes = this.failureTimes.filter((timeMs) => nowMs - timeMs <= intervalMs);
    this.failureTimes.push(nowMs);
    const failures = this.failureTimes.length;
    if (failures > maxFailures) {
      return refuse(
        `FailureRateRestartBackoffTimeStrategy(failuresIntervalMS=${intervalMs}, backoffTimeMS=${delayMs}, ` +
          `maxFailuresPerInterval=${maxFailures})`,
      );
    }
    return accept(delayMs, `failure ${failures} within ${intervalMs} ms, ${maxFailures} are allowed`);
  }

  private exponentialDelay(
    settings: RestartStrategySettings & { kind: 'exponential-delay' },
    nowMs: number,
  ): RestartDecision {
    const { initialBackoffMs, maxBackoffMs, multiplier, resetThresholdMs, jitter, attemptsBeforeReset } =
      settings;
    if (nowMs < this.resumedMs) return accept(this.resumedMs - nowMs, `with restart ${this.restarts}`);
    if (nowMs - this.resumedMs >= resetThresholdMs) {
      this.restarts = 0;
      this.backoffMs = initialBackoffMs;
    } else {
      this.backoffMs = Math.min(maxBackoffMs, this.backoffMs * multiplier);
    }
    if (this.restarts >= attemptsBeforeReset) {
      return refuse(
        `ExponentialDelayRestartBackoffTimeStrategy(initialBackoffMS=${initialBackoffMs}, maxBackoffMS=${maxBackoffMs}, ` +
          `backoffMultiplier=${multiplier}, resetBackoffThresholdMS=${resetThresholdMs}, jitterFactor=${jitter}, ` +
          `attemptsBeforeResetBackoff=${attemptsBeforeReset})`,
      );
    }
    this.restarts++;
    const factor = 1 + jitter * (this.random() * 2 - 1);
    const delayMs = Math.min(maxBackoffMs, Math.max(0, Math.round(this.backoffMs * factor)));
    this.resumedMs = nowMs + delayMs;
    return accept(
      delayMs,
      `restart ${this.restarts} since the job last ran ${resetThresholdMs} ms without failure`,
    );
  }
}

function accept(delayMs: number, reason: string): RestartDecision {
  return { restart: true, delayMs, reason };
}

function refuse(strategy: string): RestartDecision {
  return { restart: false, delayMs: 0, reason: `Recovery is suppressed by ${strategy}` };
}
