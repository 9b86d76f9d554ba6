/**
 * The broadcast states of one operator: those that were declared, found by descriptor, and writable only while their owner
 * says so. Made by broadcast-process-operator.ts; knows no function and no record.
 *
 * Invariants:
 * I1 A change outside a call of `whileWritable` is refused, whoever kept the state that this class gave out: another subtask
 *    would not make it. (A function that gets the state of its RuntimeContext answers for that itself, as in Flink.)
 */
import { MillraceError } from '../../base/index.ts';
import type { BroadcastState, MapStateDescriptor, OperatorStateBackend } from '../../state/index.ts';

/** A descriptor whose types do not matter. */
export type AnyMapStateDescriptor = MapStateDescriptor<unknown, unknown>;

/** Throws INVALID_ARGUMENT unless these are map state descriptors, at least one, each with a name of its own. */
export function checkBroadcastDescriptors(descriptors: readonly AnyMapStateDescriptor[]): void {
  const names = new Set<string>();
  for (const descriptor of descriptors) {
    const { kind, name } = (descriptor ?? {}) as Partial<AnyMapStateDescriptor>;
    if (kind !== 'map') {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `broadcast(…): expected descriptors of map states, new MapStateDescriptor(name, keyType, valueType), found ` +
          `${kind === undefined ? typeof descriptor : `the descriptor of a ${kind} state`}.`,
      );
    }
    if (names.has(name!)) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `broadcast(…): two descriptors have the name "${name}"; a name stands for one state.`,
      );
    }
    names.add(name!);
  }
}

export class DeclaredBroadcastStates {
  private readonly operatorName: string;
  private readonly backend: OperatorStateBackend;
  private readonly byDescriptor = new Map<AnyMapStateDescriptor, GuardedState<unknown, unknown>>();
  private readonly byName = new Map<string, GuardedState<unknown, unknown>>();
  private readonly guard: Guard;

  /** Registers all of them, so that they are restored and saved although nobody asks for them. */
  constructor(
    operatorName: string,
    backend: OperatorStateBackend,
    descriptors: readonly AnyMapStateDescriptor[],
  ) {
    this.operatorName = operatorName;
    this.backend = backend;
    this.guard = { isOpen: false, operatorName };
    for (const descriptor of descriptors) {
      const state = new GuardedState(descriptor.name, backend.getBroadcastState(descriptor), this.guard);
      this.byDescriptor.set(descriptor, state);
      this.byName.set(descriptor.name, state);
    }
  }

  /** Throws INVALID_ARGUMENT for a state that was not declared, STATE_DESCRIPTOR_CONFLICT for other types than declared. */
  get<K, V>(descriptor: MapStateDescriptor<K, V>): BroadcastState<K, V> {
    const known = this.byDescriptor.get(descriptor as unknown as AnyMapStateDescriptor);
    if (known !== undefined) return known as unknown as BroadcastState<K, V>;
    const named = this.byName.get(descriptor.name);
    if (named === undefined) throw this.notDeclared(descriptor.name);
    this.backend.getBroadcastState(descriptor);
    return named as unknown as BroadcastState<K, V>;
  }

  /** Calls `work`; meanwhile states may be changed, or, within that, may not. */
  whileWritable(isWritable: boolean, work: () => void): void {
    const before = this.guard.isOpen;
    this.guard.isOpen = isWritable;
    try {
      work();
    } finally {
      this.guard.isOpen = before;
    }
  }

  private notDeclared(name: string): MillraceError {
    const declared = [...this.byName.keys()];
    return new MillraceError(
      'INVALID_ARGUMENT',
      `Operator '${this.operatorName}' asks for the broadcast state "${name}", which was not declared; declared are ` +
        `${declared.map((each) => `"${each}"`).join(', ')}. Give its descriptor to broadcast(…), too.`,
      { details: { operator: this.operatorName, state: name, declared } },
    );
  }
}

interface Guard {
  isOpen: boolean;
  readonly operatorName: string;
}

class GuardedState<K, V> implements BroadcastState<K, V> {
  private readonly name: string;
  private readonly state: BroadcastState<K, V>;
  private readonly guard: Guard;

  constructor(name: string, state: BroadcastState<K, V>, guard: Guard) {
    this.name = name;
    this.state = state;
    this.guard = guard;
  }

  get(key: K): V | undefined {
    return this.state.get(key);
  }

  contains(key: K): boolean {
    return this.state.contains(key);
  }

  entries(): Iterable<[K, V]> {
    return this.state.entries();
  }

  immutableEntries(): Iterable<[K, V]> {
    return this.state.immutableEntries();
  }

  keys(): Iterable<K> {
    return this.state.keys();
  }

  values(): Iterable<V> {
    return this.state.values();
  }

  isEmpty(): boolean {
    return this.state.isEmpty();
  }

  put(key: K, value: V): void {
    this.requireWritable();
    this.state.put(key, value);
  }

  putAll(entries: Iterable<readonly [K, V]>): void {
    this.requireWritable();
    this.state.putAll(entries);
  }

  remove(key: K): void {
    this.requireWritable();
    this.state.remove(key);
  }

  clear(): void {
    this.requireWritable();
    this.state.clear();
  }

  /** I1 */
  private requireWritable(): void {
    const { isOpen, operatorName } = this.guard;
    if (isOpen) return;
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `Operator '${operatorName}' changes the broadcast state "${this.name}" outside of processBroadcastElement. It must be ` +
        'the same in all subtasks, and only records of the broadcast stream reach them all: change it there.',
      { details: { operator: operatorName, state: this.name } },
    );
  }
}
