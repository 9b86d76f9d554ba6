/**
 * Writes records to files in a directory, exactly-once: JSON lines, CSV, lines of the user's own, Parquet, or any format
 * of the user's (org.apache.flink.connector.file.sink.FileSink).
 *
 * Made by users and by the API. A file becomes visible when a checkpoint that covers all of it is complete; until then its
 * name begins with a dot. When a file ends says the rolling policy; by default at each checkpoint, so results appear once
 * a checkpoint. Into which folder a record goes says the bucket assigner. Without checkpoints all files become visible at
 * the end.
 *
 * Guarantee: exactly-once on a file system with atomic rename and durable sync (a local disk). Readers must not move or
 * delete a file before the next checkpoint after it appeared: a restart from the checkpoint would miss it.
 */
import { type Duration, MillraceError } from '../../base/index.ts';
import type { AppendableCompression } from '../../platform/index.ts';
import type { Committer, Sink, SinkContext, SinkWriter } from '../../runtime/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { BasePathBucketAssigner, type BucketAssigner, type BucketAssignment } from './bucket-assigner.ts';
import { type BulkFormatOptions, type BulkWriterFactory, bulkPartFormat } from './bulk-writer.ts';
import { type CsvSinkOptions, csvFormat } from './csv-format.ts';
import { FILE_COMMITTABLE, type FileCommittable } from './file-committable.ts';
import { FileCommitter } from './file-committer.ts';
import { jsonLinesFormat } from './json-lines-format.ts';
import { OutputFileConfig } from './output-file-config.ts';
import { type ParquetSinkOptions, parquetPartFormat } from './parquet-format.ts';
import { writeError } from './part-file-output.ts';
import { recoverParts } from './part-file-recovery.ts';
import { PartFileWriter } from './part-file-writer.ts';
import type { PartFormat } from './part-format.ts';
import {
  CheckpointRollingPolicy,
  OnCheckpointRollingPolicy,
  positiveMs,
  type RollingPolicy,
} from './rolling-policy.ts';
import { type RowFormat, UnwritableRecord } from './row-format.ts';
import { ROW_COMPRESSIONS, rowPartFormat } from './row-part.ts';

const BUCKET_CHECK_INTERVAL_MS = 60_000;
const OPEN_BUCKETS_MAX = 128;

/** Makes the text of a record, without line break. */
export type RowEncoder<T> = (value: T) => string;

/** Of formats that write a line a record. */
export interface RowSinkOptions {
  /**
   * Compresses the files. Each checkpoint ends a gzip member or zstd frame; every reader takes several of them for one
   * stream. Default: none.
   */
  readonly compression?: AppendableCompression;
}

interface Settings<T> {
  readonly path: string;
  readonly format: PartFormat<T>;
  readonly assigner: BucketAssigner<T> | undefined;
  readonly policy: RollingPolicy<T>;
  readonly outputFileConfig: OutputFileConfig;
  readonly bucketCheckIntervalMs: number;
  readonly openBucketsMax: number;
}

/**
 * Writes records to files in a directory, exactly-once. A file appears when a checkpoint that covers all of it is complete;
 * until then its name begins with a dot. Readers must leave a file until the next checkpoint after it appeared. `P` is the
 * kind of rolling policy that the format allows. Immutable: each `with…` gives a new sink.
 */
export class FileSink<T, P extends RollingPolicy<T> = RollingPolicy<T>>
  implements Sink<T, FileCommittable, FileCommittable>
{
  readonly guarantee = 'exactly-once';
  readonly committableType = FILE_COMMITTABLE;
  readonly writerStateType = FILE_COMMITTABLE;
  readonly #settings: Settings<T>;

  private constructor(settings: Settings<T>) {
    this.#settings = settings;
  }

  /**
   * One line a record, as `encoder` makes it; or a whole format. The names of the files end in `.txt` unless that is
   * changed.
   */
  static forRowFormat<T>(
    path: string,
    encoder: RowEncoder<T> | RowFormat<T>,
    options: RowSinkOptions = {},
  ): FileSink<T> {
    return FileSink.#rows(path, typeof encoder === 'function' ? linesOf(encoder) : encoder, options);
  }

  /**
   * One JSON value a line. Dates are ISO 8601 strings, bigints strings of digits, bytes base64, maps with string keys
   * objects, other maps lists of pairs, sets lists. What JSON would silently change, such as NaN, is refused.
   */
  static forJsonLines<T>(path: string, options: RowSinkOptions = {}): FileSink<T> {
    return FileSink.#rows(path, jsonLinesFormat<T>(), options);
  }

  /** The fields `columns` of each record, in that order. */
  static forCsv<T extends object>(
    path: string,
    columns: readonly (keyof T & string)[],
    options: CsvSinkOptions & RowSinkOptions = {},
  ): FileSink<T> {
    return FileSink.#rows(path, csvFormat<T>(columns, options), options);
  }

  /**
   * Parquet files with the fields of `type` as columns. A file ends with each checkpoint. Throws INVALID_ARGUMENT if a
   * field is of a type that Parquet cannot hold.
   */
  static forParquet<T>(
    path: string,
    type: TypeInformation<T>,
    options: ParquetSinkOptions = {},
  ): FileSink<T, CheckpointRollingPolicy<T>> {
    return FileSink.#of(path, parquetPartFormat(type, options));
  }

  /** Files that a writer of the user's makes. A file ends with each checkpoint. */
  static forBulkFormat<T>(
    path: string,
    factory: BulkWriterFactory<T>,
    options: BulkFormatOptions = {},
  ): FileSink<T, CheckpointRollingPolicy<T>> {
    return FileSink.#of(path, bulkPartFormat(factory, options));
  }

  /** Into which folder below `path` a record goes: an assigner, or its function. Default: all into `path` itself. */
  withBucketAssigner(assigner: BucketAssignment<T>): FileSink<T, P> {
    const given = typeof assigner === 'function' ? { getBucketId: assigner } : assigner;
    if (typeof given?.getBucketId !== 'function') {
      throw invalid('withBucketAssigner: expected a function or an object with a method getBucketId');
    }
    // Always the same bucket need not be asked for.
    return this.#with({ assigner: given instanceof BasePathBucketAssigner ? undefined : given });
  }

  /**
   * When files end. Default: `OnCheckpointRollingPolicy`. With `DefaultRollingPolicy`, or one of the user's, files of rows
   * may go on over checkpoints. Bulk formats take a `CheckpointRollingPolicy` only.
   */
  withRollingPolicy(policy: P): FileSink<T, P> {
    const { format } = this.#settings;
    if (!format.isAppendable && !(policy instanceof CheckpointRollingPolicy)) {
      throw invalid(
        `withRollingPolicy: ${format.name} files end with each checkpoint; expected an OnCheckpointRollingPolicy or ` +
          'another CheckpointRollingPolicy',
      );
    }
    for (const method of [
      'shouldRollOnCheckpoint',
      'shouldRollOnEvent',
      'shouldRollOnProcessingTime',
    ] as const) {
      if (typeof policy?.[method] !== 'function')
        throw invalid(`withRollingPolicy: expected an object with a method ${method}`);
    }
    return this.#with({ policy });
  }

  /** How often the policy is asked whether time ends a file, beside each checkpoint; default a minute. */
  withBucketCheckInterval(interval: Duration): FileSink<T, P> {
    return this.#with({ bucketCheckIntervalMs: positiveMs(interval, 'FileSink.withBucketCheckInterval') });
  }

  /** Beginning and end of the files' names. */
  withOutputFileConfig(outputFileConfig: OutputFileConfig): FileSink<T, P> {
    if (!(outputFileConfig instanceof OutputFileConfig))
      throw invalid('withOutputFileConfig: expected an OutputFileConfig');
    return this.#with({ outputFileConfig });
  }

  /**
   * The most files that a subtask has open, one a bucket; default 128. A record for one more bucket ends the file that got
   * none for longest, and that bucket's next record begins a new file.
   */
  withMaxOpenBuckets(openBucketsMax: number): FileSink<T, P> {
    if (!(Number.isSafeInteger(openBucketsMax) && openBucketsMax > 0)) {
      throw invalid(`withMaxOpenBuckets: expected a whole number above 0, found ${openBucketsMax}`);
    }
    return this.#with({ openBucketsMax });
  }

  /** The sink itself: the last call of Flink's builders. */
  build(): this {
    return this;
  }

  /** Creates the directory. Rejects with SINK_WRITE_FAILED, or SINK_COMMIT_LOST for a file that should be there. */
  async createWriter(
    context: SinkContext,
    restored: readonly FileCommittable[],
  ): Promise<SinkWriter<T, FileCommittable, FileCommittable>> {
    const { path, format, outputFileConfig, ...others } = this.#settings;
    const { files, path: directory } = context.platform.fileSystem(path);
    try {
      await files.makeDirectory(directory);
    } catch (error) {
      throw writeError(context.sinkName, directory, error);
    }
    const { partPrefix: prefix, partSuffix: suffix = format.suffix } = outputFileConfig;
    const beginFile = await format.open(context.platform);
    const settings = { files, directory, format, prefix, suffix, ...others };
    const writer = new PartFileWriter(context, settings, beginFile);
    const place = { context, files, directory, key: writer.key };
    writer.take(await recoverParts(place, restored, (bucketId) => writer.nextNames(bucketId)));
    return writer;
  }

  createCommitter(context: SinkContext): Committer<FileCommittable> {
    const { files, path } = context.platform.fileSystem(this.#settings.path);
    return new FileCommitter(context, files, path);
  }

  static #rows<T>(path: string, format: RowFormat<T>, { compression }: RowSinkOptions): FileSink<T> {
    if (compression !== undefined && !ROW_COMPRESSIONS.includes(compression)) {
      throw invalid(
        `compression is ${JSON.stringify(compression)}, expected one of ${ROW_COMPRESSIONS.join(', ')}`,
      );
    }
    return FileSink.#of(path, rowPartFormat(format, compression));
  }

  static #of<T, P extends RollingPolicy<T>>(path: string, format: PartFormat<T>): FileSink<T, P> {
    if (typeof path !== 'string' || path === '') throw invalid('expected the path of a directory');
    return new FileSink({
      path,
      format,
      assigner: undefined,
      policy: OnCheckpointRollingPolicy.build(),
      outputFileConfig: new OutputFileConfig(),
      bucketCheckIntervalMs: BUCKET_CHECK_INTERVAL_MS,
      openBucketsMax: OPEN_BUCKETS_MAX,
    });
  }

  #with(changes: Partial<Settings<T>>): FileSink<T, P> {
    return new FileSink({ ...this.#settings, ...changes });
  }
}

function linesOf<T>(encoder: RowEncoder<T>): RowFormat<T> {
  return {
    name: 'lines of text',
    suffix: '.txt',
    header: undefined,
    encode: (value) => {
      const text: unknown = encoder(value);
      if (typeof text === 'string') return `${text}\n`;
      throw new UnwritableRecord(
        `the encoder gave ${text instanceof Promise ? 'a promise' : `a ${typeof text}`}, expected a string`,
      );
    },
  };
}

function invalid(message: string): MillraceError {
  return new MillraceError('INVALID_ARGUMENT', `FileSink: ${message}`);
}
