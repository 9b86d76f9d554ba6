/**
 * Decides which runs a crash test makes. Pure: the same steps and seeds give the same runs, so that one number names a run.
 *
 *     undisturbed      nothing is done
 *     step n           the process is killed before step n of the undisturbed run of that parallelism
 *     seed n           what is killed, how often and when, and how fast the world is, is drawn
 */
import { seededRandom } from '../seeded-random.ts';
import type { WorldSpeeds } from '../simulation/index.ts';
import type { Kill, KillKind, RunPlan, Step } from './crash-run.ts';

/** Names one run of a crash test. */
export type CrashTestRun =
  | { readonly parallelism: number; readonly seed: number }
  | { readonly parallelism: number; readonly step: number };

/** Of the world in which steps are counted. */
const STEPS_SEED = 0;
const KILLS_MAX = 3;
/** One in so many kills is of this kind. */
const KINDS: readonly KillKind[] = ['process', 'process', 'process', 'machine', 'thread', 'task'];
/** Of each parallelism. More are thinned out. */
const STEPS_MAX = 300;
const COMPLETES = /^rename .* to .*\/chk-\d+\/_metadata$/;

/** The run whose steps are counted. */
export function undisturbedPlan(parallelism: number): RunPlan {
  return { seed: STEPS_SEED, speeds: {}, parallelism: () => parallelism, kills: [] };
}

/** Another one with nothing in common but the job. */
export function secondUndisturbedPlan(parallelism: number): RunPlan {
  const seed = STEPS_SEED - 1;
  return {
    ...undisturbedPlan(parallelism),
    seed,
    speeds: { messageMs: 3, wakeMs: 1, fileMs: 0.1, stepMs: 0.5 },
  };
}

/** The plan of a run, given how many steps the undisturbed one has. Restores draw from `parallelisms`. */
export function planOf(run: CrashTestRun, parallelisms: readonly number[], stepCount: number): RunPlan {
  if ('step' in run) {
    const restored = parallelisms[run.step % parallelisms.length]!;
    return {
      ...undisturbedPlan(run.parallelism),
      parallelism: (life) => (life === 0 ? run.parallelism : restored),
      kills: [{ kind: 'process', afterSteps: run.step }],
    };
  }
  const random = seededRandom(Math.imul(run.seed, 0x9e3779b1) + run.parallelism);
  const factor = (): number => random.pick([0.2, 1, 1, 10]);
  const speeds: Partial<WorldSpeeds> = {
    fileMs: 0.5 * factor(),
    messageMs: 0.1 * factor(),
    wakeMs: 0.05 * factor(),
  };
  const count = 1 + random.below(KILLS_MAX);
  const kills = Array.from({ length: count }, (_, index): Kill => {
    const afterSteps = random.below(Math.max(1, index === 0 ? stepCount : stepCount >> 1));
    return { kind: random.pick(KINDS), afterSteps };
  });
  const restored = kills.map(() => random.pick(parallelisms));
  return {
    seed: run.seed,
    speeds,
    parallelism: (life) => (life === 0 ? run.parallelism : restored[Math.min(life, restored.length) - 1]!),
    kills,
  };
}

/** How many checkpoints complete. */
export function countCheckpoints(steps: readonly Step[]): number {
  return steps.filter(isCompletion).length;
}

/**
 * The steps of one checkpoint in the middle of the run, from the completion of the one before to its own, and those of the
 * last one, up to the end: every operation on files, every message, every call of another system.
 */
export function stepsOfCheckpoints(steps: readonly Step[]): number[] {
  const completions = [...steps.keys()].filter((index) => isCompletion(steps[index]!));
  const middle = completions.length >> 1;
  const spans = [
    [completions[middle - 1] ?? 0, completions[middle] ?? steps.length],
    [completions.at(-2) ?? 0, steps.length],
  ] as const;
  const chosen = [...steps.keys()].filter(
    (index) =>
      ['file', 'message', 'call'].includes(steps[index]!.kind) &&
      spans.some(([from, to]) => index >= from && index <= to),
  );
  const every = Math.ceil(chosen.length / STEPS_MAX);
  return chosen.filter((_, index) => index % every === 0);
}

function isCompletion({ kind, detail }: Step): boolean {
  return kind === 'file' && COMPLETES.test(detail);
}
