/**
 * The metrics of an operator as its code sees them (org.apache.flink.metrics.MetricGroup). Handed to operators and user
 * functions by their host; metric-registry.ts is the one that reports.
 */

/** A sum of what was added and taken away. */
export interface Counter {
  /** Adds 1, or `n`. */
  inc(n?: number): void;
  /** Takes 1 away, or `n`. */
  dec(n?: number): void;
  /** Where it stands. */
  getCount(): number;
  readonly value: number;
}

/** How often something happens: reported as events per second of the last minute. */
export interface Meter {
  /** One event, or `n` of them. */
  markEvent(n?: number): void;
  /** Events so far. */
  getCount(): number;
  /** Events per second, as of the last report. */
  getRate(): number;
}

/**
 * How values are distributed: reported as `<name>_count`, `_min`, `_max`, `_mean`, `_median`, `_p75`, `_p90`, `_p95`,
 * `_p98`, `_p99` and `_p999`, over the newest 1,000 values; the count is of all.
 */
export interface Histogram {
  /** Takes up a value. */
  update(value: number): void;
  /** Values so far. */
  getCount(): number;
}

/** A value that is read when metrics are reported. What throws, or is no number, is not reported. */
/** The value now. */
export type Gauge = (() => number) | { getValue(): number };

/**
 * Counters, gauges, meters and histograms of one operator in one subtask. Asking for a name again gives the same metric.
 * They begin at nothing with each attempt: they are no state.
 *
 * Throws INVALID_ARGUMENT for an empty name, for a name that stands for a metric of another kind, and for more than 1,000
 * metrics of one operator: names are not to be made of data.
 */
export interface MetricGroup {
  /** The counter of this name. */
  counter(name: string): Counter;
  /** A second gauge of a name takes the place of the first. */
  gauge(name: string, gauge: Gauge): void;
  /** The meter of this name. */
  meter(name: string): Meter;
  /** The histogram of this name. */
  histogram(name: string): Histogram;
  /** The metrics whose names begin with `name.`, or with `name.value.`. */
  addGroup(name: string, value?: string): MetricGroup;
}
