/**
 * Writes records to a Writable of Node.js: a file, a socket, the standard output of the process. Made by the API
 * (`DataStream.writeTo`). Each subtask opens a stream of its own, in the thread where it runs.
 *
 *     record ─encode→ stream.write ─false→ busy until 'drain'        barrier: the snapshot waits until all is written
 *                                                                    end of input: and until the stream has ended
 *
 * Guarantee: at-least-once. When a checkpoint completes, the stream has taken everything before it; after a failure the
 * records since then are written again.
 */
import { MillraceError } from '../../base/index.ts';
import { describe } from '../../operators/index.ts';
import type { Sink, SinkContext, SinkWriter } from '../../runtime/index.ts';

/** A Writable of Node.js, as far as it matters here. */
export interface WritableLike {
  /** Calls back when the chunk was taken; answers false if it is time to wait for `drain`. */
  write(chunk: string | Uint8Array, done: (error?: Error | null) => void): boolean;
  /** No more is written: calls back when all is out, or with what went wrong. */
  end(done: (error?: Error | null) => void): unknown;
  /** Called when the job fails or is cancelled. */
  destroy(): unknown;
  /** Listens to an event of the stream. */
  on(event: 'drain' | 'error' | 'close', listener: (error: Error) => void): unknown;
  /** Listens no more. */
  off(event: 'drain' | 'error' | 'close', listener: (error: Error) => void): unknown;
}

/** For which subtask a stream is opened. */
export interface WritableContext {
  readonly subtaskIndex: number;
  readonly parallelism: number;
  /** 0 for the first execution, one more after each restart: what is there already must be kept then. */
  readonly attemptNumber: number;
}

/** Opens the stream of a subtask; called once for each attempt to run the job. */
export type WritableFactory = (context: WritableContext) => WritableLike | PromiseLike<WritableLike>;

/** What is written of a record, line break included. */
export type ChunkEncoder<T> = (value: T) => string | Uint8Array;

/** Options of WritableSink. */
export interface WritableSinkOptions<T> {
  /** Default: of a string a line, bytes as they are; anything else is refused. */
  readonly encode?: ChunkEncoder<T>;
  /** False: the stream stays open at the end. The standard output and the standard error always do. Default true. */
  readonly end?: boolean;
}

/**
 * Writes records to a Writable of Node.js, one for each subtask. At-least-once. `writeTo` of a stream is built on it.
 */
export class WritableSink<T> implements Sink<T, never, never> {
  readonly guarantee = 'at-least-once';
  readonly #open: WritableFactory;
  readonly #options: WritableSinkOptions<T>;

  /** Throws INVALID_ARGUMENT if `open` is no function: one stream cannot serve several subtasks and attempts. */
  constructor(open: WritableFactory, options: WritableSinkOptions<T> = {}) {
    if (typeof open !== 'function') {
      const message =
        'writeTo: expected a function that opens the stream, such as () => createWriteStream(path)';
      throw new MillraceError('INVALID_ARGUMENT', message);
    }
    if (options.encode !== undefined && typeof options.encode !== 'function') {
      const found = describe(options.encode);
      throw new MillraceError('INVALID_ARGUMENT', `writeTo: encode is ${found}, expected a function`);
    }
    this.#open = open;
    this.#options = options;
  }

  async createWriter(context: SinkContext): Promise<SinkWriter<T, never, never>> {
    const { subtaskIndex, parallelism, attemptNumber, sinkName } = context;
    const stream: unknown = await this.#open({ subtaskIndex, parallelism, attemptNumber });
    if (!isWritable(stream)) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `sink "${sinkName}": writeTo: the function gave no Writable but ${describe(stream)}`,
        { details: { sink: sinkName } },
      );
    }
    const { encode = lineOfText, end = true } = this.#options;
    const keepsOpen = !end || context.platform.isStandardStream(stream);
    return new WritableWriter(context, stream, encode as ChunkEncoder<T>, keepsOpen);
  }
}

class WritableWriter<T> implements SinkWriter<T, never, never> {
  readonly #context: SinkContext;
  readonly #stream: WritableLike;
  readonly #encode: ChunkEncoder<T>;
  readonly #keepsOpen: boolean;
  #written = 0;
  #taken = 0;
  /** Each waits until so many chunks are taken. */
  #waiters: { readonly chunks: number; readonly taken: PromiseWithResolvers<void> }[] = [];
  #drain: PromiseWithResolvers<void> | undefined;
  #ended: PromiseWithResolvers<void> | undefined;
  #isOut = false;
  #failure: MillraceError | undefined;

  constructor(context: SinkContext, stream: WritableLike, encode: ChunkEncoder<T>, keepsOpen: boolean) {
    this.#context = context;
    this.#stream = stream;
    this.#encode = encode;
    this.#keepsOpen = keepsOpen;
    stream.on('error', this.#fail);
    stream.on('drain', this.#drained);
    stream.on('close', this.#closed);
  }

  /** Throws the error that the stream ended with. */
  write(value: T): void {
    if (this.#failure !== undefined) throw this.#failure;
    const chunk: unknown = this.#encode(value);
    if (!isChunk(chunk)) throw unsupported(this.#context.sinkName, chunk, value);
    this.#written++;
    if (!this.#stream.write(chunk, this.#took)) this.#drain ??= Promise.withResolvers<void>();
  }

  busy(): Promise<void> | undefined {
    return this.#drain?.promise;
  }

  /** At the end of input the stream ends, so that what fails then fails before the last checkpoint is complete. */
  async prepareCommit(_checkpointId: number, endOfInput: boolean): Promise<readonly never[]> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#taken < this.#written) {
      const taken = Promise.withResolvers<void>();
      this.#waiters.push({ chunks: this.#written, taken });
      await taken.promise;
    }
    if (endOfInput && !this.#keepsOpen) await this.#end();
    return [];
  }

  /** What the stream has not taken comes again after a restart: nobody waits for it. */
  async close(): Promise<void> {
    const stream = this.#stream;
    this.#drained();
    stream.off('drain', this.#drained);
    stream.off('close', this.#closed);
    if (this.#keepsOpen) {
      stream.off('error', this.#fail);
      return;
    }
    if (this.#isOut) return;
    const isClean = this.#failure === undefined && this.#taken === this.#written;
    if (isClean && this.#ended === undefined) await this.#end();
    else stream.destroy();
  }

  #end(): Promise<void> {
    if (this.#ended !== undefined) return this.#ended.promise;
    const ended = Promise.withResolvers<void>();
    this.#ended = ended;
    this.#stream.end((error) => {
      if (error) return this.#fail(error);
      this.#isOut = true;
      ended.resolve();
    });
    return ended.promise;
  }

  readonly #took = (error?: Error | null): void => {
    if (error) return this.#fail(error);
    this.#taken++;
    while (this.#waiters.length > 0 && this.#waiters[0]!.chunks <= this.#taken)
      this.#waiters.shift()!.taken.resolve();
  };

  readonly #drained = (): void => {
    this.#drain?.resolve();
    this.#drain = undefined;
  };

  /** What it has not taken, it will not take any more, and says nothing of it. */
  readonly #closed = (): void => {
    const isWaiting = this.#taken < this.#written || this.#drain !== undefined;
    if (isWaiting || (this.#ended !== undefined && !this.#isOut))
      this.#fail(new Error('it was closed before everything was written'));
  };

  readonly #fail = (cause: Error): void => {
    if (this.#failure !== undefined) return;
    const { sinkName } = this.#context;
    const message = `sink "${sinkName}": the stream that records are written to failed: ${cause.message}`;
    const failure = new MillraceError('SINK_WRITE_FAILED', message, { cause, details: { sink: sinkName } });
    this.#failure = failure;
    for (const { taken } of this.#waiters) taken.reject(failure);
    this.#waiters = [];
    this.#ended?.promise.catch(() => {});
    this.#ended?.reject(failure);
    this.#drained();
    this.#context.fail(failure);
  };
}

function lineOfText(value: unknown): unknown {
  return typeof value === 'string' ? `${value}\n` : value;
}

function isChunk(chunk: unknown): chunk is string | Uint8Array {
  return typeof chunk === 'string' || chunk instanceof Uint8Array;
}

function unsupported(sinkName: string, chunk: unknown, record: unknown): MillraceError {
  const message =
    chunk === record
      ? `a record is neither text nor bytes but ${describe(record)}. Give writeTo an encode function, or map the records ` +
        'to strings before it.'
      : `encode gave ${describe(chunk)}, expected a string or bytes (at once, not by a promise)`;
  return new MillraceError('SINK_RECORD_UNSUPPORTED', `sink "${sinkName}": writeTo: ${message}`, {
    details: { sink: sinkName },
  });
}

function isWritable(stream: unknown): stream is WritableLike {
  const given = stream as Partial<WritableLike> | null | undefined;
  return ['write', 'end', 'destroy', 'on', 'off'].every(
    (name) => typeof given?.[name as 'write'] === 'function',
  );
}
