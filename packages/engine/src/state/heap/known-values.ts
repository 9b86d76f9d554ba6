/**
 * Values of one state that are in use, as objects: reading one takes a copy instead of its bytes, and changing one does not
 * write the bytes of its row, which are then older than the value. Made for states whose values take long to read and to
 * write (entry-state-code.ts): those with strings, which copies share.
 *
 * A value has its place by the hash of its key and namespace, and is known by the address of its row. Another row with the
 * same place displaces it. Where most reads find nothing, this costs more than it saves: it pauses, and tries again later.
 *
 * Invariants:
 * I1 What is here was decoded from the bytes of its row or is a copy of what was given, and nobody else has it: callers
 *    hand copies out.
 * I2 Whoever removes a row or writes its value forgets it first. An address that is used again finds nothing of before.
 * I3 A changed value is written into its row before it leaves, and before a snapshot: `write`. Encoding it cannot fail, as
 *    it was checked when it was given (TypeSerializer.copyGiven).
 * I4 At most CHANGED_MAX values are changed, so that a snapshot waits for no more; all are small, those in rows (half a page)
 *    or accepted by copyGiven.
 */
import type { TypeSerializer } from '../../types/index.ts';
import type { CurrentRow } from './current-row.ts';
import { setEntryValue } from './entry-rows.ts';
import { Scratch } from './scratch.ts';
import { GOLDEN } from './slot-table.ts';

const PLACES_LOG = 9;
const PLACES = 1 << PLACES_LOG;
const CHANGED_MAX = 128;
/** After so many reads that found nothing it is asked whether it pays. */
const MISSES_OF_A_TRIAL = 2048;
/** A read that finds its value saves about twice what one that does not costs more. */
const HITS_OF_A_USEFUL_TRIAL = MISSES_OF_A_TRIAL / 2;
const READS_OF_A_PAUSE = 1 << 16;

/** What a place is: as its row, newer than its row, newer and changed since it was passed over or became so (CLOCK). */
const WRITTEN = 0;
const CHANGED = 1;
const CHANGED_AGAIN = 2;

export class KnownValues<T, N> {
  /** By place. */
  readonly rows = new Int32Array(PLACES);
  readonly values: (T | undefined)[] = new Array<T | undefined>(PLACES).fill(undefined);
  /** Reads that found their value, since the last trial. */
  hits = 0;
  private readonly current: CurrentRow<N>;
  private readonly serializer: TypeSerializer<T>;
  private readonly scratch = new Scratch();
  private readonly states = new Uint8Array(PLACES);
  /** A ring of the places that were changed; some may be written already. */
  private readonly changedPlaces = new Int32Array(CHANGED_MAX);
  private changedCount = 0;
  /** Where in the ring the oldest is, when it is full. */
  private hand = 0;
  private misses = 0;
  private pausedReads = 0;

  constructor(current: CurrentRow<N>, serializer: TypeSerializer<T>) {
    this.current = current;
    this.serializer = serializer;
  }

  /** The place for what has this slot hash. */
  placeOf(hash: number): number {
    return Math.imul(hash, GOLDEN) >>> (32 - PLACES_LOG);
  }

  /** Takes the value that was just read from the current row and was not here; false if it stays the caller's. */
  keep(value: T): boolean {
    if (this.pausedReads > 0) {
      this.pausedReads--;
      return false;
    }
    if (++this.misses === MISSES_OF_A_TRIAL && !this.endTrial()) return false;
    const { row, hash } = this.current;
    const place = this.placeOf(hash);
    this.write(place);
    this.rows[place] = row;
    this.values[place] = value;
    return true;
  }

  /** Takes a new value of the current row, if its value is known and this one may be; false if the bytes are to be written. */
  change(value: T): boolean {
    const { row, hash } = this.current;
    const place = this.placeOf(hash);
    if (this.rows[place] !== row) return false;
    const copy = this.serializer.copyGiven!(value);
    if (copy === undefined) {
      this.write(place);
      this.forget();
      return false;
    }
    this.values[place] = copy;
    this.noteChanged(place);
    return true;
  }

  /** Forgets the value of the current row, which will have another one or none. */
  forget(): void {
    const place = this.placeOf(this.current.hash);
    if (this.rows[place] === this.current.row) this.empty(place);
  }

  /** Writes all changed values into their rows: what a snapshot begins with. */
  writeAll(): void {
    for (let i = 0; i < this.changedCount; i++) this.write(this.changedPlaces[i]!);
    this.changedCount = 0;
    this.hand = 0;
  }

  private noteChanged(place: number): void {
    const { states, changedPlaces } = this;
    if (states[place] !== WRITTEN) {
      states[place] = CHANGED_AGAIN;
      return;
    }
    states[place] = CHANGED;
    const at = this.changedCount < CHANGED_MAX ? this.changedCount++ : this.writeOldest();
    changedPlaces[at] = place;
  }

  /** Writes the value that was changed first of those that were not changed again since; where it was in `changedPlaces`. */
  private writeOldest(): number {
    const { states, changedPlaces } = this;
    for (;;) {
      const at = this.hand;
      const place = changedPlaces[at]!;
      this.hand = (at + 1) % CHANGED_MAX;
      if (states[place] === CHANGED_AGAIN) {
        states[place] = CHANGED;
      } else {
        this.write(place);
        return at;
      }
    }
  }

  private write(place: number): void {
    if (this.states[place] === WRITTEN) return;
    this.states[place] = WRITTEN;
    const { current, scratch } = this;
    const row = this.rows[place]!;
    const length = scratch.encode(this.serializer, this.values[place]!);
    const moved = setEntryValue(current.store, row, scratch.view, length);
    this.rows[place] = moved;
    if (current.row === row) current.row = moved;
  }

  private empty(place: number): void {
    this.states[place] = WRITTEN;
    this.rows[place] = 0;
    this.values[place] = undefined;
  }

  /** True if the reads since the last one were worth it. Otherwise nothing is known for a while. */
  private endTrial(): boolean {
    const isUseful = this.hits >= HITS_OF_A_USEFUL_TRIAL;
    this.hits = 0;
    this.misses = 0;
    if (isUseful) return true;
    this.pausedReads = READS_OF_A_PAUSE;
    this.writeAll();
    for (let place = 0; place < PLACES; place++) this.empty(place);
    return false;
  }
}
