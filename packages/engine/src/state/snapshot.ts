/**
 * How a frozen state gets out. The synchronous part of a checkpoint freezes (microseconds, independent of size); the
 * asynchronous part copies pages in slices between batches, into a sink that writes them off the hot path.
 */
import type { KeyedStateMetadata, KeyGroupRange } from './handles.ts';

/** Takes bytes. Never blocks; the task loop watches its backlog. */
export interface SnapshotSink {
  /** Position of the next byte, from the start of the sink. */
  readonly position: number;
  /** Copies the bytes. */
  append(bytes: Uint8Array): void;
  /** Takes bytes that stay as they are until `giveBack` is called: once, now or later, whatever becomes of the sink. */
  appendLent(bytes: Uint8Array, giveBack: () => void): void;
}

/** Keyed state as of one moment. Later changes of the state are not seen. */
export interface KeyedStateSnapshot {
  readonly format: 'heap-1';
  readonly keyGroups: KeyGroupRange;
  readonly maxParallelism: number;
  /** Upper estimate of the bytes still to be copied. */
  readonly remainingBytes: number;
  /**
   * Attaches the sink; only then does copying begin. Pages that are changed before they were copied are captured and
   * go to the sink when `advance` runs next, or at once if it is attached.
   */
  start(sink: SnapshotSink): void;
  /** Copies about `maxBytes` more; true when everything, the trailing index included, has been appended. */
  advance(maxBytes: number): boolean;
  /** What was written. Only after `advance` returned true. */
  metadata(): readonly KeyedStateMetadata[];
  /** Gives the snapshot up, complete or not. */
  release(): void;
}

/** Reads bytes of a snapshot back, as the restore needs them. Hashes were checked before. */
export interface SnapshotInput {
  readonly lengthBytes: number;
  read(position: number, lengthBytes: number): Promise<Uint8Array>;
}
