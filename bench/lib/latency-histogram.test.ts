import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { LatencyHistogram } from './latency-histogram.ts';

const durations = fc.array(fc.double({ min: 0, max: 1_000_000, noNaN: true }), { minLength: 1 });
const shares = fc.constantFrom(0, 0.25, 0.5, 0.99, 0.999, 1);

it('a quantile is that of the sorted durations, rounded up by 1 part in 64 or a microsecond at most', () => {
  fc.assert(
    fc.property(durations, shares, (all, share) => {
      const histogram = new LatencyHistogram();
      for (const ms of all) histogram.record(ms);
      const sorted = [...all].sort((a, b) => a - b);
      const exact = sorted[Math.max(1, Math.ceil(all.length * share)) - 1]!;
      const found = histogram.quantile(share);
      assert.ok(found >= exact - 0.001 && found <= exact * (1 + 1 / 64) + 0.001, `${found} for ${exact}`);
      assert.equal(histogram.max, sorted.at(-1));
    }),
  );
});

it('histograms that went through JSON add up to that of all durations', () => {
  fc.assert(
    fc.property(durations, durations, (some, others) => {
      const parts = [some, others].map((part) => {
        const histogram = new LatencyHistogram();
        for (const ms of part) histogram.record(ms);
        return JSON.parse(JSON.stringify(histogram));
      });
      const sum = new LatencyHistogram();
      for (const part of parts) sum.add(part);
      const whole = new LatencyHistogram();
      for (const ms of [...some, ...others]) whole.record(ms);
      assert.deepEqual(sum, whole);
      assert.equal(sum.count, some.length + others.length);
    }),
  );
});

it('what lasts for days is counted with the longest that can be told apart, and an empty histogram has zeros', () => {
  const histogram = new LatencyHistogram();
  assert.deepEqual([histogram.count, histogram.max, histogram.quantile(0.5)], [0, 0, 0]);
  histogram.record(1e9);
  assert.deepEqual([histogram.count, histogram.max], [1, 1e9]);
  assert.ok(histogram.quantile(0.5) > 70 * 60_000);
});
