/**
 * One run of queries, in a process of its own. Prints the figures of each as JSON, and fails if a result is wrong.
 *
 * A query is run over few events and over many. What many take less what few take, divided by the additional events, is what an
 * event costs when everything is compiled: starting threads and compiling are in both.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { FsStateBackend, StreamExecutionEnvironment, WatermarkStrategy } from '@millrace/engine';
import { cpuNanos } from '../lib/measure.ts';
import { runOtherJobs } from '../lib/other-jobs.ts';
import { type ChecksumValue, checksumText } from './checksum.ts';
import { readChecksum } from './checksum-sink.ts';
import { nexmarkSource } from './nexmark-source.ts';
import { QUERIES, type QueryName } from './queries.ts';
import { sideInputLines } from './queries-of-bids.ts';

/** A run over events 0 to `events - 1`, and what must come out. */
export interface SizedRun {
  readonly events: number;
  readonly expected: ChecksumValue;
}

export interface QueryRuns {
  readonly query: QueryName;
  /** Without it the figures are those of the long run by itself, starting and compiling included. */
  readonly short?: SizedRun;
  readonly long: SizedRun;
}

export interface NexmarkSettings {
  readonly queries: readonly QueryRuns[];
  readonly host: 'inline' | 'workers';
  readonly parallelism: number;
  /** 0: none. */
  readonly checkpointIntervalMs: number;
}

export interface QueryFigures {
  readonly query: QueryName;
  readonly cpuNanosPerEvent: number;
  readonly eventsPerSecond: number;
  readonly results: number;
  readonly checkpoints: number;
}

interface RunFigures {
  readonly cpuNanos: number;
  readonly elapsedMs: number;
  readonly checkpoints: number;
}

const NOTHING: RunFigures = { cpuNanos: 0, elapsedMs: 0, checkpoints: 0 };

async function runJob(
  { host, parallelism, checkpointIntervalMs }: NexmarkSettings,
  query: QueryName,
  { events, expected }: SizedRun,
  directory: string,
): Promise<RunFigures> {
  const sideInput = join(directory, 'side-input.csv');
  // Worker threads come here as well, while others read the file.
  if (isMainThread) {
    mkdirSync(directory, { recursive: true });
    writeFileSync(sideInput, sideInputLines());
  }
  const env = StreamExecutionEnvironment.getExecutionEnvironment();
  env.setParallelism(parallelism);
  env.configure({ host });
  if (checkpointIntervalMs > 0) {
    env.enableCheckpointing(checkpointIntervalMs);
    env.setStateBackend(new FsStateBackend(`file://${directory}/checkpoints`));
  }
  const watermarks = WatermarkStrategy.forMonotonousTimestamps();
  const stream = env.fromSource(nexmarkSource(events), watermarks, 'events');
  QUERIES[query]({ events: stream, sideInput }, directory);
  const cpu = cpuNanos();
  const result = await env.execute(`nexmark ${query}`);
  const spent = cpuNanos() - cpu;
  // A worker thread, which was started for a later job, passes here without having run this one.
  if (result.jobId !== '') check(query, events, readChecksum(directory, parallelism), expected);
  return { cpuNanos: spent, elapsedMs: result.netRuntimeMs, checkpoints: result.completedCheckpoints };
}

function check(query: QueryName, events: number, found: ChecksumValue, expected: ChecksumValue): void {
  const describe = (value: ChecksumValue): string => `${value.count} results ${checksumText(value)}`;
  if (describe(found) === describe(expected)) return;
  throw new Error(
    `${query} over ${events} events: wrong result ${describe(found)}, not ${describe(expected)}`,
  );
}

async function measure(settings: NexmarkSettings, directory: string): Promise<QueryFigures[]> {
  const figures: QueryFigures[] = [];
  for (const { query, short, long } of settings.queries) {
    const few =
      short === undefined ? NOTHING : await runJob(settings, query, short, join(directory, `${query}-short`));
    const many = await runJob(settings, query, long, join(directory, `${query}-long`));
    const events = long.events - (short?.events ?? 0);
    figures.push({
      query,
      cpuNanosPerEvent: (many.cpuNanos - few.cpuNanos) / events,
      eventsPerSecond: events / ((many.elapsedMs - few.elapsedMs) / 1000),
      results: long.expected.count,
      checkpoints: many.checkpoints,
    });
  }
  return figures;
}

const settings = JSON.parse(process.argv[2]!) as NexmarkSettings;
await runOtherJobs();
console.log(JSON.stringify(await measure(settings, process.argv[3]!)));
