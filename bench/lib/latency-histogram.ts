/**
 * A histogram of durations that takes the same few kilobytes however many they are, exact to 1 part in 64. Histograms of several
 * threads are added up. (HdrHistogram, without its generality.)
 *
 *   microseconds   0 1 2 ... 127 | 128 130 ... 254 | 256 260 ... 508 | ...
 *   bucket         0 1 2 ... 127 | 128 129 ... 191 | 192 193 ... 255 | ...     64 for each doubling
 */
const STEPS = 64;
/** About 71 minutes. Longer durations are counted there. */
const MICROS_MAX = 0xffffffff;
const BUCKETS = bucketOf(MICROS_MAX) + 1;

export class LatencyHistogram {
  private readonly counts: Float64Array;
  private maxMs = 0;

  constructor() {
    this.counts = new Float64Array(BUCKETS);
  }

  record(ms: number): void {
    const micros = Math.min(MICROS_MAX, Math.max(0, Math.round(ms * 1000)));
    this.counts[bucketOf(micros)]!++;
    if (ms > this.maxMs) this.maxMs = ms;
  }

  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  /** The longest, exactly; 0 if there is none. */
  get max(): number {
    return this.maxMs;
  }

  /** Milliseconds that `share` (0 to 1) of all durations do not exceed; 0 if there is none. */
  quantile(share: number): number {
    const wanted = Math.max(1, Math.ceil(this.count * share));
    let seen = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      seen += this.counts[bucket]!;
      if (seen >= wanted) return Math.min(highestOf(bucket) / 1000, this.maxMs);
    }
    return this.maxMs;
  }

  /** Adds what `toJSON` of another one gave. */
  add({ counts, maxMs }: HistogramData): void {
    for (const [bucket, count] of counts) this.counts[bucket]! += count;
    this.maxMs = Math.max(this.maxMs, maxMs);
  }

  toJSON(): HistogramData {
    const counts = [...this.counts.entries()].filter(([, count]) => count > 0);
    return { counts, maxMs: this.maxMs };
  }
}

export interface HistogramData {
  readonly counts: readonly (readonly [bucket: number, count: number])[];
  readonly maxMs: number;
}

function bucketOf(micros: number): number {
  const doublings = Math.max(0, 25 - Math.clz32(micros));
  return doublings * STEPS + (micros >>> doublings);
}

/** The longest duration in a bucket, in microseconds. */
function highestOf(bucket: number): number {
  const doublings = Math.max(0, Math.floor(bucket / STEPS) - 1);
  return (bucket - doublings * STEPS + 1) * 2 ** doublings - 1;
}
