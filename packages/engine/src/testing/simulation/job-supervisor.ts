/**
 * What keeps a job alive in a simulated world, as systemd or a person would: starts a process that runs it, and another
 * one, from the latest checkpoint, whenever a process ended before the job did. In the process runs what runs in a user's:
 * environment, local executor, JobMaster, slots in threads.
 */

import { type JobClient, LocalExecutor, StreamExecutionEnvironment } from '../../api/index.ts';
import { Configuration } from '../../base/index.ts';
import type { Platform } from '../../platform/index.ts';
import type { ProcessEnd, SimulatedProcess } from './simulated-process.ts';
import type { SimulatedWorld } from './simulated-world.ts';

/** A job, and how it is started. */
export interface SupervisedJob {
  readonly name: string;
  /** Settings by configuration key, of each life of the job; lives count from 0. */
  settings(life: number): Readonly<Record<string, unknown>>;
  /** Writes the job into an environment, as a program would, up to `execute`. */
  build(env: StreamExecutionEnvironment): void;
  /** What else the program does while the job runs. Its rejection is the program's. */
  attend?(client: JobClient, platform: Platform): Promise<void>;
}

/** One process that ran, or runs, the job. */
export interface JobLife {
  readonly number: number;
  readonly process: SimulatedProcess;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly startedMs: number;
  /** undefined: it runs. */
  end: ProcessEnd | undefined;
  /** While it ran another process did, too. */
  wasBesideAnother: boolean;
}

/** Until a process that has gone is replaced. */
const RESTART_DELAY_MS = 100;

export class JobSupervisor {
  readonly lives: JobLife[] = [];
  /** Asked when a process has ended before the job did; false: it is not replaced. */
  replaces: (life: JobLife) => boolean = () => true;
  private readonly world: SimulatedWorld;
  private readonly job: SupervisedJob;

  constructor(world: SimulatedWorld, job: SupervisedJob) {
    this.world = world;
    this.job = job;
  }

  /** The job has come to its end, and no process of it is left. */
  get isOver(): boolean {
    return this.lives.length > 0 && this.lives.every(({ end }) => end !== undefined) && !this.isReplacing;
  }

  private isReplacing = false;

  /** Starts a process, also while another one runs the job. */
  start(): void {
    const number = this.lives.length;
    const settings = this.job.settings(number);
    const process = this.world.startProcess(
      (platform) => runJob(this.job, settings, platform),
      (end) => this.ended(life, end),
    );
    const others = this.lives.filter(({ end }) => end === undefined);
    for (const other of others) other.wasBesideAnother = true;
    const startedMs = this.world.nowMs;
    const wasBesideAnother = others.length > 0;
    const life: JobLife = { number, process, settings, startedMs, end: undefined, wasBesideAnother };
    this.lives.push(life);
  }

  private ended(life: JobLife, end: ProcessEnd): void {
    life.end = end;
    const isDone = this.lives.some((each) => each.end?.type === 'exited');
    const isCovered = this.lives.some((each) => each.end === undefined) || this.isReplacing;
    if (isDone || isCovered || !this.replaces(life)) return;
    this.isReplacing = true;
    this.world.at(RESTART_DELAY_MS, 'supervisor', 'start the job again', () => {
      this.isReplacing = false;
      this.start();
    });
  }
}

async function runJob(
  job: SupervisedJob,
  settings: Readonly<Record<string, unknown>>,
  platform: Platform,
): Promise<unknown> {
  const env = new StreamExecutionEnvironment(new LocalExecutor(platform), Configuration.from(settings));
  job.build(env);
  const client = await env.executeAsync(job.name);
  const [result] = await Promise.all([client.getJobExecutionResult(), job.attend?.(client, platform)]);
  return result;
}
