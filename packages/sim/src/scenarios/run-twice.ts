/** Runs a seed twice: the two runs must be the same, or something that is not simulated had a part in them. */
import { type RunOptions, type RunResult, runSeed } from './run-seed.ts';

/** The first run; with a finding if the second was another. */
export async function runTwice(seed: number, options: RunOptions = {}): Promise<RunResult> {
  const first = await runSeed(seed, options);
  const second = await runSeed(seed, { workload: options.workload });
  const isSame = first.traceHash === second.traceHash && first.finding?.message === second.finding?.message;
  if (isSame) return first;
  const runs = [first, second].map(({ events, traceHash }) => `${events} events, hash ${traceHash}`);
  return { ...first, finding: { kind: 'not-deterministic', message: runs.join(', then ') } };
}
