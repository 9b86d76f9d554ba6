/**
 * Bytes too long for a row: a chain of PIECE rows of the same key group, referred to by (first piece, length).
 *
 * Used for values and identities above half a page. A chain keeps its length: it is written, read, and freed as a whole.
 */
import type { ByteView } from '../../types/index.ts';
import { copyBytes, equalBytes } from './bytes.ts';
import { KIND_PIECE, ENTRY_IDENTITY as PAYLOAD, ROW_WORD_1, ROW_WORD_2 } from './row-format.ts';
import type { RowStore } from './row-store.ts';

/** Writes `length` bytes (at least 1) of `from`; the address of the first piece. */
export function writePieces(
  store: RowStore,
  group: number,
  from: ByteView,
  at: number,
  length: number,
): number {
  const payloadMax = store.pieceBytesMax - PAYLOAD;
  let first = 0;
  let previous = 0;
  for (let done = 0; done < length; ) {
    const bytes = Math.min(payloadMax, length - done);
    const piece = store.allocate(group, PAYLOAD + bytes, KIND_PIECE, PAYLOAD);
    store.setInt(piece, ROW_WORD_1, 0);
    store.setInt(piece, ROW_WORD_2, bytes);
    copyBytes(from, at + done, store.viewOf(piece), store.offsetOf(piece) + PAYLOAD, bytes);
    if (previous === 0) first = piece;
    else store.setInt(previous, ROW_WORD_1, piece);
    previous = piece;
    done += bytes;
  }
  return first;
}

/** Copies all bytes of a chain to `to`, which has room for them. */
export function readPieces(store: RowStore, first: number, to: ByteView, at: number): void {
  for (let piece = first; piece !== 0; piece = store.getInt(piece, ROW_WORD_1)) {
    const bytes = store.getInt(piece, ROW_WORD_2);
    copyBytes(store.viewOf(piece), store.offsetOf(piece) + PAYLOAD, to, at, bytes);
    at += bytes;
  }
}

/** Replaces all bytes of a chain by those of `from` at `at`: as many as it has. */
export function overwritePieces(store: RowStore, first: number, from: ByteView, at: number): void {
  for (let piece = first; piece !== 0; piece = store.getInt(piece, ROW_WORD_1)) {
    const bytes = store.getInt(piece, ROW_WORD_2);
    store.touch(piece);
    copyBytes(from, at, store.viewOf(piece), store.offsetOf(piece) + PAYLOAD, bytes);
    at += bytes;
  }
}

/** True if the bytes of a chain are those of `view` from 0 on; the lengths are known to be equal. */
export function equalPieces(store: RowStore, first: number, view: ByteView): boolean {
  let at = 0;
  for (let piece = first; piece !== 0; piece = store.getInt(piece, ROW_WORD_1)) {
    const bytes = store.getInt(piece, ROW_WORD_2);
    if (!equalBytes(store.viewOf(piece), store.offsetOf(piece) + PAYLOAD, view, at, bytes)) return false;
    at += bytes;
  }
  return true;
}

/** Frees a chain. */
export function freePieces(store: RowStore, first: number): void {
  for (let piece = first; piece !== 0; ) {
    const next = store.getInt(piece, ROW_WORD_1);
    store.free(piece);
    piece = next;
  }
}
