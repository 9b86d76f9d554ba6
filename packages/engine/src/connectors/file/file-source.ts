/**
 * A source of the records in files: lines of text, JSON lines, CSV, Parquet. Text may be compressed (gzip, zstd).
 *
 * Made by users and by the API. A path is a file or a directory (with everything below it, except names that begin with
 * `.` or `_`). Files are listed once, before the first record; what appears later is not read, unless
 * `monitorContinuously` makes it a source that goes on looking.
 *
 * Guarantee: exactly-once, if the files do not change. A file that got shorter (Parquet, compressed: that changed its size)
 * or that disappeared before it was read to its end is an error that names it; `onMissingFile: 'skip'` goes on without it.
 *
 * Big files are read by several readers at once: text in byte ranges, Parquet by row group.
 */
import { type Duration, durationMs, MillraceError } from '../../base/index.ts';
import type {
  Boundedness,
  EnumeratorContext,
  ReaderContext,
  Source,
  SourceReader,
  SplitEnumerator,
} from '../../runtime/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { type CsvFormatOptions, csvLines } from './csv-format.ts';
import { type Compression, compressionOf } from './file-bytes.ts';
import { FileEnumerator, type FileEnumeratorState, type PlanSplits } from './file-enumerator.ts';
import type { ListingOptions } from './file-listing.ts';
import { FileReader, type OpenReading } from './file-reader.ts';
import { cutByteRanges, type FileSplit, splitSizeBytes } from './file-split.ts';
import { jsonLines, type LineFormat, TEXT_LINES } from './line-format.ts';
import { planRowGroups } from './parquet-plan.ts';
import { rowFields } from './parquet-rows.ts';
import { type ParquetReadOptions, RowEmitters, RowGroupReading } from './row-group-reading.ts';
import type { OnMalformed } from './split-reading.ts';
import { DEFAULT_LINE_BYTES_MAX, TextReading, type TextReadOptions } from './text-reading.ts';
import type { FileOrder, OnGrowth, OnReplacement } from './watched-files.ts';
import { type TailRules, type Watch, WatchingEnumerator } from './watching-enumerator.ts';

const COMPRESSIONS: readonly Compression[] = ['auto', 'none', 'gzip', 'zstd'];
const FAIL_OR_SKIP: readonly OnMalformed[] = ['fail', 'skip'];

/** One path or several: files or directories, plain or as URI. */
export type Paths = string | readonly string[];

/** Options of sources of text files. */
export interface TextFileOptions<T> extends TextReadOptions<T> {
  /** About how many bytes one reader takes at a time. Default: 4 to 64 MB, by the size of the files. */
  readonly splitSizeBytes?: number;
}

/** All splits of a tailed file are read by one reader: they are cut for memory's sake only. */
const TAIL_SPLIT_BYTES = 64 * 1024 * 1024;

/** Options of `FileSource.forCsv`. */
export type CsvFileOptions<T> = TextFileOptions<T> & CsvFormatOptions<T>;
/** Options of `FileSource.forParquet`. */
export type ParquetFileOptions<T> = ParquetReadOptions<T>;

/** What `monitorContinuously` may be told. */
export interface MonitorOptions {
  /** In which order files are read that are found by the same look; then by path. Default `modification-time`. */
  readonly order?: FileOrder | undefined;
  /**
   * A file that grows, or gets another modification time, after it was taken up: `refuse` (default) fails the job with
   * SOURCE_FILE_CHANGED; `warn` leaves out what came, with a warning; `tail` reads new complete lines as they come (not
   * for compressed files, Parquet or multiline CSV), those of one file in their order; only when the job is restored with
   * another parallelism, lines that had been given out may mix with those behind them.
   */
  readonly onGrowth?: OnGrowth | undefined;
  /**
   * A file that was taken up and got shorter, or whose place another file took: `refuse` (default) fails the job; `warn`
   * leaves it out, with a warning; `read` reads it as a new file.
   */
  readonly onReplacement?: OnReplacement | undefined;
  /** Files are taken up when they have not been written to for so long; by the wall clock. Default 0. */
  readonly minAge?: Duration | undefined;
}

interface Format<T> {
  readonly outputType: TypeInformation<T> | undefined;
  readonly listing: ListingOptions;
  readonly plan: PlanSplits;
  /** undefined: its files cannot be tailed. */
  readonly tail: TailRules | undefined;
  /** Why its files cannot be watched; undefined: they can. */
  readonly notWatched: string | undefined;
  createOpen(): OpenReading<T>;
}

/**
 * Reads the records in files: lines of text, JSON lines, CSV, Parquet; text also from files compressed by gzip or zstd. A
 * path is a file, or a directory with everything below it but names that begin with `.` or `_`. The files are listed once;
 * {@link FileSource.monitorContinuously} makes a source that goes on looking for new ones.
 *
 * Guarantee: exactly-once, as long as the files are what they were when they were listed. What is not, is an error that
 * names the file; `onMissingFile: 'skip'` goes on without a file that is gone. A restore with other paths than those that were
 * listed is refused with SOURCE_STATE_MISMATCH.
 */
export class FileSource<T, B extends Boundedness = 'bounded'>
  implements Source<T, FileSplit, FileEnumeratorState>
{
  readonly boundedness: B;
  readonly outputType: TypeInformation<T> | undefined;
  readonly #paths: readonly string[];
  readonly #format: Format<T>;
  readonly #watch: Watch | undefined;

  private constructor(paths: Paths, format: Format<T>, watch?: Watch) {
    this.#paths = typeof paths === 'string' ? [paths] : [...paths];
    if (this.#paths.length === 0 || this.#paths.some((path) => typeof path !== 'string' || path === '')) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        'FileSource: expected a path or a list of paths, none of them empty',
      );
    }
    this.#format = format;
    this.#watch = watch;
    this.boundedness = (watch === undefined ? 'bounded' : 'unbounded') as B;
    this.outputType = format.outputType;
  }

  /** Each line is a record, without its line break. */
  static forTextLines(paths: Paths, options: TextFileOptions<string> = {}): FileSource<string> {
    return new FileSource(paths, textFormat(TEXT_LINES, options));
  }

  /** Each line is a JSON value; with `type` it is checked and converted. Empty lines are left out. */
  static forJsonLines<T = unknown>(
    paths: Paths,
    type?: TypeInformation<T>,
    options: TextFileOptions<T> = {},
  ): FileSource<T> {
    return new FileSource(paths, textFormat(jsonLines(type), options));
  }

  /**
   * Records of separated values: objects by column name, of strings or, with `type: Types.ROW({...})`, of its fields.
   * Throws INVALID_ARGUMENT.
   */
  static forCsv<T = Record<string, string>>(paths: Paths, options: CsvFileOptions<T> = {}): FileSource<T> {
    return new FileSource(paths, textFormat(csvLines(options), options));
  }

  /** Rows of Parquet files, as objects by column name. Throws INVALID_ARGUMENT. */
  static forParquet<T = Record<string, unknown>>(
    paths: Paths,
    options: ParquetFileOptions<T> = {},
  ): FileSource<T> {
    if (options.type !== undefined) rowFields(options.type);
    checkChoice('FileSource', 'onMissingFile', options.onMissingFile, FAIL_OR_SKIP);
    const { maxRows } = options;
    if (maxRows !== undefined && !(Number.isSafeInteger(maxRows) && maxRows > 0)) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `FileSource: maxRows is ${maxRows}, expected a whole number above 0`,
      );
    }
    return new FileSource(paths, {
      outputType: options.type,
      listing: options,
      tail: undefined,
      notWatched: maxRows === undefined ? undefined : 'maxRows is for files that are read once',
      plan: (context, files) => planRowGroups(context, files, options),
      createOpen: () => {
        const emitters = new RowEmitters(options);
        return (context, split) => {
          if (split.kind !== 'row-group') throw otherFormat(context.sourceName, split);
          return new RowGroupReading(context, split, options, emitters);
        };
      },
    });
  }

  /**
   * The same source, which does not end: it looks every `interval` for files that are new, and reads each once. Which
   * files it knows is part of its checkpoints.
   *
   * A file is the same as long as it has its path, size and modification time, or under another name of the same directory
   * tree as far as the file system tells files from each other. A file that is deleted is remembered, with the last 10,000
   * others; at its path a new file may come. `options` say what happens to files that change.
   *
   * To hand over a file at once, write it under a hidden name (or with one of `ignoredSuffixes`) and rename it. Throws
   * INVALID_ARGUMENT.
   */
  monitorContinuously(interval: Duration, options: MonitorOptions = {}): FileSource<T, 'unbounded'> {
    return new FileSource<T, 'unbounded'>(
      this.#paths,
      this.#format,
      watchOf(this.#paths, this.#format, interval, options),
    );
  }

  createEnumerator(context: EnumeratorContext<FileSplit>): SplitEnumerator<FileEnumeratorState> {
    return this.#enumerator(context, undefined);
  }

  restoreEnumerator(
    context: EnumeratorContext<FileSplit>,
    state: FileEnumeratorState,
  ): SplitEnumerator<FileEnumeratorState> {
    return this.#enumerator(context, state);
  }

  createReader(context: ReaderContext): SourceReader<T, FileSplit> {
    return new FileReader(context, this.#format.createOpen());
  }

  #enumerator(
    context: EnumeratorContext<FileSplit>,
    restored: FileEnumeratorState | undefined,
  ): SplitEnumerator<FileEnumeratorState> {
    if (this.#watch !== undefined) return new WatchingEnumerator(context, this.#watch, restored);
    const { plan, listing } = this.#format;
    return new FileEnumerator(context, this.#paths, listing, plan, restored);
  }
}

function watchOf<T>(
  paths: readonly string[],
  format: Format<T>,
  interval: Duration,
  options: MonitorOptions,
): Watch {
  const { order = 'modification-time', onGrowth = 'refuse', onReplacement = 'refuse', minAge = 0 } = options;
  const what = 'FileSource.monitorContinuously';
  checkChoice(what, 'order', order, ['modification-time', 'path']);
  checkChoice(what, 'onGrowth', onGrowth, ['refuse', 'warn', 'tail']);
  checkChoice(what, 'onReplacement', onReplacement, ['refuse', 'warn', 'read']);
  const intervalMs = durationMs(interval, `${what}(interval)`);
  if (intervalMs === 0)
    throw new MillraceError('INVALID_ARGUMENT', `${what}: the interval is 0, expected more`);
  if (format.notWatched !== undefined)
    throw new MillraceError('INVALID_ARGUMENT', `${what}: ${format.notWatched}`);
  const { tail } = format;
  if (onGrowth === 'tail' && tail === undefined) {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `${what}: onGrowth 'tail' needs a text format in which each line break ends a record, without compression`,
    );
  }
  return {
    paths,
    intervalMs,
    listing: format.listing,
    plan: format.plan,
    tail: onGrowth === 'tail' ? tail : undefined,
    rules: {
      order,
      onGrowth,
      onReplacement,
      minAgeMs: durationMs(minAge, `${what}: minAge`),
      isTailed: (path) => tail !== undefined && tail.compressionOf(path) === undefined,
    },
  };
}

function textFormat<T>(format: LineFormat<T>, options: TextFileOptions<T>): Format<T> {
  const sizeBytes = options.splitSizeBytes;
  for (const [name, value] of Object.entries({
    splitSizeBytes: sizeBytes,
    maxLineBytes: options.maxLineBytes,
  })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `FileSource: ${name} is ${value}, expected a whole number above 0`,
      );
    }
  }
  const { compression = 'auto', maxLineBytes = DEFAULT_LINE_BYTES_MAX } = options;
  checkChoice('FileSource', 'compression', compression, COMPRESSIONS);
  checkChoice('FileSource', 'onMalformed', options.onMalformed, FAIL_OR_SKIP);
  checkChoice('FileSource', 'onMissingFile', options.onMissingFile, FAIL_OR_SKIP);
  const { splittable } = format;
  const rules = { splittable, compressionOf: (path: string) => compressionOf(path, compression) };
  const isTailable = splittable && (compression === 'auto' || compression === 'none');
  return {
    outputType: format.outputType,
    listing: options,
    notWatched: undefined,
    tail: isTailable
      ? { ...rules, sizeBytes: sizeBytes ?? TAIL_SPLIT_BYTES, lineBytesMax: maxLineBytes }
      : undefined,
    plan: (context, files) => {
      const totalBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
      const even = splitSizeBytes(totalBytes, context.parallelism);
      return cutByteRanges(files, { ...rules, sizeBytes: sizeBytes ?? even });
    },
    createOpen: () => (context, split) => {
      if (split.kind !== 'bytes') throw otherFormat(context.sourceName, split);
      return new TextReading(context, split, format, options);
    },
  };
}

function checkChoice<C extends string>(
  what: string,
  option: string,
  value: C | undefined,
  allowed: readonly C[],
): void {
  if (value === undefined || allowed.includes(value)) return;
  throw new MillraceError(
    'INVALID_ARGUMENT',
    `${what}: ${option} is ${String(value)}, expected ${allowed.join(' or ')}`,
  );
}

function otherFormat(sourceName: string, split: FileSplit): MillraceError {
  const saved = split.kind === 'bytes' ? 'text' : 'Parquet';
  return new MillraceError(
    'SOURCE_STATE_MISMATCH',
    `source "${sourceName}": the saved position of ${split.path} is one in a ${saved} file, but the program now reads ` +
      'another format. Restore with the source it was saved with, or give the changed source a new uid.',
    { details: { source: sourceName, path: split.path } },
  );
}
