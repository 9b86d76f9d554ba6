import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode } from '../../base/index.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { PAGE_HEAD_UNITS, type PageCapture } from './page-store.ts';
import { KIND_ENTRY, KIND_FREE, KIND_MASK, unitsOf } from './row-format.ts';
import { RowStore } from './row-store.ts';

const GROUPS = 3;

/** Rows tile their pages; live rows are the ones that `rows` has; counts agree. */
function checkStore(store: RowStore, rows: ReadonlyMap<number, number>): void {
  let live = 0;
  let liveUnits = 0;
  let usedUnits = 0;
  for (let page = 0; page < store.pageLimit; page++) {
    usedUnits += store.pageUsed[page]!;
    if (store.pageGroup[page] === -1) {
      assert.equal(store.pageUsed[page], 0);
      continue;
    }
    const start = page << store.pageShift;
    let row = start + PAGE_HEAD_UNITS;
    let liveHere = 0;
    while (row < start + store.pageUsed[page]!) {
      const word = store.wordOf(row);
      if ((word & KIND_MASK) !== KIND_FREE) {
        assert.equal(rows.get(row), store.pageGroup[page]);
        liveHere++;
        liveUnits += unitsOf(word);
      }
      row += unitsOf(word);
    }
    assert.equal(row, start + store.pageUsed[page]!);
    assert.equal(store.pageLive[page], liveHere);
    live += liveHere;
  }
  assert.equal(live, rows.size);
  assert.equal(store.liveUnits, liveUnits);
  assert.equal(store.usedUnits, usedUnits);
}

for (const pageBytes of [256, 4096, 16384]) {
  test(`rows tile pages of ${pageBytes} bytes through random allocations and frees`, () => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = seededRandom(seed);
      const store = new RowStore('value', GROUPS, { pageBytes, chunkBytes: pageBytes * 8 });
      const rows = new Map<number, number>();
      for (let step = 0; step < 1000; step++) {
        const mayGrow = step < 500 || random.oneIn(3);
        if (mayGrow && random.below(3) > 0) {
          const group = random.below(GROUPS);
          const bytes = random.oneIn(4) ? 1 + random.below(store.pieceBytesMax) : 12 + random.below(60);
          const row = store.allocate(group, bytes, KIND_ENTRY, 12);
          assert.ok(unitsOf(store.wordOf(row)) * 8 >= bytes);
          assert.ok(row > 0 && !rows.has(row));
          store.viewOf(row).u8.fill(0xaa, store.offsetOf(row) + 4, store.offsetOf(row) + bytes);
          rows.set(row, group);
        } else if (rows.size > 0) {
          const row = [...rows.keys()][random.below(rows.size)]!;
          store.free(row);
          rows.delete(row);
        }
        if (step % 100 === 99) checkStore(store, rows);
      }
      for (const row of rows.keys()) store.free(row);
      rows.clear();
      checkStore(store, rows);
      assert.ok(
        store.usedUnits <= GROUPS * PAGE_HEAD_UNITS,
        'only empty pages that were being filled are left',
      );
    }
  });
}

test('freed memory is used again', () => {
  const store = new RowStore('value', 1, { pageBytes: 4096, chunkBytes: 65536 });
  let chunks = 0;
  for (let round = 0; round < 20; round++) {
    const rows = Array.from({ length: 500 }, (_, i) =>
      store.allocate(0, 20 + ((i * 7 + round * 13) % 300), KIND_ENTRY, 12),
    );
    for (const row of rows.reverse()) store.free(row);
    if (round === 1) chunks = store.views.length;
  }
  assert.equal(store.views.length, chunks);
});

test('a capture gets each page before its first change, and pages of later are none of its business', () => {
  const store = new RowStore('value', 1, { pageBytes: 256, chunkBytes: 1024 });
  const rows = Array.from({ length: 30 }, () => store.allocate(0, 40, KIND_ENTRY, 12));
  const taken: number[] = [];
  store.beginCapture((epoch): PageCapture => ({ epoch, cursor: 0, capture: (page) => taken.push(page) }));
  const page = (row: number) => row >>> store.pageShift;
  store.setInt(rows[0]!, 16, 1);
  store.setInt(rows[1]!, 16, 1);
  assert.deepEqual(taken, [page(rows[0]!)]);
  store.free(rows[29]!);
  assert.deepEqual(taken, [page(rows[0]!), page(rows[29]!)]);
  const pages = store.pageLimit;
  for (let i = 0; i < 30; i++) store.setInt(store.allocate(0, 40, KIND_ENTRY, 12), 16, 1);
  assert.ok(taken.every((each) => each < pages));
  assert.equal(new Set(taken).size, taken.length);
});

test('more than an address can name is refused', () => {
  const store = new RowStore('value', 1, { pageBytes: 256, chunkBytes: 2 ** 33 });
  store.allocate(0, 40, KIND_ENTRY, 12);
  const fill = () => {
    for (let i = 0; i < 5000; i++) store.allocatePage(0);
  };
  assert.throws(fill, (error) => hasCode(error, 'STATE_CAPACITY_EXCEEDED'));
});
