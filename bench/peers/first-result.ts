/** When a job in another process had its first result: its sink leaves a file (flink/: FirstResultSink). */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const TIMEOUT_MS = 180_000;
const POLL_MS = 2;

/** Forgets what an earlier attempt left. */
export function forgetFirstResult(directory: string): void {
  rmSync(fileOf(directory), { force: true });
}

/** Resolves with the time of the first result, in milliseconds since the epoch, as soon as it is there. */
export async function untilFirstResult(directory: string): Promise<number> {
  const end = performance.now() + TIMEOUT_MS;
  while (!existsSync(fileOf(directory))) {
    if (performance.now() > end) throw new Error(`no result within ${TIMEOUT_MS / 1000} s`);
    await delay(POLL_MS);
  }
  return Number(readFileSync(fileOf(directory), 'utf8'));
}

function fileOf(directory: string): string {
  return join(directory, 'first-result');
}
