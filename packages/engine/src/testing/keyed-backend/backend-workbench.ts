/**
 * What the cases of the keyed backend contract work with: making backends, writing snapshots to memory, restoring them
 * at other parallelisms.
 */
import {
  type KeyedStateBackend,
  type KeyedStateBackendFactory,
  type KeyedStateSnapshot,
  type KeyedStateToRestore,
  type KeyGroupRange,
  keyGroupOf,
  rangeOf,
  type SnapshotSink,
} from '../../state/index.ts';
import { type TypeInformation, Types } from '../../types/index.ts';

export const MAX_PARALLELISM = 128;
export const ALL_KEY_GROUPS: KeyGroupRange = { first: 0, last: MAX_PARALLELISM - 1 };

/** A sink that keeps everything, and what it was lent as long as it can. */
export class MemorySink implements SnapshotSink {
  position: number;
  private chunks: Uint8Array[] = [];
  private readonly giveBack: (() => void)[] = [];

  /** A stream may begin anywhere in a file. */
  constructor(position = 0) {
    this.position = position;
  }

  append(bytes: Uint8Array): void {
    this.chunks.push(bytes.slice());
    this.position += bytes.length;
  }

  appendLent(bytes: Uint8Array, giveBack: () => void): void {
    this.chunks.push(bytes);
    this.position += bytes.length;
    this.giveBack.push(giveBack);
  }

  bytes(): Uint8Array {
    const all = new Uint8Array(this.chunks.reduce((sum, chunk) => sum + chunk.length, 0));
    let at = 0;
    for (const chunk of this.chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    this.chunks = [all];
    for (const each of this.giveBack.splice(0)) each();
    return all;
  }
}

/** What a finished snapshot is restored from. */
export function toRestore(snapshot: KeyedStateSnapshot, bytes: Uint8Array): KeyedStateToRestore {
  const { format, keyGroups, maxParallelism } = snapshot;
  const stream = { kind: 'inline', bytes } as const;
  return {
    handle: { format, keyGroups, maxParallelism, states: snapshot.metadata(), stream },
    input: {
      lengthBytes: bytes.length,
      read: (position, lengthBytes) => Promise.resolve(bytes.slice(position, position + lengthBytes)),
    },
  };
}

/** Writes all of a snapshot that was not started. */
export function writeSnapshot(snapshot: KeyedStateSnapshot, sliceBytes = 1 << 20): KeyedStateToRestore {
  const sink = new MemorySink(100);
  snapshot.start(sink);
  while (!snapshot.advance(sliceBytes));
  return toRestore(snapshot, sink.bytes());
}

export interface BackendSettings<K> {
  readonly keyType?: TypeInformation<K>;
  readonly keyGroups?: KeyGroupRange;
  readonly maxParallelism?: number;
  readonly restore?: readonly KeyedStateToRestore[];
}

/** A key that is made current before something is done with state. */
export function useKey<K>(backend: KeyedStateBackend<K>, key: K): void {
  backend.setCurrentKey(key, backend.hashOf(key));
}

/** True if the key is one of the backend's. */
export function hasKey<K>(backend: KeyedStateBackend<K>, key: K): boolean {
  const group = keyGroupOf(backend.hashOf(key), backend.maxParallelism);
  return group >= backend.keyGroups.first && group <= backend.keyGroups.last;
}

export class BackendWorkbench {
  /** Processing time of all backends; moved by hand. */
  nowMs = 1_000_000;
  private readonly factory: KeyedStateBackendFactory;

  constructor(factory: KeyedStateBackendFactory) {
    this.factory = factory;
  }

  /** A backend with string keys unless told otherwise. */
  create<K = string>(settings: BackendSettings<K> = {}): Promise<KeyedStateBackend<K>> {
    const maxParallelism = settings.maxParallelism ?? MAX_PARALLELISM;
    return this.factory<K>({
      keyType: 'keyType' in settings ? settings.keyType : (Types.STRING as TypeInformation<unknown> as never),
      keyGroups: settings.keyGroups ?? { first: 0, last: maxParallelism - 1 },
      maxParallelism,
      operatorName: 'totals',
      processingTimeMs: () => this.nowMs,
      restore: settings.restore,
    });
  }

  /** The backends of all subtasks, each restored from those of `saved` that overlap it (all, if the groups changed). */
  createAll<K = string>(
    parallelism: number,
    settings: Omit<BackendSettings<K>, 'keyGroups' | 'restore'> = {},
    saved: readonly KeyedStateToRestore[] = [],
  ): Promise<KeyedStateBackend<K>[]> {
    const maxParallelism = settings.maxParallelism ?? MAX_PARALLELISM;
    const backends = Array.from({ length: parallelism }, (_, subtask) => {
      const keyGroups = rangeOf(subtask, parallelism, maxParallelism);
      const restore = saved.filter(
        ({ handle }) =>
          handle.maxParallelism !== maxParallelism ||
          (handle.keyGroups.first <= keyGroups.last && handle.keyGroups.last >= keyGroups.first),
      );
      return this.create<K>({ ...settings, keyGroups, restore });
    });
    return Promise.all(backends);
  }

  /** Snapshots the backend and makes another one from that. */
  async restoreOf<K>(
    backend: KeyedStateBackend<K>,
    settings: BackendSettings<K> = {},
  ): Promise<KeyedStateBackend<K>> {
    return this.create<K>({ ...settings, restore: [writeSnapshot(backend.snapshot())] });
  }
}

/** One test of the contract: the name is its key in the record of cases. */
export type BackendCase = (bench: BackendWorkbench) => Promise<void>;
export type BackendCases = Readonly<Record<string, BackendCase>>;
