/** Figures of benchmarks: medians, CPU time, child processes that measure in a process of their own. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** CPU time of all threads of this process so far, in nanoseconds. */
export function cpuNanos(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
}

/** How programs find the packages: their sources, or as users get them, which takes a build. */
export const SOURCES = '--conditions=millrace-source';

/**
 * Runs `file` in a process of its own; its arguments are `settings` as JSON and a directory that is removed afterwards. It
 * prints one JSON line last. `nodeOptions` come before the file. Throws if the process fails.
 */
export function runChild<T>(file: string, settings: unknown, nodeOptions: readonly string[] = []): T {
  return inDirectory((directory) =>
    runProgram<T>([SOURCES, ...nodeOptions, file, JSON.stringify(settings), directory]),
  );
}

/** Runs Node with these arguments. The program prints one JSON line last. Throws if it fails. */
export function runProgram<T>(args: readonly string[], environment: NodeJS.ProcessEnv = process.env): T {
  const child = spawnSync(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: environment,
  });
  if (child.status !== 0)
    throw new Error(`${args.join(' ')} ended with ${child.status ?? child.signal}\n${child.stdout}`);
  return JSON.parse(child.stdout.trimEnd().split('\n').at(-1)!) as T;
}

/** What `use` returns, or resolves to, for an empty directory that is removed afterwards. */
export function inDirectory<T>(use: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-'));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  let result: T;
  try {
    result = use(directory);
  } catch (error) {
    remove();
    throw error;
  }
  if (result instanceof Promise) return result.finally(remove) as T;
  remove();
  return result;
}

/** Aligned columns. */
export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]!.length)),
  );
  const line = (cells: readonly string[]) =>
    cells.map((cell, column) => cell.padStart(widths[column]!)).join('  ');
  console.log(line(header));
  for (const row of rows) console.log(line(row));
}

/** With thousands separators. */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString('en');
}
