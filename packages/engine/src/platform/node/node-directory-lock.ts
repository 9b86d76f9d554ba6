/**
 * Exclusive use of a directory by one process, by lock files, because Node offers no locks of the system.
 *
 * A lock is a file `_lock.<n>` that holds who has it. The directory belongs to the file with the highest number, if its
 * process lives and has not released it. To take it, one creates the next number: exactly one of several starters can.
 *
 *   nobody ──create _lock.1──▶ held(1) ──release: content replaced──▶ free(1) ──create _lock.2──▶ held(2) …
 *                                 └────── process gone ─────────────▶ free(1)
 *
 * I1 The highest number never goes down: lower files are deleted by the holder of a higher one only, and a released
 *    lock is marked, not deleted. So who decided by an old look at the directory either fails to create its number, or
 *    finds a higher one when it looks again, and has lost.
 * I2 A file appears with its whole content (written aside, then linked). One that cannot be read was torn by a power
 *    failure, so its process is gone.
 * I3 A process is known by pid and start time, a machine by name and boot: a pid that was given again is no holder.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { MillraceError } from '../../base/index.ts';
import { errnoOf } from '../file-system-error.ts';
import type { DirectoryLock } from '../platform.ts';

const LOCK_FILE = /^_lock\.([1-9]\d{0,14})$/;
/** Each lost round means that somebody else won one. */
const ROUNDS_MAX = 100;

/** Who holds a lock. */
interface Holder {
  readonly pid: number;
  /** When the process started, in whatever form the system says it. */
  readonly startTime: string;
  readonly host: string;
  /** Changes when the machine starts. */
  readonly boot: string;
  readonly released: boolean;
}

/** Takes the directory or throws CHECKPOINT_DIRECTORY_IN_USE. */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const highest = await highestLock(directory);
    if (highest > 0) await assertFree(directory, highest);
    const mine = highest + 1;
    if (!(await createLock(directory, mine))) continue;
    if ((await highestLock(directory)) !== mine) {
      await rm(lockPath(directory, mine), { force: true });
      continue;
    }
    await deleteBelow(directory, mine);
    return { release: () => releaseLock(directory, mine) };
  }
  throw new MillraceError('CHECKPOINT_DIRECTORY_IN_USE', `too many processes start in ${directory} at once`);
}

function lockPath(directory: string, number: number): string {
  return `${directory}/_lock.${number}`;
}

async function lockNumbers(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names.flatMap((name) => {
    const match = LOCK_FILE.exec(name);
    return match === null ? [] : [Number(match[1])];
  });
}

async function highestLock(directory: string): Promise<number> {
  return Math.max(0, ...(await lockNumbers(directory)));
}

async function createLock(directory: string, number: number): Promise<boolean> {
  const aside = await writeAside(directory, { ...self(), released: false });
  try {
    await link(aside, lockPath(directory, number));
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

async function writeAside(directory: string, holder: Holder): Promise<string> {
  const aside = `${directory}/.lock-${randomBytes(8).toString('hex')}`;
  await writeFile(aside, `${JSON.stringify(holder)}\n`, { flag: 'wx' });
  return aside;
}

async function assertFree(directory: string, number: number): Promise<void> {
  const holder = await readHolder(directory, number);
  if (holder === undefined || holder.released || !isAlive(holder)) return;
  const path = lockPath(directory, number);
  const elsewhere = holder.host !== self().host;
  const advice = elsewhere
    ? `Whether it still runs cannot be seen from here: if it does not, delete ${path}.`
    : 'Stop that job first, or give this one another directory.';
  throw new MillraceError(
    'CHECKPOINT_DIRECTORY_IN_USE',
    `${directory} is used by process ${holder.pid} on ${holder.host}. ${advice}`,
    { details: { directory, pid: holder.pid, host: holder.host } },
  );
}

/** undefined: the file is torn, or was deleted by the holder of a higher number. */
async function readHolder(directory: string, number: number): Promise<Holder | undefined> {
  try {
    const data: unknown = JSON.parse(await readFile(lockPath(directory, number), 'utf8'));
    const { pid, startTime, host, boot, released } = data as Partial<Holder>;
    if (typeof pid !== 'number' || typeof startTime !== 'string') return undefined;
    if (typeof host !== 'string' || typeof boot !== 'string') return undefined;
    return { pid, startTime, host, boot, released: released === true };
  } catch (error) {
    if (error instanceof SyntaxError || errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function deleteBelow(directory: string, mine: number): Promise<void> {
  const lower = (await lockNumbers(directory)).filter((number) => number < mine);
  await Promise.all(lower.map((number) => rm(lockPath(directory, number), { force: true })));
}

/** Marks the lock as released. No error if the whole directory is gone. */
async function releaseLock(directory: string, mine: number): Promise<void> {
  try {
    const aside = await writeAside(directory, { ...self(), released: true });
    await rename(aside, lockPath(directory, mine));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

function isAlive(holder: Holder): boolean {
  const me = self();
  if (holder.host !== me.host) return true;
  if (holder.boot !== me.boot) return false;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    if (errnoOf(error) === 'ESRCH') return false;
  }
  if (isZombie(holder.pid)) return false;
  const startTime = startTimeOf(holder.pid);
  return startTime === undefined || startTime === holder.startTime;
}

/** Dead, though its parent has not taken note of it: what runs as process 1 of a container often never does. */
function isZombie(pid: number): boolean {
  return process.platform === 'linux' && statOf(pid)?.startsWith('Z') === true;
}

let identity: Holder | undefined;

function self(): Holder {
  identity ??= {
    pid: process.pid,
    startTime: startTimeOf(process.pid) ?? '',
    host: hostname(),
    boot: readText('/proc/sys/kernel/random/boot_id') ?? '',
    released: false,
  };
  return identity;
}

/** undefined if the system does not say; a dead process has none either, but was looked for before. */
function startTimeOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    return statOf(pid)?.split(' ')[19];
  }
  if (process.platform === 'win32') return undefined;
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

/** From the third field on: the second, the command in parentheses, may hold anything. */
function statOf(pid: number): string | undefined {
  const text = readText(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(')') + 2);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
