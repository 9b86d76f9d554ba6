/**
 * Recovery: a job whose process is killed goes on in a new one, and a job whose operator fails in the same one, with state of
 * 100 MB and of 1 GB. README.md says how to read it.
 *
 *     npm run bench -- recovery [--keys N,N] [--runs N] [--small]
 */
import { parseArgs } from 'node:util';
import { buildPackages } from './lib/cold-start.ts';
import { grouped, median, printTable } from './lib/measure.ts';
import { recover, totalMs } from './lib/recovery.ts';
import type { RecoveryFigures, RecoverySettings } from './lib/recovery-job.ts';

const { values } = parseArgs({
  options: { keys: { type: 'string' }, runs: { type: 'string' }, small: { type: 'boolean' } },
});
/** 100 MB and 1 GB. */
const keyCounts = (values.keys ?? (values.small ? '40000' : '3120000,31200000')).split(',').map(Number);
const runs = Number(values.runs ?? (values.small ? 1 : 3));

const variants = keyCounts.flatMap((keys): RecoverySettings[] => [
  { host: 'inline', parallelism: 1, keys },
  { host: 'workers', parallelism: 2, keys },
]);

const nodeOptions = buildPackages(values.small);
// They take turns, so that each has its share of a machine that is slow for a while.
const figures = variants.map((): RecoveryFigures[] => []);
for (let run = 0; run < runs; run++) {
  for (const [index, variant] of variants.entries())
    figures[index]!.push(await recover(variant, nodeOptions));
}

const rows = variants.map(({ host, parallelism, keys }, index) => {
  const of = (value: (figures: RecoveryFigures) => number) => median(figures[index]!.map(value));
  const ms = (value: (figures: RecoveryFigures) => number) => of(value).toFixed(0);
  return [
    ...[grouped(keys), grouped(of(({ stateBytes }) => stateBytes) / 1e6)],
    `${host}, parallelism ${parallelism}`,
    ms(({ newProcess }) => totalMs(newProcess)),
    ms(({ newProcess }) => newProcess.cpuMs),
    ms(({ newProcess }) => newProcess.loadMs),
    ms(({ newProcess }) => newProcess.verifyMs),
    ms(({ newProcess }) => newProcess.restoreMs),
    ms(({ newProcess }) => newProcess.firstOutputMs),
    ms(({ inPlace }) => totalMs(inPlace)),
    ms(({ inPlace }) => inPlace.cpuMs),
    ms(({ inPlace }) => inPlace.endMs),
    ms(({ inPlace }) => inPlace.restoreMs),
    ms(({ inPlace }) => inPlace.firstOutputMs),
  ];
});
printTable(
  [
    ...['keys', 'MB', 'run'],
    ...['start to output ms', 'CPU ms', 'load', 'verify', 'restore', 'first output'],
    ...['failure to output ms', 'CPU ms', 'end', 'verify and restore', 'first output'],
  ],
  rows,
);
