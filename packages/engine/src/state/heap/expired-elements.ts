/**
 * Drops expired elements from the front of a list of a state with time-to-live (list-rows.ts draws the rows).
 *
 * Elements come in the order in which they were added, and so in that of their last access unless the clock went back: what
 * has expired is a front part. Only that is dropped, up to the first element that lives; what expired behind it (after a
 * clock that went back, or a merge of windows) is dropped when it has come to the front, and is not returned before.
 *
 * Cost: one look at a list of which nothing has expired. Otherwise each dropped element is visited once, its chunk freed or
 * the rest of it (4 KB at most) moved down. Elements in pieces, which came together, go together.
 */
import type { TypeSerializer } from '../../types/index.ts';
import type { ByteRun } from './entry-rows.ts';
import { freePieces } from './external-bytes.ts';
import { addToCount, CHUNK_HEAD_BYTES } from './list-rows.ts';
import {
  EXTERNAL_VALUE,
  LIST_COUNT,
  LIST_FIRST,
  LIST_HEAD_BYTES,
  LIST_USED,
  ROW_WORD_1,
  ROW_WORD_2,
  valueOffsetOf,
} from './row-format.ts';
import type { RowStore } from './row-store.ts';
import { peekLastAccess } from './state-ttl.ts';

export class ExpiredElements {
  private readonly store: RowStore;
  /** Of elements with their last access. */
  private readonly serializer: TypeSerializer<unknown>;
  private readonly run: ByteRun;
  /** Bytes and number of the expired elements that `scan` found. */
  private bytes = 0;
  private count = 0;

  constructor(store: RowStore, serializer: TypeSerializer<unknown>, run: ByteRun) {
    this.store = store;
    this.serializer = serializer;
    this.run = run;
  }

  /**
   * Drops the elements at the front of the list `row` that were not accessed after `deadlineMs`; how many. If no
   * element is left (isEmptyList) removing the ENTRY is the caller's.
   */
  drop(row: number, deadlineMs: number): number {
    const { store } = this;
    const headAt = valueOffsetOf(store.wordOf(row));
    const isThrough = this.dropFromRun(row, headAt + LIST_HEAD_BYTES, headAt + LIST_USED, deadlineMs);
    let dropped = this.count;
    if (isThrough) dropped += this.dropChunks(row, headAt, deadlineMs);
    if (dropped > 0) addToCount(store, row, -dropped);
    return dropped;
  }

  private dropChunks(row: number, headAt: number, deadlineMs: number): number {
    const { store } = this;
    const first = store.getInt(row, headAt + LIST_FIRST);
    let chunk = first;
    let dropped = 0;
    while (chunk !== 0) {
      const isExternal = (store.wordOf(chunk) & EXTERNAL_VALUE) !== 0;
      const isThrough = isExternal
        ? this.areExpiredPieces(chunk, deadlineMs)
        : this.dropFromRun(chunk, CHUNK_HEAD_BYTES, ROW_WORD_2, deadlineMs);
      dropped += this.count;
      if (!isThrough) break;
      const next = store.getInt(chunk, ROW_WORD_1);
      if (isExternal) freePieces(store, store.getInt(chunk, CHUNK_HEAD_BYTES));
      store.free(chunk);
      chunk = next;
    }
    // Without a chunk that is left the list is empty, and its ENTRY goes with its other links.
    if (chunk !== first) store.setInt(row, headAt + LIST_FIRST, chunk);
    return dropped;
  }

  /** Drops from the run that begins at byte `start` of `row` and is as long as its int at `usedAt` says; true if all went. */
  private dropFromRun(row: number, start: number, usedAt: number, deadlineMs: number): boolean {
    const { store } = this;
    const used = store.getInt(row, usedAt);
    const view = store.viewOf(row);
    const at = store.offsetOf(row) + start;
    this.run.set(view, at, used);
    this.scan(deadlineMs);
    if (this.bytes > 0) {
      store.setInt(row, usedAt, used - this.bytes);
      view.u8.copyWithin(at, at + this.bytes, at + used);
    }
    return this.bytes === used;
  }

  private areExpiredPieces(chunk: number, deadlineMs: number): boolean {
    const { store, run } = this;
    const length = store.getInt(chunk, CHUNK_HEAD_BYTES + 4);
    run.setExternal(store, store.getInt(chunk, CHUNK_HEAD_BYTES), length);
    this.scan(deadlineMs);
    const areExpired = this.bytes === length;
    if (!areExpired) this.count = 0;
    return areExpired;
  }

  /** Counts the expired elements at the front of the run. */
  private scan(deadlineMs: number): void {
    const { run, serializer } = this;
    const { view, at } = run;
    const end = at + run.length;
    let count = 0;
    view.pos = at;
    while (view.pos < end && peekLastAccess(view) <= deadlineMs) {
      serializer.skip(view);
      count++;
    }
    this.bytes = view.pos - at;
    this.count = count;
  }
}

/** True if a list has no elements left. */
export function isEmptyList(store: RowStore, row: number): boolean {
  return store.getInt(row, valueOffsetOf(store.wordOf(row)) + LIST_COUNT) === 0;
}
