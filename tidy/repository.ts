/**
 * The repository as the rules see it. A rule is a pure function from files to sentences, one for each violation;
 * its test shows it a fixture that breaks it and then the repository itself.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');

/** A file by its path from the root, with `/` between folders. */
export interface RepositoryFile {
  readonly path: string;
  readonly text: string;
}

/** Every source, document and package file; nothing that is installed, built or hidden. */
export function repositoryFiles(): RepositoryFile[] {
  const exclude = (name: string): boolean => /(^|\/)(node_modules|dist|\.[^/]+)$/.test(name);
  const paths = globSync('**/*.{ts,mjs,md,json}', { cwd: ROOT, exclude }).sort();
  return paths.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts');
}

/** TypeScript and JavaScript that is no test. */
export function isSource(path: string): boolean {
  return /\.(ts|mjs)$/.test(path) && !isTest(path);
}

/** What is built and shipped: the sources of a package. */
export function isPackageSource(path: string): boolean {
  return /^packages\/[^/]+\/src\//.test(path) && isSource(path);
}

export function lineCount(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

/** The text below the heading `## title` up to the next heading of that level; empty if there is none. */
export function section(markdown: string, title: string): string {
  const parts = markdown.split(/^## /m);
  return parts.find((part) => part.startsWith(`${title}\n`)) ?? '';
}
