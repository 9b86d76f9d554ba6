/**
 * The two processes of the recovery measurement, which differ in their role; both take the settings as JSON and the directory
 * that they share.
 *
 * `fill` counts each key once, takes a checkpoint, tells so in a line and goes on, with nothing more to read, until it is killed.
 * `recover` starts from its latest checkpoint and counts some keys once more. Soon after its first output an operator
 * fails, once, and the job is restarted in the same process from the same checkpoint. It prints the times as JSON, and fails
 * unless each of these keys has then the count 2.
 *
 *     keys ── by key ─► count ─► fails once ─► sink, which says when its first output came
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Collector,
  Configuration,
  FsStateBackend,
  type JobClient,
  type KeyedProcessContext,
  KeyedProcessFunction,
  RestartStrategies,
  RichMapFunction,
  type RuntimeContext,
  StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from '@millrace/engine';
import type { Sink } from '@millrace/engine/connector';
import { firstRoundOrder } from './count-records.ts';
import { cpuNanos } from './measure.ts';
import { type Sequence, SequenceSource } from './sequence-source.ts';

export interface RecoverySettings {
  readonly host: 'inline' | 'workers';
  readonly parallelism: number;
  /** 32 bytes of state each. A multiple of the parallelism, 20,000 in each subtask at least. */
  readonly keys: number;
}

/** What the parent gives the two processes. */
export type RecoveryRole =
  | { readonly role: 'fill' }
  | { readonly role: 'recover'; readonly startedMs: number };

/** Milliseconds, one after the other. */
export interface RecoveryFigures {
  /** Of the checkpoint. */
  readonly stateBytes: number;
  /** After a kill. */
  readonly newProcess: {
    /** From the start of the process until it starts the job. */
    readonly loadMs: number;
    /** Until the checkpoint was found and each of its bytes compared with its checksum. */
    readonly verifyMs: number;
    /** Until all tasks have their state. */
    readonly restoreMs: number;
    readonly firstOutputMs: number;
    /** Of all threads, from the start of the process until then. */
    readonly cpuMs: number;
  };
  /** After a failure of an operator. */
  readonly inPlace: {
    /** From the failure until all tasks have ended and it is decided what they start from. */
    readonly endMs: number;
    /** Until the checkpoint was verified and all tasks have their state. */
    readonly restoreMs: number;
    readonly firstOutputMs: number;
    /** Of all threads, from the failure until then. */
    readonly cpuMs: number;
  };
}

/** Of the second round, in each subtask: two seconds. */
const RECORDS_PER_MS = 10;
const SECOND_ROUND = 20_000;
const FAILS_AFTER_MS = 500;

/** The same in all threads and processes. */
const nowMs = (): number => performance.timeOrigin + performance.now();

interface Moment {
  readonly ms: number;
  /** Of the process so far. */
  readonly cpuMs: number;
}

const moment = (): Moment => ({ ms: nowMs(), cpuMs: cpuNanos() / 1e6 });

const { keys, host, parallelism, ...given } = JSON.parse(process.argv[2]!) as RecoverySettings & RecoveryRole;
const directory = process.argv[3]!;
const keysEach = keys / parallelism;

/** Each key once, in mixed order; then the second round, at a pace that leaves the job time. */
function keyNumbers(subtask: number): Sequence<number> {
  const orderOf = firstRoundOrder(keys);
  let secondRoundMs: number | undefined;
  return {
    count: given.role === 'fill' ? Number.POSITIVE_INFINITY : keysEach + SECOND_ROUND,
    due() {
      if (given.role === 'fill') return keysEach;
      secondRoundMs ??= nowMs();
      return keysEach + Math.floor((nowMs() - secondRoundMs) * RECORDS_PER_MS) + 1;
    },
    emit(output, first, count) {
      for (let n = first; n < first + count; n++)
        output.collect(orderOf((n % keysEach) * parallelism + subtask));
    },
  };
}

class Count extends KeyedProcessFunction<number, number, number> {
  private count!: ValueState<number>;
  override open(context: RuntimeContext): void {
    this.count = context.getState(new ValueStateDescriptor('count', Types.LONG));
  }
  override processElement(_: number, _context: KeyedProcessContext<number>, out: Collector<number>): void {
    const count = (this.count.value() ?? 0) + 1;
    this.count.update(count);
    out.collect(count);
  }
}

/** In the first attempt of the second process, in one subtask. */
class FailOnce extends RichMapFunction<number, number> {
  private failsAtMs = Number.POSITIVE_INFINITY;
  override open(): void {
    const context = this.getRuntimeContext();
    if (given.role === 'recover' && context.getAttemptNumber() === 0 && context.getIndexOfThisSubtask() === 0)
      this.failsAtMs = 0;
  }
  override map(count: number): number {
    if (this.failsAtMs === 0) this.failsAtMs = nowMs() + FAILS_AFTER_MS;
    if (nowMs() >= this.failsAtMs) {
      writeFileSync(join(directory, 'failure'), JSON.stringify(moment()));
      throw new Error('a failure on purpose');
    }
    return count;
  }
}

/** What a subtask of the sink leaves behind. */
interface SinkData {
  /** undefined: nothing came. */
  readonly first?: Moment;
  readonly results: number;
}

function sinkFile(attempt: number, subtask: number): string {
  return join(directory, `sink-${attempt}-${subtask}`);
}

function checkingSink(): Sink<number> {
  return {
    guarantee: 'none',
    createWriter: ({ subtaskIndex, attemptNumber }) => {
      let first: Moment | undefined;
      let results = 0;
      return {
        write(count) {
          first ??= moment();
          results++;
          const expected = given.role === 'fill' ? 1 : 2;
          if (count !== expected)
            throw new Error(`wrong result: a key has the count ${count}, not ${expected}`);
        },
        prepareCommit: () => [],
        close() {
          const data: SinkData = { first, results };
          writeFileSync(sinkFile(attemptNumber, subtaskIndex), JSON.stringify(data));
        },
      };
    },
  };
}

/** The first output of an attempt, and how many there were. */
function outputOf(attempt: number): Required<SinkData> {
  const all = Array.from(
    { length: parallelism },
    (_, subtask): SinkData => JSON.parse(readFileSync(sinkFile(attempt, subtask), 'utf8')),
  );
  const [first] = all.flatMap((data) => data.first ?? []).sort((a, b) => a.ms - b.ms);
  return { first: first!, results: all.reduce((sum, data) => sum + data.results, 0) };
}

function startJob(): Promise<JobClient> {
  const env = StreamExecutionEnvironment.getExecutionEnvironment(
    Configuration.from(given.role === 'recover' ? { 'execution.state-recovery.path': 'latest' } : {}),
  );
  env.configure({ host, parallelism });
  // Checkpoints are asked for; none comes by itself.
  env.enableCheckpointing(24 * 3600 * 1000);
  env.setStateBackend(new FsStateBackend(`file://${directory}/checkpoints`));
  env.setRestartStrategy(RestartStrategies.fixedDelayRestart(1, 0));
  env
    .fromSource(
      new SequenceSource(Types.LONG, ({ subtaskIndex }) => keyNumbers(subtaskIndex)),
      WatermarkStrategy.noWatermarks(),
      'keys',
    )
    .uid('keys')
    .keyBy((key) => key, Types.LONG)
    .process(Count)
    .uid('count')
    .map(new FailOnce())
    .returns(Types.LONG)
    .sinkTo(checkingSink())
    .uid('sink');
  return env.executeAsync('recovery');
}

/** Does not return. */
async function fill(): Promise<void> {
  const client = await startJob();
  await client.untilRunning();
  client.getJobExecutionResult().catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
  const entries = () => client.metrics().tasks.reduce((sum, { values }) => sum + values['stateEntries']!, 0);
  while (entries() < keys) await new Promise((resolve) => setTimeout(resolve, 20));
  const { checkpointId } = await client.triggerCheckpoint();
  console.log(JSON.stringify({ checkpointId }));
}

async function recover(startedMs: number): Promise<RecoveryFigures> {
  const loadedMs = nowMs();
  const client = await startJob();
  await client.untilRunning();
  const runningMs = nowMs() - client.metrics().job['uptime']!;
  const { restored } = client.getCheckpointStatistics().latest;
  const explanation = client.explainRecovery();
  if (!explanation.includes(' was started from checkpoint ')) throw new Error(`not restored: ${explanation}`);
  const { lastCheckpoint } = await client.getJobExecutionResult();
  const runningAgainMs = nowMs() - client.metrics().job['uptime']!;
  const restarted = client.getCheckpointStatistics().latest.restored;
  const failure: Moment = JSON.parse(readFileSync(join(directory, 'failure'), 'utf8'));
  const { first } = outputOf(0);
  const again = outputOf(1);
  if (restarted!.id !== restored!.id || again.results !== SECOND_ROUND * parallelism)
    throw new Error(
      `wrong result: ${again.results} outputs after checkpoint ${restarted!.id}, not ${restored!.id}`,
    );
  return {
    stateBytes: lastCheckpoint!.stateSizeBytes,
    newProcess: {
      loadMs: loadedMs - startedMs,
      verifyMs: restored!.restore_timestamp - loadedMs,
      restoreMs: runningMs - restored!.restore_timestamp,
      firstOutputMs: first.ms - runningMs,
      cpuMs: first.cpuMs,
    },
    inPlace: {
      endMs: restarted!.restore_timestamp - failure.ms,
      restoreMs: runningAgainMs - restarted!.restore_timestamp,
      firstOutputMs: again.first.ms - runningAgainMs,
      cpuMs: again.first.cpuMs - failure.cpuMs,
    },
  };
}

if (given.role === 'fill') await fill();
else console.log(JSON.stringify(await recover(given.startedMs)));
