/**
 * Writes the records of one subtask to part files: the writer of FileSink.
 *
 * Records are encoded into chunks at once; chunks are written one after the other beside the calls (`#drain`). At each
 * checkpoint the current file is closed; it is durable (content and name) before prepareCommit resolves, and hidden until
 * the committer renames it.
 *
 *     write → chunk ─full→ queue ─#drain→ file        prepareCommit → queue: finish → synced → committable
 *
 * I1  prepareCommit switches to a new file before it returns its promise.
 * I2  What is encoded and not written is at most UNWRITTEN_BYTES_MAX and one batch: `busy` says when to stop.
 * I3  A checkpoint without records makes no file.
 * I4  After an error nothing more is written, and every prepareCommit rejects: no checkpoint misses records.
 */
import { MillraceError } from '../../base/index.ts';
import type { FileSystem, WritableFile } from '../../platform/index.ts';
import type { SinkContext, SinkWriter } from '../../runtime/index.ts';
import { readableValue } from '../readable-value.ts';
import { finishedName, type PartFileId, partFileKey, pendingName } from './part-file-names.ts';
import { type RowFormat, UnwritableRecord } from './row-format.ts';

const CHUNK_BYTES = 256 * 1024;
const SPARE_CHUNKS_MAX = 4;
const UNWRITTEN_BYTES_MAX = 4 * 1024 * 1024;
const TOKEN_BYTES = 4;
const EXCERPT_CHARACTERS = 200;

/** A file that is complete and durable, but hidden. Names are relative to the sink's directory. */
export interface FileCommittable {
  readonly pendingName: string;
  readonly finishedName: string;
  readonly sizeBytes: number;
}

export interface PartFileSettings<T> {
  readonly files: FileSystem;
  /** Path in `files`; exists. */
  readonly directory: string;
  readonly format: RowFormat<T>;
  readonly rollSizeBytes: number;
}

interface Part {
  readonly id: PartFileId;
  sizeBytes: number;
  file: WritableFile | undefined;
}

type Work =
  | { readonly part: Part; readonly bytes: Uint8Array; readonly chunk: Buffer | undefined }
  | { readonly finish: Part };

export class PartFileWriter<T> implements SinkWriter<T, FileCommittable, never> {
  readonly #context: SinkContext;
  readonly #settings: PartFileSettings<T>;
  readonly #key: string;
  readonly #token: string;
  readonly #queue: Work[] = [];
  readonly #spareChunks: Buffer[] = [];
  #chunk: Buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  #chunkBytes = 0;
  #part: Part | undefined;
  #closedParts: Part[] = [];
  /** Parts whose file is open, wherever they are: also handed to prepareCommit and not finished. */
  readonly #openParts = new Set<Part>();
  #epoch: number;
  #roll = 0;
  #unwrittenBytes = 0;
  #draining: Promise<void> | undefined;
  #room: PromiseWithResolvers<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #closed = false;

  constructor(context: SinkContext, settings: PartFileSettings<T>) {
    this.#context = context;
    this.#settings = settings;
    this.#key = partFileKey(context.platform, context.lineageId, context.sinkUid);
    this.#token = context.platform.random.hex(TOKEN_BYTES);
    this.#epoch = context.restoredCheckpointId ?? 0;
  }

  /** Throws SINK_RECORD_UNSUPPORTED, or the error that writing ended with. */
  write(value: T): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    const text = this.#encode(value);
    const part = this.#part ?? this.#begin();
    this.#append(part, text);
    if (part.sizeBytes >= this.#settings.rollSizeBytes) this.#endPart();
  }

  busy(): Promise<void> | undefined {
    if (this.#unwrittenBytes <= UNWRITTEN_BYTES_MAX || this.#failure !== undefined) return undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  async prepareCommit(checkpointId: number): Promise<readonly FileCommittable[]> {
    if (this.#part !== undefined) this.#endPart();
    const parts = this.#closedParts;
    this.#closedParts = [];
    this.#epoch = Math.max(this.#epoch, checkpointId);
    this.#roll = 0;
    // Until here everything was synchronous (I1).
    while (this.#draining !== undefined) await this.#draining;
    if (this.#failure !== undefined) throw this.#failure.error;
    if (parts.length === 0) return [];
    const { files, directory, format } = this.#settings;
    // Its files are thrown away by then.
    if (this.#closed) throw writeError(this.#context.sinkName, directory, 'the writer was closed.');
    try {
      await files.syncDirectory(directory);
    } catch (error) {
      throw writeError(this.#context.sinkName, directory, error);
    }
    return parts.map(({ id, sizeBytes }) => ({
      pendingName: pendingName(id),
      finishedName: finishedName(id, format.suffix),
      sizeBytes,
    }));
  }

  /** What is in no committable is thrown away: nothing of it was promised to anybody. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#queue.length = 0;
    while (this.#draining !== undefined) await this.#draining;
    this.#room?.resolve();
    for (const part of this.#openParts) {
      try {
        await part.file!.close();
        await this.#settings.files.delete(this.#path(part));
      } catch (error) {
        const fields = { file: this.#path(part), reason: String(error) };
        this.#context.logger.log(
          'warn',
          `sink "${this.#context.sinkName}": an unfinished file stays`,
          fields,
        );
      }
    }
  }

  #encode(value: T): string {
    try {
      return this.#settings.format.encode(value);
    } catch (error) {
      if (!(error instanceof UnwritableRecord)) throw error;
      const record = readableValue(value).slice(0, EXCERPT_CHARACTERS);
      throw new MillraceError(
        'SINK_RECORD_UNSUPPORTED',
        `sink "${this.#context.sinkName}": a record cannot be written as ${this.#settings.format.name}: ` +
          `${error.message}. Record: ${record}`,
        { cause: error, details: { sink: this.#context.sinkName } },
      );
    }
  }

  #begin(): Part {
    const id: PartFileId = {
      key: this.#key,
      subtaskIndex: this.#context.subtaskIndex,
      epoch: this.#epoch,
      roll: this.#roll++,
      token: this.#token,
    };
    const part: Part = { id, sizeBytes: 0, file: undefined };
    this.#part = part;
    const { header } = this.#settings.format;
    if (header !== undefined) this.#append(part, header);
    return part;
  }

  #append(part: Part, text: string): void {
    // Three bytes are the most that a UTF-16 unit takes in UTF-8.
    if (this.#chunkBytes + text.length * 3 > CHUNK_BYTES) {
      this.#pushChunk(part);
      if (text.length * 3 > CHUNK_BYTES) {
        const bytes = Buffer.from(text, 'utf8');
        part.sizeBytes += bytes.length;
        this.#push({ part, bytes, chunk: undefined }, bytes.length);
        return;
      }
    }
    const written = this.#chunk.write(text, this.#chunkBytes, 'utf8');
    this.#chunkBytes += written;
    part.sizeBytes += written;
  }

  #pushChunk(part: Part): void {
    if (this.#chunkBytes === 0) return;
    const chunk = this.#chunk;
    const bytes = chunk.subarray(0, this.#chunkBytes);
    this.#chunk = this.#spareChunks.pop() ?? Buffer.allocUnsafe(CHUNK_BYTES);
    this.#chunkBytes = 0;
    this.#push({ part, bytes, chunk }, bytes.length);
  }

  #endPart(): void {
    const part = this.#part!;
    this.#pushChunk(part);
    this.#push({ finish: part }, 0);
    this.#closedParts.push(part);
    this.#part = undefined;
  }

  #push(work: Work, bytes: number): void {
    if (this.#failure !== undefined) return;
    this.#queue.push(work);
    this.#unwrittenBytes += bytes;
    this.#draining ??= this.#drain();
  }

  /** Carries out the queue in order. Never rejects: an error fails the task and stays (I4). */
  async #drain(): Promise<void> {
    for (let work = this.#queue.shift(); work !== undefined; work = this.#queue.shift()) {
      const part = 'finish' in work ? work.finish : work.part;
      try {
        await this.#carryOut(work);
      } catch (cause) {
        this.#fail(writeError(this.#context.sinkName, this.#path(part), cause));
      }
    }
    this.#draining = undefined;
  }

  async #carryOut(work: Work): Promise<void> {
    if ('finish' in work) {
      const file = await this.#open(work.finish);
      await file.sync();
      await file.close();
      work.finish.file = undefined;
      this.#openParts.delete(work.finish);
      return;
    }
    const { part, bytes, chunk } = work;
    await (await this.#open(part)).write(bytes);
    this.#unwrittenBytes -= bytes.length;
    if (chunk !== undefined && this.#spareChunks.length < SPARE_CHUNKS_MAX) this.#spareChunks.push(chunk);
    if (this.#unwrittenBytes <= UNWRITTEN_BYTES_MAX / 2) {
      this.#room?.resolve();
      this.#room = undefined;
    }
  }

  async #open(part: Part): Promise<WritableFile> {
    part.file ??= await this.#settings.files.create(this.#path(part));
    this.#openParts.add(part);
    return part.file;
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#queue.length = 0;
    this.#room?.resolve();
    this.#room = undefined;
    if (!this.#closed) this.#context.fail(error);
  }

  #path(part: Part): string {
    return `${this.#settings.directory}/${pendingName(part.id)}`;
  }
}

/** SINK_WRITE_FAILED for whatever the file system rejected with. */
export function writeError(sinkName: string, path: string, cause: unknown): MillraceError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `sink "${sinkName}": cannot write ${path}: ${reason} No result is lost: start again from the last checkpoint.`;
  return new MillraceError('SINK_WRITE_FAILED', message, {
    cause,
    details: { sink: sinkName, path },
  });
}
