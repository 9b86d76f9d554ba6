/**
 * Checkpoints of a job whose sink is far slower than its source, in a process of its own: every ring is full. Prints their
 * figures as JSON. Then the job goes on from the last of them with a fast sink, and fails unless every record was counted
 * exactly once.
 *
 *     records ── by key ─► count ── in turn ─► slow sink
 *
 * The sink keeps its totals in the checkpoint, so that they are those of exactly the records before the barrier.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  Configuration,
  FsStateBackend,
  type JobClient,
  StreamExecutionEnvironment,
  Types,
  WatermarkStrategy,
} from '@millrace/engine';
import type { Sink, SinkContext, SinkWriter } from '@millrace/engine/connector';
import { Count, type KeyCount } from './count-function.ts';
import {
  bufferRecords,
  type CountInput,
  type CountTotals,
  checkTotals,
  expectedTotals,
  keyTypeOf,
  recordMaker,
  recordTypeOf,
} from './count-records.ts';
import { encodedSource } from './encoded-source.ts';
import { runOtherJobs } from './other-jobs.ts';
import { readTotals, writeTotals } from './totals.ts';

export interface BackPressureSettings extends CountInput {
  /** All that the source has. */
  readonly records: number;
  readonly parallelism: number;
  /** Of all subtasks of the sink together. */
  readonly sinkRecordsPerSecond: number;
  /** How long barriers wait their turn. 0: they overtake at once; undefined: never. */
  readonly alignedTimeoutMs?: number;
  readonly checkpoints: number;
  readonly segmentBytes: number;
  readonly segmentsPerChannel: number;
  /** After the start, until the rings are full. */
  readonly fillMs: number;
}

export interface BackPressureFigures {
  /** From the trigger until it was complete. */
  readonly durationMs: number;
  /** Until its first barrier came, and from then on until the last; each of the subtask in which it took longest. */
  readonly startDelayMs: number;
  readonly alignmentMs: number;
  readonly bytes: number;
  /** Of these, data in flight. */
  readonly inFlightBytes: number;
}

const TOTALS_TYPE = Types.ROW({ results: Types.LONG, sum: Types.LONG });
/** Shorter waits are longer than they should be. */
const PAUSE_MIN_MS = 2;

/** Takes so many records a second in each subtask; undefined: as they come. */
function slowSink(
  directory: string,
  recordsPerSecond: number | undefined,
): Sink<KeyCount, never, CountTotals> {
  return {
    guarantee: 'none',
    writerStateType: TOTALS_TYPE,
    createWriter: (context, restored) => slowWriter(context, restored, directory, recordsPerSecond),
  };
}

function slowWriter(
  { platform: { clock, timers }, subtaskIndex }: SinkContext,
  restored: readonly CountTotals[],
  directory: string,
  recordsPerSecond: number | undefined,
): SinkWriter<KeyCount, never, CountTotals> {
  let results = restored.reduce((total, totals) => total + totals.results, 0);
  let sum = restored.reduce((total, totals) => total + totals.sum, 0);
  const eachMs = recordsPerSecond === undefined ? 0 : 1000 / recordsPerSecond;
  let freeAtMs = 0;
  return {
    write(value) {
      results++;
      sum += value.count;
      freeAtMs = Math.max(freeAtMs, clock.monotonicMs()) + eachMs;
    },
    busy() {
      const waitMs = freeAtMs - clock.monotonicMs();
      return waitMs < PAUSE_MIN_MS ? undefined : new Promise((resolve) => void timers.after(waitMs, resolve));
    },
    prepareCommit: () => [],
    snapshotState: () => [{ results, sum }],
    close: () => writeTotals(directory, subtaskIndex, { results, sum }),
  };
}

function environment(
  settings: BackPressureSettings,
  directory: string,
  { isSlow, path }: { readonly isSlow: boolean; readonly path?: string },
): StreamExecutionEnvironment {
  const { keys, keyKind, parallelism, records, sinkRecordsPerSecond, alignedTimeoutMs } = settings;
  const env = StreamExecutionEnvironment.getExecutionEnvironment(
    Configuration.from({
      'millrace.host': isSlow && parallelism > 1 ? 'workers' : 'inline',
      'millrace.exchange.segment-size': settings.segmentBytes,
      'millrace.exchange.segments-per-channel': settings.segmentsPerChannel,
      'execution.checkpointing.externalized-checkpoint-retention': 'RETAIN_ON_CANCELLATION',
      'execution.checkpointing.unaligned.enabled': alignedTimeoutMs !== undefined,
      'execution.checkpointing.aligned-checkpoint-timeout': alignedTimeoutMs ?? 0,
      ...(path !== undefined && { 'execution.state-recovery.path': path }),
    }),
  );
  env.setParallelism(parallelism);
  // Checkpoints are asked for; none comes by itself.
  env.enableCheckpointing(24 * 3600 * 1000);
  env.setStateBackend(new FsStateBackend(`file://${directory}/checkpoints`));
  const source = encodedSource({
    type: recordTypeOf(keyKind),
    maker: (subtask) => recordMaker(settings, subtask),
    bufferRecords: bufferRecords(keys),
    recordsPerSubtask: records / parallelism,
  });
  env
    .fromSource(source, WatermarkStrategy.noWatermarks(), 'records')
    .uid('records')
    .filter((record) => record.value > 50)
    .uid('passing')
    .keyBy((record) => record.key, keyTypeOf(keyKind))
    .process(Count)
    .returns(Types.ROW({ key: keyTypeOf(keyKind), count: Types.LONG }))
    .uid('count')
    .rebalance()
    .sinkTo(slowSink(directory, isSlow ? sinkRecordsPerSecond / parallelism : undefined))
    .uid('sink');
  return env;
}

function figuresOf(client: JobClient, checkpointId: number): BackPressureFigures {
  const details = client.getCheckpointDetails(checkpointId)!;
  const tasks = Object.keys(details.tasks).map(
    (task) => client.getTaskCheckpointDetails(checkpointId, task)!.summary,
  );
  return {
    durationMs: details.end_to_end_duration,
    startDelayMs: Math.max(...tasks.map(({ start_delay }) => start_delay.max)),
    alignmentMs: Math.max(...tasks.map(({ alignment }) => alignment.duration.max)),
    bytes: details.checkpointed_size,
    inFlightBytes: details.persisted_data,
  };
}

/** The figures of all checkpoints, and where the last of them is. */
async function takeCheckpoints(
  settings: BackPressureSettings,
  directory: string,
): Promise<{ readonly figures: readonly BackPressureFigures[]; readonly path: string }> {
  const client = await environment(settings, directory, { isSlow: true }).executeAsync('back-pressure');
  await client.untilRunning();
  await delay(settings.fillMs);
  const figures: BackPressureFigures[] = [];
  let path = '';
  for (let i = 0; i < settings.checkpoints; i++) {
    const summary = await client.triggerCheckpoint();
    figures.push(figuresOf(client, summary.checkpointId));
    path = summary.path!;
  }
  client.getJobExecutionResult().catch(() => {});
  await client.cancel();
  return { figures, path };
}

/** Throws if the figures are not those of a job under back-pressure. */
function checkFigures(settings: BackPressureSettings, figures: readonly BackPressureFigures[]): void {
  const overtakes = settings.alignedTimeoutMs !== undefined;
  for (const { inFlightBytes } of figures) {
    if (inFlightBytes > 0 === overtakes) continue;
    throw new Error(`a checkpoint has ${inFlightBytes} bytes in flight: ${JSON.stringify(settings)}`);
  }
}

const settings = JSON.parse(process.argv[2]!) as BackPressureSettings;
const directory = process.argv[3]!;
await runOtherJobs();
const { figures, path } = await takeCheckpoints(settings, directory);
checkFigures(settings, figures);
await environment(settings, directory, { isSlow: false, path }).execute('back-pressure');
const { keys, parallelism, records } = settings;
checkTotals(readTotals(directory, parallelism), expectedTotals(keys, parallelism, records / parallelism));
console.log(JSON.stringify(figures));
