/**
 * An idle job in virtual time whose checkpoints take as long as the test says, and a record of when each of them began. For
 * the rules of when checkpoints begin.
 */
import { type JobClient, RestartStrategies, Types, WatermarkStrategy } from '@millrace/engine';
import type { Sink, Source } from '@millrace/engine/connector';
import { createManualPlatform, type ManualPlatform } from '../src/testing/manual-platform.ts';
import { Gate, GatedSource } from './gated-source.ts';
import { environmentOn } from './small-job.ts';

const SETTINGS = {
  'execution.checkpointing.interval': 1000,
  'execution.checkpointing.min-pause': 500,
  'execution.checkpointing.timeout': 5000,
  'execution.checkpointing.tolerable-failed-checkpoints': 2,
};

export interface Script {
  /** Milliseconds that the sink takes for each checkpoint, by id; others take none. */
  readonly durations?: Readonly<Record<number, number>>;
  /** The sink fails at this checkpoint, once. */
  readonly failsAt?: number;
  /** By configuration key; on top of an interval of 1000, a pause of 500, a timeout of 5000, and 2 tolerable failures. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Default: one that emits nothing and does not end. */
  readonly source?: Source<number>;
}

/** An idle job, and when each of its checkpoints reached the sink, counted from the start of the first attempt. */
export class PacedJob {
  readonly starts: (readonly [id: number, ms: number])[] = [];
  /** Checkpoints that the sink was told to be complete. */
  readonly completed: number[] = [];
  readonly platform: ManualPlatform = createManualPlatform();
  client!: JobClient;
  private hasFailed = false;

  async start(script: Script = {}): Promise<this> {
    const { platform } = this;
    const env = environmentOn(platform, { ...SETTINGS, ...script.settings });
    env.setRestartStrategy(RestartStrategies.fixedDelayRestart(1, 0));
    const source = script.source ?? new GatedSource([[1]], new Gate(0));
    env.fromSource(source, WatermarkStrategy.noWatermarks(), 'nothing', Types.INT).sinkTo(this.sink(script));
    this.client = await env.executeAsync('paced');
    this.client.getJobExecutionResult().catch(() => {});
    await this.pass(0);
    return this;
  }

  private sink({ durations = {}, failsAt }: Script): Sink<number, number, never> {
    const { platform, starts, completed } = this;
    let runningSince: number | undefined;
    return {
      guarantee: 'none',
      createWriter: () => ({
        write() {},
        prepareCommit: (id) => {
          runningSince ??= platform.clock.monotonicMs();
          starts.push([id, platform.clock.monotonicMs() - runningSince]);
          if (id === failsAt && !this.hasFailed) {
            this.hasFailed = true;
            throw new Error('a failure on purpose');
          }
          return new Promise((resolve) => platform.timers.after(durations[id] ?? 0, () => resolve([id])));
        },
        close() {},
      }),
      createCommitter: () => ({
        commit: async (ids) => void completed.push(...ids),
        close() {},
      }),
    };
  }

  /** In small steps, because threads would go on meanwhile. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 50) await this.platform.advanceAndSettle(50);
    await this.platform.settle();
  }

  async end(): Promise<void> {
    const cancelled = this.client.cancel();
    await this.pass(100);
    await cancelled;
  }
}
