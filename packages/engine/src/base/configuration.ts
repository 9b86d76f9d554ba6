/**
 * The configuration of a job: values of the options of CONFIG_OPTIONS by key, with the place each came from.
 *
 * Files, objects, the command line and the setters of the API all write here; the settings of an execution are read from
 * here. Every value is checked when it is set. A value under an old key is used when the current key is absent.
 *
 * I1 Every key is that of an option, current or old, and every value has passed the option's parse.
 */
import { type ConfigOption, mapValue } from './config-option.ts';
import { CONFIG_OPTIONS, findOption, isKeyPrefix, JOB_OPTIONS, nearestKey } from './config-options.ts';
import { type ConfigurationSyntax, parseConfigurationText, syntaxOf } from './configuration-text.ts';
import { MillraceError } from './error.ts';

/** Where a value was found; undefined for values set by the program. */
export interface ConfigurationOrigin {
  readonly file: string;
  readonly line: number;
}

interface Entry {
  readonly value: unknown;
  readonly origin: ConfigurationOrigin | undefined;
}

/**
 * Settings by key, each checked by the option that the key names. Unknown keys and wrong values are refused
 * (CONFIG_INVALID).
 */
export class Configuration {
  /** By the key that was used. */
  readonly #entries = new Map<string, Entry>();

  /**
   * From an object with dotted keys, nested, or mixed. Throws CONFIG_INVALID naming the key, the nearest known key or the
   * type that was expected.
   */
  static from(values: Readonly<Record<string, unknown>>): Configuration {
    const configuration = new Configuration();
    configuration.#addObject('', values);
    return configuration;
  }

  /**
   * From the text of a configuration file; `file` is for messages and, without `syntax`, says the syntax: a file
   * `flink-conf.yaml` has lines `key: value`, any other is YAML. Throws CONFIG_INVALID naming file, line, key and what
   * was expected.
   */
  static parse(
    text: string,
    file = 'config.yaml',
    syntax: ConfigurationSyntax = syntaxOf(file),
  ): Configuration {
    const configuration = new Configuration();
    for (const { key, value, line } of parseConfigurationText(text, file, syntax)) {
      configuration.#add(key, value, { file, line });
    }
    return configuration;
  }

  /** The value, or the option's default. */
  get<T>(option: ConfigOption<T>): T {
    const entry = this.#find(option);
    return entry === undefined ? option.defaultValue : option.parse(entry.value);
  }

  /** Sets by option or by key, current or old. Throws CONFIG_INVALID if the key is unknown or the value not of its type. */
  set<T>(option: ConfigOption<T>, value: NonNullable<T>): this;
  set(key: string, value: unknown): this;
  set(option: ConfigOption | string, value: unknown): this {
    this.#add(typeof option === 'string' ? option : option.key, value, undefined);
    return this;
  }

  /** Removes the value under the current and all old keys. */
  unset(option: ConfigOption): this {
    for (const key of [option.key, ...option.deprecatedKeys]) this.#entries.delete(key);
    return this;
  }

  /** True if there is a value under the current or an old key. */
  contains(option: ConfigOption): boolean {
    return this.#find(option) !== undefined;
  }

  /** Takes over all values of `other`, which win. */
  addAll(other: Configuration): this {
    for (const [key, entry] of other.#entries) this.#entries.set(key, entry);
    return this;
  }

  /** A copy that shares nothing. */
  clone(): Configuration {
    return new Configuration().addAll(this);
  }

  /** The values by the keys that were used: plain data that {@link Configuration.from} reads. */
  toObject(): Record<string, unknown> {
    return Object.fromEntries([...this.#entries].map(([key, { value }]) => [key, value]));
  }

  /** A sentence for each old key in use, and for each option of the job that was changed and has no effect yet. */
  warnings(): string[] {
    const warnings: string[] = [];
    for (const option of CONFIG_OPTIONS) {
      for (const key of option.deprecatedKeys) {
        const entry = this.#entries.get(key);
        if (entry === undefined) continue;
        const overruled = this.#entries.has(option.key) ? `; "${option.key}" is set too and counts` : '';
        warnings.push(`${placeOf(entry.origin)}"${key}" is an old name of "${option.key}"${overruled}`);
      }
    }
    for (const option of JOB_OPTIONS) {
      if (option.effect === 'now' || this.get(option) === option.defaultValue) continue;
      warnings.push(`"${option.key}" is set to ${shown(this.get(option))} and has no effect yet`);
    }
    return warnings;
  }

  #find(option: ConfigOption): Entry | undefined {
    for (const key of [option.key, ...option.deprecatedKeys]) {
      const entry = this.#entries.get(key);
      if (entry !== undefined) return entry;
    }
    return undefined;
  }

  #addObject(prefix: string, values: object): void {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) continue;
      const key = prefix === '' ? name : `${prefix}.${name}`;
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      // The value of a map is an object itself.
      const isNested = isObject && findOption(key)?.type !== mapValue.name;
      if (isNested) this.#addObject(key, value as object);
      else this.#add(key, value, undefined);
    }
  }

  #add(key: string, raw: unknown, origin: ConfigurationOrigin | undefined): void {
    const option = findOption(key);
    // A heading whose keys are all commented out.
    if (option === undefined && raw === null && isKeyPrefix(key)) return;
    if (option === undefined) throw unknownKey(key, origin);
    try {
      if (raw === null) throw new MillraceError('CONFIG_INVALID', 'the value is missing');
      this.#entries.set(key, { value: option.parse(raw), origin });
    } catch (cause) {
      throw wrongValue(key, option, raw, origin, cause);
    }
  }
}

function unknownKey(key: string, origin: ConfigurationOrigin | undefined): MillraceError {
  const nearest = nearestKey(key);
  const advice =
    nearest === undefined ? 'docs/reference/configuration.md lists all keys' : `did you mean "${nearest}"?`;
  return new MillraceError(
    'CONFIG_INVALID',
    `${placeOf(origin)}unknown configuration key "${key}"; ${advice}`,
    {
      details: { ...origin, key, nearest },
    },
  );
}

function wrongValue(
  key: string,
  option: ConfigOption,
  raw: unknown,
  origin: ConfigurationOrigin | undefined,
  cause: unknown,
): MillraceError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const found = raw === null ? '' : `, found ${shown(raw)}`;
  return new MillraceError(
    'CONFIG_INVALID',
    `${placeOf(origin)}wrong value for "${key}" (${option.type}): ${why}${found}`,
    {
      cause,
      details: { ...origin, key, expected: option.type },
    },
  );
}

function placeOf(origin: ConfigurationOrigin | undefined): string {
  return origin === undefined ? '' : `${origin.file}:${origin.line}: `;
}

function shown(raw: unknown): string {
  const text = typeof raw === 'bigint' ? String(raw) : (JSON.stringify(raw) ?? String(raw));
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
