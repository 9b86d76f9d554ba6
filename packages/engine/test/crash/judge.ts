/**
 * Judges what a job has left on disk: results, hidden files, checkpoints. Pure but for reading; used by the tests that
 * kill jobs, and tried itself by judge.test.ts.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { parquetLines } from './parquet-lines.ts';

/** The lines of all finished files below `directory`, sorted. Hidden files do not count. */
export function finishedLines(directory: string): string[] {
  return filesBelow(directory)
    .filter((path) => !isHidden(path))
    .flatMap((path) => linesOf(path))
    .sort();
}

/** Results by the folder they are in: the lines below each folder of `directory`. */
export function finishedByFolder(directory: string): Map<string, string[]> {
  if (!existsSync(directory)) return new Map();
  const folders = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return new Map(
    folders
      .map(({ name }) => [name, finishedLines(join(directory, name))] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Sentences about what differs, at most `sentencesMax`; empty if both are the same, line by line and as often. */
export function differences(
  expected: ReadonlyMap<string, readonly string[]>,
  found: ReadonlyMap<string, readonly string[]>,
  sentencesMax = 20,
): string[] {
  const sentences: string[] = [];
  for (const folder of new Set([...expected.keys(), ...found.keys()])) {
    const wanted = countOf(expected.get(folder) ?? []);
    const seen = countOf(found.get(folder) ?? []);
    for (const [line, count] of wanted) {
      const times = seen.get(line) ?? 0;
      if (times < count) sentences.push(`${folder}: ${times} instead of ${count} times: ${line}`);
    }
    for (const [line, times] of seen) {
      const count = wanted.get(line) ?? 0;
      if (times > count) sentences.push(`${folder}: ${times} instead of ${count} times: ${line}`);
    }
  }
  const more = sentences.length - sentencesMax;
  return more <= 0 ? sentences : [...sentences.slice(0, sentencesMax), `and ${more} more`];
}

/** One hash over all results: the same if they are the same byte for byte, after sorting. */
export function fingerprint(results: ReadonlyMap<string, readonly string[]>): string {
  const hash = createHash('sha256');
  for (const [folder, lines] of results) hash.update(`${folder}\n${lines.length}\n${lines.join('\n')}\n`);
  return hash.digest('hex');
}

/** Files of sinks that are not finished, by their path below `directory`. */
export function hiddenFiles(directory: string): string[] {
  return filesBelow(directory)
    .filter(isHidden)
    .map((path) => relative(directory, path))
    .sort();
}

/** Directories of checkpoints without `_metadata`, by their path below the checkpoint directory. */
export function incompleteCheckpoints(directory: string): string[] {
  return checkpointDirectories(directory)
    .filter((path) => !existsSync(join(path, '_metadata')))
    .map((path) => relative(directory, path));
}

/** Complete checkpoints, by their path below the checkpoint directory. */
export function completeCheckpoints(directory: string): string[] {
  return checkpointDirectories(directory)
    .filter((path) => existsSync(join(path, '_metadata')))
    .map((path) => relative(directory, path));
}

function checkpointDirectories(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .flatMap((job) =>
      readdirSync(join(directory, job))
        .filter((name) => /^chk-\d+$/.test(name))
        .map((name) => join(directory, job, name)),
    )
    .sort();
}

function filesBelow(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function isHidden(path: string): boolean {
  return path.slice(path.lastIndexOf('/') + 1).startsWith('.');
}

function linesOf(path: string): string[] {
  const bytes = readFileSync(path);
  if (path.endsWith('.parquet')) return parquetLines(bytes);
  const text = decompressed(path, bytes).toString('utf8');
  if (text === '') return [];
  if (!text.endsWith('\n')) throw new Error(`${path} does not end with a line break: it is torn`);
  return text.slice(0, -1).split('\n');
}

function decompressed(path: string, bytes: Buffer): Buffer {
  if (path.endsWith('.zst')) return zstdDecompressSync(bytes);
  return path.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}

function countOf(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}
