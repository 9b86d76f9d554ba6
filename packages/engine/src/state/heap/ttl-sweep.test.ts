import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSerializer, Types } from '../../types/index.ts';
import { StateTtlConfig, type StateTtlOptions } from '../state-ttl-config.ts';
import { ByteRun, insertEntry } from './entry-rows.ts';
import { KIND_ENTRY } from './row-format.ts';
import { RowStore } from './row-store.ts';
import { Scratch } from './scratch.ts';
import { StateTtl } from './state-ttl.ts';
import { TtlSweep } from './ttl-sweep.ts';

const TTL = 16_000;
const GROUPS = 4;

/** A value state of numbers, without its keys: rows come in and expire. */
class Rows {
  nowMs = 1_000_000;
  readonly store = new RowStore('value', GROUPS, { pageBytes: 4096, chunkBytes: 2 ** 20 });
  readonly ttl: StateTtl;
  readonly sweep: TtlSweep;
  private readonly identity = new Scratch();
  private readonly value = new Scratch();
  private next = 0;

  constructor(options: Partial<StateTtlOptions> = {}) {
    const config = StateTtlConfig.of({ ttl: TTL, ...options });
    this.ttl = new StateTtl(config, () => this.nowMs, createSerializer(Types.LONG, 'test'));
    this.sweep = new TtlSweep(this.store, this.ttl, new ByteRun());
  }

  insert(rows: number): void {
    const { store, identity, value, ttl } = this;
    for (let i = 0; i < rows; i++, this.next++) {
      identity.view.dv.setInt32(0, this.next, true);
      const length = value.encode(ttl.serializer, this.next);
      insertEntry(store, this.next % GROUPS, KIND_ENTRY, 0, this.next, identity.view, 4, value.view, length);
      store.entries++;
    }
  }

  /** Accesses that found what they wanted, and a turn. */
  turnAfter(accesses: number): void {
    this.ttl.accesses += accesses;
    this.sweep.turn(0);
  }
}

test('a state whose rows come and expire steadily stays as large as what lives, by a small factor', () => {
  const rows = new Rows();
  const LIVING = 4000;
  let most = 0;
  for (let i = 0; i < LIVING * 10; i++) {
    rows.insert(1);
    rows.nowMs += TTL / LIVING;
    if (i % 50 === 0) rows.sweep.turn(0);
    most = Math.max(most, rows.store.entries);
  }
  assert.ok(most < LIVING * 1.45, `${most} entries`);
  assert.ok(rows.ttl.expired > LIVING * 8);
});

test('a turn visits what was earned, and at most a page more', () => {
  const rows = new Rows();
  rows.insert(20_000);
  rows.nowMs += TTL;
  rows.ttl.accesses = 0;
  // Rows of 32 bytes: a page has 126 of them.
  const PAGE = 127;
  let before = rows.ttl.expired;
  for (let turn = 1; turn <= 500; turn++) {
    rows.turnAfter(7);
    const removed = rows.ttl.expired - before;
    before = rows.ttl.expired;
    assert.ok(removed <= 7 * 5 + PAGE, `${removed} at once`);
    assert.ok(before <= turn * 7 * 5 + PAGE, `${before} in ${turn} turns`);
  }
  assert.ok(before > 500 * 7 * 5 * 0.9, `${before} in all`);
});

test('a round is not begun again before a sixteenth of the time-to-live has passed', () => {
  const rows = new Rows();
  rows.insert(1000);
  rows.turnAfter(1000);
  rows.nowMs += TTL;
  rows.turnAfter(1000);
  assert.equal(rows.ttl.expired, 1000);
  rows.insert(10);
  rows.nowMs += TTL / 16 - 1;
  const began = rows.nowMs;
  rows.turnAfter(1000);
  // The clock jumps: all ten are due, and the next round may begin.
  rows.nowMs = began + TTL;
  rows.turnAfter(100);
  assert.equal(rows.ttl.expired, 1010);
  assert.equal(rows.store.entries, 0);
  assert.equal(rows.store.usedUnits * 8 <= 64 * GROUPS, true, 'its pages were given back');
});

test('accesses while no round may begin earn nothing for later', () => {
  const rows = new Rows();
  rows.insert(5000);
  rows.turnAfter(50_000);
  rows.nowMs += TTL / 16 - 1;
  rows.turnAfter(1_000_000);
  rows.nowMs += TTL;
  rows.turnAfter(10);
  assert.ok(rows.ttl.expired <= 50 + 127, `${rows.ttl.expired} at once`);
});

test('rounds go on after the clock went back', () => {
  const rows = new Rows();
  rows.insert(100);
  rows.turnAfter(1000);
  rows.nowMs -= 100 * TTL;
  const early = rows.ttl.expired;
  rows.insert(100);
  rows.turnAfter(1000);
  rows.nowMs += TTL;
  rows.turnAfter(1000);
  assert.equal(early, 0);
  assert.equal(rows.ttl.expired, 100);
  assert.equal(rows.store.entries, 100);
});

test('an empty state and one without background work are swept at no cost', () => {
  const empty = new Rows();
  empty.turnAfter(1000);
  assert.equal(empty.ttl.expired, 0);
  const still = new Rows({ disableCleanupInBackground: true });
  still.insert(100);
  still.nowMs += TTL;
  still.turnAfter(1000);
  assert.equal(still.store.entries, 100);
  still.sweep.all();
  assert.equal(still.store.entries, 0);
  assert.equal(still.ttl.expired, 100);
});
