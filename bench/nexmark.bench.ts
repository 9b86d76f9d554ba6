/**
 * Nexmark: CPU nanoseconds an event over all threads and events a second, with a checkpoint each second, after other jobs ran in
 * the same process. README.md says how to read it, nexmark/QUERIES.md what the queries are.
 *
 *     npm run bench -- nexmark [--queries q0,q5] [--events N] [--runs N] [--parallelism N] [--small] [--profile DIRECTORY]
 *     npm run bench -- nexmark --checksums [--queries q0,q5] [--events N]
 *
 * The second form prints what must come out, computed by plain loops, and runs nothing.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { grouped, median, printTable, runChild } from './lib/measure.ts';
import { profiled } from './lib/profile.ts';
import { checksumText } from './nexmark/checksum.ts';
import { expectedChecksum } from './nexmark/expected-results.ts';
import type { NexmarkSettings, QueryFigures, QueryRuns } from './nexmark/nexmark-job.ts';
import { QUERY_NAMES, type QueryName } from './nexmark/queries.ts';

const { values } = parseArgs({
  options: {
    queries: { type: 'string' },
    events: { type: 'string' },
    runs: { type: 'string' },
    parallelism: { type: 'string' },
    small: { type: 'boolean' },
    checksums: { type: 'boolean' },
    profile: { type: 'string' },
  },
});
const queries = queryNames(values.queries);
const runs = Number(values.runs ?? (values.small || values.profile !== undefined ? 1 : 3));
/** Enough that all code is optimised. */
const SHORT_SHARE = 1 / 4;
/** Queries that do little for an event have more, so that a run takes a second or so. */
const EVENTS = 800_000;
const EVENTS_OF_FAST_QUERIES = 4_000_000;
const FAST_QUERIES: ReadonlySet<QueryName> = new Set(['q0', 'q1', 'q2', 'q3', 'q8', 'q13']);
/** Ten seconds of event time and a little more: every query has results, windows more than one. */
const EVENTS_IN_SMALL_SIZE = 120_000;
const job = fileURLToPath(new URL('./nexmark/nexmark-job.ts', import.meta.url));

type Variant = Pick<NexmarkSettings, 'host' | 'parallelism'>;

const VARIANTS: readonly Variant[] =
  values.parallelism === undefined
    ? [
        { host: 'inline', parallelism: 1 },
        { host: 'workers', parallelism: 2 },
      ]
    : [{ host: values.parallelism === '1' ? 'inline' : 'workers', parallelism: Number(values.parallelism) }];

/** In the order of the table, whatever the order given. Throws if there is no such query. */
function queryNames(given: string | undefined): readonly QueryName[] {
  if (given === undefined) return QUERY_NAMES;
  const names = given.split(',');
  const unknown = names.filter((name) => !QUERY_NAMES.includes(name as QueryName));
  if (unknown.length > 0) {
    throw new Error(`no query ${unknown.join(', ')}; there are ${QUERY_NAMES.join(', ')}`);
  }
  return QUERY_NAMES.filter((name) => names.includes(name));
}

function describeVariant({ host, parallelism }: Variant): string {
  return `${host}, parallelism ${parallelism}`;
}

function eventsOf(query: QueryName): number {
  if (values.events !== undefined) return Number(values.events);
  if (values.small) return EVENTS_IN_SMALL_SIZE;
  return FAST_QUERIES.has(query) ? EVENTS_OF_FAST_QUERIES : EVENTS;
}

function runsOf(query: QueryName): QueryRuns {
  const events = eventsOf(query);
  const sized = (size: number) => ({ events: size, expected: expectedChecksum(query, size) });
  const short = values.small ? undefined : sized(Math.ceil(events * SHORT_SHARE));
  return { query, short, long: sized(events) };
}

function run(variant: Variant, names: readonly QueryName[]): QueryFigures[] {
  const settings: NexmarkSettings = { ...variant, queries: names.map(runsOf), checkpointIntervalMs: 1000 };
  return profiled(`${names.join('-')}-${variant.host}`, values.profile, (options) =>
    runChild<QueryFigures[]>(job, settings, options),
  );
}

function rowsOf(query: QueryName, measured: readonly (readonly QueryFigures[])[]): string[][] {
  return VARIANTS.map((variant, index) => {
    const figures = measured[index]!;
    const of = (field: Exclude<keyof QueryFigures, 'query'>) =>
      median(figures.map((figure) => figure[field]));
    return [
      ...[query, describeVariant(variant), of('cpuNanosPerEvent').toFixed(0), grouped(of('eventsPerSecond'))],
      ...[grouped(eventsOf(query)), grouped(of('results')), String(of('checkpoints'))],
    ];
  });
}

/** Each query in a process of its own, except in small size. The variants take turns. */
function measure(): string[][] {
  const measured = new Map(queries.map((query) => [query, VARIANTS.map((): QueryFigures[] => [])]));
  const groups = values.small ? [queries] : queries.map((query) => [query]);
  for (let turn = 0; turn < runs; turn++) {
    for (const group of groups) {
      VARIANTS.forEach((variant, index) => {
        for (const figures of run(variant, group)) measured.get(figures.query)![index]!.push(figures);
      });
    }
  }
  return queries.flatMap((query) => rowsOf(query, measured.get(query)!));
}

function printChecksums(): void {
  const rows = queries.map((query) => {
    const expected = expectedChecksum(query, eventsOf(query));
    return [query, grouped(eventsOf(query)), grouped(expected.count), checksumText(expected)];
  });
  printTable(['query', 'events', 'results', 'checksum'], rows);
}

if (values.checksums) printChecksums();
else {
  printTable(['query', 'run', 'CPU ns/event', 'events/s', 'events', 'results', 'checkpoints'], measure());
}
