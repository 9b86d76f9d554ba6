/**
 * The time-to-live of one state of the heap backend: its rules as numbers, its clock, and where each value keeps the time
 * of its last access.
 *
 * A value of such a state is stored with 8 bytes in front: `| last access f64 | value |`, whether it is the value of an
 * entry, of an entry of a map, or an element of a list. `serializer` writes and skips them, so that whatever stores values
 * stores these as well; what reads them to decide is here and in expired-elements.ts. States without time-to-live use none
 * of this: what a state consists of is chosen when it is registered.
 *
 * A value has expired when `last access + ttl <= now`. Where the clock goes back, values live longer by as much; nothing
 * else depends on its direction. Used by the states, by the sweep (ttl-sweep.ts) and by the restore.
 */
import { generateCode } from '../../base/index.ts';
import type { ByteView, TypeSerializer } from '../../types/index.ts';
import type { StateTtlConfig, StateTtlIncrementalCleanup } from '../state-ttl-config.ts';
import { EXTERNAL_VALUE, ENTRY_IDENTITY as PAYLOAD, valueOffsetOf } from './row-format.ts';
import type { RowStore } from './row-store.ts';

/** Bytes before each value. */
export const LAST_ACCESS_BYTES = 8;

export class StateTtl {
  readonly config: StateTtlConfig;
  readonly ttlMs: number;
  /** Reading a value makes it live on. */
  readonly refreshesOnRead: boolean;
  /** A value that has expired and is still there is returned once more. */
  readonly returnsExpired: boolean;
  readonly cleanup: StateTtlIncrementalCleanup | undefined;
  /** Processing time as the host says. */
  readonly nowMs: () => number;
  /** Of values alone. */
  readonly plain: TypeSerializer<unknown>;
  /** Of values as they are stored: encodes them as accessed now. */
  readonly serializer: TypeSerializer<unknown>;
  /** Accesses since the last sweep. Writing counts by itself; who reads counts here. */
  accesses = 0;
  /** Values that were removed because they had expired. */
  expired = 0;

  constructor(config: StateTtlConfig, nowMs: () => number, plain: TypeSerializer<unknown>) {
    this.config = config;
    this.ttlMs = config.getTimeToLive();
    this.refreshesOnRead = config.getUpdateType() === 'OnReadAndWrite';
    this.returnsExpired = config.getStateVisibility() === 'ReturnExpiredIfNotCleanedUp';
    this.cleanup = config.getIncrementalCleanup();
    this.nowMs = nowMs;
    this.plain = plain;
    this.serializer = withLastAccess(plain, () => {
      this.accesses++;
      return nowMs();
    });
  }

  /** Values whose last access is not after it have expired. */
  deadlineMs(): number {
    return this.nowMs() - this.ttlMs;
  }

  /** True if the value of an ENTRY or MAP_ENTRY has expired. */
  isExpired(store: RowStore, row: number): boolean {
    return lastAccessOf(store, row) <= this.deadlineMs();
  }

  /** Makes the value of an ENTRY or MAP_ENTRY, which was read, live on. */
  refresh(store: RowStore, row: number): void {
    const nowMs = this.nowMs();
    if (lastAccessOf(store, row) !== nowMs) setLastAccess(store, row, nowMs);
  }
}

/** When the value of an ENTRY (not of a list or map) or MAP_ENTRY was accessed last. */
export function lastAccessOf(store: RowStore, row: number): number {
  const word = store.wordOf(row);
  const offset = valueOffsetOf(word);
  if ((word & EXTERNAL_VALUE) !== 0) return timeAt(store, store.getInt(row, offset), PAYLOAD);
  return timeAt(store, row, offset);
}

function setLastAccess(store: RowStore, row: number, timeMs: number): void {
  const word = store.wordOf(row);
  let offset = valueOffsetOf(word);
  if ((word & EXTERNAL_VALUE) !== 0) {
    row = store.getInt(row, offset);
    offset = PAYLOAD;
  }
  store.touch(row);
  store.viewOf(row).dv.setFloat64(store.offsetOf(row) + offset, timeMs, true);
}

function timeAt(store: RowStore, row: number, offset: number): number {
  return store.viewOf(row).dv.getFloat64(store.offsetOf(row) + offset, true);
}

/**
 * A serializer of stored values: encodes a value after the time that `lastAccessMs` gives, skips the time when it decodes.
 * Generated, as everything is that runs for each record.
 */
export function withLastAccess<T>(plain: TypeSerializer<T>, lastAccessMs: () => number): TypeSerializer<T> {
  const { encode, decode, skip } = plain;
  // The value first: its encoder may throw, and then a row that is written in place stays as it was.
  const methods = generateCode<Pick<TypeSerializer<T>, 'encode' | 'decode' | 'skip'>>(
    'values with last access',
    { plain: { encode, decode, skip }, lastAccessMs },
    `return {
  encode(view, value) {
    const at = view.pos;
    view.pos = at + ${LAST_ACCESS_BYTES};
    if (view.pos > view.limit || !plain.encode(view, value)) { view.pos = at; return false; }
    view.dv.setFloat64(at, lastAccessMs(), true);
    return true;
  },
  decode(view) { view.pos += ${LAST_ACCESS_BYTES}; return plain.decode(view); },
  skip(view) { view.pos += ${LAST_ACCESS_BYTES}; plain.skip(view); },
};`,
  );
  const { description, fixedSizeBytes } = plain;
  return {
    description,
    fixedSizeBytes: fixedSizeBytes === undefined ? undefined : fixedSizeBytes + LAST_ACCESS_BYTES,
    ...methods,
  };
}

/** The time before the value at the position of `view`. */
export function peekLastAccess(view: ByteView): number {
  return view.dv.getFloat64(view.pos, true);
}
