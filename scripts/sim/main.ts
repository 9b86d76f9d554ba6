/**
 * `npm run sim`: runs the production code through thousands of bad days (docs/design/003-simulator.md). Exit code 1 and the
 * command that replays it if a run shows something wrong; 2 for wrong arguments.
 */
import {
  BUGS,
  Coverage,
  formatTraceLine,
  problemOf,
  type RunResult,
  runTwice,
  type TraceLine,
} from '../../packages/sim/src/index.ts';
import { type Arguments, parseArguments, type Task, USAGE } from './arguments.ts';
import type { Order } from './worker-messages.ts';
import { runOrders } from './worker-pool.ts';

const SEEDS_PER_ORDER = 25;
const PROGRESS_EVERY_MS = 2000;

let parsed: Arguments;
try {
  parsed = parseArguments(process.argv.slice(2), Date.now());
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  process.exit(2);
}
const { task } = parsed;
const isGood =
  task.type === 'one'
    ? await runOne(task, parsed)
    : task.type === 'bugs'
      ? await runBugs(parsed)
      : await runMany(task, parsed);
process.exitCode = isGood ? 0 : 1;

async function runOne(
  { seed, trace }: Extract<Task, { type: 'one' }>,
  { workload }: Arguments,
): Promise<boolean> {
  const onLine = trace ? (line: TraceLine) => console.log(formatTraceLine(line)) : undefined;
  const result = await runTwice(seed, { workload, onLine });
  console.log(`seed ${seed}: ${result.workload}`);
  for (const [name, value] of Object.entries(result.features)) console.log(`  ${name}: ${value}`);
  console.log(`${result.events} events, ${result.lives} processes, hash ${result.traceHash}`);
  if (result.finding === undefined) console.log('nothing was found');
  else reportFinding(result, workload);
  return result.finding === undefined;
}

async function runMany(
  { first, last, minutes }: Extract<Task, { type: 'many' }>,
  { workload, jobs, twiceEvery }: Arguments,
): Promise<boolean> {
  const beganMs = performance.now();
  const endsMs = minutes === undefined ? Number.POSITIVE_INFINITY : beganMs + minutes * 60_000;
  const coverage = new Coverage();
  let [next, seeds, events, lives] = [first, 0, 0, 0];
  let found: RunResult | undefined;
  const nextOrder = (): Order | undefined => {
    if (next > last || found !== undefined || performance.now() >= endsMs) return undefined;
    const order: Order = {
      type: 'seeds',
      first: next,
      count: Math.min(SEEDS_PER_ORDER, last - next + 1),
      workload,
      twiceEvery,
    };
    next += order.count;
    return order;
  };
  const progress = (): string => {
    const seconds = (performance.now() - beganMs) / 1000;
    return `${seeds} seeds, ${(seeds / seconds).toFixed(0)} a second, ${(events / Math.max(1, seeds)).toFixed(0)} events and ${(lives / Math.max(1, seeds)).toFixed(1)} processes each`;
  };
  const timer = setInterval(() => console.error(progress()), PROGRESS_EVERY_MS);
  try {
    await runOrders(jobs, nextOrder, (answer) => {
      if (answer.type !== 'seeds') return;
      seeds += answer.ran;
      events += answer.events;
      lives += answer.lives;
      coverage.addAll(answer.coverage);
      found ??= answer.found;
    });
  } finally {
    clearInterval(timer);
  }
  console.log(coverage.format());
  console.log(`seeds ${first}..${next - 1}: ${progress()}`);
  if (found !== undefined) reportFinding(found, workload);
  return found === undefined;
}

async function runBugs({ jobs }: Arguments): Promise<boolean> {
  const left = BUGS.map(({ name }): Order => ({ type: 'bug', name }));
  const width = Math.max(...BUGS.map(({ name }) => name.length));
  const line = (name: string, seed: number | string, allowed: number | string, kind: string): void =>
    console.log(
      `${name.padEnd(width)}  ${String(seed).padStart(5)}  ${String(allowed).padStart(7)}  ${kind}`,
    );
  line('bug', 'seeds', 'allowed', 'found as');
  const problems: string[] = [];
  await runOrders(
    jobs,
    () => left.shift(),
    (answer) => {
      if (answer.type !== 'bug') return;
      const { bug, found } = answer.search;
      const problem = problemOf(answer.search);
      if (problem !== undefined) problems.push(`${bug.name} (${bug.description}): ${problem}`);
      line(bug.name, found?.seed ?? '-', bug.seedsMax, found?.finding?.kind ?? 'NOT FOUND');
    },
  );
  for (const problem of problems) console.log(problem);
  if (problems.length === 0) console.log(`all ${BUGS.length} bugs were found, and nothing without them`);
  return problems.length === 0;
}

function reportFinding({ seed, finding, workload }: RunResult, name: string | undefined): void {
  const option = name === undefined ? '' : ` --workload ${name}`;
  console.log(`\nFOUND ${finding!.kind} in seed ${seed}, ${workload}\n${finding!.message}`);
  console.log(`\nreplay: npm run sim -- --seed ${seed}${option} --trace`);
}
