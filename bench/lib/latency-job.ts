/**
 * One run of the latency measurement, in a process of its own: records at a fixed rate, hash exchange, count in keyed state,
 * sink. Prints the figures as JSON, and fails if a record was not counted exactly once.
 *
 * Each record carries two times by a clock that all threads share: when it was due by the rate, and when it was emitted. A task
 * that stands still emits late and would hide that if only the second counted.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Collector,
  FsStateBackend,
  type Infer,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type RuntimeContext,
  StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from '@millrace/engine';
import type { Sink } from '@millrace/engine/connector';
import { checkTotals } from './count-records.ts';
import { type HistogramData, LatencyHistogram } from './latency-histogram.ts';
import { runOtherJobs } from './other-jobs.ts';
import { type Sequence, SequenceSource } from './sequence-source.ts';
import { readTotals, writeTotals } from './totals.ts';

export interface LatencySettings {
  /** Of all subtasks together. */
  readonly recordsPerSecond: number;
  readonly keys: number;
  readonly parallelism: number;
  readonly bufferTimeoutMs: number;
  /** 0: none. */
  readonly checkpointIntervalMs: number;
  /** How long records come that are not measured. */
  readonly warmUpMs: number;
  readonly measuredMs: number;
}

/** Milliseconds. */
export interface Latencies {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

export interface LatencyFigures {
  /** From the source to the sink. */
  readonly sinceEmitted: Latencies;
  /** From when the source should have emitted the record. */
  readonly sinceDue: Latencies;
  readonly measuredRecords: number;
  readonly checkpoints: number;
}

const EVENT = Types.ROW({
  key: Types.LONG,
  dueMs: Types.DOUBLE,
  emittedMs: Types.DOUBLE,
  isMeasured: Types.BOOLEAN,
});
type Event = Infer<typeof EVENT>;
interface Counted extends Event {
  readonly count: number;
}

const PRIME = 7919;

/** Milliseconds since some moment, the same in all threads. */
const clockOffsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();
const nowMs = (): number => performance.now() + clockOffsetMs;

interface Plan {
  readonly recordsEach: number;
  readonly warmUpEach: number;
  readonly recordsPerMsEach: number;
}

/** Each subtask has every key equally often. */
function planOf({ recordsPerSecond, keys, parallelism, warmUpMs, measuredMs }: LatencySettings): Plan {
  const recordsPerMsEach = recordsPerSecond / parallelism / 1000;
  const rounds = Math.ceil(((warmUpMs + measuredMs) * recordsPerMsEach) / keys);
  return {
    recordsEach: rounds * keys,
    warmUpEach: Math.ceil(warmUpMs * recordsPerMsEach),
    recordsPerMsEach,
  };
}

function pacedEvents({ keys }: LatencySettings, plan: Plan): Sequence<Event> {
  let startMs: number | undefined;
  let emittedMs = 0;
  return {
    count: plan.recordsEach,
    due() {
      emittedMs = nowMs();
      startMs ??= emittedMs;
      return Math.floor((emittedMs - startMs) * plan.recordsPerMsEach) + 1;
    },
    emit(output, first, count) {
      for (let n = first; n < first + count; n++) {
        const key = (n * PRIME) % keys;
        const dueMs = startMs! + n / plan.recordsPerMsEach;
        output.collect({ key, dueMs, emittedMs, isMeasured: n >= plan.warmUpEach });
      }
    },
  };
}

class CountEvents extends KeyedProcessFunction<number, Event, Counted> {
  private count!: ValueState<number>;
  override open(context: RuntimeContext): void {
    this.count = context.getState(new ValueStateDescriptor('count', Types.LONG));
  }
  override processElement(
    event: Event,
    _context: KeyedProcessContext<number>,
    out: Collector<Counted>,
  ): void {
    const count = (this.count.value() ?? 0) + 1;
    this.count.update(count);
    const { key, dueMs, emittedMs, isMeasured } = event;
    out.collect({ key, dueMs, emittedMs, isMeasured, count });
  }
}

/** What each subtask of the sink leaves behind. */
interface SinkData {
  readonly sinceEmitted: HistogramData;
  readonly sinceDue: HistogramData;
}

const fileOf = (directory: string, subtask: number): string => join(directory, `latencies-${subtask}.json`);

function measuringSink(directory: string): Sink<Counted> {
  return {
    guarantee: 'none',
    createWriter: ({ subtaskIndex }) => {
      const sinceEmitted = new LatencyHistogram();
      const sinceDue = new LatencyHistogram();
      let results = 0;
      let sum = 0;
      return {
        write({ count, dueMs, emittedMs, isMeasured }) {
          results++;
          sum += count;
          if (!isMeasured) return;
          const now = nowMs();
          sinceEmitted.record(now - emittedMs);
          sinceDue.record(now - dueMs);
        },
        prepareCommit: () => [],
        close() {
          writeTotals(directory, subtaskIndex, { results, sum });
          writeFileSync(fileOf(directory, subtaskIndex), JSON.stringify({ sinceEmitted, sinceDue }));
        },
      };
    },
  };
}

function latenciesOf(histogram: LatencyHistogram): Latencies {
  const [p50, p99, p999] = [0.5, 0.99, 0.999].map((share) => histogram.quantile(share));
  return { p50: p50!, p99: p99!, p999: p999!, max: histogram.max };
}

function figuresOf(directory: string, parallelism: number): Omit<LatencyFigures, 'checkpoints'> {
  const sinceEmitted = new LatencyHistogram();
  const sinceDue = new LatencyHistogram();
  for (let subtask = 0; subtask < parallelism; subtask++) {
    const data: SinkData = JSON.parse(readFileSync(fileOf(directory, subtask), 'utf8'));
    sinceEmitted.add(data.sinceEmitted);
    sinceDue.add(data.sinceDue);
  }
  return {
    sinceEmitted: latenciesOf(sinceEmitted),
    sinceDue: latenciesOf(sinceDue),
    measuredRecords: sinceDue.count,
  };
}

async function measure(settings: LatencySettings, directory: string): Promise<LatencyFigures> {
  const { bufferTimeoutMs, checkpointIntervalMs, keys, parallelism } = settings;
  const plan = planOf(settings);
  const env = StreamExecutionEnvironment.getExecutionEnvironment();
  env.configure({ host: 'workers', parallelism, bufferTimeout: bufferTimeoutMs });
  if (checkpointIntervalMs > 0) {
    env.enableCheckpointing(checkpointIntervalMs);
    env.setStateBackend(new FsStateBackend(`file://${directory}/checkpoints`));
  }
  env
    .fromSource(
      new SequenceSource(EVENT, () => pacedEvents(settings, plan)),
      WatermarkStrategy.noWatermarks(),
      'events',
    )
    .keyBy(({ key }) => key, Types.LONG)
    .process(CountEvents)
    .sinkTo(measuringSink(directory));
  const { jobId, completedCheckpoints } = await env.execute('latency');
  // A worker thread, which was started for a later job, passes here without having run this one.
  if (jobId === '') throw new Error('there is no later job');
  const each = (plan.recordsEach / keys) * parallelism;
  checkTotals(readTotals(directory, parallelism), {
    results: plan.recordsEach * parallelism,
    sum: (keys * each * (each + 1)) / 2,
  });
  return { ...figuresOf(directory, parallelism), checkpoints: completedCheckpoints };
}

const settings: LatencySettings = JSON.parse(process.argv[2]!);
await runOtherJobs();
console.log(JSON.stringify(await measure(settings, process.argv[3]!)));
