/**
 * A job whose sink is far slower than its source, as a process of its own; slow-sink.test.ts starts it. It tells its parent
 * how each checkpoint ended, and kills itself (SIGKILL) when as many are complete as it was told.
 *
 *     numbered ── by key ─► in order ── in turn ─► slow sink (files)
 */
import { appendFileSync, mkdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Collector,
  Configuration,
  FileSink,
  FsStateBackend,
  type JobClient,
  type KeyedProcessContext,
  KeyedProcessFunction,
  RestartStrategies,
  type RuntimeContext,
  StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from '@millrace/engine';
import type { JobNews } from './crash/crash-job-frame.ts';
import { GatedSource } from './gated-source.ts';
import { NUMBERED, type Numbered, numbered } from './numbered-records.ts';
import { slowedSink } from './slowed-sink.ts';

/** What the job is given, as JSON in CRASH_JOB. */
export interface SlowSinkSettings {
  readonly module: string;
  /** Gets `out/`, `aborted/` and `checkpoints/`. */
  readonly directory: string;
  readonly host: 'inline' | 'workers';
  readonly parallelism: number;
  readonly records: number;
  /** The sinks of a thread take so many records slowly, and all after them as they come. */
  readonly slowRecords: number;
  readonly slowEachMs: number;
  readonly checkpointIntervalMs: number;
  readonly checkpointTimeoutMs: number;
  /** How long barriers wait their turn before they overtake; undefined: for ever. */
  readonly alignedTimeoutMs?: number;
  /** Kills itself after so many completed checkpoints; undefined: it runs to its end. */
  readonly killAfterCheckpoints?: number;
  readonly segmentBytes: number;
  readonly segmentsPerChannel: number;
}

const STATISTICS_POLL_MS = 10;
/** Something is written that belongs to no checkpoint. */
const KILL_DELAY_MS = 100;

const settings = JSON.parse(process.env['CRASH_JOB']!) as SlowSinkSettings;
const { directory } = settings;

function tell(news: JobNews): void {
  writeSync(1, `${JSON.stringify(news)}\n`);
}

/** Lets each record pass once, and in order; notes what it hears of checkpoints that were given up. */
class InOrder extends KeyedProcessFunction<string, Numbered, Numbered> {
  private next!: ValueState<number>;
  private notes = '';

  override open(context: RuntimeContext): void {
    this.next = context.getState(new ValueStateDescriptor('next', Types.LONG, 0));
    mkdirSync(join(directory, 'aborted'), { recursive: true });
    this.notes = join(directory, 'aborted', String(context.getIndexOfThisSubtask()));
  }

  override processElement(record: Numbered, _: KeyedProcessContext<string>, out: Collector<Numbered>): void {
    const next = this.next.value()!;
    if (record.n !== next) throw new Error(`${record.key}: ${record.n} came when ${next} was next`);
    this.next.update(next + 1);
    out.collect(record);
  }

  override notifyCheckpointAborted(checkpointId: number): void {
    appendFileSync(this.notes, `${checkpointId}\n`);
  }
}

function slowSink() {
  let slow = settings.slowRecords;
  const files = FileSink.forJsonLines<Numbered>(join(directory, 'out', 'records'));
  return slowedSink(files, () => (slow-- > 0 ? settings.slowEachMs : 0));
}

function build(): StreamExecutionEnvironment {
  const { alignedTimeoutMs, parallelism } = settings;
  const env = StreamExecutionEnvironment.getExecutionEnvironment(
    Configuration.from({
      'millrace.host': settings.host,
      'millrace.exchange.segment-size': settings.segmentBytes,
      'millrace.exchange.segments-per-channel': settings.segmentsPerChannel,
      'execution.checkpointing.interval': settings.checkpointIntervalMs,
      'execution.checkpointing.timeout': settings.checkpointTimeoutMs,
      'execution.checkpointing.tolerable-failed-checkpoints': 1000,
      'execution.checkpointing.unaligned.enabled': alignedTimeoutMs !== undefined,
      'execution.checkpointing.aligned-checkpoint-timeout': alignedTimeoutMs ?? 0,
      'execution.state-recovery.path': 'latest',
      'execution.buffer-timeout.interval': '5 ms',
      'web.checkpoints.history': 1000,
    }),
  );
  env.setParallelism(parallelism);
  env.setMaxParallelism(64);
  env.setStateBackend(new FsStateBackend(`file://${directory}/checkpoints`, 1024));
  env.setRestartStrategy(RestartStrategies.noRestart());
  env
    .fromSource(
      new GatedSource(numbered(settings.records)),
      WatermarkStrategy.noWatermarks(),
      'records',
      NUMBERED,
    )
    .uid('records')
    .keyBy(({ key }) => key, Types.STRING)
    .process(InOrder, NUMBERED)
    .uid('in order')
    .rebalance()
    .sinkTo(slowSink())
    .uid('sink');
  return env;
}

/** Tells of each checkpoint that ends; kills the process when it is time to. */
async function follow(client: JobClient): Promise<void> {
  const told = new Set<number>();
  let completed = 0;
  for (;;) {
    await delay(STATISTICS_POLL_MS);
    const status = client.getJobStatus();
    for (const checkpoint of client.getCheckpointStatistics().history.toReversed()) {
      if (checkpoint.status === 'IN_PROGRESS' || told.has(checkpoint.id)) continue;
      told.add(checkpoint.id);
      const { id, end_to_end_duration: durationMs, persisted_data: inFlightBytes } = checkpoint;
      const failure = checkpoint.status === 'FAILED' ? String(checkpoint.failure_message) : undefined;
      tell({ type: 'checkpoint', id, failure, durationMs, inFlightBytes });
      // The first is taken before any record.
      if (failure === undefined && id > 0) completed++;
    }
    if (completed >= (settings.killAfterCheckpoints ?? Number.POSITIVE_INFINITY)) {
      await delay(KILL_DELAY_MS);
      process.kill(process.pid, 'SIGKILL');
    }
    if (status !== 'RUNNING' && status !== 'CREATED') return;
  }
}

const client = await build().executeAsync('slow sink');
tell({ type: 'status', status: client.getJobStatus() });
void follow(client);
try {
  const { restarts, completedCheckpoints, failedCheckpoints } = await client.getJobExecutionResult();
  tell({ type: 'finished', restarts, checkpoints: completedCheckpoints, failures: failedCheckpoints });
} catch (error) {
  tell({ type: 'failed', message: String(error) });
  process.exitCode = 1;
}
