/**
 * Measures how long a process takes from its start to the first record in the user's code, with the packages as users get
 * them, and what Node itself takes of that.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ColdStartSettings, ProcessMoment } from './cold-start-job.ts';
import { inDirectory, runProgram, SOURCES } from './measure.ts';

export interface ColdStart {
  /** From the start of the process to the first record. */
  readonly job: ProcessMoment;
  /** The same of a program that does nothing, right before. */
  readonly empty: ProcessMoment;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const jobFile = fileURLToPath(new URL('./cold-start-job.ts', import.meta.url));
const emptyFile = fileURLToPath(new URL('./empty-program.ts', import.meta.url));

/**
 * Makes the packages what their sources say, and answers with the options by which Node finds them. `small`: the sources
 * themselves are used, so that a test beside this one may build. Throws if they have errors.
 */
export function buildPackages(small = false): readonly string[] {
  if (small) return [SOURCES];
  const { status } = spawnSync(process.execPath, [join(root, 'scripts/build.ts')], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the packages cannot be built');
  return [];
}

/** One start. The packages must be built, or `nodeOptions` say SOURCES. `compileCache`: code that was compiled by an earlier start is used again. */
export function coldStart(
  settings: ColdStartSettings,
  {
    compileCache = false,
    nodeOptions = [],
  }: { compileCache?: boolean; nodeOptions?: readonly string[] } = {},
): ColdStart {
  return inDirectory((directory) => {
    const { NODE_COMPILE_CACHE: _, ...without } = process.env;
    const environment = compileCache
      ? { ...without, NODE_COMPILE_CACHE: join(directory, 'compiled') }
      : without;
    let starts = 0;
    const start = (): ColdStart => {
      const checkpoints = join(directory, `checkpoints-${starts++}`);
      mkdirSync(checkpoints);
      return {
        empty: runProgram<ProcessMoment>([...nodeOptions, emptyFile], environment),
        job: runProgram<ProcessMoment>(
          [...nodeOptions, jobFile, JSON.stringify(settings), checkpoints],
          environment,
        ),
      };
    };
    if (compileCache) start();
    return start();
  });
}
