import { deepStrictEqual, match, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hasCode } from '../base/index.ts';
import type { MetricGroup } from './metric-group.ts';
import { MetricRegistry } from './metric-registry.ts';

/** Metrics of an operator `map`, and a clock that is moved by hand. */
function rig(): { metrics: MetricGroup; read: (nowMs?: number) => Record<string, number> } {
  let now = 0;
  const registry = new MetricRegistry(() => now);
  const read = (nowMs = 0): Record<string, number> => {
    now = nowMs;
    return registry.read()['map'] ?? {};
  };
  return { metrics: registry.scope('map'), read };
}

describe('the metrics of an operator', () => {
  it('are counters, gauges and groups of them, by name', () => {
    const { metrics, read } = rig();
    deepStrictEqual(read(), {});
    const records = metrics.counter('records');
    records.inc();
    records.inc(5);
    records.dec(2);
    strictEqual(metrics.counter('records'), records);
    metrics.gauge('size', () => 7);
    metrics.gauge('size', { getValue: () => 8 });
    metrics.addGroup('http').counter('calls').inc(2);
    metrics
      .addGroup('partition', '3')
      .addGroup('lag')
      .gauge('ms', () => 9);
    deepStrictEqual(read(), { records: 4, size: 8, 'http.calls': 2, 'partition.3.lag.ms': 9 });
    strictEqual(records.getCount(), 4);
  });

  it('leave out a gauge that fails or gives no number', () => {
    const { metrics, read } = rig();
    metrics.gauge('failing', () => {
      throw new Error('gone');
    });
    metrics.gauge('text', () => 'five' as never);
    metrics.gauge('good', () => 1);
    deepStrictEqual(read(), { good: 1 });
  });

  it('have meters: events per second of the last minute', () => {
    const { metrics, read } = rig();
    const meter = metrics.meter('events');
    deepStrictEqual(read(0), { events: 0 });
    meter.markEvent(30);
    deepStrictEqual(read(10_000), { events: 3 });
    strictEqual(meter.getRate(), 3);
    for (let second = 11; second <= 100; second++) {
      meter.markEvent(6);
      meter.markEvent();
      read(second * 1000);
    }
    strictEqual(Math.round(read(100_000)['events']! * 10), 70);
    strictEqual(meter.getCount(), 30 + 90 * 7);
    strictEqual(read(300_000)['events']! < 1, true);
    strictEqual(read(301_000)['events'], 0);
  });

  it('have histograms over the newest thousand values', () => {
    const { metrics, read } = rig();
    const histogram = metrics.histogram('ms');
    deepStrictEqual(read(), { ms_count: 0 });
    for (let i = 1; i <= 3000; i++) histogram.update(i);
    deepStrictEqual(read(), {
      ms_count: 3000,
      ms_min: 2001,
      ms_max: 3000,
      ms_mean: 2500.5,
      ms_median: 2500,
      ms_p75: 2750,
      ms_p90: 2900,
      ms_p95: 2950,
      ms_p98: 2980,
      ms_p99: 2990,
      ms_p999: 2999,
    });
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1, maxLength: 50 }), (values) => {
        const { metrics: fresh, read: report } = rig();
        for (const value of values) fresh.histogram('x').update(value);
        const sorted = values.toSorted((a, b) => a - b);
        const { x_min, x_max, x_median } = report();
        deepStrictEqual(
          [x_min, x_max, x_median],
          [sorted[0], sorted.at(-1), sorted[(values.length - 1) >> 1]],
        );
      }),
    );
  });

  it('refuse names that stand for another kind, are empty, or are too many', () => {
    const { metrics } = rig();
    metrics.counter('a');
    for (const [ask, pattern] of [
      [() => metrics.meter('a'), /'map' asks for the meter "a", which is a counter already/],
      [() => metrics.addGroup(''), /'map' gives a metric the name/],
      [() => metrics.counter(5 as never), /the name 5/],
      [
        () => {
          for (let i = 0; i < 1000; i++) metrics.addGroup('user', String(i)).counter('calls');
        },
        /has 1000 metrics and asks for one more, "user\.999\.calls"/,
      ],
    ] as const) {
      throws(ask, (error: Error) => {
        match(error.message, pattern);
        return hasCode(error, 'INVALID_ARGUMENT');
      });
    }
  });

  it('are told apart by operator', () => {
    const registry = new MetricRegistry(() => 0);
    registry.scope('a.b').counter('c').inc();
    registry.scope('a').counter('b.c').inc(2);
    deepStrictEqual(registry.read(), { 'a.b': { c: 1 }, a: { 'b.c': 2 } });
  });
});
