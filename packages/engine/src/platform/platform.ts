/**
 * The world as the engine sees it: time, randomness, files, threads, waiting. Everything else in the engine is a pure
 * function of what comes through here, which is what lets the simulator run the production code.
 *
 * `platform/node` is the one place that touches the real ones.
 */
import type { Logger } from '../base/index.ts';

/** Two clocks that must not be mixed: intervals and time-outs are monotonic, timestamps for people are wall time. */
export interface Clock {
  /** Milliseconds since an arbitrary start, never going back; fractions allowed. For intervals and time-outs. */
  monotonicMs(): number;
  /** Milliseconds since the epoch, as integer. May jump. For processing-time timers, names and reports. */
  wallMs(): number;
}

/** A timer that was set; opaque. */
export interface TimerHandle {
  /** The timer does not fire any more. */
  cancel(): void;
}

/** Delayed calls and the event loop. */
export interface Timers {
  /** Calls `callback` once, at least `delayMs` from now. */
  after(delayMs: number, callback: () => void): TimerHandle;
  /** Resolves after pending I/O and messages of this thread had their turn. */
  yieldToEventLoop(): Promise<void>;
}

/** Randomness. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A fresh identifier of `bytes` random bytes, as lower-case hex. */
  hex(bytes: number): string;
}

/** A file being written. Bytes are on disk only after `sync`. */
export interface WritableFile {
  readonly path: string;
  /** Appends. The caller must not change `bytes` before the promise resolves. Calls must not overlap. */
  write(bytes: Uint8Array): Promise<void>;
  /** Makes everything written so far survive a power failure (fsync). */
  sync(): Promise<void>;
  /** No more is written. What was not synced may be lost in a crash. */
  close(): Promise<void>;
}

/** A file being read. */
export interface ReadableFile {
  readonly sizeBytes: number;
  /** Of the file that was opened; see FileStat. */
  readonly identity?: string | undefined;
  /** Reads up to `lengthBytes` at `position`; fewer only at the end of the file. */
  read(position: number, lengthBytes: number): Promise<Uint8Array>;
  /** No more is read. */
  close(): Promise<void>;
}

/** An entry of a directory. */
export interface FileEntry {
  readonly name: string;
  readonly isDirectory: boolean;
}

/** What a file system says about a file. */
export interface FileStat {
  readonly sizeBytes: number;
  readonly isDirectory: boolean;
  readonly modifiedMs: number;
  /** Stays the same when the file is renamed or written to, and is no other file's; undefined: the system has none. */
  readonly identity?: string | undefined;
}

/** Exclusive use of a directory, kept until released or until the process is gone, however it ends. */
export interface DirectoryLock {
  release(): Promise<void>;
}

/**
 * Files of one scheme. Paths are absolute in that scheme, separated by `/`.
 *
 * A name that was created, renamed or deleted survives a power failure only after `syncDirectory` of its directory.
 * All methods reject with FILE_SYSTEM_ERROR (cause: the original error; details: path, operation, errno code).
 */
export interface FileSystem {
  readonly scheme: string;
  /** Creates a file that must not exist yet. The directory must exist. */
  create(path: string): Promise<WritableFile>;
  /** Opens a file for reading. */
  open(path: string): Promise<ReadableFile>;
  /** The whole file. */
  readAll(path: string): Promise<Uint8Array>;
  /** Entries in no particular order; an empty list if the directory does not exist. */
  list(directory: string): Promise<FileEntry[]>;
  /** undefined if there is nothing at `path`. */
  stat(path: string): Promise<FileStat | undefined>;
  /** Creates the directory and its parents, durably; also what a process that was killed had created before. */
  makeDirectory(path: string): Promise<void>;
  /** Atomic; replaces a file at `to`. */
  rename(from: string, to: string): Promise<void>;
  /** Deletes a file or a whole directory. Deleting what is not there is no error. */
  delete(path: string): Promise<void>;
  /** What was created, renamed or removed in the directory is then durable. */
  syncDirectory(path: string): Promise<void>;
  /** Keeps the first `sizeBytes` of a file that has at least so many, durably. */
  truncate(path: string, sizeBytes: number): Promise<void>;
  /**
   * Takes the directory for this process, or rejects with CHECKPOINT_DIRECTORY_IN_USE naming the holder.
   * A lock whose process is gone (kill -9) is taken over.
   */
  lockDirectory(path: string): Promise<DirectoryLock>;
}

/** A thread that was started. */
export interface ThreadHandle {
  /** Sends a structured-clonable message. Messages to a thread that ended are dropped. */
  post(message: unknown): void;
  /** Ends the thread wherever it is, also inside an endless loop. Resolves when it is gone. */
  terminate(): Promise<void>;
}

/** What the starter of a thread is told. `onExit` is the last call, exactly once. */
export interface ThreadEvents {
  onMessage(message: unknown): void;
  /** `error` is what the thread died of, if it died of an error; `exitCode` what `process.exit` was given. */
  onExit(exit: { readonly exitCode: number; readonly error: unknown }): void;
}

/** The starter as a thread sees it. */
export interface ThreadContext {
  readonly data: unknown;
  post(message: unknown): void;
  onMessage(handler: (message: unknown) => void): void;
}

/** Worker threads. */
export interface Threads {
  /** What this thread was started with; undefined in the main thread. */
  readonly current: ThreadContext | undefined;
  /** Starts a thread that loads the module at `moduleUrl` (the job's entry module) with `data` to hand. */
  start(moduleUrl: string, name: string, data: unknown, events: ThreadEvents): ThreadHandle;
  /** The URL of the entry module of this process, or undefined (a REPL, `node -e`). */
  readonly entryModuleUrl: string | undefined;
}

/** Waiting for a word of shared memory: how a task loop sleeps until somebody rings its doorbell. */
export interface Parking {
  /**
   * Resolves when `word[index]` no longer holds `expected`, when it is notified, or after `timeoutMs`.
   * Keeps the event loop of this thread alive meanwhile.
   */
  park(word: Int32Array, index: number, expected: number, timeoutMs: number): Promise<void>;
  /** Wakes whoever is parked on the word. */
  unpark(word: Int32Array, index: number): void;
}

/** What `Platform.decompress` understands. */
export type CompressionFormat = 'gzip' | 'zstd' | 'brotli';

/** Formats of which several compressed pieces, one after the other, are again a whole. */
export type AppendableCompression = 'gzip' | 'zstd';

/** Everything of the world that the engine uses. */
export interface Platform {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly threads: Threads;
  readonly parking: Parking;
  readonly logger: Logger;
  /** The file system of a URI or plain path, and the path in it. Rejects unknown schemes with a clear error. */
  fileSystem(uri: string): { readonly files: FileSystem; readonly path: string };
  /** SHA-256, incremental. */
  hasher(): { update(bytes: Uint8Array): void; digestHex(): string };
  /** CRC-32 as in gzip and zip. `before`: that of the bytes before these; 0 if there are none. */
  crc32(bytes: Uint8Array, before: number): number;
  /** One gzip member or zstd frame that stands for `bytes`. Synchronous: for pieces of some hundred kilobytes. */
  compress(format: AppendableCompression, bytes: Uint8Array): Uint8Array;
  /**
   * The bytes that `bytes` were compressed from; at most `sizeBytesMax`. Synchronous: for blocks of files (Parquet pages).
   * Throws DECOMPRESSION_FAILED if the bytes are damaged or more than that comes out.
   */
  decompress(format: CompressionFormat, bytes: Uint8Array, sizeBytesMax: number): Uint8Array;
  /**
   * The bytes that a whole file of compressed bytes stands for, in pieces of at most 256 KB. `next` is called for more of
   * the compressed ones when they are needed, and gives undefined at their end; what it rejects with is thrown. Members
   * or frames one after the other are one file. Throws DECOMPRESSION_FAILED if they are damaged or end too early. Leaving
   * the loop early releases everything.
   */
  decompressPieces(
    format: AppendableCompression,
    next: () => Promise<Uint8Array | undefined>,
  ): AsyncIterable<Uint8Array>;
  /** Everything is loaded, and what runs now may run for days: code is worth more time of the compiler from here on. */
  expectLongRun(): void;
  /** CPU time used by this process, all threads, in microseconds. */
  cpuMicros(): number;
  /** Writes a line to the standard output or the standard error (the print sink). */
  printLine(line: string, to?: 'stdout' | 'stderr'): void;
  /** True for the standard output and the standard error of this thread: they are never ended. */
  isStandardStream(stream: unknown): boolean;
}
