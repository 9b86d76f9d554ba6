/**
 * State of a snapshot until its descriptor comes, and what happens when it comes: taken over as it is, converted to the
 * schema that is declared now, or refused.
 *
 * The restore makes one RestoredState a name; it has a part for each schema it was written with (subtasks that were
 * merged may have registered the state at different times). State that is never asked for stays as it is, and goes on
 * into the next snapshots.
 */
import { hasCode, MillraceError } from '../../base/index.ts';
import {
  type ByteView,
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
import { type Conversion, RowTransfer, type TransferOptions } from './row-transfer.ts';
import { peekLastAccess, type StateTtl, withLastAccess } from './state-ttl.ts';

/** The types of a state: those of KeyedStateMetadata. */
export interface StateSchema {
  readonly key: TypeDescription;
  readonly namespace: TypeDescription;
  readonly value: TypeDescription;
  readonly mapKey?: TypeDescription;
  readonly ttl?: true;
}

/** The serializers of a state as the program declares it. */
export interface StateSerializers {
  readonly key: KeySerializer<unknown>;
  readonly namespace: KeySerializer<unknown>;
  /** Of values as they are stored: with time-to-live, that of `ttl`. */
  readonly value: TypeSerializer<unknown>;
  readonly mapKey?: KeySerializer<unknown>;
  readonly ttl?: StateTtl;
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
  /** undefined: all keyed state of the operator. */
  readonly state?: string;
}

type Conversions = Pick<TransferOptions, 'key' | 'mapKey' | 'value'>;

/** The schema that the serializers write. */
export function schemaOf(serializers: StateSerializers): StateSchema {
  const { key, namespace, value, mapKey, ttl } = serializers;
  return {
    key: key.description,
    namespace: namespace.description,
    value: value.description,
    ...(mapKey === undefined ? {} : { mapKey: mapKey.description }),
    ...(ttl === undefined ? {} : { ttl: true }),
  };
}

/**
 * The store of a restored state in the declared schema. Throws STATE_SCHEMA_INCOMPATIBLE, STATE_ENUM_VALUE_REMOVED,
 * SERIALIZER_FAILED; the restored state is then as before.
 */
export function takeRestored(restored: RestoredState, target: RestoreTarget): RowStore {
  const site = { operator: target.operatorName, state: restored.name };
  const conversions = restored.parts.map((part) => conversionsOf(part.schema, target.serializers, site));
  if (conversions.length === 1 && Object.keys(conversions[0]!).length === 0) return restored.parts[0]!.store;
  const store = target.createStore(restored.kind);
  for (const [i, part] of restored.parts.entries()) {
    const options = { where: describeSite(site), groupOf: target.groupOf, ...conversions[i] };
    const transfer = new RowTransfer(part.store, store, options);
    copyAll(transfer, site);
    for (const { error, count } of transfer.refusals.values()) throw refused(site, error, count);
  }
  return store;
}

function copyAll(transfer: RowTransfer, site: StateSite): void {
  try {
    transfer.copy();
  } catch (error) {
    if (!hasCode(error, 'SERIALIZER_FAILED')) throw error;
    throw new MillraceError('SERIALIZER_FAILED', `${describeSite(site)}: ${(error as Error).message}`, {
      cause: error,
      details: { ...site },
    });
  }
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
  // An enum or a literal may get more values: its keys are the same by name.
  const isListed = saved.kind === 'enum' || saved.kind === 'literal';
  if (resolution.result === 'incompatible' || !isListed) {
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
  const value = valueConversion(saved, current, site);
  if (value !== undefined) conversions.value = value;
  if (current.mapKey !== undefined && saved.mapKey !== undefined) {
    const mapKey = keyConversion(saved.mapKey, current.mapKey, site, 'map key');
    if (mapKey !== undefined) conversions.mapKey = mapKey;
  }
  return conversions;
}

/**
 * How stored values become those of `current`, the time of their last access with them. Values that had none are taken
 * as accessed now; where there is no time-to-live any more all values stay, as in Flink.
 */
function valueConversion(
  saved: StateSchema,
  current: StateSerializers,
  site: StateSite,
): Conversion | undefined {
  const { ttl } = current;
  const hadTtl = saved.ttl === true;
  const resolution = resolveSchema(saved.value, current.value.description);
  if (resolution.result === 'incompatible') {
    throw incompatible(site, 'value', saved.value, current.value.description, resolution);
  }
  if (resolution.result === 'same' && hadTtl === (ttl !== undefined)) return undefined;
  const isSame = resolution.result === 'same';
  const convert = isSame ? (old: unknown) => old : resolution.convert;
  const currentPlain = ttl?.plain ?? current.value;
  const plain = isSame
    ? currentPlain
    : createSerializer<unknown>({ description: saved.value }, describeSite(site));
  if (!hadTtl) return { from: plain, convert, to: current.value };
  const stored = withLastAccess(plain, () => 0);
  let lastAccessMs = 0;
  const decode = (view: ByteView) => {
    lastAccessMs = peekLastAccess(view);
    return stored.decode(view);
  };
  const to = ttl === undefined ? current.value : withLastAccess(currentPlain, () => lastAccessMs);
  return { from: { ...stored, decode }, convert, to };
}

function describeSite({ operator, state }: StateSite): string {
  return state === undefined ? `Operator '${operator}'` : `State '${state}' of operator '${operator}'`;
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
      `Declare the saved type again, or drop ${site.state === undefined ? 'its' : 'this'} state when restoring.`,
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
