/**
 * A session cluster of Flink on this machine: a JobManager and a TaskManager, started by the scripts of the distribution as
 * child processes of this one. The scripts replace themselves by Java, so the ids of the children are those of the two.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type FlinkJob, type FlinkJobFigures, FlinkRest } from './flink-rest.ts';
import { type ClusterSettings, configText } from './flink-settings.ts';
import { cpuNanosOf, peakResidentBytesOf } from './process-figures.ts';
import type { FlinkHome } from './set-up.ts';

const START_TIMEOUT_MS = 120_000;
const POLL_MS = 20;
const STARTS_MAX = 3;

export interface FlinkRunFigures extends FlinkJobFigures {
  /** Of both processes and what they started, from the submission on. */
  readonly cpuNanos: number;
}

export class FlinkCluster {
  readonly home: FlinkHome;
  readonly rest: FlinkRest;
  readonly restPort: number;
  /** For files of jobs; removed with the cluster. */
  readonly directory: string;
  private readonly settings: ClusterSettings;
  private readonly jobManager: ChildProcess;
  private taskManager: ChildProcess;
  private jar: string | undefined;
  private readonly stopAtExit = (): void => this.stop();

  private constructor(home: FlinkHome, settings: ClusterSettings, directory: string, restPort: number) {
    this.home = home;
    this.settings = settings;
    this.directory = directory;
    this.restPort = restPort;
    this.rest = new FlinkRest(restPort);
    this.jobManager = this.start('jobmanager');
    this.taskManager = this.start('taskmanager');
    process.once('exit', this.stopAtExit);
  }

  /** Resolves as soon as jobs can be submitted. */
  static async start(home: FlinkHome, settings: ClusterSettings): Promise<FlinkCluster> {
    for (let starts = 1; ; starts++) {
      try {
        return await FlinkCluster.startOnce(home, settings);
      } catch (error) {
        // Another process may have taken a port since it was found free.
        if (starts === STARTS_MAX || !String(error).includes('BindException')) throw error;
      }
    }
  }

  private static async startOnce(home: FlinkHome, settings: ClusterSettings): Promise<FlinkCluster> {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-flink-'));
    const conf = join(directory, 'conf');
    for (const folder of [conf, join(directory, 'log')]) mkdirSync(folder);
    const [rpc, rest] = [await freePort(), await freePort()];
    writeFileSync(join(conf, 'config.yaml'), configText(home.directory, settings, { rpc, rest }));
    for (const logging of ['log4j-console.properties', 'log4j-cli.properties']) {
      copyFileSync(join(home.directory, 'conf', logging), join(conf, logging));
    }
    const cluster = new FlinkCluster(home, settings, directory, rest);
    try {
      await cluster.until(() => cluster.rest.answers());
      cluster.jar = await cluster.rest.upload(home.jobs);
    } catch (error) {
      cluster.stop();
      throw error;
    }
    return cluster;
  }

  async untilSlotsAreFree(): Promise<void> {
    await this.until(async () => (await this.rest.freeSlots()) === this.settings.slots);
  }

  /** Resolves with the id of the job. */
  submit(job: FlinkJob): Promise<string> {
    return this.rest.submit(this.jar!, job);
  }

  /** Runs a job that ends. `submit` submits it and resolves with its id. */
  async run(submit: () => Promise<string>): Promise<FlinkRunFigures> {
    const cpuBefore = this.cpuNanos();
    const figures = await this.rest.untilFinished(await submit());
    return { ...figures, cpuNanos: this.cpuNanos() - cpuBefore };
  }

  cpuNanos(): number {
    return cpuNanosOf(this.jobManager.pid!) + cpuNanosOf(this.taskManager.pid!);
  }

  /** Of both processes, each at its own peak. */
  peakResidentBytes(): number {
    return peakResidentBytesOf(this.jobManager.pid!) + peakResidentBytesOf(this.taskManager.pid!);
  }

  /** Kills the TaskManager without warning, and starts another one at once. */
  replaceTaskManager(): void {
    this.taskManager.kill('SIGKILL');
    this.taskManager = this.start('taskmanager');
  }

  /** Kills both processes and removes their files. */
  stop(): void {
    process.off('exit', this.stopAtExit);
    this.jobManager.kill('SIGKILL');
    this.taskManager.kill('SIGKILL');
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Variables for the scripts of the distribution. */
  environment(): NodeJS.ProcessEnv {
    const { home, directory } = this;
    return {
      ...process.env,
      ...(home.java !== 'java' && { JAVA_HOME: dirname(dirname(home.java)) }),
      FLINK_HOME: home.directory,
      FLINK_CONF_DIR: join(directory, 'conf'),
      FLINK_LIB_DIR: this.settings.hasPython ? home.pythonLibraries : home.libraries,
      FLINK_LOG_DIR: join(directory, 'log'),
      FLINK_PID_DIR: directory,
      // Python inside the JVM does not find the virtual environment by itself.
      PYTHONPATH: dirname(home.directory),
    };
  }

  private start(kind: 'jobmanager' | 'taskmanager'): ChildProcess {
    const log = openSync(join(this.directory, 'log', `${kind}.out`), 'a');
    return spawn(join(this.home.directory, 'bin', `${kind}.sh`), ['start-foreground'], {
      stdio: ['ignore', log, log],
      env: this.environment(),
    });
  }

  private async until(isSo: () => Promise<boolean>): Promise<void> {
    const end = performance.now() + START_TIMEOUT_MS;
    while (!(await isSo())) {
      const hasEnded = this.jobManager.exitCode !== null || this.taskManager.exitCode !== null;
      if (hasEnded || performance.now() > end) throw new Error(`Flink does not start:\n${this.lastOutput()}`);
      await delay(POLL_MS);
    }
  }

  private lastOutput(): string {
    return ['jobmanager', 'taskmanager']
      .map((kind) => readFileSync(join(this.directory, 'log', `${kind}.out`), 'utf8').slice(-2000))
      .join('\n');
  }
}

/** Free a moment ago. */
function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer().once('error', reject);
  server.listen(0, 'localhost', () => {
    const { port } = server.address() as { port: number };
    server.close(() => resolve(port));
  });
  return promise;
}
