import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pageText, type StoredComparison } from './results.ts';

const quantities = [
  { name: 'records/s', isBetter: 'higher' },
  { name: 'CPU ns/record', isBetter: 'lower' },
] as const;
const facts = { section: 'Counts', quantities, runs: 3, date: '2026-01-02', load: 1.25 };

function row(name: string, sizes: string, ...figures: [string, number, number][]): StoredComparison {
  const measured = figures.map(([contender, speed, cost]) => ({
    contender,
    figures: { 'records/s': speed, 'CPU ns/record': cost },
  }));
  return { ...facts, name, sizes, measured };
}

it('the page has a table a section, with a ratio for each peer that was there', () => {
  const rows = [
    row('10 keys', '', ['Millrace', 4_000_000, 200], ['Flink', 2_000_000, 600]),
    row('9 keys', 'records: 5', ['Millrace', 30, 5], ['RxJS', 60, 7.5]),
  ];
  const text = pageText(
    rows,
    [
      { title: 'Counts', about: 'About.' },
      { title: 'None', about: '' },
    ],
    ['Flink 1'],
  );
  const [head, body] = text.split('## Counts\n\nAbout.\n\n');
  assert.ok(head!.endsWith('- Flink 1\n\n'));
  assert.deepEqual(body!.trimEnd().split('\n'), [
    '| job | figure | Millrace | Flink | ratio | RxJS | ratio | measured |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    '| 9 keys | records/s | 30 |  |  | 60 | 0.50 | 2026-01-02, runs: 3, records: 5, load 1.3 |',
    '| 9 keys | CPU ns/record | 5.00 |  |  | 7.50 | 1.50 | 2026-01-02, runs: 3, records: 5, load 1.3 |',
    '| 10 keys | records/s | 4,000,000 | 2,000,000 | 2.00 |  |  | 2026-01-02, runs: 3, load 1.3 |',
    '| 10 keys | CPU ns/record | 200 | 600 | 3.00 |  |  | 2026-01-02, runs: 3, load 1.3 |',
  ]);
});
