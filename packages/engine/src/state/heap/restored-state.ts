/**
 * State of a snapshot until its descriptor comes, and what happens when it comes: taken over as it is, converted to the
 * schema that is declared now, or refused.
 *
 * The restore makes one RestoredState a name; it has a part for each schema it was written with (subtasks that were
 * merged may have registered the state at different times). State that is never asked for stays as it is, and goes on
 * into the next snapshots.
 */
import { MillraceError } from '../../base/index.ts';
import {
  createKeySerializer,
  createSerializer,
  formatType,
  type KeySerializer,
  resolveSchema,
  type SchemaResolution,
  type TypeDescription,
  type TypeSerializer,
} from '../../types/index.ts';
import type { KeyedStateKind } from '../handles.ts';
import type { RowStore } from './row-store.ts';
import { RowTransfer, type TransferOptions } from './row-transfer.ts';

/** The types of a state: those of KeyedStateMetadata. */
export interface StateSchema {
  readonly key: TypeDescription;
  readonly namespace: TypeDescription;
  readonly value: TypeDescription;
  readonly mapKey?: TypeDescription;
}

/** The serializers of a state as the program declares it. */
export interface StateSerializers {
  readonly key: KeySerializer<unknown>;
  readonly namespace: KeySerializer<unknown>;
  readonly value: TypeSerializer<unknown>;
  readonly mapKey?: KeySerializer<unknown>;
}

export interface RestoredPart {
  readonly schema: StateSchema;
  readonly store: RowStore;
}

export interface RestoredState {
  readonly name: string;
  readonly kind: KeyedStateKind;
  readonly parts: RestoredPart[];
}

/** Where a state is converted to. */
export interface RestoreTarget {
  readonly operatorName: string;
  readonly serializers: StateSerializers;
  readonly createStore: (kind: KeyedStateKind) => RowStore;
  /** Key group in such a store by key hash. */
  readonly groupOf: (keyHash: number) => number;
}

/** Names for messages. */
export interface StateSite {
  readonly operator: string;
  readonly state: string;
}

type Conversions = Pick<TransferOptions, 'key' | 'mapKey' | 'value'>;

/** The schema that the serializers write. */
export function schemaOf(serializers: StateSerializers): StateSchema {
  const { key, namespace, value, mapKey } = serializers;
  const schema = { key: key.description, namespace: namespace.description, value: value.description };
  return mapKey === undefined ? schema : { ...schema, mapKey: mapKey.description };
}

/**
 * The store of a restored state in the declared schema. Throws STATE_SCHEMA_INCOMPATIBLE, STATE_ENUM_VALUE_REMOVED; the
 * restored state is then as before.
 */
export function takeRestored(restored: RestoredState, target: RestoreTarget): RowStore {
  const site = { operator: target.operatorName, state: restored.name };
  const conversions = restored.parts.map((part) => conversionsOf(part.schema, target.serializers, site));
  if (conversions.length === 1 && Object.keys(conversions[0]!).length === 0) return restored.parts[0]!.store;
  const store = target.createStore(restored.kind);
  for (const [i, part] of restored.parts.entries()) {
    const options = { where: describeSite(site), groupOf: target.groupOf, ...conversions[i] };
    const transfer = new RowTransfer(part.store, store, options);
    transfer.copy();
    for (const { error, count } of transfer.refusals.values()) throw refused(site, error, count);
  }
  return store;
}

/** How keys of a saved type become keys of `current`; undefined if they are the same. Throws STATE_SCHEMA_INCOMPATIBLE. */
export function keyConversion(
  saved: TypeDescription,
  current: KeySerializer<unknown>,
  site: StateSite,
  part = 'key',
): TransferOptions['key'] {
  const resolution = resolveSchema(saved, current.description);
  if (resolution.result === 'same') return undefined;
  // An enum may get more values: its keys are the same by name.
  if (resolution.result === 'incompatible' || saved.kind !== 'enum') {
    throw incompatible(site, part, saved, current.description, resolution);
  }
  const from = createKeySerializer<unknown>({ description: saved }, describeSite(site));
  return { from, convert: resolution.convert, to: current };
}

function conversionsOf(saved: StateSchema, current: StateSerializers, site: StateSite): Conversions {
  const conversions: { -readonly [K in keyof Conversions]: Conversions[K] } = {};
  const key = keyConversion(saved.key, current.key, site);
  if (key !== undefined) conversions.key = key;
  const namespace = resolveSchema(saved.namespace, current.namespace.description);
  if (namespace.result !== 'same') {
    throw incompatible(site, 'namespace', saved.namespace, current.namespace.description, namespace);
  }
  const value = resolveSchema(saved.value, current.value.description);
  if (value.result === 'incompatible') {
    throw incompatible(site, 'value', saved.value, current.value.description, value);
  }
  if (value.result === 'migrate') {
    const from = createSerializer<unknown>({ description: saved.value }, describeSite(site));
    conversions.value = { from, convert: value.convert, to: current.value };
  }
  if (current.mapKey !== undefined && saved.mapKey !== undefined) {
    const mapKey = keyConversion(saved.mapKey, current.mapKey, site, 'map key');
    if (mapKey !== undefined) conversions.mapKey = mapKey;
  }
  return conversions;
}

function describeSite({ operator, state }: StateSite): string {
  return `State '${state}' of operator '${operator}'`;
}

function incompatible(
  site: StateSite,
  part: string,
  savedType: TypeDescription,
  currentType: TypeDescription,
  resolution: SchemaResolution,
): MillraceError {
  let path = part;
  let saved = formatType(savedType);
  let current = formatType(currentType);
  let reason = 'keys and namespaces keep their type';
  if (resolution.result === 'incompatible') {
    path = resolution.path.replace('value', part);
    ({ saved, current, reason } = resolution);
  }
  return new MillraceError(
    'STATE_SCHEMA_INCOMPATIBLE',
    `${describeSite(site)}: ${path} was saved as ${saved} and is now ${current}; ${reason}. ` +
      'Declare the saved type again, or drop this state when restoring.',
    { details: { ...site, path, saved, current } },
  );
}

function refused(site: StateSite, error: unknown, count: number): MillraceError {
  const { message, details } = error as MillraceError;
  const entries = count === 1 ? '1 entry holds it' : `${count} entries hold it`;
  return new MillraceError('STATE_ENUM_VALUE_REMOVED', `${describeSite(site)}: ${message} (${entries}.)`, {
    cause: error,
    details: { ...details, ...site, entries: count },
  });
}
