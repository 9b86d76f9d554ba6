/**
 * Latency at a fixed rate: from the source through a hash exchange and keyed state to the sink, without checkpoints and with one
 * each second, by buffer time-out. README.md says how to read it.
 *
 *     npm run bench -- latency [--rates N,N] [--seconds N] [--runs N] [--small]
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Latencies, LatencyFigures, LatencySettings } from './lib/latency-job.ts';
import { grouped, median, printTable, runChild } from './lib/measure.ts';

const { values } = parseArgs({
  options: {
    rates: { type: 'string' },
    seconds: { type: 'string' },
    runs: { type: 'string' },
    small: { type: 'boolean' },
  },
});
/** The second one is about 5 % of what two threads can do. */
const rates = (values.rates ?? (values.small ? '5000' : '50000,300000')).split(',').map(Number);
const runs = Number(values.runs ?? (values.small ? 1 : 3));
const measuredMs = Number(values.seconds ?? (values.small ? 0.5 : 10)) * 1000;
const warmUpMs = values.small ? 200 : 4000;
const job = fileURLToPath(new URL('./lib/latency-job.ts', import.meta.url));

type Variant = Pick<LatencySettings, 'recordsPerSecond' | 'bufferTimeoutMs' | 'checkpointIntervalMs'>;

const intervals = [0, values.small ? 100 : 1000];
const bufferTimeouts = values.small ? [0, 100] : [0, 5, 100];
const variants = rates.flatMap((recordsPerSecond) =>
  intervals.flatMap((checkpointIntervalMs) =>
    bufferTimeouts.map((bufferTimeoutMs): Variant => {
      return { recordsPerSecond, checkpointIntervalMs, bufferTimeoutMs };
    }),
  ),
);

function measure(variant: Variant): LatencyFigures {
  const settings: LatencySettings = { ...variant, keys: 1000, parallelism: 2, warmUpMs, measuredMs };
  const figures = runChild<LatencyFigures>(job, settings);
  if (figures.checkpoints > 0 !== variant.checkpointIntervalMs > 0)
    throw new Error(`${figures.checkpoints} checkpoints: ${JSON.stringify(settings)}`);
  return figures;
}

// They take turns, so that each has its share of a machine that is slow for a while.
const figures = variants.map((): LatencyFigures[] => []);
for (let run = 0; run < runs; run++) {
  for (const [index, variant] of variants.entries()) figures[index]!.push(measure(variant));
}

const rows = variants.map(({ recordsPerSecond, checkpointIntervalMs, bufferTimeoutMs }, index) => {
  const of = (since: 'sinceEmitted' | 'sinceDue', field: keyof Latencies) =>
    median(figures[index]!.map((figure) => figure[since][field])).toFixed(2);
  return [
    ...[grouped(recordsPerSecond), checkpointIntervalMs === 0 ? 'none' : `each ${checkpointIntervalMs} ms`],
    String(bufferTimeoutMs),
    ...(['p50', 'p99', 'p999', 'max'] as const).map((field) => of('sinceEmitted', field)),
    ...(['p50', 'p99', 'p999', 'max'] as const).map((field) => of('sinceDue', field)),
  ];
});
const quantiles = ['p99', 'p99.9', 'max'];
printTable(
  [
    ...['records/s', 'checkpoints', 'buffer time-out ms'],
    ...['emitted to sink ms: p50', ...quantiles],
    ...['due to sink ms: p50', ...quantiles],
  ],
  rows,
);
