/** What a crash test says when something is wrong: what, where, why in most cases, and how to see it again. Pure. */
import { MillraceError } from '../../base/index.ts';
import type { Difference, DifferenceKind } from './compare-results.ts';
import type { RunFailure } from './crash-run.ts';
import type { ResultPlace } from './crash-test-context.ts';
import type { OutsideCall } from './outside-calls.ts';
import type { CrashTestRun } from './plan-runs.ts';

/** Where two runs differ. */
export interface ResultDifference extends Difference {
  readonly name: string;
  readonly type: ResultPlace['type'];
}

/** What is known of a finding. */
export interface Finding {
  /** A sentence: what is wrong. */
  readonly title: string;
  /** What was done to the run, a line each. */
  readonly events: readonly string[];
  readonly difference?: ResultDifference | undefined;
  /** What the job failed of. */
  readonly error?: unknown;
  readonly causes: readonly string[];
  /** Of the real world that the job's code asked. */
  readonly outside: readonly OutsideCall[];
  /** Undefined: it shows without a crash. */
  readonly run?: CrashTestRun | undefined;
}

const IN_FIELDS =
  'state that is kept in a field of the function, or in a variable, is gone after a crash: keep it in state (getState, ' +
  'getListState, …)';
const NOT_RESTORED = 'snapshotState writes operator state that initializeState does not read again';
const NOT_A_FUNCTION =
  'results depend on the time (processing time, new Date), on randomness, or on how records of different partitions or ' +
  'subtasks interleave';
const NOT_TRANSACTIONAL =
  'records are processed again after a crash, so an effect outside of a transactional sink happens again: write it through a ' +
  "sink that commits with the checkpoint, make it idempotent, or accept it with guarantee: 'at-least-once'";

/** In the order in which they are likely. */
const CAUSES: Readonly<Record<DifferenceKind, readonly string[]>> = {
  lost: [
    IN_FIELDS,
    NOT_RESTORED,
    'the code waits for something that came before the crash and does not come again',
  ],
  repeated: [NOT_TRANSACTIONAL, `${IN_FIELDS}, such as what is known to be a duplicate`],
  changed: [IN_FIELDS, NOT_RESTORED, NOT_A_FUNCTION],
  unexpected: [IN_FIELDS, NOT_A_FUNCTION],
  reordered: [
    'results of asynchronous calls are emitted as they come (unorderedWait)',
    'results of a key go through several subtasks (rebalance, another keyBy)',
    'what an asynchronous function or operator state held went to several subtasks at a restore with another parallelism',
  ],
  told: [IN_FIELDS, NOT_RESTORED, NOT_A_FUNCTION],
};

const OF_CHANCE = [
  NOT_A_FUNCTION,
  'results of asynchronous calls are used in the order in which they come (unorderedWait)',
  'variables of the module, which live longer than a run: each run needs its own',
];

/** Why results differ after a crash. */
export function causesAfterCrash({ kind, type }: ResultDifference): readonly string[] {
  return type === 'effect' && kind !== 'lost'
    ? [NOT_TRANSACTIONAL, ...CAUSES[kind].slice(0, 1)]
    : CAUSES[kind];
}

/** Why they differ by themselves. */
export function causesOfChance(): readonly string[] {
  return OF_CHANCE;
}

export function describeFailure(failure: RunFailure): string {
  switch (failure.type) {
    case 'failed':
      return 'it fails';
    case 'stuck':
      return 'it waits for something that never happens';
    case 'endless':
      return 'it does not come to its end';
  }
}

export function causesOfFailure(failure: RunFailure): readonly string[] {
  switch (failure.type) {
    case 'failed':
      return causesOfError(failure.error);
    case 'stuck':
      return [
        'a function waits for something of the real world, such as a timer, a file or an answer of a server, which is not ' +
          'simulated: replace it in the test, with delay(milliseconds) for the time that it takes',
        'a promise that is never settled',
      ];
    case 'endless':
      return [
        'a source that does not end: take source(records)',
        'timers that set themselves again for ever',
        'a function waits for something of the real world, which is not simulated: take delay(milliseconds)',
      ];
  }
}

function causesOfError(error: unknown): readonly string[] {
  switch (error instanceof MillraceError ? error.code : undefined) {
    case 'JOB_HAS_NO_SOURCE':
      return ['the job calls execute(): it is written up to there, the test executes it'];
    case 'RESTORE_MISMATCH':
    case 'PLAN_NOT_STABLE':
      return ['a uid or name made of a random value, the time, or a counter that lives longer than the job'];
    default:
      return [];
  }
}

/** The whole text. */
export function reportText({ title, events, difference, error, causes, outside, run }: Finding): string {
  const lines = [title, ...indented(events)];
  if (difference !== undefined)
    lines.push(`  ${difference.type} '${difference.name}':`, ...indented(indented(difference.lines)));
  if (error !== undefined) lines.push(...indented(errorLines(error)));
  if (outside.length > 0) {
    lines.push('What the job called in this run that is not simulated:');
    lines.push(...indented(outside.map(({ name, place }) => `${name} at ${place}`)));
  }
  if (causes.length > 0) lines.push('Typical causes:', ...causes.map((cause) => `  - ${cause}`));
  if (run !== undefined) lines.push(`This run again: crashTest({ …, only: ${runText(run)} })`);
  return lines.join('\n');
}

function runText(run: CrashTestRun): string {
  const which = 'seed' in run ? `seed: ${run.seed}` : `step: ${run.step}`;
  return `{ parallelism: ${run.parallelism}, ${which} }`;
}

/** The error, and what caused it, with the place of the innermost. */
function errorLines(error: unknown): string[] {
  const lines: string[] = [];
  let innermost: Error | undefined;
  for (let at = error; at instanceof Error; at = at.cause) {
    lines.push(`${at instanceof MillraceError ? at.code : at.name}: ${at.message}`);
    innermost = at;
  }
  if (innermost === undefined) return [String(error)];
  const frame = (innermost.stack ?? '').split('\n').find((line) => /^\s+at .*:\d+:\d+/.test(line));
  return frame === undefined ? lines : [...lines, frame.trim()];
}

function indented(lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split('\n')).map((line) => `  ${line}`);
}
