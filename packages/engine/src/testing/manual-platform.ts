/**
 * A platform for tests: time moves when the test says so, randomness has a seed, files are in memory and can be faulty,
 * threads do not exist. The same seed and the same calls give the same run.
 */
import { createHash } from 'node:crypto';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { type Logger, type LogLevel, MillraceError } from '../base/index.ts';
import type { Clock, Parking, Platform, Random, TimerHandle, Timers } from '../platform/index.ts';
import { createNodePlatform } from '../platform/node/index.ts';
import { ManualFiles } from './manual-files.ts';

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]+):\/*/;

/** A line that was logged. */
export interface LoggedLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The platform and what the test moves. */
export interface ManualPlatform extends Platform {
  readonly files: ManualFiles;
  readonly logged: readonly LoggedLine[];
  readonly printed: readonly string[];
  /** Timers that are set. */
  readonly timerCount: number;
  /** Moves time; timers that become due run in the order of their times, each at its time. */
  advance(ms: number): void;
  /** As `advance`, and after each timer lets promises settle. */
  advanceAndSettle(ms: number): Promise<void>;
  /** Lets everything that only waits for promises go on. */
  settle(): Promise<void>;
  /** Sets the wall clock, forward or back. Monotonic time does not notice. */
  setWallMs(ms: number): void;
}

export interface ManualPlatformOptions {
  /** Default 1. */
  readonly seed?: number;
  /** Wall time at the start; default 1 January 2024. */
  readonly wallMs?: number;
  /** What lets the event loop have a turn; default: only promises go on, so that work without end never yields. */
  readonly yieldToEventLoop?: () => Promise<void>;
}

/** Pure functions. */
const { compress, crc32, decompress } = createNodePlatform();

export function createManualPlatform(options: ManualPlatformOptions = {}): ManualPlatform {
  const random = seededRandom(options.seed ?? 1);
  const time = new ManualTime(
    options.wallMs ?? Date.UTC(2024, 0, 1),
    options.yieldToEventLoop ?? (() => Promise.resolve()),
  );
  const files = new ManualFiles(time.clock.wallMs, seededRandom((options.seed ?? 1) ^ 0x5bd1e995).next);
  const logged: LoggedLine[] = [];
  const printed: string[] = [];
  const logger: Logger = { log: (level, message, fields = {}) => logged.push({ level, message, fields }) };
  return {
    clock: time.clock,
    timers: time.timers,
    random,
    parking: manualParking(time.timers),
    logger,
    files,
    logged,
    printed,
    threads: {
      current: undefined,
      entryModuleUrl: undefined,
      start: () => {
        throw new MillraceError(
          'THREADS_UNSUPPORTED',
          'the manual platform has no threads: run the job inline',
        );
      },
    },
    get timerCount() {
      return time.count;
    },
    advance: (ms) => time.advance(ms),
    advanceAndSettle: (ms) => time.advanceAndSettle(ms),
    settle,
    setWallMs: (ms) => time.setWallMs(ms),
    fileSystem: (uri) => ({ files, path: pathOf(uri) }),
    hasher: sha256,
    crc32,
    compress,
    decompress,
    decompressPieces: async function* (format, next) {
      const packed: Uint8Array[] = [];
      for (let piece = await next(); piece !== undefined; piece = await next()) packed.push(piece);
      yield new Uint8Array((format === 'gzip' ? gunzipSync : zstdDecompressSync)(Buffer.concat(packed)));
    },
    expectLongRun: () => {},
    cpuMicros: () => 0,
    printLine: (line, to = 'stdout') => printed.push(to === 'stdout' ? line : `${to}: ${line}`),
    isStandardStream: () => false,
  };
}

/** Lets chains of promises run out: each turn, everything that is ready goes one step. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await Promise.resolve();
}

function sha256(): ReturnType<Platform['hasher']> {
  const hash = createHash('sha256');
  return {
    update: (bytes) => {
      hash.update(bytes);
    },
    digestHex: () => hash.digest('hex'),
  };
}

function pathOf(uri: string): string {
  const scheme = SCHEME.exec(uri)?.[1];
  if (scheme !== undefined && scheme !== 'file') {
    throw new MillraceError(
      'FILE_SYSTEM_SCHEME_UNKNOWN',
      `there is no file system for "${scheme}:". Known are: file:`,
    );
  }
  return `/${uri.replace(SCHEME, '').replace(/^\/+/, '').replace(/\/+$/, '')}`;
}

/** mulberry32. */
function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const byte = (): string =>
    Math.floor(next() * 256)
      .toString(16)
      .padStart(2, '0');
  return { next, hex: (bytes) => Array.from({ length: bytes }, byte).join('') };
}

interface ManualTimer {
  readonly dueMs: number;
  readonly order: number;
  readonly callback: () => void;
}

class ManualTime {
  readonly clock: Clock;
  readonly timers: Timers;
  private nowMs = 0;
  private wallOffsetMs: number;
  private order = 0;
  private readonly pending = new Set<ManualTimer>();

  constructor(wallMs: number, yieldToEventLoop: () => Promise<void>) {
    this.wallOffsetMs = wallMs;
    this.clock = {
      monotonicMs: () => this.nowMs,
      wallMs: () => Math.floor(this.wallOffsetMs + this.nowMs),
    };
    this.timers = {
      after: (delayMs, callback) => this.set(delayMs, callback),
      yieldToEventLoop,
    };
  }

  get count(): number {
    return this.pending.size;
  }

  setWallMs(ms: number): void {
    this.wallOffsetMs = ms - this.nowMs;
  }

  advance(ms: number): void {
    const endMs = this.nowMs + ms;
    for (let timer = this.take(endMs); timer !== undefined; timer = this.take(endMs)) timer.callback();
    this.nowMs = endMs;
  }

  async advanceAndSettle(ms: number): Promise<void> {
    const endMs = this.nowMs + ms;
    await settle();
    for (let timer = this.take(endMs); timer !== undefined; timer = this.take(endMs)) {
      timer.callback();
      await settle();
    }
    this.nowMs = endMs;
  }

  private set(delayMs: number, callback: () => void): TimerHandle {
    const timer: ManualTimer = { dueMs: this.nowMs + Math.max(0, delayMs), order: this.order++, callback };
    this.pending.add(timer);
    return { cancel: () => this.pending.delete(timer) };
  }

  /** The next timer that is due by then, with the clock set to its time. */
  private take(endMs: number): ManualTimer | undefined {
    let next: ManualTimer | undefined;
    for (const timer of this.pending) {
      if (timer.dueMs > endMs) continue;
      if (
        next === undefined ||
        timer.dueMs < next.dueMs ||
        (timer.dueMs === next.dueMs && timer.order < next.order)
      ) {
        next = timer;
      }
    }
    if (next === undefined) return undefined;
    this.pending.delete(next);
    this.nowMs = Math.max(this.nowMs, next.dueMs);
    return next;
  }
}

/** Parking within one thread: woken by `unpark`, by time, or not parked at all if the word has changed. */
function manualParking(timers: Timers): Parking {
  const parked = new Map<string, Set<() => void>>();
  const buffers = new WeakMap<object, number>();
  let bufferCount = 0;
  const keyOf = (word: Int32Array, index: number): string => {
    if (!buffers.has(word.buffer)) buffers.set(word.buffer, bufferCount++);
    return `${buffers.get(word.buffer)}:${word.byteOffset + index * 4}`;
  };
  return {
    park(word, index, expected, timeoutMs) {
      if (Atomics.load(word, index) !== expected) return Promise.resolve();
      const key = keyOf(word, index);
      return new Promise((resolve) => {
        const waiters = parked.get(key) ?? new Set();
        parked.set(key, waiters);
        let timer: TimerHandle | undefined;
        const wake = (): void => {
          timer?.cancel();
          waiters.delete(wake);
          resolve();
        };
        waiters.add(wake);
        if (Number.isFinite(timeoutMs)) timer = timers.after(timeoutMs, wake);
      });
    },
    unpark(word, index) {
      for (const wake of [...(parked.get(keyOf(word, index)) ?? [])]) wake();
    },
  };
}
