/**
 * One run of the keyed count, in a process of its own: source, map, filter, key, count in keyed state, sink. Prints CPU
 * nanoseconds a record over all threads as JSON, and fails if a record was not counted exactly once.
 *
 * A long run minus a short one is what a record costs when everything is compiled and every key has its state: starting
 * threads, compiling and inserting keys are in both. (What is compiled in one job does not serve the next: the engine
 * generates code for each job.)
 */
import { FsStateBackend, StreamExecutionEnvironment, WatermarkStrategy } from '@millrace/engine';
import type { Sink } from '@millrace/engine/connector';
import { Count, type Key, type KeyCount } from './count-function.ts';
import {
  bufferRecords,
  type CountInput,
  type CountRecord,
  checkTotals,
  expectedTotals,
  keyTypeOf,
  recordMaker,
  recordTypeOf,
} from './count-records.ts';
import { EncodedRecords, type EncodedSourceOptions, encodedSource } from './encoded-source.ts';
import { cpuNanos } from './measure.ts';
import { runOtherJobs } from './other-jobs.ts';
import { readTotals, writeTotals } from './totals.ts';

export interface KeyedCountSettings extends CountInput {
  /** Records that are measured, over all subtasks. */
  readonly records: number;
  readonly parallelism: number;
  /** `loop`: no engine, a plain loop over a Map. */
  readonly host: 'inline' | 'workers' | 'loop';
  /** 0: none. */
  readonly checkpointIntervalMs: number;
  /** True: the types of key and mapped record are declared. */
  readonly declared: boolean;
}

export interface KeyedCountFigures {
  readonly cpuNanosPerRecord: number;
  readonly recordsPerSecond: number;
  readonly checkpoints: number;
}

/** Adds up the counts it sees; the totals of each subtask go to a file. */
function totalsSink(directory: string): Sink<KeyCount> {
  return {
    guarantee: 'none',
    createWriter: ({ subtaskIndex }) => {
      let results = 0;
      let sum = 0;
      return {
        write: (value) => {
          results++;
          sum += value.count;
        },
        prepareCommit: () => [],
        close: () => writeTotals(directory, subtaskIndex, { results, sum }),
      };
    },
  };
}

function sourceOptions(
  settings: KeyedCountSettings,
  recordsPerSubtask: number,
): EncodedSourceOptions<CountRecord> {
  return {
    type: recordTypeOf(settings.keyKind),
    maker: (subtask) => recordMaker(settings, subtask),
    bufferRecords: bufferRecords(settings.keys),
    recordsPerSubtask,
  };
}

interface RunFigures {
  readonly cpuNanos: number;
  readonly elapsedMs: number;
  readonly checkpoints: number;
}

async function runJob(
  settings: KeyedCountSettings,
  directory: string,
  recordsEach: number,
): Promise<RunFigures> {
  const { declared, keyKind, keys, parallelism } = settings;
  const env = StreamExecutionEnvironment.getExecutionEnvironment();
  env.setParallelism(parallelism);
  env.configure({ host: settings.host === 'workers' ? 'workers' : 'inline' });
  if (settings.checkpointIntervalMs > 0) {
    env.enableCheckpointing(settings.checkpointIntervalMs);
    env.setStateBackend(new FsStateBackend(`file://${directory}/checkpoints`));
  }
  const source = encodedSource(sourceOptions(settings, recordsEach));
  const mapped = env
    .fromSource(source, WatermarkStrategy.noWatermarks(), 'records')
    .map(
      (record): CountRecord => ({ key: record.key, value: record.value * 2, ts: record.ts }) as CountRecord,
    );
  (declared ? mapped.returns(recordTypeOf(keyKind)) : mapped)
    .filter((record) => record.value > 100)
    .keyBy((record): Key => record.key, declared ? keyTypeOf(keyKind) : undefined)
    .process(Count)
    .sinkTo(totalsSink(directory));
  const cpu = cpuNanos();
  const result = await env.execute('keyed count');
  const spent = cpuNanos() - cpu;
  // A worker thread, which was started for a later job, passes here without having run this one.
  if (result.jobId !== '') {
    checkTotals(readTotals(directory, parallelism), expectedTotals(keys, parallelism, recordsEach));
  }
  return { cpuNanos: spent, elapsedMs: result.netRuntimeMs, checkpoints: result.completedCheckpoints };
}

/** The same work by a plain loop over a Map: what nobody can be faster than with objects. */
function runLoop(settings: KeyedCountSettings, warmUp: number): RunFigures {
  const { keys, records } = settings;
  const source = new EncodedRecords(sourceOptions(settings, Number.MAX_SAFE_INTEGER), 0);
  const counts = new Map<Key, { count: number }>();
  const sink = { results: 0, sum: 0 };
  const write = (value: KeyCount): void => {
    sink.results++;
    sink.sum += value.count;
  };
  const output = {
    collect(record: CountRecord): void {
      const mapped = { key: record.key, value: record.value * 2, ts: record.ts };
      if (!(mapped.value > 100)) return;
      let entry = counts.get(mapped.key);
      if (entry === undefined) counts.set(mapped.key, (entry = { count: 0 }));
      const count = entry.count + 1;
      entry.count = count;
      write({ key: mapped.key, count });
    },
  };
  const run = (from: number, to: number): void => {
    for (let next = from; next < to; next += 1000) source.emit(output, next, Math.min(1000, to - next));
  };
  run(0, warmUp);
  const cpu = cpuNanos();
  const start = performance.now();
  run(warmUp, warmUp + records);
  const figures = { cpuNanos: cpuNanos() - cpu, elapsedMs: performance.now() - start, checkpoints: 0 };
  checkTotals(sink, expectedTotals(keys, 1, warmUp + records));
  return figures;
}

async function measure(settings: KeyedCountSettings, directory: string): Promise<KeyedCountFigures> {
  const { host, keys, parallelism, records } = settings;
  // Enough that each key has its state and all code is optimised.
  const warmUpEach = Math.max(Math.min(records, 1_000_000), Math.ceil(bufferRecords(keys) * 1.5));
  const recordsEach = Math.ceil(records / parallelism);
  let figures: RunFigures;
  if (host === 'loop') {
    figures = runLoop(settings, warmUpEach);
  } else {
    const short = await runJob(settings, directory, warmUpEach);
    const long = await runJob(settings, directory, warmUpEach + recordsEach);
    figures = {
      cpuNanos: long.cpuNanos - short.cpuNanos,
      elapsedMs: long.elapsedMs - short.elapsedMs,
      checkpoints: long.checkpoints,
    };
  }
  const measured = recordsEach * parallelism;
  return {
    cpuNanosPerRecord: figures.cpuNanos / measured,
    recordsPerSecond: measured / (figures.elapsedMs / 1000),
    checkpoints: figures.checkpoints,
  };
}

const settings = JSON.parse(process.argv[2]!) as KeyedCountSettings;
if (settings.host !== 'loop') await runOtherJobs();
console.log(JSON.stringify(await measure(settings, process.argv[3]!)));
