/**
 * The demonstration: runs flights-job.ts on three million real flights, kills it with SIGKILL in the middle, starts it
 * again from its latest checkpoint, lets one of its tasks fail later on, and compares everything it wrote with a direct
 * computation over the file. Exit code 1 if anything differs.
 *
 *     npm run demo -- [--records N] [--no-kill]
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { computeDirectly, type Expected } from './expected.ts';
import { differences, readResults } from './results.ts';

interface Progress {
  readonly status: string;
  /** Since the start or the last restart of the job. */
  readonly records: number;
  readonly recordsPerSecond: number;
  /** Metrics of the job, as docs/reference/metrics.md describes them. */
  readonly job: Readonly<Record<string, number>>;
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const directory = join(root, '.demo');
const { values } = parseArgs({ options: { records: { type: 'string' }, 'no-kill': { type: 'boolean' } } });
const records = Number(values.records ?? 3_000_000);
if (!Number.isSafeInteger(records) || records < 1 || records > 3_000_000) {
  console.error(`--records ${values.records}: expected a whole number from 1 to 3000000`);
  process.exit(2);
}
const withKill = values['no-kill'] !== true;
const flights = join(root, 'node_modules', 'vega-datasets', 'data', 'flights-3m.parquet');

rmSync(directory, { recursive: true, force: true });
mkdirSync(directory, { recursive: true });
console.log(`Computing what must come out of ${records} flights, without Millrace ...`);
const expected = await computeDirectly(flights, records);

let kills = 0;
let failures = 0;
let child = startJob(false);
if (withKill) {
  await until(
    child,
    (progress) => progress.records >= records * 0.35 && progress.job.numberOfCompletedCheckpoints! > 1,
  );
  child.process.kill('SIGKILL');
  kills++;
  await child.ended;
  console.log('\nKilled the job with SIGKILL. Starting it again from its latest checkpoint ...');
  child = startJob(true);
}
const exitCode = await child.ended;
failures += child.last?.job.numRestarts ?? 0;
if (exitCode !== 0) {
  console.error(`\nThe job ended with exit code ${exitCode}.`);
  process.exit(1);
}
verify(expected);

interface Job {
  readonly process: ChildProcess;
  readonly ended: Promise<number>;
  last: Progress | undefined;
  onProgress: ((progress: Progress) => void) | undefined;
}

function startJob(restore: boolean): Job {
  const settings = {
    flights,
    directory,
    records,
    restore,
    failAfter: withKill ? expected.dateAt(0.75) : Number.MAX_SAFE_INTEGER,
    failedMarker: join(directory, 'failed-once'),
  };
  const child = fork(join(root, 'scripts', 'demo', 'flights-job.ts'), {
    env: { ...process.env, MILLRACE_DEMO: JSON.stringify(settings) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const job: Job = {
    process: child,
    ended: new Promise((resolve) => child.on('exit', (code) => resolve(code ?? -1))),
    last: undefined,
    onProgress: undefined,
  };
  child.on('message', (message) => {
    const progress = message as Progress;
    job.last = progress;
    show(progress);
    job.onProgress?.(progress);
  });
  return job;
}

/** Resolves when the job has come that far, or has ended. */
function until(job: Job, reached: (progress: Progress) => boolean): Promise<void> {
  return new Promise((resolve) => {
    job.onProgress = (progress) => reached(progress) && resolve();
    void job.ended.then(() => resolve());
  });
}

function show(progress: Progress): void {
  const { lastCompletedCheckpointId, lastCheckpointDuration, lastCheckpointSize, numRestarts } = progress.job;
  const checkpoint =
    lastCompletedCheckpointId! < 0
      ? 'none yet'
      : `${lastCompletedCheckpointId} (${lastCheckpointDuration!.toFixed(0)} ms, ${(lastCheckpointSize! / 1024).toFixed(0)} KB)`;
  const line =
    `${progress.status.padEnd(10)} ${String(progress.records).padStart(9)} records  ` +
    `${Math.round(progress.recordsPerSecond).toLocaleString('en').padStart(10)}/s  ` +
    `checkpoint ${checkpoint}  restarts ${numRestarts}`;
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${line}`);
  else console.log(line);
}

function verify(expectedResults: Expected): void {
  const results = readResults(join(directory, 'out'));
  const found = differences(expectedResults, results);
  console.log('\n\nThe ten airports with the worst mean delay:');
  const worst = [...results.totals.values()].sort((a, b) => b.meanDelay - a.meanDelay).slice(0, 10);
  for (const { airport, count, meanDelay, worstDelay } of worst) {
    console.log(
      `  ${airport}  ${meanDelay.toFixed(1).padStart(6)} minutes on average, ${String(worstDelay).padStart(5)} at worst, ${count} flights`,
    );
  }
  if (found.length > 0) {
    console.error(`\nThe results differ from the direct computation:\n  ${found.slice(0, 20).join('\n  ')}`);
    process.exit(1);
  }
  const counted = [...results.totals.values()].reduce((sum, { count }) => sum + count, 0);
  console.log(
    `\n${results.totals.size} airports, ${results.windows.size} airport hours and ${results.silent.length} silences agree with the direct computation.`,
  );
  console.log(
    `verified: ${counted} of ${records} records counted exactly once after ${kills} ${kills === 1 ? 'kill' : 'kills'} and ${failures} ${failures === 1 ? 'failure' : 'failures'}`,
  );
}
