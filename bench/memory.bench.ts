/**
 * Memory: bytes a key for short keys with a count, and the peak of the process while a checkpoint is written. README.md says how to
 * read it.
 *
 *     npm run bench -- memory [--keys N,N] [--runs N] [--small]
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildPackages } from './lib/cold-start.ts';
import { grouped, inDirectory, median, printTable, runProgram } from './lib/measure.ts';
import type { MemoryFigures, MemorySettings } from './lib/memory-job.ts';

const { values } = parseArgs({
  options: { keys: { type: 'string' }, runs: { type: 'string' }, small: { type: 'boolean' } },
});
const keyCounts = (values.keys ?? (values.small ? '20000' : '1000000,10000000')).split(',').map(Number);
const runs = Number(values.runs ?? (values.small ? 1 : 3));
const job = fileURLToPath(new URL('./lib/memory-job.ts', import.meta.url));

const HOSTS = [
  { host: 'inline', parallelism: 1 },
  { host: 'workers', parallelism: 2 },
] as const;

const variants = keyCounts.flatMap((keys) =>
  (['number', 'string'] as const).flatMap((keyKind) =>
    HOSTS.map((host): MemorySettings => ({ ...host, keys, keyKind })),
  ),
);

const nodeOptions = buildPackages(values.small);
// They take turns, so that each has its share of a machine that is slow for a while.
const figures = variants.map((): MemoryFigures[] => []);
for (let run = 0; run < runs; run++) {
  for (const [index, variant] of variants.entries())
    figures[index]!.push(
      inDirectory((directory) =>
        runProgram<MemoryFigures>([...nodeOptions, job, JSON.stringify(variant), directory]),
      ),
    );
}

const rows = variants.map(({ keys, keyKind, host, parallelism }, index) => {
  const of = (field: keyof MemoryFigures) => median(figures[index]!.map((figure) => figure[field] ?? 0));
  const each = (field: keyof MemoryFigures) => (of(field) / keys).toFixed(1);
  const megabytes = (field: keyof MemoryFigures) => grouped(of(field) / 1e6);
  return [
    ...[grouped(keys), keyKind, `${host}, parallelism ${parallelism}`],
    ...[each('rows'), each('pages'), host === 'inline' ? each('tables') : '', each('growth')],
    ...[megabytes('loaded'), megabytes('peakBefore'), megabytes('peak')],
  ];
});
printTable(
  [
    ...['keys', 'key type', 'run'],
    ...['row bytes/key', 'in pages', 'tables', 'resident'],
    ...['MB when loaded', 'peak before', 'peak with checkpoint'],
  ],
  rows,
);
