/** What the sinks of a benchmark counted, which each subtask leaves in a file for the thread that checks it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CountTotals } from './count-records.ts';

/** Over what an earlier job left there. */
export function writeTotals(directory: string, subtask: number, totals: CountTotals): void {
  writeFileSync(fileOf(directory, subtask), JSON.stringify(totals));
}

/** Of all subtasks together. Throws if one has left nothing. */
export function readTotals(directory: string, subtasks: number): CountTotals {
  let results = 0;
  let sum = 0;
  for (let subtask = 0; subtask < subtasks; subtask++) {
    const totals: CountTotals = JSON.parse(readFileSync(fileOf(directory, subtask), 'utf8'));
    results += totals.results;
    sum += totals.sum;
  }
  return { results, sum };
}

function fileOf(directory: string, subtask: number): string {
  return join(directory, `totals-${subtask}.json`);
}
