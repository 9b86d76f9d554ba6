/**
 * Copies the entries of one row store into another: to other key groups, to other page sizes, to another schema.
 *
 * This is the slow path of a restore: where the page images fit as they are, they are adopted (page-adoption.ts). Without
 * conversions bytes are copied and no type is needed. The source is not changed.
 */
import { hasCode, MillraceError } from '../../base/index.ts';
import type { Convert, KeySerializer, TypeSerializer } from '../../types/index.ts';
import { hashBytes } from './bytes.ts';
import { ByteRun, insertEntry, readIdentity, readValue } from './entry-rows.ts';
import { addToCount, appendRun, CHUNK_HEAD_BYTES } from './list-rows.ts';
import { appendMapEntry, headInt, insertMapHead } from './map-rows.ts';
import {
  EXTERNAL_VALUE,
  KIND_ENTRY,
  KIND_MASK,
  LIST_COUNT,
  LIST_FIRST,
  LIST_HEAD_BYTES,
  LIST_USED,
  MAP_ENTRY_NEXT,
  MAP_FIRST,
  ROW_WORD_1,
  ROW_WORD_2,
  valueOffsetOf,
} from './row-format.ts';
import type { RowStore } from './row-store.ts';
import { Scratch } from './scratch.ts';

/** How a part of each entry is turned into another type. */
export interface Conversion {
  readonly from: TypeSerializer<unknown>;
  readonly convert: Convert;
  readonly to: TypeSerializer<unknown>;
}

export interface TransferOptions {
  /** The state and operator, to begin a message with. */
  readonly where: string;
  /** Key group in the target, counted from its first, by key hash; -1 if the entry is not wanted. */
  readonly groupOf: (keyHash: number) => number;
  readonly key?: Conversion & { readonly to: KeySerializer<unknown> };
  readonly mapKey?: Conversion;
  readonly value?: Conversion;
}

/** Entries whose values the new type cannot hold, by what was wrong with them. */
export type Refusals = Map<string, { readonly error: unknown; count: number }>;

export class RowTransfer {
  private readonly source: RowStore;
  private readonly target: RowStore;
  private readonly options: TransferOptions;
  private readonly identity = new Scratch();
  private readonly value = new Scratch();
  private readonly run = new ByteRun();
  /** Enum values that are gone: they are counted, so that one message can say how many entries hold them. */
  readonly refusals: Refusals = new Map();

  constructor(source: RowStore, target: RowStore, options: TransferOptions) {
    this.source = source;
    this.target = target;
    this.options = options;
  }

  /** Copies all entries that are wanted. If there are `refusals`, the target is incomplete. */
  copy(): void {
    this.source.forEachRow((row, word) => {
      if ((word & KIND_MASK) !== KIND_ENTRY) return;
      const group = this.options.groupOf(this.source.getInt(row, ROW_WORD_1));
      if (group >= 0) this.copyEntry(row, group);
    });
  }

  private copyEntry(row: number, group: number): void {
    const { source } = this;
    const keyHash = source.getInt(row, ROW_WORD_1);
    const hash = source.getInt(row, ROW_WORD_2);
    const identityLength = this.readKey(row, keyHash);
    if (source.kind === 'map') {
      this.copyMap(row, group, keyHash, hash, identityLength);
      return;
    }
    if (source.kind === 'list') {
      this.copyList(row, group, keyHash, hash, identityLength);
      return;
    }
    const valueLength = source.kind === 'timers' ? 0 : this.readValueOf(row);
    if (valueLength < 0) return;
    this.insert(group, keyHash, hash, identityLength, valueLength);
    this.target.entries++;
  }

  private insert(group: number, keyHash: number, hash: number, identity: number, value: number): number {
    const { target } = this;
    const identityView = this.identity.view;
    const valueView = this.value.view;
    return insertEntry(target, group, KIND_ENTRY, keyHash, hash, identityView, identity, valueView, value);
  }

  private copyList(row: number, group: number, keyHash: number, hash: number, identityLength: number): void {
    const { source, target, run } = this;
    const headAt = valueOffsetOf(source.wordOf(row));
    this.value.view.u8.fill(0, 0, LIST_HEAD_BYTES);
    const head = this.insert(group, keyHash, hash, identityLength, LIST_HEAD_BYTES);
    target.entries++;
    const start = source.offsetOf(row) + headAt + LIST_HEAD_BYTES;
    run.set(source.viewOf(row), start, source.getInt(row, headAt + LIST_USED));
    this.copyElements(head);
    for (let chunk = source.getInt(row, headAt + LIST_FIRST); chunk !== 0; ) {
      if ((source.wordOf(chunk) & EXTERNAL_VALUE) === 0) {
        const at = source.offsetOf(chunk) + CHUNK_HEAD_BYTES;
        run.set(source.viewOf(chunk), at, source.getInt(chunk, ROW_WORD_2));
      } else {
        const length = source.getInt(chunk, CHUNK_HEAD_BYTES + 4);
        run.setExternal(source, source.getInt(chunk, CHUNK_HEAD_BYTES), length);
      }
      this.copyElements(head);
      chunk = source.getInt(chunk, ROW_WORD_1);
    }
    const count = source.getInt(row, headAt + LIST_COUNT);
    addToCount(target, head, count);
    if (this.options.value?.from.fixedSizeBytes === 0) this.copyEmptyElements(head, count);
  }

  /** Elements of the old type have no bytes; those of the new one may have. */
  private copyEmptyElements(head: number, count: number): void {
    for (let i = 0; i < count; i++) {
      this.run.view.pos = 0;
      const length = this.convertAt(this.options.value!, this.value);
      if (length > 0) appendRun(this.target, head, this.value.view, 0, length, 0);
    }
  }

  /** Adds the elements in the run to a list, without counting them. */
  private copyElements(head: number): void {
    const { target, run, options } = this;
    if (options.value === undefined) {
      if (run.length > 0) appendRun(target, head, run.view, run.at, run.length, 0);
      return;
    }
    const end = run.at + run.length;
    run.view.pos = run.at;
    while (run.view.pos < end) {
      const length = this.convertAt(options.value, this.value);
      if (length >= 0) appendRun(target, head, this.value.view, 0, length, 0);
    }
  }

  private copyMap(row: number, group: number, keyHash: number, hash: number, identityLength: number): void {
    const { source, target, identity, value, options, run } = this;
    const head = insertMapHead(target, group, keyHash, hash, identity.view, identityLength);
    for (let entry = headInt(source, row, MAP_FIRST); entry !== 0; ) {
      readIdentity(source, entry, run);
      let slotHash = source.getInt(entry, ROW_WORD_2);
      let length: number;
      if (options.mapKey === undefined) {
        length = this.copyRun(identity);
      } else {
        run.view.pos = run.at;
        length = this.convertAt(options.mapKey, identity);
        if (length >= 0) slotHash = hashBytes(identity.view, 0, length, keyHash);
      }
      const valueLength = this.readValueOf(entry);
      if (length >= 0 && valueLength >= 0) {
        appendMapEntry(target, head, slotHash, identity.view, length, value.view, valueLength);
      }
      entry = source.getInt(entry, MAP_ENTRY_NEXT);
    }
  }

  /** Puts the identity of an ENTRY into its scratch, the key converted; its length. */
  private readKey(row: number, keyHash: number): number {
    const { run, identity, options } = this;
    readIdentity(this.source, row, run);
    if (options.key === undefined) return this.copyRun(identity);
    const end = run.at + run.length;
    run.view.pos = run.at;
    const key = options.key.convert(options.key.from.decode(run.view));
    if (options.key.to.hash(key) !== keyHash) {
      throw new MillraceError(
        'STATE_SCHEMA_INCOMPATIBLE',
        `${options.where}: keys would move to other key groups, because their hash changes with their type.`,
      );
    }
    const length = identity.encode(options.key.to, key);
    const suffix = end - run.view.pos;
    identity.reserve(length + suffix);
    identity.view.u8.set(run.view.u8.subarray(run.view.pos, end), length);
    return length + suffix;
  }

  /** Puts the value of an entry into its scratch, converted; its length, or -1 if it was refused. */
  private readValueOf(row: number): number {
    const { run, value, options } = this;
    readValue(this.source, row, run);
    if (options.value === undefined) return this.copyRun(value);
    run.view.pos = run.at;
    return this.convertAt(options.value, value);
  }

  private copyRun(to: Scratch): number {
    const { view, at, length } = this.run;
    to.trim();
    to.reserve(length);
    to.view.u8.set(view.u8.subarray(at, at + length));
    return length;
  }

  /** Converts the value at the position of the run's view; its length in `to`, or -1 if it was refused. */
  private convertAt(conversion: Conversion, to: Scratch): number {
    const old = conversion.from.decode(this.run.view);
    try {
      return to.encode(conversion.to, conversion.convert(old));
    } catch (error) {
      if (!hasCode(error, 'STATE_ENUM_VALUE_REMOVED')) throw error;
      const { message } = error as Error;
      const refusal = this.refusals.get(message) ?? { error, count: 0 };
      refusal.count++;
      this.refusals.set(message, refusal);
      return -1;
    }
  }
}
