/**
 * The heap backend: keyed state of one operator and subtask as binary rows in shared memory.
 *
 * This file holds together the current key, the states (state-registry.ts) and the snapshots. How rows work is in the
 * other files of this folder, bottom up: row-format, page-store, row-store, entry-rows; upon them the states; beside
 * them heap-snapshot and heap-restore.
 *
 * Snapshots: any number may be running at the same time; each is exact.
 */
import { assert } from '../../base/index.ts';
import {
  createKeySerializer,
  type KeySerializer,
  type TypeInformation,
  type TypeSerializer,
  Types,
} from '../../types/index.ts';
import type {
  AddsIfPresent,
  KeyedStateBackend,
  KeyedStateBackendOptions,
  KeyedStateToRestore,
  Merging,
  Namespaced,
  RemembersNamespaces,
  RestoredNames,
  TimerQueue,
} from '../backend.ts';
import type {
  AggregatingState,
  AggregatingStateDescriptor,
  ListState,
  ListStateDescriptor,
  MapState,
  MapStateDescriptor,
  ReducingState,
  ReducingStateDescriptor,
  StateDescriptor,
  ValueState,
  ValueStateDescriptor,
} from '../descriptors.ts';
import type { KeyGroupRange } from '../handles.ts';
import { checkMaxParallelism, keyGroupOf } from '../key-group.ts';
import type { KeyedStateSnapshot } from '../snapshot.ts';
import { CurrentRow } from './current-row.ts';
import { ByteRun, readIdentity } from './entry-rows.ts';
import type { StateWorkspace } from './entry-state.ts';
import {
  createAggregatingState,
  createReducingState,
  createValueState,
  type EntryStateParts,
} from './entry-state-code.ts';
import { HeapListState } from './heap-list-state.ts';
import { HeapMapState } from './heap-map-state.ts';
import { restoreHeapStates } from './heap-restore.ts';
import { createBlockPool, HeapSnapshot } from './heap-snapshot.ts';
import { HeapTimerQueue } from './heap-timer-queue.ts';
import { HeapTtlListState } from './heap-ttl-list-state.ts';
import { HeapTtlMapState } from './heap-ttl-map-state.ts';
import { KeyContext } from './key-context.ts';
import { KnownValues } from './known-values.ts';
import { type PageSizes, UNIT_BYTES } from './page-store.ts';
import { Prefetch } from './prefetch.ts';
import { keyConversion, type StateSerializers } from './restored-state.ts';
import { KIND_ENTRY, KIND_MASK } from './row-format.ts';
import type { RowStore } from './row-store.ts';
import { Scratch } from './scratch.ts';
import { type StateRegistration, StateRegistry, type StoredState } from './state-registry.ts';
import type { StateTtl } from './state-ttl.ts';
import { TtlSweep } from './ttl-sweep.ts';

const CHUNK_BYTES = 2 * 1024 * 1024;
const PREFETCH_BYTES_MIN = 1024 * 1024;
const PREFETCH_STATES_MAX = 2;

/** Sizes that only tests set. */
export interface HeapTuning {
  /** A power of two from 256 to 32768. */
  readonly pageBytes?: number;
  readonly chunkBytes?: number;
  /** Smaller states are in the caches anyway. */
  readonly prefetchBytesMin?: number;
}

export interface HeapKeyedStateBackendOptions<K> extends KeyedStateBackendOptions<K> {
  readonly tuning?: HeapTuning;
}

/** The KeyedStateBackendFactory of the heap backend. */
export async function createHeapKeyedStateBackend<K>(
  options: HeapKeyedStateBackendOptions<K>,
): Promise<KeyedStateBackend<K>> {
  const backend = new HeapKeyedStateBackend(options);
  if (options.restore !== undefined) await backend.restore(options.restore);
  return backend;
}

class HeapKeyedStateBackend<K> implements KeyedStateBackend<K> {
  readonly keyGroups: KeyGroupRange;
  readonly maxParallelism: number;
  private readonly sizes: PageSizes;
  private readonly operatorName: string;
  private readonly prefetchBytesMin: number;
  private readonly keySerializer: KeySerializer<K>;
  private readonly context: KeyContext;
  private readonly registry: StateRegistry;
  private readonly workspace: StateWorkspace = { scratch: new Scratch(), run: new ByteRun() };
  private readonly blocks = createBlockPool();
  /** Stores without namespaces, which prefetching is for. */
  private prefetchable: RowStore[] = [];
  /** Values of states that are newer than their rows. */
  private known: { writeAll(): void }[] = [];
  /** Of the states with time-to-live. */
  private sweeps: { readonly ttl: StateTtl; readonly sweep: TtlSweep }[] = [];
  /** The context's generation at the last clean-up. */
  private sweptGeneration = 0;
  private readonly prefetcher: Prefetch;

  constructor(options: HeapKeyedStateBackendOptions<K>) {
    const { keyGroups, maxParallelism, operatorName, keyType, processingTimeMs, tuning } = options;
    checkMaxParallelism(maxParallelism);
    assert(
      keyGroups.first >= 0 && keyGroups.first <= keyGroups.last && keyGroups.last < maxParallelism,
      `key groups ${keyGroups.first}..${keyGroups.last} of max parallelism ${maxParallelism}`,
    );
    this.keyGroups = keyGroups;
    this.maxParallelism = maxParallelism;
    this.operatorName = operatorName;
    const pageBytes = tuning?.pageBytes ?? pageBytesFor(maxParallelism);
    this.sizes = { pageBytes, chunkBytes: tuning?.chunkBytes ?? CHUNK_BYTES };
    this.prefetchBytesMin = tuning?.prefetchBytesMin ?? PREFETCH_BYTES_MIN;
    this.keySerializer = createKeySerializer(keyType, `key of operator '${operatorName}'`);
    const keySerializer = this.keySerializer as KeySerializer<unknown>;
    this.prefetcher = new Prefetch(maxParallelism, keyGroups.first);
    this.context = new KeyContext(keySerializer, keyGroups, maxParallelism, operatorName);
    this.registry = new StateRegistry({
      operatorName,
      keySerializer,
      groupCount: keyGroups.last - keyGroups.first + 1,
      sizes: this.sizes,
      groupOf: (keyHash) => this.groupOf(keyHash),
      processingTimeMs,
    });
  }

  /** Reads what `inputs` have of this backend's key groups. Called once, before anything else. */
  async restore(inputs: readonly KeyedStateToRestore[]): Promise<void> {
    const states = await restoreHeapStates(inputs, {
      keyGroups: this.keyGroups,
      maxParallelism: this.maxParallelism,
      ...this.sizes,
      createStore: (kind) => this.registry.createStore(kind),
      groupOf: (keyHash) => this.groupOf(keyHash),
      checkState: (state) => this.registry.checkKeys(state),
    });
    this.registry.adopt(states);
  }

  setCurrentKey(key: K, keyHash: number): void {
    this.context.select(key, keyHash);
  }

  clearCurrentKey(): void {
    this.context.deselect();
  }

  get currentKey(): K {
    this.context.requireKey();
    return this.context.key as K;
  }

  get currentKeyHash(): number {
    this.context.requireKey();
    return this.context.hash;
  }

  hashOf(key: K): number {
    return this.keySerializer.hash(key);
  }

  prefetch(hashes: Int32Array, count: number): void {
    let left = PREFETCH_STATES_MAX;
    for (const store of this.prefetchable) {
      if (store.entries === 0 || store.liveUnits * UNIT_BYTES < this.prefetchBytesMin) continue;
      this.context.beginBatch();
      this.prefetcher.run(store, hashes, count);
      if (--left === 0) break;
    }
  }

  getValueState<T>(descriptor: ValueStateDescriptor<T>): ValueState<T> {
    return this.getNamespacedValueState(descriptor, Types.VOID);
  }

  getListState<T>(descriptor: ListStateDescriptor<T>): ListState<T> {
    return this.getNamespacedListState(descriptor, Types.VOID);
  }

  getReducingState<T>(descriptor: ReducingStateDescriptor<T>): ReducingState<T> {
    return this.getNamespacedReducingState(descriptor, Types.VOID);
  }

  getAggregatingState<In, Acc, Out>(
    descriptor: AggregatingStateDescriptor<In, Acc, Out>,
  ): AggregatingState<In, Out> {
    return this.getNamespacedAggregatingState(descriptor, Types.VOID);
  }

  getMapState<UK, UV>(descriptor: MapStateDescriptor<UK, UV>): MapState<UK, UV> {
    return this.registry.register(registrationOf(descriptor, Types.VOID), (store, serializers) => {
      const { current, serializer, workspace, ttl: timed } = this.partsOf<UV, undefined>(store, serializers);
      const mapKey = serializers.mapKey as KeySerializer<UK>;
      if (timed === undefined) return new HeapMapState(current, mapKey, serializer, workspace);
      return new HeapTtlMapState(current, mapKey, serializer, workspace, timed);
    });
  }

  getNamespacedValueState<T, N>(
    descriptor: ValueStateDescriptor<T>,
    namespace: TypeInformation<N>,
  ): Namespaced<ValueState<T>, N> {
    return this.registry.register(registrationOf(descriptor, namespace), (store, serializers) => {
      const parts = this.partsOf<T, N>(store, serializers);
      const known = this.knownValuesOf(parts);
      return createValueState({ ...parts, known }, freshCopies(parts.serializer, descriptor.defaultValue));
    });
  }

  getNamespacedListState<T, N>(
    descriptor: ListStateDescriptor<T>,
    namespace: TypeInformation<N>,
  ): Namespaced<ListState<T>, N> & Merging<N> & AddsIfPresent<T> {
    return this.registry.register(registrationOf(descriptor, namespace), (store, serializers) => {
      const { current, serializer, workspace, ttl: timed } = this.partsOf<T, N>(store, serializers);
      if (timed === undefined) return new HeapListState(current, serializer, workspace);
      return new HeapTtlListState(current, serializer, workspace, timed);
    });
  }

  getNamespacedReducingState<T, N>(
    descriptor: ReducingStateDescriptor<T>,
    namespace: TypeInformation<N>,
  ): Namespaced<ReducingState<T>, N> & Merging<N> & AddsIfPresent<T> & RemembersNamespaces<T> {
    return this.registry.register(registrationOf(descriptor, namespace), (store, serializers) => {
      return createReducingState(this.partsOf<T, N>(store, serializers), descriptor.reduce);
    });
  }

  getNamespacedAggregatingState<In, Acc, Out, N>(
    descriptor: AggregatingStateDescriptor<In, Acc, Out>,
    namespace: TypeInformation<N>,
  ): Namespaced<AggregatingState<In, Out>, N> & Merging<N> & AddsIfPresent<In> & RemembersNamespaces<In> {
    return this.registry.register(registrationOf(descriptor, namespace), (store, serializers) => {
      return createAggregatingState(this.partsOf<Acc, N>(store, serializers), descriptor.aggregate);
    });
  }

  getTimerQueue<N>(name: string, namespace: TypeInformation<N>): TimerQueue<N> {
    const registration = { kind: 'timers', name, namespace, value: Types.VOID } as const;
    return this.registry.register(registration, (store, serializers) => {
      return new HeapTimerQueue(this.context, store, serializers.namespace as KeySerializer<N>);
    });
  }

  *keys(stateName: string): Iterable<K> {
    for (const state of this.registry.stored()) {
      if (state.name !== stateName || state.kind === 'timers' || state.schema.namespace.kind !== 'void')
        continue;
      for (const table of state.store.tables) yield* this.keysOf(state, table);
    }
  }

  restoredNames(): RestoredNames {
    return this.registry.restoredNames();
  }

  statistics(): { readonly entries: number; readonly sizeBytes: number } {
    let entries = 0;
    let sizeBytes = 0;
    for (const { store } of this.registry.stored()) {
      entries += store.entries;
      sizeBytes += store.liveUnits * 8;
    }
    return { entries, sizeBytes };
  }

  cleanUpExpired(): number {
    const records = this.recordsSinceCleanUp();
    if (this.sweeps.length === 0) return 0;
    const { context } = this;
    let removed = 0;
    let swept = 0;
    for (const { ttl, sweep } of this.sweeps) {
      const before = ttl.expired;
      sweep.turn(records);
      swept += ttl.expired - before;
      removed += ttl.expired;
      ttl.expired = 0;
    }
    if (swept > 0) {
      context.forgetRows();
      this.sweptGeneration = context.generation;
    }
    return removed;
  }

  snapshot(): KeyedStateSnapshot {
    for (const known of this.known) known.writeAll();
    const { keyGroups, maxParallelism, blocks } = this;
    const states = this.registry.snapshotStates();
    return new HeapSnapshot({ keyGroups, maxParallelism, pageBytes: this.sizes.pageBytes, states, blocks });
  }

  dispose(): void {
    this.registry.clear();
    this.context.followers.length = 0;
    this.prefetchable = [];
    this.sweeps = [];
    this.known = [];
  }

  /** Records and timers, by the keys that were selected for them. */
  private recordsSinceCleanUp(): number {
    const { context } = this;
    const { generation, repeats } = context;
    // The counter starts again at 0 one day: then there were at least that many keys.
    const keys = generation - this.sweptGeneration;
    this.sweptGeneration = generation;
    context.repeats = 0;
    return (keys < 0 ? generation : keys) + repeats;
  }

  private groupOf(keyHash: number): number {
    const group = keyGroupOf(keyHash, this.maxParallelism);
    return group < this.keyGroups.first || group > this.keyGroups.last ? -1 : group - this.keyGroups.first;
  }

  private partsOf<T, N>(store: RowStore, serializers: StateSerializers): EntryStateParts<T, N> {
    const namespace = serializers.namespace as KeySerializer<N>;
    if (namespace.fixedSizeBytes === 0) this.prefetchable.push(store);
    const { ttl } = serializers;
    if (ttl !== undefined) this.sweepFor(store, ttl);
    return {
      current: new CurrentRow(this.context, store, namespace),
      serializer: serializers.value as TypeSerializer<T>,
      workspace: this.workspace,
      ttl,
    };
  }

  /** Values are known where copies are cheaper than bytes, and nothing but the state itself removes rows. */
  private knownValuesOf<T, N>({
    current,
    serializer,
    ttl,
  }: EntryStateParts<T, N>): KnownValues<T, N> | undefined {
    if (serializer.copy === undefined || ttl !== undefined) return undefined;
    const known = new KnownValues(current, serializer);
    this.known.push(known);
    return known;
  }

  private sweepFor(store: RowStore, ttl: StateTtl): void {
    const sweep = new TtlSweep(store, ttl, this.workspace.run);
    this.sweeps.push({ ttl, sweep });
    if (ttl.config.isCleanupFullSnapshot()) sweep.all();
  }

  /** The keys of the entries in a table, read at once: state may change while they are used. */
  private keysOf({ name, schema, store }: StoredState, table: Int32Array): K[] {
    const site = { operator: this.operatorName, state: name };
    const conversion = keyConversion(schema.key, this.context.serializer, site);
    const keys: K[] = [];
    const run = new ByteRun();
    for (let i = 1; i < table.length; i += 2) {
      const row = table[i]!;
      if (row === 0 || (store.wordOf(row) & KIND_MASK) !== KIND_ENTRY) continue;
      readIdentity(store, row, run);
      run.view.pos = run.at;
      if (conversion === undefined) keys.push(this.keySerializer.decode(run.view));
      else keys.push(conversion.convert(conversion.from.decode(run.view)) as K);
    }
    return keys;
  }
}

/** What registering takes from a descriptor. */
type RegisteredDescriptor = Pick<StateDescriptor, 'name' | 'getTtlConfig'> &
  (
    | {
        readonly kind: 'value' | 'list' | 'reducing' | 'aggregating';
        readonly type: TypeInformation<unknown> | undefined;
      }
    | {
        readonly kind: 'map';
        readonly keyType: TypeInformation<unknown> | undefined;
        readonly valueType: TypeInformation<unknown> | undefined;
      }
  );

function registrationOf(
  descriptor: RegisteredDescriptor,
  namespace: TypeInformation<unknown>,
): StateRegistration {
  const { kind, name } = descriptor;
  const value = kind === 'map' ? descriptor.valueType : descriptor.type;
  const mapKey = kind === 'map' ? { mapKey: { type: descriptor.keyType } } : {};
  return { kind, name, namespace, value, ...mapKey, ttl: descriptor.getTtlConfig() };
}

/** Pages are smaller where there are many key groups: each key group with any key at all takes a page a state. */
function pageBytesFor(maxParallelism: number): number {
  if (maxParallelism <= 512) return 16384;
  if (maxParallelism <= 1024) return 8192;
  return maxParallelism <= 4096 ? 4096 : 2048;
}

/** Makes copies of a default value, so that changing one changes no other. Throws TYPE_MISMATCH. */
function freshCopies<T>(serializer: TypeSerializer<T>, value: T | undefined): () => T | undefined {
  if (value === undefined) return () => undefined;
  const scratch = new Scratch();
  scratch.encode(serializer, value);
  if (typeof value !== 'object' || value === null) return () => value;
  return () => {
    scratch.view.pos = 0;
    return serializer.decode(scratch.view);
  };
}
