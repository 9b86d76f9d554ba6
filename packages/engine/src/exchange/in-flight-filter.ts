/**
 * Chooses among the records in flight of one channel those that a receiver gets when the job is restored, and writes them as
 * its edge does now. Called by the restore, once for each receiver; knows elements and their decoder, not who gets what.
 */
import { ByteView } from '../types/index.ts';
import { ElementKind, HASHED_PREFIX_BYTES, PLAIN_PREFIX_BYTES } from './element.ts';
import type { InFlightElement, RecordFormat } from './in-flight.ts';
import { corrupt } from './in-flight-bytes.ts';

const HASH_BYTES = HASHED_PREFIX_BYTES - PLAIN_PREFIX_BYTES;

/** Says whether a record is kept. `hash` is that of its key; 0 if the format has none. */
export type KeepRecord = (value: unknown, hash: number) => boolean;

/**
 * The elements with only those records that `keep` accepts, which is asked for each in order; watermarks and statuses stay.
 * Nothing is encoded again, and what is kept whole is not copied. `elements` is all of a channel, first what was `received`,
 * then what was `unsent`: a record in pieces may lie in both. Throws SNAPSHOT_CORRUPT, and what `keep` throws.
 */
export function filterElements(
  elements: readonly InFlightElement[],
  format: RecordFormat,
  keep: KeepRecord,
): InFlightElement[] {
  return rewritten(elements, (records) => keptBytes(records, format, keep));
}

/**
 * The elements with the hash that `hashOf` gives before each record, or, if it is undefined, without. `format` says how they
 * are now. A record in pieces becomes one piece. Throws SNAPSHOT_CORRUPT, and what `hashOf` throws.
 */
export function changeHashes(
  elements: readonly InFlightElement[],
  format: RecordFormat,
  hashOf: ((value: unknown) => number) | undefined,
): InFlightElement[] {
  return rewritten(elements, (records) => withHashes(records, format, hashOf));
}

/** Each run of whole records is replaced by what `rewrite` makes of it; what becomes empty is left out. */
function rewritten(
  elements: readonly InFlightElement[],
  rewrite: (records: Uint8Array) => Uint8Array,
): InFlightElement[] {
  const kept: InFlightElement[] = [];
  let pieces: InFlightElement[] = [];
  for (const element of elements) {
    const { kind, bytes } = element;
    if (kind === ElementKind.spanPart || kind === ElementKind.spanEnd) {
      pieces.push(element);
      if (kind === ElementKind.spanPart) continue;
      const whole = joined(pieces.map((piece) => piece.bytes));
      const rest = rewrite(whole);
      if (rest === whole) kept.push(...pieces);
      else if (rest.length > 0) kept.push({ kind, bytes: rest });
      pieces = [];
      continue;
    }
    if (pieces.length > 0) throw corrupt('a record in pieces has no end');
    if (kind !== ElementKind.data) {
      kept.push(element);
      continue;
    }
    const rest = rewrite(bytes);
    if (rest.length > 0) kept.push(rest === bytes ? element : { kind, bytes: rest });
  }
  if (pieces.length > 0) throw corrupt('a record in pieces has no end');
  return kept;
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let pos = 0;
  for (const piece of pieces) {
    bytes.set(piece, pos);
    pos += piece.length;
  }
  return bytes;
}

/** The bytes of those records that are kept: `bytes` itself if all are. */
function keptBytes(bytes: Uint8Array, format: RecordFormat, keep: KeepRecord): Uint8Array {
  const view = ByteView.of(bytes);
  const rest = new Uint8Array(bytes.length);
  let restBytes = 0;
  while (view.pos < view.limit) {
    const start = view.pos;
    const { value, hash } = readRecord(view, format);
    if (!keep(value, hash)) continue;
    rest.set(bytes.subarray(start, view.pos), restBytes);
    restBytes += view.pos - start;
  }
  return restBytes === bytes.length ? bytes : rest.slice(0, restBytes);
}

/** The records with hashes, or without. */
function withHashes(
  bytes: Uint8Array,
  format: RecordFormat,
  hashOf: ((value: unknown) => number) | undefined,
): Uint8Array {
  const view = ByteView.of(bytes);
  const records: Uint8Array[] = [];
  while (view.pos < view.limit) {
    const start = view.pos;
    const { value } = readRecord(view, format);
    if (hashOf !== undefined) {
      const hash = ByteView.allocate(HASH_BYTES);
      hash.dv.setInt32(0, hashOf(value), true);
      records.push(hash.u8);
    }
    records.push(bytes.subarray(format.hashed ? start + HASH_BYTES : start, view.pos));
  }
  return joined(records);
}

/** Moves the view behind the record. */
function readRecord(
  view: ByteView,
  { valueSerializer, hashed }: RecordFormat,
): { readonly value: unknown; readonly hash: number } {
  const start = view.pos;
  try {
    const hash = hashed ? view.dv.getInt32(start, true) : 0;
    view.pos += hashed ? HASHED_PREFIX_BYTES : PLAIN_PREFIX_BYTES;
    const value = valueSerializer.decode(view);
    if (view.pos <= view.limit) return { value, hash };
  } catch (error) {
    throw corrupt(`the record at byte ${start} of an element cannot be read as the type of its edge`, error);
  }
  throw corrupt(`the record at byte ${start} of an element ends ${view.pos - view.limit} bytes behind it`);
}
