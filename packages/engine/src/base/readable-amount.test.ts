import assert from 'node:assert/strict';
import { it } from 'node:test';
import { counted, readableBytes, readableCount, readableDuration } from './readable-amount.ts';

it('durations have three digits that matter, and two units from a minute on', () => {
  const texts = [0, 1.4, 999, 1000, 1240, 59_990, 60_000, 125_000, 3_599_600, 12_000_000, 349_200_000].map(
    readableDuration,
  );
  assert.deepEqual(texts, [
    ...['0 ms', '1 ms', '999 ms', '1 s', '1.24 s', '60 s', '1 min', '2 min 5 s', '60 min'],
    ...['3 h 20 min', '4 d 1 h'],
  ]);
});

it('bytes have a unit that fits', () => {
  const texts = [0, 1, 999, 1000, 1234, 999_400, 999_600, 1.2e6, 3.456e9, 7e15].map(readableBytes);
  assert.deepEqual(texts, [
    ...[
      '0 bytes',
      '1 byte',
      '999 bytes',
      '1 kB',
      '1.23 kB',
      '999 kB',
      '1 MB',
      '1.2 MB',
      '3.46 GB',
      '7000 TB',
    ],
  ]);
});

it('counts are grouped by thousands', () => {
  assert.deepEqual([0, 999, 1000, 1_234_567].map(readableCount), ['0', '999', '1,000', '1,234,567']);
  assert.deepEqual([counted(1, 'record'), counted(2000, 'record')], ['1 record', '2,000 records']);
});
