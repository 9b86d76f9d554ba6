/**
 * The contract of keyed state backends and of operator state, as the runtime uses them.
 *
 * One backend serves one operator in one subtask. It knows no thread, no storage, and of time only what its host tells it.
 * Every backend passes the contract suite in `testing/`.
 *
 * Invariants:
 * I1 Only update/add/put/remove/clear change state; changing an object that was read changes nothing.
 * I2 A key is found in its key group only: keyGroupOf(hash, maxParallelism).
 * I3 A snapshot holds exactly the state of the moment it was taken, timers included.
 */
import type { TypeInformation } from '../types/index.ts';
import type {
  AggregatingState,
  AggregatingStateDescriptor,
  BroadcastState,
  ListState,
  ListStateDescriptor,
  MapState,
  MapStateDescriptor,
  ReducingState,
  ReducingStateDescriptor,
  ValueState,
  ValueStateDescriptor,
} from './descriptors.ts';
import type { KeyedStateHandle, KeyGroupRange } from './handles.ts';
import type { KeyedStateSnapshot, SnapshotInput } from './snapshot.ts';

/** A state within a namespace (a window). `setNamespace` holds until the next call. */
export type Namespaced<S, N> = S & { setNamespace(namespace: N): void };

/** A merging state can move the contents of several namespaces into one (session windows). */
export interface Merging<N> {
  /** Merges what is in `sources` into `target`, for the current key. */
  mergeNamespaces(target: N, sources: readonly N[]): void;
}

/** What the window operator's fast path asks of states that values are added to. Optional: without it a `get` tells. */
export interface AddsIfPresent<T> {
  /**
   * Adds `value` if there is something under the current key and namespace and returns true; else does nothing and returns
   * false. One lookup: where a value is there already, the window's timers are as well.
   */
  addIfPresent?(value: T): boolean;
}

/**
 * What overlapping windows ask of states beyond that: each record of a key goes into the same namespaces as the one before
 * it, so the state remembers where they are. Optional, both or none.
 */
export interface RemembersNamespaces<T> {
  /**
   * Adds `value` to each of the namespaces that are remembered for the current key under `tag`, in their order, and returns
   * true; does nothing and returns false if that is not known (any more). The current namespace stays.
   */
  addToRemembered?(tag: number, value: T): boolean;
  /**
   * The current namespace, under which the current key has a value, is number `index` of `count` to be remembered under
   * `tag`. They come in order, from 0 to `count - 1`; between them only these values are changed.
   */
  remember?(tag: number, index: number, count: number): void;
}

/** Timers of one kind (event or processing time) of all keys of this backend, ordered by timestamp. They are state. */
export interface TimerQueue<N> {
  readonly size: number;
  /** Registers for the current key; false if exactly this timer was there. `timestampMs` must be a safe integer. */
  register(timestampMs: number, namespace: N): boolean;
  /** Deletes for the current key; false if there was no such timer. */
  delete(timestampMs: number, namespace: N): boolean;
  /** Deletes the one and registers the other, for the current key. What windows that grow do with each record. */
  move(fromMs: number, from: N, toMs: number, to: N): void;
  /** The earliest timestamp; MAX_SAFE_INTEGER + 1 if there is no timer. */
  nextTimestamp(): number;
  /**
   * Takes the earliest timer out if its timestamp is at most `upToMs`: makes its key the backend's current key, fills
   * `polledTimestamp` and `polledNamespace`, returns true. Equal timestamps come in an order that is a function of
   * (key, namespace) alone.
   */
  poll(upToMs: number): boolean;
  readonly polledTimestamp: number;
  readonly polledNamespace: N;
  /** No timer that was restored is later; -Infinity if there was none. */
  readonly lastRestoredTimestamp: number;
}

export interface KeyedStateBackend<K = unknown> {
  readonly keyGroups: KeyGroupRange;
  readonly maxParallelism: number;
  /** `keyHash` is KeySerializer.hash(key). Asserts that the key's group is one of this backend's. */
  setCurrentKey(key: K, keyHash: number): void;
  /** From now on there is no current key: until the next one is set, keyed state throws STATE_WITHOUT_KEY. */
  clearCurrentKey(): void;
  readonly currentKey: K;
  readonly currentKeyHash: number;
  /** KeySerializer.hash of the backend's key type. */
  hashOf(key: K): number;
  /** A hint: keys with these hashes come next, in this order. Loads buckets and rows ahead (see design notes on prefetch). */
  prefetch(hashes: Int32Array, count: number): void;

  /**
   * States are looked up by name; asking again gives the same object. A second descriptor of another kind, type or
   * time-to-live for the name throws STATE_DESCRIPTOR_CONFLICT. After a restore the first access resolves the schema
   * (STATE_SCHEMA_INCOMPATIBLE).
   */
  getValueState<T>(descriptor: ValueStateDescriptor<T>): ValueState<T>;
  getListState<T>(descriptor: ListStateDescriptor<T>): ListState<T>;
  getMapState<UK, UV>(descriptor: MapStateDescriptor<UK, UV>): MapState<UK, UV>;
  getReducingState<T>(descriptor: ReducingStateDescriptor<T>): ReducingState<T>;
  getAggregatingState<In, Acc, Out>(
    descriptor: AggregatingStateDescriptor<In, Acc, Out>,
  ): AggregatingState<In, Out>;

  getNamespacedValueState<T, N>(
    d: ValueStateDescriptor<T>,
    namespace: TypeInformation<N>,
  ): Namespaced<ValueState<T>, N>;
  getNamespacedListState<T, N>(
    d: ListStateDescriptor<T>,
    namespace: TypeInformation<N>,
  ): Namespaced<ListState<T>, N> & Merging<N> & AddsIfPresent<T>;
  getNamespacedReducingState<T, N>(
    d: ReducingStateDescriptor<T>,
    namespace: TypeInformation<N>,
  ): Namespaced<ReducingState<T>, N> & Merging<N> & AddsIfPresent<T> & RemembersNamespaces<T>;
  getNamespacedAggregatingState<In, Acc, Out, N>(
    d: AggregatingStateDescriptor<In, Acc, Out>,
    namespace: TypeInformation<N>,
  ): Namespaced<AggregatingState<In, Out>, N> & Merging<N> & AddsIfPresent<In> & RemembersNamespaces<In>;

  /** `name` is unique among the operator's timers. */
  getTimerQueue<N>(name: string, namespace: TypeInformation<N>): TimerQueue<N>;

  /**
   * Keys of this backend that have the named state (void namespace), each once, in no particular order. While they are
   * gone through, a key that was given may be made the current one, and its states changed. None for an unknown name.
   * Keys of which all has expired are among them until it is removed.
   */
  keys(stateName: string): Iterable<K>;
  /** Of all states but timers, as of now. */
  restoredNames(): RestoredNames;
  /** Number of (key, namespace[, user key]) entries over all states, timers included, and bytes they occupy. */
  statistics(): { readonly entries: number; readonly sizeBytes: number };

  /**
   * Removes a bounded part of what has expired by its time-to-live. The host calls it between its turns, when no code of
   * the user runs. How many values were removed for that reason since the last call, here or when they were accessed.
   */
  cleanUpExpired(): number;

  /** Freezes: the synchronous part. Snapshots may overlap; each is exact. */
  snapshot(): KeyedStateSnapshot;
  dispose(): void;
}

/** How the states that were asked for meet those that were restored. */
export interface RestoredNames {
  /** Asked for, and not among what was restored: they begin empty. */
  readonly added: readonly string[];
  /** Restored, and not asked for: they are kept as they are. */
  readonly unclaimed: readonly string[];
}

/** What every backend is made with. */
export interface KeyedStateBackendOptions<K> {
  /** Type of the keys; without one they are compared as plain data. */
  readonly keyType?: TypeInformation<K>;
  readonly keyGroups: KeyGroupRange;
  readonly maxParallelism: number;
  /** For messages. */
  readonly operatorName: string;
  /** Processing time as the host says, for time-to-live: constant within one batch. Asked while restoring, too. */
  readonly processingTimeMs: () => number;
  /** What to begin with; the inputs are not used after the backend was made. */
  readonly restore?: readonly KeyedStateToRestore[];
}

/**
 * Makes a backend and restores it, all before the first record. Rejects with INVALID_ARGUMENT, SNAPSHOT_CORRUPT,
 * SNAPSHOT_FORMAT_NEWER, or STATE_SCHEMA_INCOMPATIBLE if the saved keys are of another type.
 */
export type KeyedStateBackendFactory = <K>(
  options: KeyedStateBackendOptions<K>,
) => Promise<KeyedStateBackend<K>>;

/**
 * What a backend is restored from, with its bytes: handles whose key groups overlap its own. If the max parallelism
 * changed, all handles of the operator.
 */
export interface KeyedStateToRestore {
  readonly handle: KeyedStateHandle;
  readonly input: SnapshotInput;
}

/** State that belongs to the subtask rather than to keys. Values are held as objects and copied by codec. */
export interface OperatorStateBackend {
  /** List state, split among subtasks on a change of parallelism. */
  getListState<T>(descriptor: ListStateDescriptor<T>): ListState<T>;
  /** Every subtask gets all elements on every restore. */
  getUnionListState<T>(descriptor: ListStateDescriptor<T>): ListState<T>;
  /** The same in every subtask; after a restore each subtask has a copy. */
  getBroadcastState<K, V>(descriptor: MapStateDescriptor<K, V>): BroadcastState<K, V>;
}
