/**
 * The metrics of the operators of one chain. Operators and user functions change them, by record if they like; `read` is
 * called for each report, twice a second, and does all the work there is: rates and quantiles.
 *
 * Invariants:
 * I1 A failing gauge of a user harms no report: it is left out.
 * I2 There are at most METRICS_MAX metrics of an operator, and each has a bounded size.
 */
import { MillraceError } from '../base/index.ts';
import type { Counter, Gauge, Histogram, Meter, MetricGroup } from './metric-group.ts';

const METRICS_MAX = 1000;
const HISTOGRAM_VALUES = 1000;
const RATE_SPAN_MS = 60_000;
/** Between two counts that a rate is taken of: so a meter keeps 60 of them. */
const RATE_STEP_MS = 1000;

const QUANTILES = [
  ['median', 0.5],
  ['p75', 0.75],
  ['p90', 0.9],
  ['p95', 0.95],
  ['p98', 0.98],
  ['p99', 0.99],
  ['p999', 0.999],
] as const;

/** A metric as the registry has it: `report` says under which names it stands, `<name>` and what it adds to that. */
interface Reported {
  readonly kind: 'counter' | 'gauge' | 'meter' | 'histogram';
  report(name: string, into: Record<string, number>, nowMs: number): void;
}

class ReportedCounter implements Counter, Reported {
  readonly kind = 'counter';
  value = 0;

  inc(n = 1): void {
    this.value += n;
  }

  dec(n = 1): void {
    this.value -= n;
  }

  getCount(): number {
    return this.value;
  }

  report(name: string, into: Record<string, number>): void {
    into[name] = this.value;
  }
}

class ReportedGauge implements Reported {
  readonly kind = 'gauge';
  gauge: Gauge;

  constructor(gauge: Gauge) {
    this.gauge = gauge;
  }

  report(name: string, into: Record<string, number>): void {
    try {
      const value: unknown = typeof this.gauge === 'function' ? this.gauge() : this.gauge.getValue();
      if (typeof value === 'number') into[name] = value;
    } catch {
      // I1: what reads the user's numbers is no part of the job's work.
    }
  }
}

class ReportedMeter implements Meter, Reported {
  readonly kind = 'meter';
  private count = 0;
  private rate = 0;
  private readonly samples: { readonly atMs: number; readonly count: number }[] = [];

  markEvent(n = 1): void {
    this.count += n;
  }

  getCount(): number {
    return this.count;
  }

  getRate(): number {
    return this.rate;
  }

  report(name: string, into: Record<string, number>, nowMs: number): void {
    const { samples, count } = this;
    while (samples.length > 1 && nowMs - samples[1]!.atMs >= RATE_SPAN_MS) samples.shift();
    const [first] = samples;
    if (first !== undefined && nowMs > first.atMs)
      this.rate = ((count - first.count) * 1000) / (nowMs - first.atMs);
    const last = samples.at(-1);
    if (last === undefined || nowMs - last.atMs >= RATE_STEP_MS) samples.push({ atMs: nowMs, count });
    into[name] = this.rate;
  }
}

class ReportedHistogram implements Histogram, Reported {
  readonly kind = 'histogram';
  private readonly values = new Float64Array(HISTOGRAM_VALUES);
  private count = 0;

  update(value: number): void {
    this.values[this.count++ % HISTOGRAM_VALUES] = value;
  }

  getCount(): number {
    return this.count;
  }

  report(name: string, into: Record<string, number>): void {
    into[`${name}_count`] = this.count;
    if (this.count === 0) return;
    const sorted = this.values.slice(0, Math.min(this.count, HISTOGRAM_VALUES)).sort();
    into[`${name}_min`] = sorted[0]!;
    into[`${name}_max`] = sorted[sorted.length - 1]!;
    into[`${name}_mean`] = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
    for (const [suffix, share] of QUANTILES)
      into[`${name}_${suffix}`] = sorted[Math.ceil(share * sorted.length) - 1]!;
  }
}

/** Metrics by name. */
type OperatorMetrics = Map<string, Reported>;

export class MetricRegistry {
  private readonly monotonicMs: () => number;
  private readonly operators = new Map<string, OperatorMetrics>();

  /** `monotonicMs` is asked at each report. */
  constructor(monotonicMs: () => number) {
    this.monotonicMs = monotonicMs;
  }

  /** The metrics of one operator. */
  scope(operatorName: string): MetricGroup {
    let metrics = this.operators.get(operatorName);
    if (metrics === undefined) this.operators.set(operatorName, (metrics = new Map()));
    return new NamedGroup(operatorName, metrics, '');
  }

  /** All values, by operator and name. */
  read(): Record<string, Record<string, number>> {
    const nowMs = this.monotonicMs();
    const values: Record<string, Record<string, number>> = {};
    for (const [operator, metrics] of this.operators) {
      if (metrics.size === 0) continue;
      const into: Record<string, number> = {};
      for (const [name, metric] of metrics) metric.report(name, into, nowMs);
      values[operator] = into;
    }
    return values;
  }
}

class NamedGroup implements MetricGroup {
  private readonly operatorName: string;
  private readonly metrics: OperatorMetrics;
  private readonly prefix: string;

  constructor(operatorName: string, metrics: OperatorMetrics, prefix: string) {
    this.operatorName = operatorName;
    this.metrics = metrics;
    this.prefix = prefix;
  }

  counter(name: string): Counter {
    return this.metric(name, 'counter', () => new ReportedCounter());
  }

  gauge(name: string, gauge: Gauge): void {
    this.metric(name, 'gauge', () => new ReportedGauge(gauge)).gauge = gauge;
  }

  meter(name: string): Meter {
    return this.metric(name, 'meter', () => new ReportedMeter());
  }

  histogram(name: string): Histogram {
    return this.metric(name, 'histogram', () => new ReportedHistogram());
  }

  addGroup(name: string, value?: string): MetricGroup {
    const added = value === undefined ? [name] : [name, value];
    for (const part of added) this.checkName(part);
    return new NamedGroup(this.operatorName, this.metrics, `${this.prefix}${added.join('.')}.`);
  }

  private metric<M extends Reported>(name: string, kind: M['kind'], make: () => M): M {
    this.checkName(name);
    const fullName = this.prefix + name;
    const known = this.metrics.get(fullName);
    if (known === undefined) {
      if (this.metrics.size >= METRICS_MAX) {
        throw this.invalid(
          `has ${METRICS_MAX} metrics and asks for one more, "${fullName}": names are not to be made of data`,
        );
      }
      const made = make();
      this.metrics.set(fullName, made);
      return made;
    }
    if (known.kind === kind) return known as M;
    throw this.invalid(`asks for the ${kind} "${fullName}", which is a ${known.kind} already`);
  }

  private checkName(name: unknown): void {
    if (typeof name === 'string' && name !== '') return;
    throw this.invalid(`gives a metric the name ${String(name)}; expected a text that is not empty`);
  }

  private invalid(what: string): MillraceError {
    return new MillraceError('INVALID_ARGUMENT', `Operator '${this.operatorName}' ${what}.`, {
      details: { operator: this.operatorName },
    });
  }
}
