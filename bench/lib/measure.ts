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

/**
 * Runs `file` in a process of its own; its arguments are `settings` as JSON and a directory that is removed afterwards. It
 * prints one JSON line last. `nodeOptions` come before the file. Throws if the process fails.
 */
export function runChild<T>(file: string, settings: unknown, nodeOptions: readonly string[] = []): T {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-'));
  try {
    const options = ['--conditions=millrace-source', ...nodeOptions];
    const child = spawnSync(process.execPath, [...options, file, JSON.stringify(settings), directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    if (child.status !== 0)
      throw new Error(`${file} ended with ${child.status ?? child.signal}\n${child.stdout}`);
    return JSON.parse(child.stdout.trimEnd().split('\n').at(-1)!) as T;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
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
