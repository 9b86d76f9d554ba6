/**
 * What checkpoints cost: the keyed count with one each second against none, and how long checkpoints take, and what they
 * weigh, when every ring is full. README.md says how to read it.
 *
 *     npm run bench -- checkpoints [--records N] [--runs N] [--checkpoints N] [--small] [--profile DIRECTORY]
 *
 * Without runs (0) only the second part is measured.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { BackPressureFigures, BackPressureSettings } from './lib/back-pressure-job.ts';
import type { KeyedCountFigures, KeyedCountSettings } from './lib/keyed-count-job.ts';
import { grouped, median, printTable, runChild } from './lib/measure.ts';
import { profiled } from './lib/profile.ts';

const { values } = parseArgs({
  options: {
    records: { type: 'string' },
    runs: { type: 'string' },
    checkpoints: { type: 'string' },
    small: { type: 'boolean' },
    profile: { type: 'string' },
  },
});
const records = Number(values.records ?? (values.small ? 200_000 : 30_000_000));
const runs = Number(values.runs ?? (values.small ? 1 : 5));
const checkpoints = Number(values.checkpoints ?? (values.small ? 2 : 7));
const jobFile = (name: string): string => fileURLToPath(new URL(`./lib/${name}.ts`, import.meta.url));

type Variant = Pick<KeyedCountSettings, 'host' | 'parallelism' | 'keys'>;

const VARIANTS: readonly Variant[] = (values.small ? [1_000] : [10_000, 1_000_000]).flatMap(
  (keys): Variant[] => [
    { host: 'inline', parallelism: 1, keys },
    { host: 'workers', parallelism: 2, keys },
  ],
);
const INTERVALS_MS = [0, values.small ? 20 : 1000];

/** Of a run with checkpoints. Those at the beginning and at the end are taken in any case. */
const CHECKPOINTS_MIN = values.small ? 1 : 4;

/** Without and with checkpoints. */
type Pair = readonly [none: KeyedCountFigures, each: KeyedCountFigures];

function countRecords(variant: Variant, checkpointIntervalMs: number): KeyedCountFigures {
  const settings: KeyedCountSettings = {
    ...variant,
    ...{ records, checkpointIntervalMs, keyKind: 'string', declared: true },
  };
  const name = `${variant.keys}-${variant.host}-${checkpointIntervalMs}`;
  const figures = profiled(name, values.profile, (options) =>
    runChild<KeyedCountFigures>(jobFile('keyed-count-job'), settings, options),
  );
  if (figures.checkpoints < CHECKPOINTS_MIN !== (checkpointIntervalMs === 0))
    throw new Error(
      `${figures.checkpoints} checkpoints: ${JSON.stringify(settings)}; more records are needed`,
    );
  return figures;
}

/** With and without take turns in being first, and so do the variants: each has its share of a machine that is slow. */
function measureCosts(): Pair[][] {
  const pairs = VARIANTS.map((): Pair[] => []);
  for (let run = 0; run < runs; run++) {
    for (const [index, variant] of VARIANTS.entries()) {
      const [without, each] = INTERVALS_MS as [number, number];
      const first = countRecords(variant, run % 2 === 0 ? without : each);
      const second = countRecords(variant, run % 2 === 0 ? each : without);
      pairs[index]!.push(run % 2 === 0 ? [first, second] : [second, first]);
    }
  }
  return pairs;
}

function printCosts(pairs: readonly (readonly Pair[])[]): void {
  const rows = VARIANTS.map(({ host, parallelism, keys }, index) => {
    const measured = pairs[index]!;
    const of = (which: 0 | 1, field: keyof KeyedCountFigures) =>
      median(measured.map((pair) => pair[which][field]));
    /** Of runs of the same minute. */
    const change = (field: keyof KeyedCountFigures): string => {
      const ratio = median(measured.map(([none, each]) => each[field] / none[field]));
      return `${ratio >= 1 ? '+' : ''}${((ratio - 1) * 100).toFixed(1)} %`;
    };
    return [
      ...[grouped(keys), `${host}, parallelism ${parallelism}`],
      ...[of(0, 'cpuNanosPerRecord').toFixed(0), of(1, 'cpuNanosPerRecord').toFixed(0)],
      ...[
        change('cpuNanosPerRecord'),
        grouped(of(0, 'recordsPerSecond')),
        grouped(of(1, 'recordsPerSecond')),
      ],
      ...[change('recordsPerSecond'), String(of(1, 'checkpoints'))],
    ];
  });
  const columns = [
    'keys',
    'run',
    'CPU ns/record without',
    'with',
    'change',
    'records/s without',
    'with',
    'change',
  ];
  printTable([...columns, 'checkpoints'], rows);
}

const FULL = { keys: 10_000, records: 3_000_000, sinkRecordsPerSecond: 20_000, fillMs: 1500 };
const SMALL = { keys: 1000, records: 50_000, sinkRecordsPerSecond: 5000, fillMs: 200 };
const SIZES = {
  ...(values.small ? SMALL : FULL),
  ...(values.small
    ? { segmentBytes: 1024, segmentsPerChannel: 4 }
    : { segmentBytes: 32_768, segmentsPerChannel: 8 }),
};
const BUDGET_MS = values.small ? 50 : 500;
const PARALLELISM = 2;

function measureUnderBackPressure(): void {
  const modes: readonly (readonly [string, Pick<BackPressureSettings, 'alignedTimeoutMs'>])[] = [
    ['aligned', {}],
    [`aligned for ${BUDGET_MS} ms`, { alignedTimeoutMs: BUDGET_MS }],
    ['unaligned', { alignedTimeoutMs: 0 }],
  ];
  // Into the count and into the sink.
  const ringBytes = 2 * PARALLELISM ** 2 * SIZES.segmentBytes * SIZES.segmentsPerChannel;
  const rows = modes.map(([name, mode]) => {
    const settings: BackPressureSettings = {
      ...{ ...SIZES, ...mode },
      ...{ keyKind: 'string', parallelism: PARALLELISM, checkpoints },
    };
    const figures = runChild<BackPressureFigures[]>(jobFile('back-pressure-job'), settings);
    const of = (field: keyof BackPressureFigures) => median(figures.map((figure) => figure[field]));
    const worstMs = Math.max(...figures.map(({ durationMs }) => durationMs));
    return [
      ...[name, of('durationMs').toFixed(0), worstMs.toFixed(0)],
      ...[of('startDelayMs').toFixed(0), of('alignmentMs').toFixed(0)],
      ...[kilobytes(of('bytes')), kilobytes(of('inFlightBytes')), kilobytes(ringBytes)],
    ];
  });
  const columns = ['checkpoints', 'complete after ms', 'worst', 'first barrier after ms', 'alignment ms'];
  printTable([...columns, 'kB written', 'of it in flight', 'kB of rings'], rows);
}

function kilobytes(bytes: number): string {
  return grouped(bytes / 1000);
}

if (runs > 0) printCosts(measureCosts());
console.log();
measureUnderBackPressure();
