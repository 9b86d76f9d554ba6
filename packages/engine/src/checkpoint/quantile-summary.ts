/**
 * Minimum, maximum, average and quantiles of the newest values, in the shape of Flink's REST API.
 *
 * Remembers the newest 10,000; quantiles are interpolated between neighbours, as by Flink. Used by the statistics of
 * checkpoints, which ask for summaries rarely: they are made when asked for.
 * (org.apache.flink.runtime.metrics.DescriptiveStatisticsHistogram; StatsSummaryDto.)
 */
const VALUES_MAX = 10_000;

/** Of some numbers. Without any, minimum, maximum and average are 0 and the quantiles the text "NaN". */
export interface StatsSummary {
  readonly min: number;
  readonly max: number;
  readonly avg: number;
  readonly p50: number | 'NaN';
  readonly p90: number | 'NaN';
  readonly p95: number | 'NaN';
  readonly p99: number | 'NaN';
  readonly p999: number | 'NaN';
}

const NO_SUMMARY: StatsSummary = {
  ...{ min: 0, max: 0, avg: 0 },
  ...{ p50: 'NaN', p90: 'NaN', p95: 'NaN', p99: 'NaN', p999: 'NaN' },
};

/** The newest values of one kind. */
export class QuantileSummary {
  private readonly values: number[] = [];
  private next = 0;

  /** Takes one more; the oldest goes if there are too many. */
  add(value: number): void {
    this.values[this.next] = value;
    this.next = (this.next + 1) % VALUES_MAX;
  }

  summary(): StatsSummary {
    return summaryOf(this.values);
  }
}

/** The summary of all these values. */
export function summaryOf(values: readonly number[]): StatsSummary {
  if (values.length === 0) return NO_SUMMARY;
  const sorted = Float64Array.from(values).sort();
  const sum = sorted.reduce((total, value) => total + value, 0);
  return {
    min: sorted[0]!,
    max: sorted[sorted.length - 1]!,
    avg: Math.floor(sum / sorted.length),
    p50: quantile(sorted, 0.5),
    p90: quantile(sorted, 0.9),
    p95: quantile(sorted, 0.95),
    p99: quantile(sorted, 0.99),
    p999: quantile(sorted, 0.999),
  };
}

/** Of sorted values, by position p * (n + 1). */
function quantile(sorted: Float64Array, p: number): number {
  const position = p * (sorted.length + 1);
  const below = Math.floor(position);
  if (below < 1) return sorted[0]!;
  if (below >= sorted.length) return sorted[sorted.length - 1]!;
  const low = sorted[below - 1]!;
  return low + (position - below) * (sorted[below]! - low);
}
