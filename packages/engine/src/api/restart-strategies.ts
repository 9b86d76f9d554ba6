/** What follows a failure, as users say it: `env.setRestartStrategy(RestartStrategies.fixedDelayRestart(3, '10 s'))`. */
import {
  type Configuration,
  type Duration,
  EXPONENTIAL_INITIAL_BACKOFF,
  EXPONENTIAL_JITTER,
  EXPONENTIAL_MAX_BACKOFF,
  EXPONENTIAL_MULTIPLIER,
  EXPONENTIAL_RESET_THRESHOLD,
  FAILURE_RATE_DELAY,
  FAILURE_RATE_INTERVAL,
  FAILURE_RATE_MAX_FAILURES,
  FIXED_DELAY_ATTEMPTS,
  FIXED_DELAY_DELAY,
  RESTART_STRATEGY,
} from '../base/index.ts';
import { setChecked, setDuration } from './checked-setting.ts';

/** Something that `setRestartStrategy` takes. */
export interface RestartStrategyConfiguration {
  /** Writes the configuration. Throws INVALID_ARGUMENT for values that are not allowed. */
  applyTo(configuration: Configuration): void;
}

/**
 * What happens when a job fails. By default, with checkpoints, it is started again for ever, with pauses that grow;
 * without checkpoints it is not started again.
 */
export const RestartStrategies = {
  /** The first failure ends the job. */
  noRestart(): RestartStrategyConfiguration {
    return { applyTo: (configuration) => void configuration.set(RESTART_STRATEGY, 'none') };
  },

  /** At most `attempts` restarts in the job's life, `delay` after each failure. */
  fixedDelayRestart(attempts: number, delay: Duration): RestartStrategyConfiguration {
    return {
      applyTo(configuration) {
        setChecked(configuration, FIXED_DELAY_ATTEMPTS, attempts, 'fixedDelayRestart attempts');
        setDuration(configuration, FIXED_DELAY_DELAY, delay, 'fixedDelayRestart delay');
        configuration.set(RESTART_STRATEGY, 'fixed-delay');
      },
    };
  },

  /** Restarts, `delay` after each failure, until more than `maxFailures` failures fall within `interval`. */
  failureRateRestart(maxFailures: number, interval: Duration, delay: Duration): RestartStrategyConfiguration {
    return {
      applyTo(configuration) {
        setChecked(configuration, FAILURE_RATE_MAX_FAILURES, maxFailures, 'failureRateRestart maxFailures');
        setDuration(configuration, FAILURE_RATE_INTERVAL, interval, 'failureRateRestart interval');
        setDuration(configuration, FAILURE_RATE_DELAY, delay, 'failureRateRestart delay');
        configuration.set(RESTART_STRATEGY, 'failure-rate');
      },
    };
  },

  /**
   * Restarts for ever, after delays that grow from `initial` to `max` by `multiplier`, each longer or shorter by up to
   * `jitter` of it; after `resetThreshold` without failure they begin again.
   */
  exponentialDelayRestart(
    initial: Duration,
    max: Duration,
    multiplier: number,
    resetThreshold: Duration,
    jitter: number,
  ): RestartStrategyConfiguration {
    return {
      applyTo(configuration) {
        setDuration(configuration, EXPONENTIAL_INITIAL_BACKOFF, initial, 'exponentialDelayRestart initial');
        setDuration(configuration, EXPONENTIAL_MAX_BACKOFF, max, 'exponentialDelayRestart max');
        setChecked(configuration, EXPONENTIAL_MULTIPLIER, multiplier, 'exponentialDelayRestart multiplier');
        setDuration(
          configuration,
          EXPONENTIAL_RESET_THRESHOLD,
          resetThreshold,
          'exponentialDelayRestart resetThreshold',
        );
        setChecked(configuration, EXPONENTIAL_JITTER, jitter, 'exponentialDelayRestart jitter');
        configuration.set(RESTART_STRATEGY, 'exponential-delay');
      },
    };
  },

  /** What the configuration says, or the default: none without checkpoints, exponential delay with them. */
  fallBackRestart(): RestartStrategyConfiguration {
    return { applyTo: (configuration) => void configuration.unset(RESTART_STRATEGY) };
  },
};
