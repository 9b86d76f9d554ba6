/** What `npm run sim` is told on its command line. */
import { parseArgs } from 'node:util';
import { SCENARIOS } from '../../packages/sim/src/index.ts';

export const USAGE = `npm run sim -- [what] [options]
  --seeds A..B             these seeds (default: 1..2000)
  --minutes M              for that long, from a seed that nobody has had, or from A with --seeds A..
  --seed N                 this one, twice, with what was drawn
  --seed N --trace         and a line for each event
  --bugs                   finds the bugs on purpose

  --workload NAME          of: ${SCENARIOS.map(({ name }) => name).join(', ')}
  --jobs K                 processes, default 1
  --check-determinism      runs every seed twice, not only one in fifty`;

/** A run of `npm run sim`. */
export type Task =
  | { readonly type: 'one'; readonly seed: number; readonly trace: boolean }
  | {
      readonly type: 'many';
      readonly first: number;
      readonly last: number;
      readonly minutes: number | undefined;
    }
  | { readonly type: 'bugs' };

export interface Arguments {
  readonly task: Task;
  readonly workload: string | undefined;
  readonly jobs: number;
  /** Every so many seeds one is run twice. */
  readonly twiceEvery: number;
}

const DEFAULT_SEEDS = '1..2000';
const TWICE_EVERY = 50;
const JOBS_MAX = 64;

/** Throws an Error that says what is wrong. */
export function parseArguments(args: readonly string[], nowMs: number): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string' },
      minutes: { type: 'string' },
      seed: { type: 'string' },
      trace: { type: 'boolean' },
      bugs: { type: 'boolean' },
      workload: { type: 'string' },
      jobs: { type: 'string', default: '1' },
      'check-determinism': { type: 'boolean' },
    },
  });
  const { workload } = values;
  if (workload !== undefined && !SCENARIOS.some(({ name }) => name === workload))
    throw new Error(`--workload ${workload}: there is no such workload`);
  return {
    task: taskOf(values, nowMs),
    workload,
    jobs: wholeNumber('--jobs', values.jobs, 1, JOBS_MAX),
    twiceEvery: values['check-determinism'] === true ? 1 : TWICE_EVERY,
  };
}

interface TaskValues {
  readonly seeds?: string | undefined;
  readonly minutes?: string | undefined;
  readonly seed?: string | undefined;
  readonly trace?: boolean | undefined;
  readonly bugs?: boolean | undefined;
}

function taskOf({ seeds, minutes, seed, trace, bugs }: TaskValues, nowMs: number): Task {
  if (bugs === true) return { type: 'bugs' };
  if (seed !== undefined)
    return {
      type: 'one',
      seed: wholeNumber('--seed', seed, 0, Number.MAX_SAFE_INTEGER),
      trace: trace === true,
    };
  if (minutes === undefined) return { type: 'many', ...rangeOf(seeds ?? DEFAULT_SEEDS), minutes: undefined };
  const lasting = Number(minutes);
  if (!(lasting > 0)) throw new Error(`--minutes ${minutes}: expected a positive number`);
  return { type: 'many', ...rangeOf(seeds ?? `${Math.floor(nowMs / 1000)}000..`), minutes: lasting };
}

function rangeOf(text: string): { readonly first: number; readonly last: number } {
  const match = /^(\d+)\.\.(\d*)$/.exec(text);
  if (match === null) throw new Error(`--seeds ${text}: expected a range such as 1..2000`);
  const last = match[2] === '' ? Number.MAX_SAFE_INTEGER : Number(match[2]);
  return { first: Number(match[1]), last };
}

function wholeNumber(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new Error(`${option} ${text}: expected a whole number from ${min} to ${max}`);
}
