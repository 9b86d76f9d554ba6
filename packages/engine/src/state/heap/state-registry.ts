/**
 * Which states a heap backend has: those that a descriptor asked for, and those of a snapshot that nobody asked for yet.
 *
 * Used by the backend only. It decides whether a descriptor fits what is there, and lists everything for a snapshot.
 *
 * Invariants:
 * I1 A name is either registered or restored, never both. Timers have names of their own.
 */
import { MillraceError } from '../../base/index.ts';
import {
  createKeySerializer,
  createSerializer,
  formatType,
  type KeySerializer,
  type TypeInformation,
} from '../../types/index.ts';
import type { RestoredNames } from '../backend.ts';
import type { KeyedStateKind, KeyedStateMetadata } from '../handles.ts';
import type { StateTtlConfig } from '../state-ttl-config.ts';
import type { SnapshotState } from './heap-snapshot.ts';
import type { PageSizes } from './page-store.ts';
import {
  keyConversion,
  type RestoredState,
  type StateSchema,
  type StateSerializers,
  schemaOf,
  takeRestored,
} from './restored-state.ts';
import { RowStore } from './row-store.ts';
import { StateTtl } from './state-ttl.ts';

/** What registering needs to know of a descriptor. */
export interface StateRegistration {
  readonly kind: KeyedStateKind;
  readonly name: string;
  readonly namespace: TypeInformation<unknown>;
  readonly value: TypeInformation<unknown> | undefined;
  /** Only of map states. */
  readonly mapKey?: { readonly type: TypeInformation<unknown> | undefined };
  /** Not of timers. */
  readonly ttl?: StateTtlConfig;
}

/** A store and what is in it. */
export interface StoredState {
  readonly kind: KeyedStateKind;
  readonly name: string;
  readonly schema: StateSchema;
  readonly store: RowStore;
}

interface RegisteredState extends StoredState {
  readonly state: unknown;
  readonly ttl: StateTtlConfig | undefined;
  readonly isRestored: boolean;
}

/** What the registry knows of its backend. */
export interface RegistryParts {
  readonly operatorName: string;
  readonly keySerializer: KeySerializer<unknown>;
  readonly groupCount: number;
  readonly sizes: PageSizes;
  /** Key group by key hash, counted from the first; -1 if it is not one of the backend's. */
  readonly groupOf: (keyHash: number) => number;
  readonly processingTimeMs: () => number;
}

export class StateRegistry {
  private readonly parts: RegistryParts;
  private readonly registered = new Map<string, RegisteredState>();
  private readonly restored = new Map<string, RestoredState>();

  constructor(parts: RegistryParts) {
    this.parts = parts;
  }

  /** Keeps restored states until their descriptors come. */
  adopt(states: readonly RestoredState[]): void {
    for (const state of states) this.restored.set(registryKey(state.kind, state.name), state);
  }

  /** Throws STATE_SCHEMA_INCOMPATIBLE if the keys of a saved state cannot be those of this operator. */
  checkKeys(state: KeyedStateMetadata): void {
    const { keySerializer, operatorName } = this.parts;
    keyConversion(state.key, keySerializer, { operator: operatorName });
  }

  createStore(kind: KeyedStateKind): RowStore {
    return new RowStore(kind, this.parts.groupCount, this.parts.sizes);
  }

  /**
   * The state of this name, made by `create` when it is asked for first. Throws STATE_DESCRIPTOR_CONFLICT,
   * STATE_SCHEMA_INCOMPATIBLE, STATE_ENUM_VALUE_REMOVED.
   */
  register<S>(
    registration: StateRegistration,
    create: (store: RowStore, serializers: StateSerializers) => S,
  ): S {
    const { kind, name } = registration;
    const id = registryKey(kind, name);
    const known = this.registered.get(id);
    if (known !== undefined) {
      this.checkSame(known, registration);
      return known.state as S;
    }
    const serializers = this.createSerializers(registration);
    const restored = this.restored.get(id);
    const store = restored === undefined ? this.createStore(kind) : this.take(restored, kind, serializers);
    const state = create(store, serializers);
    this.restored.delete(id);
    const ttl = serializers.ttl?.config;
    const isRestored = restored !== undefined;
    this.registered.set(id, { kind, name, schema: schemaOf(serializers), store, state, ttl, isRestored });
    return state;
  }

  restoredNames(): RestoredNames {
    const added = [...this.registered.values()].filter((state) => !state.isRestored);
    const unclaimed = [...this.restored.values()];
    return { added: namesOf(added), unclaimed: namesOf(unclaimed) };
  }

  /** All states, by the store they lie in. */
  *stored(): IterableIterator<StoredState> {
    yield* this.registered.values();
    for (const { kind, name, parts } of this.restored.values()) {
      for (const { schema, store } of parts) yield { kind, name, schema, store };
    }
  }

  /** All states as they go into a snapshot now. */
  snapshotStates(): SnapshotState[] {
    const states: SnapshotState[] = [];
    for (const { kind, name, schema, store } of this.stored()) {
      const { entries } = store;
      states.push({ store, metadata: { name, kind, ...schema, entries, sizeBytes: store.liveUnits * 8 } });
    }
    return states;
  }

  clear(): void {
    this.registered.clear();
    this.restored.clear();
  }

  private createSerializers({ name, namespace, value, mapKey, ttl }: StateRegistration): StateSerializers {
    const usedBy = `state '${name}' of operator '${this.parts.operatorName}'`;
    const plain = createSerializer(value, usedBy);
    const timed = ttl?.isEnabled() ? new StateTtl(ttl, this.parts.processingTimeMs, plain) : undefined;
    return {
      key: this.parts.keySerializer,
      namespace: createKeySerializer(namespace, `namespace of ${usedBy}`),
      value: timed?.serializer ?? plain,
      ...(mapKey === undefined ? {} : { mapKey: createKeySerializer(mapKey.type, `key of ${usedBy}`) }),
      ...(timed === undefined ? {} : { ttl: timed }),
    };
  }

  private take(restored: RestoredState, kind: KeyedStateKind, serializers: StateSerializers): RowStore {
    if (restored.kind !== kind) throw this.conflict(restored.name, `was saved as a ${restored.kind}`, kind);
    return takeRestored(restored, {
      operatorName: this.parts.operatorName,
      serializers,
      createStore: (storeKind) => this.createStore(storeKind),
      groupOf: this.parts.groupOf,
    });
  }

  private checkSame(
    known: RegisteredState,
    { kind, name, namespace, value, mapKey, ttl }: StateRegistration,
  ): void {
    if (known.kind !== kind) throw this.conflict(name, `is already a ${known.kind}`, kind);
    const generic = { kind: 'generic' } as const;
    const pairs = [
      [known.schema.namespace, namespace.description],
      [known.schema.value, value?.description ?? generic],
      [known.schema.mapKey ?? generic, mapKey?.type?.description ?? generic],
    ] as const;
    for (const [has, wants] of pairs) {
      if (has === wants || JSON.stringify(has) === JSON.stringify(wants)) continue;
      throw this.conflict(name, `already has the type ${formatType(has)}`, formatType(wants));
    }
    const hasTtl = formatTtl(known.ttl);
    const wantsTtl = formatTtl(ttl?.isEnabled() ? ttl : undefined);
    if (hasTtl !== wantsTtl) throw this.conflict(name, `already has ${hasTtl}`, `one with ${wantsTtl}`);
  }

  private conflict(name: string, has: string, wants: string): MillraceError {
    const { operatorName } = this.parts;
    return new MillraceError(
      'STATE_DESCRIPTOR_CONFLICT',
      `State '${name}' of operator '${operatorName}' ${has} and was asked for as ${wants}. ` +
        'A name stands for one state: use one descriptor for it, or another name.',
      { details: { operator: operatorName, state: name } },
    );
  }
}

function formatTtl(config: StateTtlConfig | undefined): string {
  return config === undefined ? 'no time-to-live' : `the time-to-live ${config}`;
}

function namesOf(states: readonly { readonly kind: KeyedStateKind; readonly name: string }[]): string[] {
  return states.filter(({ kind }) => kind !== 'timers').map(({ name }) => name);
}

function registryKey(kind: KeyedStateKind, name: string): string {
  return kind === 'timers' ? `timers/${name}` : `state/${name}`;
}
