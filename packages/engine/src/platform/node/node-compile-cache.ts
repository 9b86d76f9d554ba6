/**
 * Where the compiled code of worker threads is kept. Each thread loads the job's module and this package again; compiling
 * them, and taking the types out of them, is half of what that costs. Node can keep the result in files (`node:module`,
 * compile cache), for the next thread and the next process.
 *
 * Whoever can write there can have any code run: V8 does not check what it reads. So the directory is one that nobody but
 * this user can have made or changed, or there is none. `NODE_COMPILE_CACHE` names another one, for the main thread, too;
 * `NODE_DISABLE_COMPILE_CACHE=1` turns it off.
 */
import { lstatSync, mkdirSync, statSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const WRITABLE_BY_OTHERS = 0o022;
const ANY_BY_OTHERS = 0o077;
const STICKY = 0o1000;
const ROOT = 0;

/** Variables that say where, or that there is to be none; with coverage, what was kept would count wrongly. */
const DECIDED_BY = ['NODE_COMPILE_CACHE', 'NODE_DISABLE_COMPILE_CACHE', 'NODE_V8_COVERAGE'];

/** The environment that threads are started with; undefined: that of the process. Makes the directory if need be. */
export function threadEnvironment(
  environment: NodeJS.ProcessEnv = process.env,
  parent: string = tmpdir(),
): NodeJS.ProcessEnv | undefined {
  if (DECIDED_BY.some((name) => environment[name] !== undefined)) return undefined;
  const directory = privateDirectory(parent);
  return directory === undefined ? undefined : { ...environment, NODE_COMPILE_CACHE: directory };
}

/** The directory of this user below `parent`; undefined if others may have a hand in it, or there cannot be one. */
function privateDirectory(parent: string): string | undefined {
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  const directory = join(parent, `millrace-${uid}`);
  try {
    const above = statSync(parent);
    // With the sticky bit, others may write there, but neither rename nor replace what is not theirs.
    const isSafe = (above.mode & WRITABLE_BY_OTHERS) === 0 || (above.mode & STICKY) !== 0;
    if (!isSafe || (above.uid !== uid && above.uid !== ROOT)) return undefined;
    makeIfMissing(directory);
    const found = lstatSync(directory);
    const isOurs = found.isDirectory() && found.uid === uid && (found.mode & ANY_BY_OTHERS) === 0;
    return isOurs ? directory : undefined;
  } catch {
    return undefined;
  }
}

function makeIfMissing(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Writes what was compiled in this thread: Node itself would at its end, which a process that is killed does not have. */
export function keepCompiledCode(): void {
  flushCompileCache();
}
