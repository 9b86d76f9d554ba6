/**
 * Removes expired values of one state in the background: a sweep over its pages, a few at a time, round after round.
 *
 * Called by the backend between the turns of its host, when no code of the user runs: rows go without regard to the current
 * key. It knows pages and times, no keys and no types.
 *
 *   rounds   |---- pages 0 .. limit ----|        wait        |---- pages 0 .. limit ----| ...
 *            begins                     ends when the credit for its rows was earned
 *
 * Bounds. Work: each access to the state earns `cleanupSize` rows; a turn visits at most what was earned before it, and
 * then ends the page it is on (a page of 16 KB has at most 1,000 rows), which the next turns pay back. Dropped elements of
 * lists count as rows, and those of one list go at once. Keeping up: an access adds at most one row, so a round over R rows
 * ends after about R / (cleanupSize - 1) accesses, and what had expired when it began is gone when it ends. (With a
 * cleanupSize of 1 only if not every access adds a row.) Rounds begin at most ROUNDS_PER_TTL times in the time-to-live,
 * because more often hardly anything new has expired. So a state holds, besides what lives, what expired in the last two
 * rounds, or within a sixteenth of the time-to-live if that is longer. A state that nobody accesses is not swept, as in
 * Flink; it does not grow either.
 *
 * Invariants:
 * I1 Rows to be removed are collected before any is: removing one may free others (chunks, heads), but none that is
 *    collected.
 */
import { type ByteRun, removeEntry } from './entry-rows.ts';
import { ExpiredElements, isEmptyList } from './expired-elements.ts';
import { removeMapEntry } from './map-rows.ts';
import { PAGE_HEAD_UNITS } from './page-store.ts';
import { KIND_ENTRY, KIND_MAP_ENTRY, KIND_MASK, ROW_WORD_1, unitsOf } from './row-format.ts';
import type { RowStore } from './row-store.ts';
import { lastAccessOf, type StateTtl } from './state-ttl.ts';

const ROUNDS_PER_TTL = 16;

export class TtlSweep {
  private readonly store: RowStore;
  private readonly ttl: StateTtl;
  private readonly elements: ExpiredElements | undefined;
  /** The kind of the rows that have values. */
  private readonly rowKind: number;
  /** Rows that may be visited; below 0 after a page that had more. */
  private credit = 0;
  /** The page that comes next. */
  private page = 0;
  private roundBeganMs = Number.NEGATIVE_INFINITY;
  /** Rows of a page that are to go. */
  private readonly due: number[] = [];

  constructor(store: RowStore, ttl: StateTtl, run: ByteRun) {
    this.store = store;
    this.ttl = ttl;
    this.elements = store.kind === 'list' ? new ExpiredElements(store, ttl.serializer, run) : undefined;
    this.rowKind = store.kind === 'map' ? KIND_MAP_ENTRY : KIND_ENTRY;
  }

  /** Removes what has expired as far as it was earned; `records` are those since the last turn. */
  turn(records: number): void {
    const { ttl } = this;
    const { cleanup, accesses } = ttl;
    ttl.accesses = 0;
    if (cleanup === undefined) return;
    if (this.page === 0 && !this.mayBeginRound()) return;
    this.credit += cleanup.cleanupSize * (cleanup.runCleanupForEveryRecord ? records : accesses);
    while (this.credit > 0) {
      if (this.page === 0) this.roundBeganMs = ttl.nowMs();
      this.credit -= 1 + this.sweepPage(this.page);
      this.page++;
      if (this.page < this.store.pageLimit) continue;
      this.page = 0;
      this.credit = Math.min(this.credit, 0);
    }
  }

  /** Removes all that has expired, at once. For a restore. */
  all(): void {
    for (let page = 0; page < this.store.pageLimit; page++) this.sweepPage(page);
  }

  /** True if it is worth while; also after the clock went back. */
  private mayBeginRound(): boolean {
    const sinceMs = this.ttl.nowMs() - this.roundBeganMs;
    return sinceMs < 0 || sinceMs * ROUNDS_PER_TTL >= this.ttl.ttlMs;
  }

  /** Removes what has expired in a page; the number of rows and elements visited. */
  private sweepPage(page: number): number {
    const { store, due, rowKind, elements } = this;
    const deadlineMs = this.ttl.deadlineMs();
    const start = page << store.pageShift;
    const end = start + store.pageUsed[page]!;
    let visited = 0;
    for (let row = start + PAGE_HEAD_UNITS; row < end; visited++) {
      const word = store.wordOf(row);
      if ((word & KIND_MASK) === rowKind) {
        if (elements !== undefined || lastAccessOf(store, row) <= deadlineMs) due.push(row);
      }
      row += unitsOf(word);
    }
    for (const row of due) visited += this.removeExpired(row, deadlineMs);
    due.length = 0;
    return visited;
  }

  /** Removes the value of a row, or of a list the elements, that have expired; how many elements. */
  private removeExpired(row: number, deadlineMs: number): number {
    const { store, ttl, elements } = this;
    if (elements !== undefined) {
      const dropped = elements.drop(row, deadlineMs);
      if (isEmptyList(store, row)) this.removeEntry(row);
      ttl.expired += dropped;
      return dropped;
    }
    if (this.rowKind === KIND_MAP_ENTRY) removeMapEntry(store, store.getInt(row, ROW_WORD_1), row);
    else this.removeEntry(row);
    ttl.expired++;
    return 0;
  }

  private removeEntry(row: number): void {
    removeEntry(this.store, row);
    this.store.entries--;
  }
}
