/**
 * Snapshots of large keyed state: the pause at the barrier, CPU and time of the asynchronous part, throughput while it
 * runs against without, bytes written and bytes in memory. README.md says how to read it.
 *
 *     npm run bench -- snapshot [--keys N,N] [--snapshots N] [--small]
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { grouped, median, printTable, runChild } from './lib/measure.ts';
import type { SnapshotFigures, SnapshotRunFigures, SnapshotSettings } from './lib/snapshot-job.ts';

const { values } = parseArgs({
  options: { keys: { type: 'string' }, snapshots: { type: 'string' }, small: { type: 'boolean' } },
});
const keyCounts = (values.keys ?? (values.small ? '10000' : '1000000,10000000')).split(',').map(Number);
const snapshots = Number(values.snapshots ?? (values.small ? 2 : 9));
const comparisonMs = values.small ? 100 : 1000;
const job = fileURLToPath(new URL('./lib/snapshot-job.ts', import.meta.url));

const columns: readonly [string, (figures: SnapshotRunFigures, of: Of) => string][] = [
  ['pause ms, median', (_, of) => of('pauseMs').toFixed(2)],
  ['worst', ({ snapshots: all }) => Math.max(...all.map(({ pauseMs }) => pauseMs)).toFixed(2)],
  ['async part ms', (_, of) => of('asyncMs').toFixed(0)],
  ['complete after ms', (_, of) => of('durationMs').toFixed(0)],
  ['extra CPU ms', (_, of) => of('extraCpuMs').toFixed(0)],
  ['MB written', (_, of) => (of('bytes') / 1e6).toFixed(1)],
  ['records/s without', (_, of) => grouped(of('recordsPerSecondBefore'))],
  ['during', (_, of) => grouped(of('recordsPerSecondDuring'))],
  ['CPU ns/record without', (_, of) => of('cpuNanosPerRecordBefore').toFixed(0)],
  ['row bytes/key', ({ rowBytesPerKey }) => rowBytesPerKey.toFixed(1)],
  ['resident bytes/key', ({ residentBytesPerKey }) => residentBytesPerKey.toFixed(1)],
];

type Of = (field: keyof SnapshotFigures) => number;

const rows = keyCounts.map((keys) => {
  const figures = runChild<SnapshotRunFigures>(job, {
    keys,
    snapshots,
    comparisonMs,
  } satisfies SnapshotSettings);
  // The first snapshot compiles what takes it and allocates its buffers.
  const warm = figures.snapshots.length > 2 ? figures.snapshots.slice(1) : figures.snapshots;
  const of: Of = (field) => median(warm.map((snapshot) => snapshot[field]));
  return [grouped(keys), ...columns.map(([, value]) => value({ ...figures, snapshots: warm }, of))];
});
printTable(['keys', ...columns.map(([title]) => title)], rows);
