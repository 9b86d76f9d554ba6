import assert from 'node:assert/strict';
import { it } from 'node:test';
import { QuantileSummary, summaryOf } from './quantile-summary.ts';

it('quantiles are interpolated, and without values they are the text NaN', () => {
  assert.deepEqual(summaryOf([]), {
    ...{ min: 0, max: 0, avg: 0, p50: 'NaN', p90: 'NaN', p95: 'NaN', p99: 'NaN', p999: 'NaN' },
  });
  const values = Array.from({ length: 100 }, (_, i) => i + 1);
  const { min, max, avg, p50, p90, p999 } = summaryOf(values);
  assert.deepEqual([min, max, avg, p50, p90, p999], [1, 100, 50, 50.5, 90.9, 100]);
});

it('the newest ten thousand values count', () => {
  const summary = new QuantileSummary();
  for (let value = 1; value <= 10_005; value++) summary.add(value);
  const { min, max } = summary.summary();
  assert.deepEqual([min, max], [6, 10_005]);
});
