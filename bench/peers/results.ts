/**
 * The results: kept in a file of the cache, a comparison at a time, so that a long run may be done in parts and may end early;
 * and written as tables to bench/RESULTS.md.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { grouped } from '../lib/measure.ts';
import { type Comparison, type Measured, type Quantity, timesBetter } from './comparison.ts';

const STORE = join(import.meta.dirname, '.cache/results.json');
const PAGE = join(import.meta.dirname, '../RESULTS.md');

/** A section of the page: the text above its table. */
export interface Section {
  readonly title: string;
  readonly about: string;
}

export interface StoredComparison {
  readonly section: string;
  readonly name: string;
  readonly quantities: readonly Quantity[];
  readonly measured: readonly Measured[];
  readonly runs: number;
  /** What was asked for in place of the default sizes. */
  readonly sizes: string;
  /** yyyy-mm-dd. */
  readonly date: string;
  /** Load average of the machine over the last quarter of an hour; the comparison's own share is 1 to 2. */
  readonly load: number;
}

/** Keeps the result in place of an older one of the same comparison, and writes the page anew. */
export function storeResult(
  { section, name, quantities }: Comparison,
  measured: readonly Measured[],
  { runs, sizes }: { readonly runs: number; readonly sizes: string },
  sections: readonly Section[],
  versions: readonly string[],
): void {
  const date = new Date().toISOString().slice(0, 10);
  const stored = { section, name, quantities, measured, runs, sizes, date, load: loadavg()[2]! };
  const others = readStored().filter((other) => other.name !== name);
  const all = [...others, stored];
  mkdirSync(dirname(STORE), { recursive: true });
  writeFileSync(STORE, JSON.stringify(all, null, 1));
  writeFileSync(PAGE, pageText(all, sections, [machineText(), ...versions]));
}

function readStored(): readonly StoredComparison[] {
  return existsSync(STORE) ? JSON.parse(readFileSync(STORE, 'utf8')) : [];
}

function machineText(): string {
  const all = cpus();
  const memoryGb = Math.round(totalmem() / 2 ** 30);
  return `${all.length} cores (${all[0]!.model.trim()}), ${memoryGb} GB of memory, ${platform()} ${arch()}`;
}

/** The whole page. `versions` are lines of a list. */
export function pageText(
  all: readonly StoredComparison[],
  sections: readonly Section[],
  versions: readonly string[],
): string {
  const parts = [
    '# Millrace and its peers',
    'Written by `npm run bench -- peers`; peers/README.md says how it is measured. A ratio says how many times better Millrace is ' +
      'than the peer on its left: above 1 Millrace is ahead, below 1 the peer is.',
    versions.map((line) => `- ${line}`).join('\n'),
  ];
  for (const { title, about } of sections) {
    const rows = all.filter(({ section }) => section === title);
    if (rows.length > 0) parts.push(`## ${title}`, about, tableText(rows));
  }
  return `${parts.join('\n\n')}\n`;
}

function tableText(rows: readonly StoredComparison[]): string {
  const names = [...new Set(rows.flatMap(({ measured }) => measured.map(({ contender }) => contender)))];
  const [ours, ...peers] = names;
  const header = ['job', 'figure', ours!, ...peers.flatMap((peer) => [peer, 'ratio']), 'measured'];
  const lines = [header, header.map(() => '---')];
  const inOrder = rows.toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
  for (const row of inOrder) for (const quantity of row.quantities) lines.push(lineOf(row, quantity, names));
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function lineOf(row: StoredComparison, quantity: Quantity, names: readonly string[]): string[] {
  const figureOf = (name: string): number | undefined =>
    row.measured.find(({ contender }) => contender === name)?.figures[quantity.name];
  const ours = figureOf(names[0]!);
  const cells = [row.name, quantity.name, figureText(ours)];
  for (const peer of names.slice(1)) {
    const theirs = figureOf(peer);
    const isThere = ours !== undefined && theirs !== undefined;
    cells.push(figureText(theirs), isThere ? ratioText(timesBetter(quantity, ours, theirs)) : '');
  }
  const sizes = row.sizes === '' ? '' : `, ${row.sizes}`;
  cells.push(`${row.date}, runs: ${row.runs}${sizes}, load ${row.load.toFixed(1)}`);
  return cells;
}

function figureText(figure: number | undefined): string {
  if (figure === undefined) return '';
  return figure < 10 ? figure.toFixed(2) : grouped(figure);
}

function ratioText(ratio: number): string {
  return ratio < 10 ? ratio.toFixed(2) : ratio.toFixed(0);
}
