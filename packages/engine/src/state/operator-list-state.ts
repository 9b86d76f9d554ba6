/**
 * A list that belongs to a subtask, as its elements' encodings: what was added or read may be changed without changing
 * the state, a wrong element is refused when it is added, and a snapshot only puts the bytes together.
 */
import { decodeFromBytes, encodeToBytes, type TypeSerializer } from '../types/index.ts';
import type { ListState } from './descriptors.ts';

export class OperatorListState<T> implements ListState<T> {
  private readonly serializer: TypeSerializer<T>;
  private elements: Uint8Array[];

  /** Begins with `elements`, encoded; takes the array over. */
  constructor(serializer: TypeSerializer<T>, elements: Uint8Array[]) {
    this.serializer = serializer;
    this.elements = elements;
  }

  get(): T[] {
    return this.elements.map((bytes) => decodeFromBytes(this.serializer, bytes));
  }

  add(value: T): void {
    this.elements.push(encodeToBytes(this.serializer, value));
  }

  addAll(values: Iterable<T>): void {
    this.elements = this.elements.concat(this.encodeAll(values));
  }

  update(values: Iterable<T>): void {
    this.elements = this.encodeAll(values);
  }

  clear(): void {
    this.elements = [];
  }

  /** The encoded elements in order; not to be changed. */
  encodedElements(): readonly Uint8Array[] {
    return this.elements;
  }

  /** All or none: an element of the wrong type changes nothing. */
  private encodeAll(values: Iterable<T>): Uint8Array[] {
    return Array.from(values, (value) => encodeToBytes(this.serializer, value));
  }
}
