/**
 * The tasks' side of checkpoint storage: streams of state that are written while the task goes on.
 *
 *   append ──copies──▶ chunk (≤ 1 MB) ──full──▶ queue ──one after the other──▶ file ──finish──▶ synced, then its directory
 *   appendLent ────────as it is───────────────────┘
 *                        └── finish below the threshold ──▶ inline, no file
 *
 * One `CheckpointStreams` a thread: it keeps used chunks for the next stream. The checksum is taken as chunks are written.
 *
 * Invariants:
 * I1 Chunks are written in order, one write at a time, to a file that this stream created (its name is new).
 * I2 A handle is given out only after the file and its name are durable.
 * I3 After an error nothing more is written; `finish` rejects with it.
 */
import { assert, BufferPool, formatMemorySize, MillraceError } from '../base/index.ts';
import type { FileSystem, Platform, WritableFile } from '../platform/index.ts';
import type { StreamHandle } from '../state/index.ts';
import type {
  CheckpointLocation,
  CheckpointStreams,
  FinishedStream,
  StateStream,
} from './checkpoint-storage.ts';
import { type RunningChecksum, startChecksum } from './file-checksum.ts';
import { joinPath, stateFilePrefix } from './snapshot-path.ts';

const CHUNK_BYTES = 1024 * 1024;
/** Most streams stay small, and many empty: their first chunk grows from this with the first byte. */
const FIRST_CHUNK_BYTES = 4096;
const KEPT_CHUNKS_MAX = 8;
/** A stream with more unwritten bytes is congested. */
const BACKLOG_BYTES_MAX = 4 * CHUNK_BYTES;
/** Less is copied, though it was lent: a write of its own costs more. */
const LENT_BYTES_MIN = 256 * 1024;

type ChunkPool = BufferPool<Uint8Array<ArrayBuffer>>;

/** The streams of one thread. */
export function createCheckpointStreams(platform: Platform): CheckpointStreams {
  const pool: ChunkPool = new BufferPool(() => new Uint8Array(CHUNK_BYTES), KEPT_CHUNKS_MAX);
  return {
    createStream: (location, name, operatorName) =>
      location.kind === 'memory'
        ? new MemoryStateStream(location, operatorName)
        : new FileStateStream(platform, location, name, pool),
  };
}

/** Bytes that grow in one buffer, up to a limit. */
class GrowingBytes {
  bytes = new Uint8Array(0);
  length = 0;

  append(more: Uint8Array): void {
    const needed = this.length + more.length;
    if (needed > this.bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2, FIRST_CHUNK_BYTES));
      grown.set(this.bytes.subarray(0, this.length));
      this.bytes = grown;
    }
    this.bytes.set(more, this.length);
    this.length = needed;
  }
}

/** State that stays in memory and travels in the acknowledgement. */
class MemoryStateStream implements StateStream {
  position = 0;
  readonly backlogBytes = 0;
  error: unknown;
  private readonly content = new GrowingBytes();
  private readonly maxBytes: number;
  private readonly operatorName: string;

  constructor(location: CheckpointLocation & { kind: 'memory' }, operatorName: string) {
    this.maxBytes = location.maxStateSizeBytes;
    this.operatorName = operatorName;
  }

  append(bytes: Uint8Array): void {
    this.position += bytes.length;
    if (this.position <= this.maxBytes) this.content.append(bytes);
    else this.error ??= this.tooLarge();
  }

  appendLent(bytes: Uint8Array, giveBack: () => void): void {
    this.append(bytes);
    giveBack();
  }

  isCongested(): boolean {
    return false;
  }

  async ready(): Promise<void> {}

  async finish(): Promise<FinishedStream> {
    if (this.position > this.maxBytes) throw this.tooLarge();
    const bytes = this.content.bytes.slice(0, this.content.length);
    return finishedInline(bytes);
  }

  async abort(): Promise<void> {}

  private tooLarge(): MillraceError {
    const { position, maxBytes, operatorName } = this;
    return new MillraceError(
      'STATE_TOO_LARGE',
      `Size of the state is larger than the maximum permitted memory-backed state. Size=${position}, maxSize=${maxBytes}. ` +
        `The state of "${operatorName}" has ${position} bytes; checkpoints that are kept in the memory of the JobManager ` +
        `hold ${formatMemorySize(maxBytes)} a state. Set a checkpoint directory (execution.checkpointing.dir), or raise ` +
        'the limit (the first argument of MemoryStateBackend)',
      { details: { operator: operatorName, sizeBytes: position, maxBytes } },
    );
  }
}

function finishedInline(bytes: Uint8Array): FinishedStream {
  return {
    lengthBytes: bytes.length,
    file: undefined,
    handleOf(offset, lengthBytes): StreamHandle {
      assertWithin(offset, lengthBytes, bytes.length);
      return { kind: 'inline', bytes: bytes.slice(offset, offset + lengthBytes) };
    },
  };
}

function assertWithin(offset: number, lengthBytes: number, total: number): void {
  assert(offset >= 0 && lengthBytes >= 0 && offset + lengthBytes <= total, 'a handle beyond its stream');
}

class FileStateStream implements StateStream {
  position = 0;
  error: unknown;
  private readonly platform: Platform;
  private readonly files: FileSystem;
  private readonly directory: string;
  private readonly fileName: string;
  private readonly inlineThresholdBytes: number;
  private readonly pool: ChunkPool;
  private readonly checksum: RunningChecksum;
  private readonly first = new GrowingBytes();
  private chunk: Uint8Array<ArrayBuffer> | undefined;
  private chunkLength = 0;
  private writtenBytes = 0;
  private file: WritableFile | undefined;
  private wasCreated = false;
  /** All writing so far, in order. Never rejects. */
  private writing: Promise<void> = Promise.resolve();
  private waiting: (() => void)[] = [];
  private state: 'open' | 'finishing' | 'finished' | 'aborted' = 'open';

  constructor(
    platform: Platform,
    location: CheckpointLocation & { kind: 'directory' },
    name: string,
    pool: ChunkPool,
  ) {
    const { files, path } = platform.fileSystem(location.directory);
    this.platform = platform;
    this.files = files;
    this.directory = path;
    this.fileName = `${stateFilePrefix(name)}-${platform.random.hex(8)}`;
    this.inlineThresholdBytes = Math.min(location.inlineThresholdBytes, CHUNK_BYTES);
    this.pool = pool;
    this.checksum = startChecksum(location.checksum, platform);
  }

  get backlogBytes(): number {
    return this.error === undefined && this.state === 'open' ? this.position - this.writtenBytes : 0;
  }

  isCongested(): boolean {
    return this.backlogBytes > BACKLOG_BYTES_MAX;
  }

  append(bytes: Uint8Array): void {
    assert(this.state !== 'finishing' && this.state !== 'finished', 'append to a finished stream');
    this.position += bytes.length;
    if (this.error !== undefined || this.state === 'aborted') return;
    // Until a whole chunk is there, it may turn out to be a small state that makes no file.
    if (this.chunk === undefined && this.first.length + bytes.length <= CHUNK_BYTES) {
      this.first.append(bytes);
      return;
    }
    this.chunk ??= this.firstChunk();
    for (let taken = 0; taken < bytes.length; ) {
      const count = Math.min(bytes.length - taken, CHUNK_BYTES - this.chunkLength);
      this.chunk.set(bytes.subarray(taken, taken + count), this.chunkLength);
      this.chunkLength += count;
      taken += count;
      if (this.chunkLength === CHUNK_BYTES) this.flush();
    }
  }

  appendLent(bytes: Uint8Array, giveBack: () => void): void {
    const isOver = this.error !== undefined || this.state !== 'open';
    if (isOver || bytes.length < LENT_BYTES_MIN) {
      this.append(bytes);
      giveBack();
      return;
    }
    this.position += bytes.length;
    this.chunk ??= this.firstChunk();
    if (this.chunkLength > 0) this.flush();
    this.write(bytes, giveBack);
  }

  ready(): Promise<void> {
    if (!this.isCongested()) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  async finish(): Promise<FinishedStream> {
    assert(this.state !== 'finishing' && this.state !== 'finished', 'a stream is finished once');
    this.assertNotAborted();
    this.state = 'finishing';
    if (this.chunk === undefined && this.position <= this.inlineThresholdBytes) {
      this.state = 'finished';
      return finishedInline(this.first.bytes.slice(0, this.first.length));
    }
    if (this.chunk === undefined) this.write(this.first.bytes.subarray(0, this.first.length), () => {});
    else this.flush();
    await this.writing;
    try {
      if (this.error !== undefined) throw this.error;
      this.assertNotAborted();
      await this.file!.sync();
      await this.file!.close();
      this.file = undefined;
      await this.files.syncDirectory(this.directory);
      this.assertNotAborted();
    } catch (error) {
      this.error ??= error;
      await this.remove();
      throw error;
    }
    this.state = 'finished';
    return this.finished();
  }

  async abort(): Promise<void> {
    if (this.state === 'finished' || this.state === 'aborted') return;
    const isFinishing = this.state === 'finishing';
    this.state = 'aborted';
    if (this.chunk !== undefined) this.pool.give(this.chunk);
    this.chunk = undefined;
    this.wakeWaiting();
    await this.writing;
    // A `finish` under way removes the file itself.
    if (!isFinishing) await this.remove();
  }

  private assertNotAborted(): void {
    if (this.state === 'aborted') throw new MillraceError('INVALID_ARGUMENT', 'the stream was aborted');
  }

  private finished(): FinishedStream {
    const path = this.fileName;
    const sizeBytes = this.position;
    return {
      lengthBytes: sizeBytes,
      file: { path, sizeBytes, ...this.checksum.finish() },
      handleOf(offset, lengthBytes): StreamHandle {
        assertWithin(offset, lengthBytes, sizeBytes);
        return { kind: 'file', path, offset, lengthBytes };
      },
    };
  }

  /** A chunk that goes on where the first bytes end. */
  private firstChunk(): Uint8Array<ArrayBuffer> {
    const chunk = this.pool.take();
    chunk.set(this.first.bytes.subarray(0, this.first.length));
    this.chunkLength = this.first.length;
    this.first.bytes = new Uint8Array(0);
    return chunk;
  }

  private flush(): void {
    const chunk = this.chunk!;
    this.write(chunk.subarray(0, this.chunkLength), () => this.pool.give(chunk));
    this.chunk = this.state === 'open' ? this.pool.take() : undefined;
    this.chunkLength = 0;
  }

  /** Queues bytes for writing; `giveBack` is called when they are not needed any more. */
  private write(bytes: Uint8Array, giveBack: () => void): void {
    this.writing = this.writing.then(async () => {
      try {
        if (this.error !== undefined || this.state === 'aborted') return;
        this.file ??= await this.files.create(joinPath(this.directory, this.fileName));
        this.wasCreated = true;
        this.checksum.update(bytes);
        await this.file.write(bytes);
      } catch (error) {
        this.error ??= error;
      } finally {
        this.writtenBytes += bytes.length;
        giveBack();
        if (!this.isCongested()) this.wakeWaiting();
      }
    });
  }

  private wakeWaiting(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Closes and deletes the file, if there is one. What cannot be deleted goes with the attempt's directory later. */
  private async remove(): Promise<void> {
    const path = joinPath(this.directory, this.fileName);
    try {
      await this.file?.close();
    } catch {
      // It is given up anyway.
    }
    this.file = undefined;
    if (!this.wasCreated) return;
    try {
      await this.files.delete(path);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.platform.logger.log('warn', `an unfinished state file was left behind: ${reason}`, { path });
    }
  }
}
