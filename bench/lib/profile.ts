/** Reads the CPU profiles that Node wrote for the threads of a process, and tells where their time went. */
import { globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { printTable } from './measure.ts';

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface SelfTime {
  /** Name, file and line. */
  readonly function: string;
  readonly ms: number;
  /** Of all time in which threads were not idle, 0 to 1. */
  readonly share: number;
}

/** Self time by function over all `.cpuprofile` files of the directory, longest first. */
function selfTimes(directory: string): SelfTime[] {
  const micros = new Map<string, number>();
  for (const file of globSync('*.cpuprofile', { cwd: directory })) {
    const profile: CpuProfile = JSON.parse(readFileSync(join(directory, file), 'utf8'));
    const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
    profile.samples.forEach((sample, i) => {
      const name = names.get(sample)!;
      if (name !== '(idle)') micros.set(name, (micros.get(name) ?? 0) + profile.timeDeltas[i]!);
    });
  }
  const total = [...micros.values()].reduce((sum, value) => sum + value, 0);
  return [...micros]
    .map(([name, value]) => ({ function: name, ms: value / 1000, share: value / total }))
    .sort((a, b) => b.ms - a.ms);
}

/**
 * Calls `run` with options that make Node.js write profiles into `name` within the directory `parent`, in the place of those of
 * earlier runs, and prints where the time went; without `parent` just calls it.
 */
export function profiled<F>(name: string, parent: string | undefined, run: (nodeOptions: string[]) => F): F {
  if (parent === undefined) return run([]);
  const directory = join(resolve(parent), name);
  mkdirSync(directory, { recursive: true });
  for (const file of globSync('*.cpuprofile', { cwd: directory })) rmSync(join(directory, file));
  const result = run(['--cpu-prof', `--cpu-prof-dir=${directory}`]);
  printProfile(name, directory);
  return result;
}

function printProfile(name: string, directory: string): void {
  console.log(`\n${name}: self time, profiles in ${directory}`);
  const rows = selfTimes(directory).slice(0, 30);
  printTable(
    ['share', 'ms', 'function'],
    rows.map(({ share, ms, function: where }) => [`${(share * 100).toFixed(1)} %`, ms.toFixed(0), where]),
  );
  console.log();
}

function nameOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (name.startsWith('(') && url === '' && lineNumber < 0) return name;
  // Generated code has no file.
  const file = url === '' ? 'generated' : url.startsWith('node:') ? url : basename(url);
  return `${name} ${file}:${lineNumber + 1}`;
}
