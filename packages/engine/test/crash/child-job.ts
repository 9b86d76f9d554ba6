/**
 * Runs a job module as a child process, listens to what it says of itself, and kills it when it is told to. Used by the
 * tests that need a whole process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { CrashJobSettings, JobNews } from './crash-job-frame.ts';

/** Longer than any run takes on a slow machine: what hangs is killed and reported. */
const DEADLINE_MS = 60_000;
const COMPILE_CACHE = join(tmpdir(), 'millrace-compile-cache');

/** When the child is killed. */
export interface KillMoment {
  /** `start`: after the process was started. `running`: after the job said that it is running. */
  readonly after: 'start' | 'running';
  readonly delayMs: number;
}

/** How a child process ended. */
export interface ChildEnd {
  /** `ended` by itself, `killed` at the moment that was asked for, or `hung` and killed for that. */
  readonly how: 'ended' | 'killed' | 'hung';
  readonly exitCode: number | null;
  /** Everything the job said of itself. */
  readonly news: readonly JobNews[];
  readonly errors: string;
}

/** The last status the job had; undefined if it did not come that far. */
export function lastStatus(end: ChildEnd): string | undefined {
  for (const news of end.news.toReversed()) if (news.type === 'status') return news.status;
  return undefined;
}

/** What the job said at its end; undefined if it was killed before. */
export function finish(end: ChildEnd): Extract<JobNews, { type: 'finished' }> | undefined {
  return end.news.find((news) => news.type === 'finished');
}

/** Runs a crash job until it ends or is killed. `settings` are given to it; `module` is relative to this folder. */
export function runCrashJob(
  settings: Pick<CrashJobSettings, 'module'>,
  kill?: KillMoment,
  nodeOptions: readonly string[] = [],
): Promise<ChildEnd> {
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const child = spawn(
    process.execPath,
    ['--conditions=millrace-source', ...nodeOptions, join(import.meta.dirname, settings.module)],
    {
      // The compiled modules are kept, so that the hundredth start does not compile them once more.
      env: { ...env, CRASH_JOB: JSON.stringify(settings), NODE_COMPILE_CACHE: COMPILE_CACHE },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  return follow(child, kill);
}

function follow(child: ChildProcess, kill: KillMoment | undefined): Promise<ChildEnd> {
  const news: JobNews[] = [];
  let errors = '';
  let how: ChildEnd['how'] = 'ended';
  const timers: NodeJS.Timeout[] = [];
  const killAfter = (delayMs: number, reason: 'killed' | 'hung'): void => {
    const strike = (): void => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      if (child.kill('SIGKILL')) how = reason;
    };
    timers.push(setTimeout(strike, delayMs));
  };
  if (kill?.after === 'start') killAfter(kill.delayMs, 'killed');
  killAfter(DEADLINE_MS, 'hung');
  let isRunning = false;
  createInterface({ input: child.stdout! }).on('line', (line) => {
    if (!line.startsWith('{')) return;
    const said = JSON.parse(line) as JobNews;
    news.push(said);
    if (said.type !== 'status' || said.status !== 'RUNNING' || isRunning) return;
    isRunning = true;
    if (kill?.after === 'running') killAfter(kill.delayMs, 'killed');
  });
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  return new Promise((resolve) => {
    child.on('close', (exitCode, signal) => {
      for (const timer of timers) clearTimeout(timer);
      resolve({ how: signal === 'SIGKILL' ? how : 'ended', exitCode, news, errors });
    });
  });
}
