/**
 * Writes records to files in a directory, exactly-once: JSON lines, CSV, or lines of the user's own.
 *
 * Made by users and by the API. A file becomes visible (under a name that begins with `part-`) when the checkpoint that
 * it belongs to is complete; until then its name begins with a dot. Each subtask begins a new file at each checkpoint, so
 * results appear once a checkpoint, and no file pins an old one. Without checkpoints all files become visible at the end.
 *
 * Guarantee: exactly-once on a file system with atomic rename and durable sync (a local disk). Readers must not move or
 * delete a file before the next checkpoint after it appeared: a restart from the checkpoint would miss it.
 */
import { MillraceError } from '../../base/index.ts';
import type { Committer, Sink, SinkContext, SinkWriter } from '../../runtime/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { type CsvSinkOptions, csvFormat } from './csv-format.ts';
import { FileCommitter } from './file-committer.ts';
import { jsonLinesFormat } from './json-lines-format.ts';
import { type FileCommittable, PartFileWriter, writeError } from './part-file-writer.ts';
import { type RowFormat, UnwritableRecord } from './row-format.ts';

const DEFAULT_ROLL_BYTES = 1024 * 1024 * 1024;

/** Makes the text of a record, without line break. */
export type RowEncoder<T> = (value: T) => string;

const COMMITTABLE: TypeInformation<FileCommittable> = {
  description: {
    kind: 'pojo',
    name: 'FileCommittable',
    fields: [
      { name: 'pendingName', type: { kind: 'string' } },
      { name: 'finishedName', type: { kind: 'string' } },
      { name: 'sizeBytes', type: { kind: 'long' } },
    ],
  },
};

export class FileSink<T> implements Sink<T, FileCommittable, never> {
  readonly guarantee = 'exactly-once';
  readonly committableType = COMMITTABLE;
  readonly #path: string;
  readonly #format: RowFormat<T>;
  readonly #rollSizeBytes: number;

  private constructor(path: string, format: RowFormat<T>, rollSizeBytes = DEFAULT_ROLL_BYTES) {
    if (typeof path !== 'string' || path === '') {
      throw new MillraceError('INVALID_ARGUMENT', 'FileSink: expected the path of a directory');
    }
    this.#path = path;
    this.#format = format;
    this.#rollSizeBytes = rollSizeBytes;
  }

  /** One line a record, as `encoder` makes it; or a whole format. Files have the suffix `.txt` unless it is changed. */
  static forRowFormat<T>(path: string, encoder: RowEncoder<T> | RowFormat<T>): FileSink<T> {
    return new FileSink(path, typeof encoder === 'function' ? linesOf(encoder) : encoder);
  }

  /** One JSON value a line; `json-lines-format.ts` says how values are written that JSON does not know. */
  static forJsonLines<T>(path: string): FileSink<T> {
    return new FileSink(path, jsonLinesFormat<T>());
  }

  /** The fields `columns` of each record, in that order. */
  static forCsv<T extends object>(
    path: string,
    columns: readonly (keyof T & string)[],
    options: CsvSinkOptions = {},
  ): FileSink<T> {
    return new FileSink(path, csvFormat<T>(columns, options));
  }

  /** The end of the files' names, such as `.log`; no slashes. */
  withPartSuffix(suffix: string): FileSink<T> {
    if (/[/\\\0]/.test(suffix)) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `FileSink: suffix ${JSON.stringify(suffix)} has a character not for names`,
      );
    }
    return new FileSink(this.#path, { ...this.#format, suffix }, this.#rollSizeBytes);
  }

  /** A file that reaches this size is closed between checkpoints too; default 1 GB. */
  withRollSizeBytes(rollSizeBytes: number): FileSink<T> {
    if (!(rollSizeBytes > 0)) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `FileSink: rollSizeBytes is ${rollSizeBytes}, expected more than 0`,
      );
    }
    return new FileSink(this.#path, this.#format, rollSizeBytes);
  }

  /** The sink itself: the last call of Flink's builders. */
  build(): FileSink<T> {
    return this;
  }

  /** Creates the directory. Rejects with SINK_WRITE_FAILED. */
  async createWriter(context: SinkContext): Promise<SinkWriter<T, FileCommittable, never>> {
    const { files, path: directory } = context.platform.fileSystem(this.#path);
    try {
      await files.makeDirectory(directory);
    } catch (error) {
      throw writeError(context.sinkName, directory, error);
    }
    return new PartFileWriter(context, {
      files,
      directory,
      format: this.#format,
      rollSizeBytes: this.#rollSizeBytes,
    });
  }

  createCommitter(context: SinkContext): Committer<FileCommittable> {
    const { files, path } = context.platform.fileSystem(this.#path);
    return new FileCommitter(context, files, path);
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
