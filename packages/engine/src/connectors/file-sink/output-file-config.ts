/** How the files of FileSink are called (org.apache.flink.streaming.api.functions.sink.filesystem.OutputFileConfig). */
import { MillraceError } from '../../base/index.ts';

const CHARACTERS_MAX = 100;
/** Of the names: no slashes, nothing invisible. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const UNFIT = /[/\\\u0000-\u001f\u007f]/;

/** The beginning and the end of the names of finished files; between them stands what makes each name unique. */
export class OutputFileConfig {
  readonly partPrefix: string;
  /** undefined: that of the format and its compression, such as `.jsonl.gz`. */
  readonly partSuffix: string | undefined;

  /**
   * `partPrefix` is not empty and has no dot or underscore first: readers would skip the files. `partSuffix` stands in
   * place of the format's, such as `.log`; it may be empty. Throws INVALID_ARGUMENT.
   */
  constructor(partPrefix = 'part', partSuffix?: string) {
    check('partPrefix', partPrefix);
    if (/^$|^[._]/.test(partPrefix)) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `OutputFileConfig: partPrefix is ${JSON.stringify(partPrefix)}; files that begin with a dot or an underscore are hidden`,
      );
    }
    if (partSuffix !== undefined) check('partSuffix', partSuffix);
    this.partPrefix = partPrefix;
    this.partSuffix = partSuffix;
  }

  /** The same in Flink's words. */
  static builder(): OutputFileConfigBuilder {
    return new OutputFileConfigBuilder(undefined, undefined);
  }
}

/** Collects prefix and suffix. Immutable: each call gives a new builder. */
export class OutputFileConfigBuilder {
  readonly #prefix: string | undefined;
  readonly #suffix: string | undefined;

  constructor(prefix: string | undefined, suffix: string | undefined) {
    this.#prefix = prefix;
    this.#suffix = suffix;
  }

  /** What names of files begin with. */
  withPartPrefix(prefix: string): OutputFileConfigBuilder {
    return new OutputFileConfigBuilder(prefix, this.#suffix);
  }

  /** What names of files end with. */
  withPartSuffix(suffix: string): OutputFileConfigBuilder {
    return new OutputFileConfigBuilder(this.#prefix, suffix);
  }

  /** Throws INVALID_ARGUMENT. */
  build(): OutputFileConfig {
    return new OutputFileConfig(this.#prefix, this.#suffix);
  }
}

function check(what: string, text: string): void {
  if (typeof text === 'string' && text.length <= CHARACTERS_MAX && !UNFIT.test(text)) return;
  throw new MillraceError(
    'INVALID_ARGUMENT',
    `OutputFileConfig: ${what} is ${JSON.stringify(text)}; expected at most ${CHARACTERS_MAX} characters without slashes ` +
      'and control characters',
  );
}
