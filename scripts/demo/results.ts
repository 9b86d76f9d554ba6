/** Reads what the job of the demonstration wrote, and compares it with what it must be. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Expected } from './expected.ts';

interface TotalsRow {
  readonly airport: string;
  readonly count: number;
  readonly meanDelay: number;
  readonly worstDelay: number;
}

export interface Results {
  readonly totals: ReadonlyMap<string, TotalsRow>;
  readonly windows: ReadonlyMap<string, { readonly count: number; readonly meanDelay: number }>;
  readonly silent: readonly string[];
  /** What was written more than once. */
  readonly duplicates: readonly string[];
}

/** Reads the finished files below `directory`; in-progress files are hidden and do not count. */
export function readResults(directory: string): Results {
  const duplicates: string[] = [];
  const totals = new Map<string, TotalsRow>();
  for (const row of rows<TotalsRow>(join(directory, 'totals'))) {
    if (totals.has(row.airport)) duplicates.push(`totals of ${row.airport}`);
    totals.set(row.airport, row);
  }
  const windows = new Map<string, { count: number; meanDelay: number }>();
  for (const row of rows<{ airport: string; hour: number; count: number; meanDelay: number }>(
    join(directory, 'windows'),
  )) {
    const key = `${row.airport} ${row.hour}`;
    if (windows.has(key)) duplicates.push(`window ${key}`);
    windows.set(key, row);
  }
  const silent = rows<{ airport: string; since: number }>(join(directory, 'silent')).map(
    (row) => `${row.airport} ${row.since}`,
  );
  return { totals, windows, silent: silent.sort(), duplicates };
}

/** Sentences about all that differs. */
export function differences(expected: Expected, found: Results): string[] {
  const list = found.duplicates.map((what) => `${what} was written twice`);
  for (const [airport, { count, delaySum, worstDelay }] of expected.totals) {
    const row = found.totals.get(airport);
    if (row === undefined) list.push(`totals of ${airport} are missing`);
    else if (row.count !== count || row.meanDelay !== delaySum / count || row.worstDelay !== worstDelay) {
      list.push(
        `totals of ${airport}: ${JSON.stringify(row)}, expected ${JSON.stringify({ count, delaySum, worstDelay })}`,
      );
    }
  }
  for (const airport of found.totals.keys())
    if (!expected.totals.has(airport)) list.push(`totals of ${airport} are too much`);
  for (const [key, { count, delaySum }] of expected.windows) {
    const row = found.windows.get(key);
    if (row === undefined) list.push(`window ${key} is missing`);
    else if (row.count !== count || row.meanDelay !== delaySum / count) {
      list.push(`window ${key}: ${JSON.stringify(row)}, expected ${JSON.stringify({ count, delaySum })}`);
    }
  }
  for (const key of found.windows.keys())
    if (!expected.windows.has(key)) list.push(`window ${key} is too much`);
  if (JSON.stringify(found.silent) !== JSON.stringify(expected.silent)) {
    list.push(`${found.silent.length} silences, expected ${expected.silent.length}, or others`);
  }
  return list;
}

function rows<T>(directory: string): T[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').trimEnd().split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}
