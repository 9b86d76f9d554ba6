/**
 * Runs a whole job in a test: every operator, exchange, checkpoint and timer of the engine, in one thread, with files in
 * memory and time that stands still until the test moves it. So a test of ten lines sees what happens after a day, a crash
 * or a change of the parallelism, and gives the same result each time.
 *
 *     TestSource ──► the job as the user wrote it ──► TestSink
 *                      ▲ advanceWatermark, advanceTime, snapshot, kill, restoreFrom
 *
 * Records that operators emit and values that they read from state are frozen: code that changes them fails.
 */
import type { StreamExecutionEnvironment } from '../../api/index.ts';
import { MIN_WATERMARK, MillraceError } from '../../base/index.ts';
import {
  type CompletedSnapshot,
  createCheckpointStorage,
  findLatestSnapshot,
  openVerifiedSnapshot,
} from '../../checkpoint/index.ts';
import type { JobStatus } from '../../coordinator/index.ts';
import type { JobGraph, WatermarkGenerator, WatermarkStrategySpec } from '../../runtime/index.ts';
import { checkedPlan, type ManualJob, startManualJob, yieldToPromises } from '../manual-job.ts';
import { createManualPlatform, type LoggedLine, type ManualPlatform } from '../manual-platform.ts';
import { frozenGraph } from './frozen-graph.ts';
import { TestSource } from './test-source.ts';

/** Longer than any test: checkpoints are taken when the test asks for them. */
const NO_PERIOD_MS = 1e12;
const TIME_STEPS = 1000;
/** A source that still has records after so many turns waits for time, or its job for ever. */
const TURNS_MAX = 10_000;
/** Turns of the event loop that nothing that runs in one thread and memory needs. */
const SETTLING_TURNS = 10;

/** Options of JobTestHarness. */
export interface JobTestOptions {
  /** Of operators that set none; default 1. */
  readonly parallelism?: number;
  /** Wall time at the start, milliseconds since 1970; default 1 January 2024. */
  readonly startTimeMs?: number;
}

/** State of a job, to go on from. */
export interface JobTestSnapshot {
  readonly platform: ManualPlatform;
  readonly directory: string;
}

/** Writes a job into the environment, as a program would, up to `execute`. */
export type BuildJob = (env: StreamExecutionEnvironment) => void;

/**
 * Runs a whole job in a test, in one thread, with files in memory and time that stands still until the test moves it.
 * Records that operators emit and values that they read from state are frozen: code that changes them fails.
 */
export class JobTestHarness {
  private readonly build: BuildJob;
  private options: JobTestOptions;
  private readonly platform: ManualPlatform;
  private readonly jobId: string;
  private jobName = '';
  private sources: readonly TestSource<unknown>[] = [];
  private job!: ManualJob;

  private constructor(build: BuildJob, options: JobTestOptions, platform: ManualPlatform) {
    this.build = build;
    this.options = options;
    this.platform = platform;
    this.jobId = platform.random.hex(16);
  }

  /**
   * Starts a job. Resolves when it runs; rejects with what it failed of.
   */
  static async start(build: BuildJob, options: JobTestOptions = {}): Promise<JobTestHarness> {
    const platform = createManualPlatform({ wallMs: options.startTimeMs, yieldToEventLoop: yieldToPromises });
    return JobTestHarness.launch(build, options, platform, undefined);
  }

  /**
   * Starts a job, the same one or a changed one, from a snapshot, perhaps at another parallelism. Time goes on from where
   * it was. Rejects if the state does not fit (RESTORE_MISMATCH, STATE_SCHEMA_INCOMPATIBLE).
   */
  static async restoreFrom(
    snapshot: JobTestSnapshot,
    build: BuildJob,
    options: JobTestOptions = {},
  ): Promise<JobTestHarness> {
    const opened = await openVerifiedSnapshot(snapshot.platform, snapshot.directory);
    return JobTestHarness.launch(build, options, snapshot.platform, opened);
  }

  private static async launch(
    build: BuildJob,
    options: JobTestOptions,
    platform: ManualPlatform,
    initial: CompletedSnapshot | undefined,
  ): Promise<JobTestHarness> {
    const harness = new JobTestHarness(build, options, platform);
    await harness.run(initial);
    return harness;
  }

  /** What the job does at this moment. */
  getJobStatus(): JobStatus {
    return this.job.master.getStatus();
  }

  /** Milliseconds since 1970, as the job sees them. */
  get timeMs(): number {
    return this.platform.clock.wallMs();
  }

  /** What the job logged. */
  get logged(): readonly LoggedLine[] {
    return this.platform.logged;
  }

  /** What `print()` printed. */
  get printed(): readonly string[] {
    return this.platform.printed;
  }

  /** Lets the job process everything that was emitted; time stands still. Rejects with what the job failed of. */
  async process(): Promise<void> {
    let idleTurns = 0;
    for (let turn = 0; turn < TURNS_MAX && idleTurns < SETTLING_TURNS; turn++) {
      await yieldToPromises();
      this.throwFailure();
      idleTurns = this.sources.every((source) => source.isRead) ? idleTurns + 1 : 0;
    }
  }

  /**
   * Moves processing time on, in a thousand steps: timers fire in the order of their times, and see a clock that is late by
   * at most a step. Rejects with INVALID_ARGUMENT for negative times.
   */
  async advanceTime(byMs: number): Promise<void> {
    if (!(byMs >= 0 && byMs < Number.POSITIVE_INFINITY))
      throw notAllowed(`time goes on, by milliseconds, not by ${byMs}`);
    await this.process();
    const stepMs = Math.max(1, Math.ceil(byMs / TIME_STEPS));
    for (let leftMs = byMs; leftMs > 0; leftMs -= stepMs) {
      this.platform.advance(Math.min(stepMs, leftMs));
      await yieldToPromises();
    }
    await this.process();
  }

  /**
   * Processes what was emitted, then moves event time on: all test sources (or the given ones) emit this watermark, unless
   * their watermark strategy is further already. Rejects with INVALID_ARGUMENT for a source that the job does not read.
   */
  async advanceWatermark(watermarkMs: number, ...sources: readonly TestSource<never>[]): Promise<void> {
    await this.process();
    const moved =
      sources.length === 0 ? this.sources : (sources as readonly unknown[] as typeof this.sources);
    if (!Number.isSafeInteger(watermarkMs))
      throw notAllowed(`a watermark is a whole number of milliseconds, not ${watermarkMs}`);
    for (const source of moved) {
      if (!this.sources.includes(source))
        throw notAllowed('the job does not read from a TestSource that was given');
      source.advanceWatermark(watermarkMs);
    }
    await this.process();
  }

  /** Ends all test sources and lets the job finish. Rejects with what it failed of. */
  async finish(): Promise<void> {
    for (const source of this.sources) source.end();
    await this.process();
    if (this.job.report() !== undefined) return;
    throw notAllowed(
      'the job has not finished after its test sources ended: it waits for time (advanceTime) or for another source',
    );
  }

  /** Takes a checkpoint: what was written is committed. Rejects with CHECKPOINT_FAILED. */
  async checkpoint(): Promise<void> {
    await this.process();
    await this.take('checkpoint', undefined);
    await this.process();
  }

  /** Takes a savepoint of the job, which goes on; nothing is committed. */
  async snapshot(): Promise<JobTestSnapshot> {
    await this.process();
    const checkpointId = await this.take('savepoint', '/savepoints');
    const directory = this.job.master.statistics.checkpoints.summaryOf(checkpointId)!.path!;
    return { platform: this.platform, directory };
  }

  /**
   * Kills the job without a word, as kill -9 does, and starts it again from its last completed checkpoint, perhaps at
   * another parallelism. Sources read again what was not in it, sinks lose what was not committed. A job that has failed
   * starts again too; one that has finished does not (INVALID_ARGUMENT).
   */
  async kill(options: JobTestOptions = {}): Promise<void> {
    if (this.getJobStatus() === 'FINISHED') throw notAllowed('the job has finished: nothing is left to kill');
    await this.stop();
    this.options = { ...this.options, ...options };
    const { snapshot } = await findLatestSnapshot(this.platform, this.directory, this.jobName, 'stop');
    await this.run(snapshot);
  }

  /** Ends the job as it is. */
  async close(): Promise<void> {
    await this.stop();
  }

  private async stop(): Promise<void> {
    if (this.job.report() !== undefined) return;
    this.job.master.cancel();
    for (let turn = 0; turn < SETTLING_TURNS && this.job.report() === undefined; turn++)
      await yieldToPromises();
  }

  private async run(initial: CompletedSnapshot | undefined): Promise<void> {
    const { graph, settings } = await checkedPlan((env) => {
      env.configure({ parallelism: this.options.parallelism ?? 1 });
      this.build(env);
    });
    this.sources = testSourcesOf(graph);
    const { checkpoint } = settings;
    this.jobName = graph.jobName;
    const storage = { kind: 'filesystem', uri: this.directory, inlineThresholdBytes: 1024 } as const;
    this.job = await startManualJob(
      { graph: withTestWatermarks(frozenGraph(graph)), settings },
      this.platform,
      {
        jobId: this.jobId,
        lineageId: this.jobId,
        checkpoint: {
          ...checkpoint,
          intervalMs: checkpoint.intervalMs ?? NO_PERIOD_MS,
          storage,
          retention: 'RETAIN_ON_CANCELLATION',
        },
        storage: createCheckpointStorage(this.platform, storage),
        restart: { kind: 'none' },
        // Asked at every turn of a source: a watermark of the test is sent at once.
        autoWatermarkIntervalMs: 0,
        initial,
      },
    );
    await this.process();
  }

  /** Each harness has its own. */
  private get directory(): string {
    return `/checkpoints/${this.jobId}`;
  }

  private async take(kind: 'checkpoint' | 'savepoint', directory: string | undefined): Promise<number> {
    const answer = this.job.master.requestCheckpoint(kind, directory);
    await this.process();
    const result = await answer;
    if (result.type === 'completed') return result.checkpointId;
    throw new MillraceError('CHECKPOINT_FAILED', `the ${kind} did not complete: ${result.message}`);
  }

  private throwFailure(): void {
    const error = this.job.report()?.error;
    if (error !== undefined) throw error;
  }
}

function notAllowed(message: string): MillraceError {
  return new MillraceError('INVALID_ARGUMENT', message);
}

function testSourcesOf(graph: JobGraph): TestSource<unknown>[] {
  return graph.vertices.flatMap(({ source }) =>
    source?.source instanceof TestSource ? [source.source] : [],
  );
}

/** The watermarks of test sources are those of the job's strategy or of the test, whichever is further. */
function withTestWatermarks(graph: JobGraph): JobGraph {
  const vertices = graph.vertices.map((vertex) => {
    const { source } = vertex;
    if (!(source?.source instanceof TestSource)) return vertex;
    return { ...vertex, source: { ...source, watermarks: testWatermarks(source.source, source.watermarks) } };
  });
  return { ...graph, vertices };
}

function testWatermarks(
  source: TestSource<unknown>,
  spec: WatermarkStrategySpec | undefined,
): WatermarkStrategySpec {
  const createGenerator = (): WatermarkGenerator => {
    const own = spec?.createGenerator();
    return {
      onEvent: (value, timestampMs, output) => own?.onEvent(value, timestampMs, output),
      onPeriodicEmit: (output) => Math.max(own?.onPeriodicEmit(output) ?? MIN_WATERMARK, source.watermarkMs),
    };
  };
  return { assigner: undefined, idleTimeoutMs: undefined, ...spec, createGenerator, inline: undefined };
}
