/**
 * Cold start: from the start of `node job.ts` to the first record in the user's code, less what an empty program takes to
 * start. README.md says how to read it.
 *
 *     npm run bench -- cold-start [--runs N] [--small]
 */
import { parseArgs } from 'node:util';
import { buildPackages, type ColdStart, coldStart } from './lib/cold-start.ts';
import type { ColdStartSettings, ProcessMoment } from './lib/cold-start-job.ts';
import { median, printTable } from './lib/measure.ts';

const { values } = parseArgs({ options: { runs: { type: 'string' }, small: { type: 'boolean' } } });
const runs = Number(values.runs ?? (values.small ? 1 : 11));

const allVariants: readonly ColdStartSettings[] = [
  { host: 'inline', parallelism: 1, checkpoints: false },
  { host: 'inline', parallelism: 1, checkpoints: true },
  { host: 'workers', parallelism: 2, checkpoints: false },
  { host: 'workers', parallelism: 2, checkpoints: true },
];
const variants = values.small ? allVariants.filter(({ checkpoints }) => checkpoints) : allVariants;
const CACHES = [false, true];

/** By variant, without and with a compile cache. They take turns, so that each has its share of a machine that is slow. */
const starts = variants.map(() => CACHES.map((): ColdStart[] => []));

const nodeOptions = buildPackages(values.small);
for (let run = 0; run < runs; run++) {
  for (const [index, variant] of variants.entries()) {
    for (const [cache, compileCache] of CACHES.entries())
      starts[index]![cache]!.push(coldStart(variant, { compileCache, nodeOptions }));
  }
}

/** Medians, in milliseconds: Node itself, and what comes on top. */
function columnsOf(measured: readonly ColdStart[]): string[] {
  const of = (value: (start: ColdStart) => number) => median(measured.map(value)).toFixed(0);
  const more = (field: keyof ProcessMoment) => of(({ job, empty }) => job[field] - empty[field]);
  return [of(({ empty }) => empty.cpuMs), more('cpuMs'), more('wallMs')];
}

const rows = variants.map(({ host, parallelism, checkpoints }, index) => [
  `${host}, parallelism ${parallelism}`,
  checkpoints ? 'to files' : 'none',
  ...starts[index]!.flatMap(columnsOf),
]);
const columns = ['Node CPU ms', 'CPU ms on top', 'wall ms on top'];
printTable(['run', 'checkpoints', ...columns, ...columns.map((name) => `${name}, compile cache`)], rows);
