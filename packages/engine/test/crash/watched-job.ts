/**
 * Watched directories under crashes. Files appear, a log grows and is rotated while the job runs and is killed; what has
 * not been written when the process dies is written in its next life.
 *
 *     payments (read once), then feed/ (watched) ─► feed/
 *     logs/ (tailed, rotated) ────────────────────► logs/
 *
 * The sources are endless: the job is stopped when as many results are there as were written.
 */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { FileSink, FileSource, HybridSource, type JobClient, WatermarkStrategy } from '@millrace/engine';
import { env, runToEnd, settings } from './crash-job-frame.ts';
import { finishedLines } from './judge.ts';

const LOOK_MS = 10;
const CHECK_MS = 20;
const FEED_FILES = 50;
const LINES_A_FEED_FILE = 10;
const LOG_LINES = 600;
const LINES_AN_APPEND = 7;
const LINES_A_LOG = 100;

const feed = join(settings.directory, 'feed');
const logs = join(settings.directory, 'logs');
const out = join(settings.directory, 'out');

/** Writes the next file of the feed, if one is missing. */
function writeFeed(): void {
  const number = readdirSync(feed).filter((name) => !name.startsWith('.')).length;
  if (number >= FEED_FILES) return;
  const lines = Array.from({ length: LINES_A_FEED_FILE }, (_, i) =>
    JSON.stringify({ file: number, line: i }),
  );
  writeFileSync(join(feed, '.next'), `${lines.join('\n')}\n`);
  renameSync(join(feed, '.next'), join(feed, `feed-${number}.jsonl`));
}

/** Appends the next lines to the log; a full one makes room. A kill tears no write of that size. */
function writeLog(): void {
  const names = readdirSync(logs);
  const linesOf = (name: string): number => readFileSync(join(logs, name), 'utf8').split('\n').length - 1;
  const written = names.reduce((sum, name) => sum + linesOf(name), 0);
  if (written >= LOG_LINES) return;
  const log = join(logs, 'log');
  if (existsSync(log) && linesOf('log') >= LINES_A_LOG) renameSync(log, join(logs, `log.${names.length}`));
  const count = Math.min(LINES_AN_APPEND, LOG_LINES - written);
  appendFileSync(log, Array.from({ length: count }, (_, i) => `line ${written + i}\n`).join(''));
}

function produce(): void {
  const writes = Math.max(FEED_FILES, LOG_LINES / LINES_AN_APPEND);
  const write = (): void => {
    writeFeed();
    writeLog();
    setTimeout(write, settings.runMs / writes);
  };
  write();
}

function stopWhenAllIsThere(client: JobClient): void {
  const expected = settings.paymentCount + FEED_FILES * LINES_A_FEED_FILE + LOG_LINES;
  const check = (): void => {
    const isRunning = client.getJobStatus() === 'RUNNING';
    if (isRunning && finishedLines(out).length >= expected) void client.stop({ drain: true }).catch(retry);
    else setTimeout(check, CHECK_MS);
  };
  const retry = (): void => void setTimeout(check, CHECK_MS);
  check();
}

if (isMainThread) {
  mkdirSync(feed, { recursive: true });
  mkdirSync(logs, { recursive: true });
}

env
  .fromSource(
    HybridSource.builder(
      FileSource.forJsonLines(`${settings.directory}/payments`, undefined, { splitSizeBytes: 1024 }),
    )
      .addSource(FileSource.forJsonLines(feed).monitorContinuously(LOOK_MS))
      .build(),
    WatermarkStrategy.noWatermarks(),
    'feed',
  )
  .uid('feed')
  .sinkTo(FileSink.forJsonLines(join(out, 'feed')))
  .uid('feed-sink');

env
  .fromSource(
    FileSource.forTextLines(logs).monitorContinuously(LOOK_MS, { onGrowth: 'tail' }),
    WatermarkStrategy.noWatermarks(),
    'logs',
  )
  .uid('logs')
  .map((line) => ({ line }))
  .uid('lines')
  .sinkTo(FileSink.forJsonLines(join(out, 'logs')))
  .uid('logs-sink');

await runToEnd('watched directories', (client) => {
  produce();
  stopWhenAllIsThere(client);
});
process.exit();
