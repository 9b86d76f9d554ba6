/** How setters of the API write the configuration: the rules are those of the option, the message names the setter. */
import {
  type ConfigOption,
  type Configuration,
  type Duration,
  durationMs,
  MillraceError,
} from '../base/index.ts';

/** Sets `option`, or throws INVALID_ARGUMENT naming `setter`, the value and what was expected. */
export function setChecked<T>(
  configuration: Configuration,
  option: ConfigOption<T>,
  value: NonNullable<T>,
  setter: string,
): void {
  let parsed: NonNullable<T>;
  try {
    parsed = option.parse(value);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new MillraceError('INVALID_ARGUMENT', `${setter}(${shown(value)}): ${why}`, {
      cause,
      details: { setter, key: option.key },
    });
  }
  configuration.set(option, parsed);
}

/** The same for durations, which may be texts. */
export function setDuration(
  configuration: Configuration,
  option: ConfigOption<number> | ConfigOption<number | undefined>,
  value: Duration,
  setter: string,
): void {
  setChecked(configuration, option as ConfigOption<number | undefined>, durationMs(value, setter), setter);
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
