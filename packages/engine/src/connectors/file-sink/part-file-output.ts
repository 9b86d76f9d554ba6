/**
 * Carries out what the writer of FileSink wants of its files: appending, syncing, finishing, in the order of the calls and
 * beside them.
 *
 *     append, sync, finish, settle → queue ─#drain→ file, directory
 *
 * I1  What waits to be written is at most UNWRITTEN_BYTES_MAX and one batch: `busy` says when to stop.
 * I2  After an error nothing more is written, and every `settle` rejects: no checkpoint misses records. A `settle` waits for
 *     what came before it only: it ends also if the queue never gets empty.
 * I3  `close` leaves the files that were promised to somebody: kept ones (a snapshot knows them) and finished ones.
 */
import { MillraceError } from '../../base/index.ts';
import type { FileSystem, WritableFile } from '../../platform/index.ts';
import type { SinkContext } from '../../runtime/index.ts';

const UNWRITTEN_BYTES_MAX = 4 * 1024 * 1024;

/** One file. */
export interface OutputFile {
  readonly path: string;
  /** Nobody but the output touches it. */
  handle: WritableFile | undefined;
  /** True from the first snapshot that knows the file. */
  isKept: boolean;
}

type Work =
  | {
      readonly what: 'append';
      readonly file: OutputFile;
      readonly bytes: Uint8Array;
      readonly release: (() => void) | undefined;
    }
  | { readonly what: 'sync' | 'finish'; readonly file: OutputFile }
  | { readonly what: 'settle'; readonly directory: string; readonly settled: PromiseWithResolvers<void> };

export class PartFileOutput {
  readonly #context: SinkContext;
  readonly #files: FileSystem;
  readonly #queue: Work[] = [];
  /** Files whose handle is open. */
  readonly #open = new Set<OutputFile>();
  #unwrittenBytes = 0;
  #draining: Promise<void> | undefined;
  #room: PromiseWithResolvers<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #closed = false;

  constructor(context: SinkContext, files: FileSystem) {
    this.#context = context;
    this.#files = files;
  }

  /** Throws the error that writing ended with. */
  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  append(file: OutputFile, bytes: Uint8Array, release?: () => void): void {
    this.#unwrittenBytes += bytes.length;
    this.#push({ what: 'append', file, bytes, release });
  }

  /** What was appended is made durable, and the file goes on. */
  sync(file: OutputFile): void {
    this.#push({ what: 'sync', file });
  }

  /** What was appended is made durable, and the file is closed. */
  finish(file: OutputFile): void {
    this.#push({ what: 'finish', file });
  }

  busy(): Promise<void> | undefined {
    if (this.#unwrittenBytes <= UNWRITTEN_BYTES_MAX || this.#failure !== undefined) return undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  /**
   * Resolves when all work so far is done and the names in `directory` are durable. Rejects with the error that writing
   * ended with.
   */
  settle(directory: string): Promise<void> {
    const settled = Promise.withResolvers<void>();
    if (this.#failure !== undefined) settled.reject(this.#failure.error);
    else if (this.#closed) settled.reject(this.#closedError(directory));
    else this.#push({ what: 'settle', directory, settled });
    return settled.promise;
  }

  /** Closes all files; removes those that nobody was promised (I3). Work that has not begun is dropped. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#drop((work) => this.#closedError(work.directory));
    await this.#draining;
    this.#room?.resolve();
    for (const file of this.#open) {
      try {
        await file.handle!.close();
        if (!file.isKept) await this.#files.delete(file.path);
      } catch (error) {
        const message = `sink "${this.#context.sinkName}": an unfinished file stays`;
        this.#context.logger.log('warn', message, { file: file.path, reason: String(error) });
      }
    }
  }

  #push(work: Work): void {
    if (this.#failure !== undefined) return;
    this.#queue.push(work);
    this.#draining ??= this.#drain();
  }

  /** Never rejects: an error fails the task and stays (I2). */
  async #drain(): Promise<void> {
    for (let work = this.#queue.shift(); work !== undefined; work = this.#queue.shift()) {
      try {
        await this.#carryOut(work);
      } catch (cause) {
        const error = writeError(
          this.#context.sinkName,
          work.what === 'settle' ? work.directory : work.file.path,
          cause,
        );
        if (work.what === 'settle') work.settled.reject(error);
        this.#fail(error);
      }
    }
    this.#draining = undefined;
  }

  async #carryOut(work: Work): Promise<void> {
    if (work.what === 'settle') {
      await this.#files.syncDirectory(work.directory);
      work.settled.resolve();
      return;
    }
    const { file } = work;
    const handle = await this.#handleOf(file);
    if (work.what === 'append') {
      await handle.write(work.bytes);
      this.#wrote(work.bytes.length);
      work.release?.();
      return;
    }
    await handle.sync();
    if (work.what === 'sync') return;
    await handle.close();
    file.handle = undefined;
    this.#open.delete(file);
  }

  #wrote(bytes: number): void {
    this.#unwrittenBytes -= bytes;
    if (this.#unwrittenBytes > UNWRITTEN_BYTES_MAX / 2) return;
    this.#room?.resolve();
    this.#room = undefined;
  }

  async #handleOf(file: OutputFile): Promise<WritableFile> {
    file.handle ??= await this.#files.create(file.path);
    this.#open.add(file);
    return file.handle;
  }

  /** Forgets the work that has not begun. */
  #drop(errorFor: (work: Work & { readonly what: 'settle' }) => unknown): void {
    for (const work of this.#queue.splice(0)) if (work.what === 'settle') work.settled.reject(errorFor(work));
  }

  #closedError(directory: string): MillraceError {
    return writeError(this.#context.sinkName, directory, 'the writer was closed.');
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#drop(() => error);
    this.#room?.resolve();
    this.#room = undefined;
    if (!this.#closed) this.#context.fail(error);
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
