/**
 * A map that belongs to a subtask and is the same in all of them. Keys and values are kept encoded, as in
 * operator-list-state.ts; an element of the state is the encoded key followed by the encoded value, which is the encoding
 * of the tuple of both.
 *
 * Entries are found by the key itself where the type of keys is one whose values JavaScript compares as keys are to be
 * compared, else by the bytes of its canonical encoding. They come in the order in which they were put first.
 */
import {
  ByteView,
  decodeFromBytes,
  encodeToBytes,
  type KeySerializer,
  type TypeSerializer,
} from '../types/index.ts';
import type { BroadcastState } from './descriptors.ts';

interface Entry {
  readonly key: Uint8Array;
  /** The value's bytes; a view, because broadcast state is read for each record. */
  readonly value: ByteView;
}

export class OperatorBroadcastState<K, V> implements BroadcastState<K, V> {
  private readonly canonical: KeySerializer<K>;
  private readonly keySerializer: TypeSerializer<K>;
  private readonly valueSerializer: TypeSerializer<V>;
  private readonly byId = new Map<unknown, Entry>();

  /** Begins with `elements`, each an encoded key and value; later ones replace earlier ones of the same key. */
  constructor(
    canonical: KeySerializer<K>,
    keySerializer: TypeSerializer<K>,
    valueSerializer: TypeSerializer<V>,
    elements: readonly Uint8Array[],
  ) {
    this.canonical = canonical;
    this.keySerializer = keySerializer;
    this.valueSerializer = valueSerializer;
    for (const bytes of elements) {
      const view = ByteView.of(bytes);
      view.pos = 0;
      const key = keySerializer.decode(view);
      const value = ByteView.of(bytes.subarray(view.pos));
      this.byId.set(this.idOf(key), { key: bytes.subarray(0, view.pos), value });
    }
  }

  get(key: K): V | undefined {
    const entry = this.byId.get(this.idOf(key));
    return entry === undefined ? undefined : this.valueOf(entry);
  }

  put(key: K, value: V): void {
    const entry = {
      key: encodeToBytes(this.keySerializer, key),
      value: ByteView.of(encodeToBytes(this.valueSerializer, value)),
    };
    this.byId.set(this.idOf(key), entry);
  }

  putAll(entries: Iterable<readonly [K, V]>): void {
    for (const [key, value] of entries) this.put(key, value);
  }

  remove(key: K): void {
    this.byId.delete(this.idOf(key));
  }

  contains(key: K): boolean {
    return this.byId.has(this.idOf(key));
  }

  *entries(): IterableIterator<[K, V]> {
    for (const entry of this.byId.values()) yield [this.keyOf(entry), this.valueOf(entry)];
  }

  immutableEntries(): IterableIterator<[K, V]> {
    return this.entries();
  }

  *keys(): IterableIterator<K> {
    for (const entry of this.byId.values()) yield this.keyOf(entry);
  }

  *values(): IterableIterator<V> {
    for (const entry of this.byId.values()) yield this.valueOf(entry);
  }

  isEmpty(): boolean {
    return this.byId.size === 0;
  }

  clear(): void {
    this.byId.clear();
  }

  /** The encoded entries. */
  encodedElements(): readonly Uint8Array[] {
    return Array.from(this.byId.values(), ({ key, value }) => {
      const bytes = new Uint8Array(key.length + value.u8.length);
      bytes.set(key);
      bytes.set(value.u8, key.length);
      return bytes;
    });
  }

  private idOf(key: K): unknown {
    const { shortcut } = this.canonical;
    if (shortcut === 'string' || shortcut === 'number') return key;
    return Buffer.from(encodeToBytes(this.canonical, key)).toString('latin1');
  }

  private keyOf({ key }: Entry): K {
    return decodeFromBytes(this.keySerializer, key);
  }

  private valueOf({ value }: Entry): V {
    value.pos = 0;
    return this.valueSerializer.decode(value);
  }
}
