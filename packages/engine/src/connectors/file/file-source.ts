/**
 * A bounded source of the records in files: lines of text, JSON lines, CSV, Parquet.
 *
 * Made by users and by the API. A path is a file or a directory (with everything below it, except names that begin with
 * `.` or `_`). Files are listed once, before the first record; what appears later is not read.
 *
 * Guarantee: exactly-once, if the files do not change. A file that got shorter (Parquet: that changed its size) or that
 * disappeared before it was read to its end is an error that names it; `onMissingFile: 'skip'` goes on without it.
 *
 * Big files are read by several readers at once: text in byte ranges, Parquet by row group.
 */
import { MillraceError } from '../../base/index.ts';
import type {
  EnumeratorContext,
  ReaderContext,
  Source,
  SourceReader,
  SplitEnumerator,
} from '../../runtime/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { type CsvFormatOptions, csvLines } from './csv-format.ts';
import { FileEnumerator, type FileEnumeratorState, type PlanSplits } from './file-enumerator.ts';
import { FileReader, type OpenReading } from './file-reader.ts';
import { cutByteRanges, type FileSplit, splitSizeBytes } from './file-split.ts';
import { jsonLines, type LineFormat, TEXT_LINES } from './line-format.ts';
import { planRowGroups } from './parquet-plan.ts';
import { rowFields } from './parquet-rows.ts';
import { type ParquetReadOptions, RowEmitters, RowGroupReading } from './row-group-reading.ts';
import { TextReading, type TextReadOptions } from './text-reading.ts';

/** One path or several: files or directories, plain or as URI. */
export type Paths = string | readonly string[];

export interface TextFileOptions<T> extends TextReadOptions<T> {
  /** About how many bytes one reader takes at a time. Default: 4 to 64 MB, by the size of the files. */
  readonly splitSizeBytes?: number;
}

export type CsvFileOptions<T> = TextFileOptions<T> & CsvFormatOptions<T>;
export type ParquetFileOptions<T> = ParquetReadOptions<T>;

interface Format<T> {
  readonly outputType: TypeInformation<T> | undefined;
  readonly plan: PlanSplits;
  createOpen(): OpenReading<T>;
}

export class FileSource<T> implements Source<T, FileSplit, FileEnumeratorState> {
  readonly boundedness = 'bounded';
  readonly outputType: TypeInformation<T> | undefined;
  readonly #paths: readonly string[];
  readonly #format: Format<T>;

  private constructor(paths: Paths, format: Format<T>) {
    this.#paths = typeof paths === 'string' ? [paths] : [...paths];
    if (this.#paths.length === 0 || this.#paths.some((path) => typeof path !== 'string' || path === '')) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        'FileSource: expected a path or a list of paths, none of them empty',
      );
    }
    this.#format = format;
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
    const { maxRows } = options;
    if (maxRows !== undefined && !(Number.isSafeInteger(maxRows) && maxRows > 0)) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `FileSource: maxRows is ${maxRows}, expected a whole number above 0`,
      );
    }
    return new FileSource(paths, {
      outputType: options.type,
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

  createEnumerator(context: EnumeratorContext<FileSplit>): SplitEnumerator<FileEnumeratorState> {
    return new FileEnumerator(context, this.#paths, this.#format.plan, undefined);
  }

  restoreEnumerator(
    context: EnumeratorContext<FileSplit>,
    state: FileEnumeratorState,
  ): SplitEnumerator<FileEnumeratorState> {
    return new FileEnumerator(context, this.#paths, this.#format.plan, state);
  }

  createReader(context: ReaderContext): SourceReader<T, FileSplit> {
    return new FileReader(context, this.#format.createOpen());
  }
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
  return {
    outputType: format.outputType,
    plan: (context, files) => {
      const totalBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
      return cutByteRanges(
        files,
        sizeBytes ?? splitSizeBytes(totalBytes, context.parallelism),
        format.splittable,
      );
    },
    createOpen: () => (context, split) => {
      if (split.kind !== 'bytes') throw otherFormat(context.sourceName, split);
      return new TextReading(context, split, format, options);
    },
  };
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
