/** Settings of an execution that belong to no operator (org.apache.flink.api.common.ExecutionConfig). */
import {
  AUTO_WATERMARK_INTERVAL,
  type Configuration,
  type Duration,
  GLOBAL_JOB_PARAMETERS,
} from '../base/index.ts';
import { setChecked, setDuration } from './checked-setting.ts';

/** Settings of a job that belong to no operator, with Flink's setters: `env.getConfig()`. */
export class ExecutionConfig {
  readonly #configuration: Configuration;

  /** For the environment: users call `env.getConfig()`. @internal */
  constructor(configuration: Configuration) {
    this.#configuration = configuration;
  }

  /**
   * Texts that every function of the job can read: `context.getGlobalJobParameters()`. They take the place of those before.
   * Throws INVALID_ARGUMENT unless all values are texts.
   */
  setGlobalJobParameters(parameters: Readonly<Record<string, string>>): this {
    setChecked(this.#configuration, GLOBAL_JOB_PARAMETERS, parameters, 'setGlobalJobParameters');
    return this;
  }

  /** The parameters that `setGlobalJobParameters` was given. */
  getGlobalJobParameters(): Readonly<Record<string, string>> {
    return this.#configuration.get(GLOBAL_JOB_PARAMETERS);
  }

  /** How often sources and timestamp assigners make watermarks (milliseconds or text); 0: only at the end of input. */
  setAutoWatermarkInterval(interval: Duration): this {
    setDuration(this.#configuration, AUTO_WATERMARK_INTERVAL, interval, 'setAutoWatermarkInterval');
    return this;
  }

  /** Milliseconds. */
  getAutoWatermarkInterval(): number {
    return this.#configuration.get(AUTO_WATERMARK_INTERVAL);
  }
}
