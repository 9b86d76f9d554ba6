/**
 * State that belongs to a subtask rather than to keys: list, union list and broadcast state.
 *
 * Elements are kept encoded, one by one, and a snapshot puts them one after the other with the offset of each, so that
 * the checkpoint floor can give single elements to other subtasks (docs/formats/operator-state.md). Made and snapshotted
 * by the runtime; redistribution is none of its business.
 *
 * Restored state that nobody has asked for yet is kept as it was saved and goes on unchanged into the next snapshots.
 * When it is asked for, its type is compared with the declared one; from then on it is written in that.
 *
 * Invariants:
 * I1 Only the states' own methods change state; changing an object that was added or read changes nothing.
 * I2 A name stands for one state, of whatever mode.
 */
import { assert, hasCode, MillraceError } from '../base/index.ts';
import {
  ByteView,
  type Convert,
  createKeySerializer,
  createSerializer,
  encodeToBytes,
  formatType,
  resolveSchema,
  type TypeDescription,
  type TypeInformation,
  type TypeSerializer,
  Types,
} from '../types/index.ts';
import type { OperatorStateBackend, RestoredNames } from './backend.ts';
import type {
  BroadcastState,
  ListState,
  ListStateDescriptor,
  MapStateDescriptor,
  StateDescriptor,
} from './descriptors.ts';
import type { OperatorStateHandle, OperatorStateMode } from './handles.ts';
import { OperatorBroadcastState } from './operator-broadcast-state.ts';
import { OperatorListState } from './operator-list-state.ts';
import type { SnapshotInput } from './snapshot.ts';

/** One operator state as bytes: what a snapshot holds of it. */
export interface OperatorStateSnapshot {
  readonly name: string;
  readonly mode: OperatorStateMode;
  readonly element: TypeDescription;
  readonly offsets: readonly number[];
  readonly bytes: Uint8Array;
}

/** Saved state with its bytes. A handle may name only some of the elements in its bytes. */
export interface OperatorStateToRestore {
  readonly handle: OperatorStateHandle;
  readonly input: SnapshotInput;
}

/** Elements of a list state that are added to a snapshot after its synchronous part. */
export interface LateElements {
  readonly name: string;
  readonly mode: 'split' | 'union';
  readonly type: TypeInformation<unknown> | undefined;
  readonly values: readonly unknown[];
}

/** The backend with what its host needs. */
export interface RestorableOperatorStateBackend extends OperatorStateBackend {
  /** All states as of now. A name occurs more than once if it was saved with several types and not asked for since. */
  snapshot(): OperatorStateSnapshot[];
  /** Encodes elements that come late; they are one more snapshot of their name. Throws TYPE_MISMATCH. */
  encodeContribution(elements: LateElements): OperatorStateSnapshot;
  /** Of all states as of now. */
  restoredNames(): RestoredNames;
}

export interface OperatorStateBackendOptions {
  /** For messages. */
  readonly operatorName: string;
  /** Handles of one name are put together in their order. */
  readonly restore?: readonly OperatorStateToRestore[];
}

/** Makes the backend of one operator and subtask and reads what is to be restored. Rejects with SNAPSHOT_CORRUPT. */
export async function createOperatorStateBackend(
  options: OperatorStateBackendOptions,
): Promise<RestorableOperatorStateBackend> {
  const saved = new Map<string, SavedState>();
  for (const { handle, input } of options.restore ?? []) {
    const bytes = await input.read(0, input.lengthBytes);
    if (bytes.length !== input.lengthBytes) throw corrupt(handle.name, 'its bytes end before their length');
    addSaved(saved, handle, bytes);
  }
  return new HeapOperatorStateBackend(options.operatorName, saved);
}

/** Elements that were saved with one type, each in bytes of its own. */
interface SavedPart {
  readonly element: TypeDescription;
  readonly elements: Uint8Array[];
}

interface SavedState {
  readonly mode: OperatorStateMode;
  readonly parts: SavedPart[];
}

/** A state that was asked for. */
interface LiveState {
  readonly mode: OperatorStateMode;
  readonly element: TypeDescription;
  readonly state: { encodedElements(): readonly Uint8Array[] };
  readonly isRestored: boolean;
}

class HeapOperatorStateBackend implements RestorableOperatorStateBackend {
  private readonly operatorName: string;
  private readonly saved: Map<string, SavedState>;
  private readonly live = new Map<string, LiveState>();

  constructor(operatorName: string, saved: Map<string, SavedState>) {
    this.operatorName = operatorName;
    this.saved = saved;
  }

  getListState<T>(descriptor: ListStateDescriptor<T>): ListState<T> {
    return this.list(descriptor, 'split');
  }

  getUnionListState<T>(descriptor: ListStateDescriptor<T>): ListState<T> {
    return this.list(descriptor, 'union');
  }

  getBroadcastState<K, V>(descriptor: MapStateDescriptor<K, V>): BroadcastState<K, V> {
    const { name, keyType, valueType } = descriptor;
    this.refuseTtl(descriptor);
    const key = keyType ?? Types.GENERIC<K>();
    const value = valueType ?? Types.GENERIC<V>();
    return this.register(name, 'broadcast', Types.TUPLE(key, value), (elements) => {
      const usedBy = this.usedBy(name);
      const canonical = createKeySerializer(key, `key of ${usedBy}`);
      return new OperatorBroadcastState<K, V>(
        canonical,
        createSerializer(key, `key of ${usedBy}`),
        createSerializer(value, usedBy),
        elements,
      );
    });
  }

  snapshot(): OperatorStateSnapshot[] {
    const snapshots: OperatorStateSnapshot[] = [];
    for (const [name, { mode, element, state }] of this.live) {
      snapshots.push(together(name, mode, element, state.encodedElements()));
    }
    for (const [name, { mode, parts }] of this.saved) {
      for (const { element, elements } of parts) snapshots.push(together(name, mode, element, elements));
    }
    return snapshots;
  }

  encodeContribution({ name, mode, type, values }: LateElements): OperatorStateSnapshot {
    const serializer = createSerializer(type, this.usedBy(name));
    const elements = values.map((value) => encodeToBytes(serializer, value));
    return together(name, mode, serializer.description, elements);
  }

  restoredNames(): RestoredNames {
    const added = [...this.live].filter(([, { isRestored }]) => !isRestored).map(([name]) => name);
    return { added, unclaimed: [...this.saved.keys()] };
  }

  private list<T>(descriptor: ListStateDescriptor<T>, mode: 'split' | 'union'): ListState<T> {
    const { name, type } = descriptor;
    this.refuseTtl(descriptor);
    return this.register(
      name,
      mode,
      type,
      (elements, serializer) => new OperatorListState<T>(serializer, elements),
    );
  }

  private register<T, S extends LiveState['state']>(
    name: string,
    mode: OperatorStateMode,
    type: TypeInformation<T> | undefined,
    make: (elements: Uint8Array[], serializer: TypeSerializer<T>) => S,
  ): S {
    const serializer = createSerializer(type, this.usedBy(name));
    const { description } = serializer;
    const known = this.live.get(name);
    if (known !== undefined) {
      const isSame = known.mode === mode && isEqual(known.element, description);
      if (!isSame)
        throw this.conflict(name, describe(known.mode, known.element), describe(mode, description));
      return known.state as S;
    }
    const saved = this.saved.get(name);
    if (saved !== undefined && saved.mode !== mode) {
      throw this.conflict(name, `saved ${saved.mode} state`, `${mode} state`);
    }
    const elements = (saved?.parts ?? []).flatMap((part) => this.convert(name, part, serializer));
    const state = make(elements, serializer);
    this.saved.delete(name);
    this.live.set(name, { mode, element: description, state, isRestored: saved !== undefined });
    return state;
  }

  /** Saved elements in the declared type. Throws STATE_SCHEMA_INCOMPATIBLE, STATE_ENUM_VALUE_REMOVED. */
  private convert<T>(name: string, part: SavedPart, current: TypeSerializer<T>): Uint8Array[] {
    const resolution = resolveSchema(part.element, current.description);
    if (resolution.result === 'same') return part.elements;
    if (resolution.result === 'incompatible') {
      const { path, saved, current: now, reason } = resolution;
      throw new MillraceError(
        'STATE_SCHEMA_INCOMPATIBLE',
        `State '${name}' of operator '${this.operatorName}': ${path.replace('value', 'element')} was saved as ` +
          `${saved} and is now ${now}; ${reason}. Declare the saved type again, or drop this state when restoring.`,
        { details: { operator: this.operatorName, state: name, path, saved, current: now } },
      );
    }
    const from = createSerializer<unknown>({ description: part.element }, this.usedBy(name));
    return this.convertAll(name, part.elements, from, resolution.convert, current);
  }

  private convertAll<T>(
    name: string,
    elements: readonly Uint8Array[],
    from: TypeSerializer<unknown>,
    convert: Convert,
    to: TypeSerializer<T>,
  ): Uint8Array[] {
    const converted: Uint8Array[] = [];
    let refused = 0;
    let first: unknown;
    for (const bytes of elements) {
      const view = ByteView.of(bytes);
      try {
        converted.push(encodeToBytes(to, convert(from.decode(view)) as T));
      } catch (error) {
        if (hasCode(error, 'SERIALIZER_FAILED')) throw this.located(name, error);
        if (!hasCode(error, 'STATE_ENUM_VALUE_REMOVED')) throw error;
        first ??= error;
        refused++;
      }
    }
    if (refused === 0) return converted;
    const { message, details } = first as MillraceError;
    throw new MillraceError(
      'STATE_ENUM_VALUE_REMOVED',
      `State '${name}' of operator '${this.operatorName}': ${message} (It is in ${refused} of its elements.)`,
      { cause: first, details: { ...details, operator: this.operatorName, state: name, entries: refused } },
    );
  }

  private located(name: string, error: unknown): MillraceError {
    const { message } = error as MillraceError;
    return new MillraceError(
      'SERIALIZER_FAILED',
      `State '${name}' of operator '${this.operatorName}': ${message}`,
      {
        cause: error,
        details: { operator: this.operatorName, state: name },
      },
    );
  }

  private refuseTtl(descriptor: Pick<StateDescriptor, 'name' | 'getTtlConfig'>): void {
    if (!descriptor.getTtlConfig().isEnabled()) return;
    const { name } = descriptor;
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `State '${name}' of operator '${this.operatorName}' is operator state and has a time-to-live, which there is for ` +
        'keyed state only: use a descriptor without enableTimeToLive.',
      { details: { operator: this.operatorName, state: name } },
    );
  }

  private usedBy(name: string): string {
    return `state '${name}' of operator '${this.operatorName}'`;
  }

  private conflict(name: string, has: string, wants: string): MillraceError {
    return new MillraceError(
      'STATE_DESCRIPTOR_CONFLICT',
      `State '${name}' of operator '${this.operatorName}' is ${has} and was asked for as ${wants}. ` +
        'A name stands for one state: use one descriptor for it, or another name.',
      { details: { operator: this.operatorName, state: name } },
    );
  }
}

/** Cuts the elements that the handle names out of its bytes, and puts them to those of the same name and type. */
function addSaved(saved: Map<string, SavedState>, handle: OperatorStateHandle, bytes: Uint8Array): void {
  const { name, mode, element } = handle;
  const state = saved.get(name) ?? { mode, parts: [] };
  if (state.mode !== mode) throw corrupt(name, `it is ${state.mode} in one handle and ${mode} in another`);
  saved.set(name, state);
  const serializer = createSerializer<unknown>({ description: element }, `saved state '${name}'`);
  const view = ByteView.of(bytes);
  const elements = handle.offsets.map((offset) => {
    if (!Number.isInteger(offset) || offset < 0 || offset > bytes.length) {
      throw corrupt(name, `an element is at ${offset} of ${bytes.length} bytes`);
    }
    view.pos = offset;
    skipElement(serializer, view, name);
    if (view.pos > bytes.length) throw corrupt(name, 'an element goes beyond the end of its bytes');
    return bytes.slice(offset, view.pos);
  });
  const part = state.parts.find((each) => isEqual(each.element, element));
  if (part === undefined) state.parts.push({ element, elements });
  else for (const each of elements) part.elements.push(each);
}

function skipElement(serializer: TypeSerializer<unknown>, view: ByteView, name: string): void {
  try {
    serializer.skip(view);
  } catch (cause) {
    throw corrupt(name, 'an element cannot be read', cause);
  }
}

function together(
  name: string,
  mode: OperatorStateMode,
  element: TypeDescription,
  elements: readonly Uint8Array[],
): OperatorStateSnapshot {
  const bytes = new Uint8Array(elements.reduce((sum, each) => sum + each.length, 0));
  const offsets: number[] = [];
  let at = 0;
  for (const each of elements) {
    offsets.push(at);
    bytes.set(each, at);
    at += each.length;
  }
  assert(at === bytes.length, 'elements changed while they were put together');
  return { name, mode, element, offsets, bytes };
}

function isEqual(a: TypeDescription, b: TypeDescription): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function describe(mode: OperatorStateMode, element: TypeDescription): string {
  return `${mode} state of ${formatType(element)}`;
}

function corrupt(name: string, what: string, cause?: unknown): MillraceError {
  return new MillraceError(
    'SNAPSHOT_CORRUPT',
    `The operator state '${name}' of this snapshot is damaged: ${what}.`,
    {
      cause,
    },
  );
}
