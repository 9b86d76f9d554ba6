/**
 * The keyed count: CPU nanoseconds a record over all threads and records a second, with a checkpoint each second, after
 * other jobs ran in the same process; beside it the same work by a plain loop over a Map. README.md says how to read it.
 *
 *     npm run bench -- keyed-count [--records N] [--runs N] [--small] [--profile DIRECTORY]
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { KeyedCountFigures, KeyedCountSettings } from './lib/keyed-count-job.ts';
import { grouped, median, printTable, runChild } from './lib/measure.ts';
import { profiled } from './lib/profile.ts';

const { values } = parseArgs({
  options: {
    records: { type: 'string' },
    runs: { type: 'string' },
    small: { type: 'boolean' },
    profile: { type: 'string' },
  },
});
const records = Number(values.records ?? (values.small ? 100_000 : 10_000_000));
const runs = Number(values.runs ?? (values.small || values.profile !== undefined ? 1 : 3));
const job = fileURLToPath(new URL('./lib/keyed-count-job.ts', import.meta.url));

type Variant = Pick<KeyedCountSettings, 'host' | 'parallelism' | 'keyKind' | 'declared'>;

const allVariants: readonly Variant[] = [
  { host: 'loop', parallelism: 1, keyKind: 'string', declared: true },
  { host: 'inline', parallelism: 1, keyKind: 'string', declared: true },
  { host: 'workers', parallelism: 2, keyKind: 'string', declared: true },
  { host: 'workers', parallelism: 2, keyKind: 'string', declared: false },
  { host: 'loop', parallelism: 1, keyKind: 'number', declared: true },
  { host: 'inline', parallelism: 1, keyKind: 'number', declared: true },
  { host: 'workers', parallelism: 2, keyKind: 'number', declared: true },
];

/** In small size what another variant covers as well is left out. */
const variants = values.small
  ? allVariants.filter(({ keyKind, host }) => keyKind === 'string' || host === 'workers')
  : allVariants;

function describeVariant({ host, parallelism, declared }: Variant): string {
  if (host === 'loop') return 'plain loop over a Map';
  return `${host}, parallelism ${parallelism}${declared ? '' : ', undeclared types'}`;
}

const rows: string[][] = [];
for (const keys of values.small ? [1_000] : [10_000, 1_000_000]) {
  // The variants take turns, so that each has its share of a machine that is slow for a while.
  const figures = variants.map((): KeyedCountFigures[] => []);
  for (let run = 0; run < runs; run++) {
    variants.forEach((variant, index) => {
      const settings: KeyedCountSettings = { ...variant, keys, records, checkpointIntervalMs: 1000 };
      const name = `${keys}-${variant.keyKind}-${describeVariant(variant).replaceAll(/[ ,]+/g, '-')}`;
      figures[index]!.push(
        profiled(name, values.profile, (options) => runChild<KeyedCountFigures>(job, settings, options)),
      );
    });
  }
  variants.forEach((variant, index) => {
    const of = (field: keyof KeyedCountFigures) => median(figures[index]!.map((figure) => figure[field]));
    rows.push([
      grouped(keys),
      variant.keyKind,
      describeVariant(variant),
      of('cpuNanosPerRecord').toFixed(0),
      grouped(of('recordsPerSecond')),
      String(of('checkpoints')),
    ]);
  });
}
printTable(['keys', 'key type', 'run', 'CPU ns/record', 'records/s', 'checkpoints'], rows);
