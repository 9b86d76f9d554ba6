/** Each source begins with a comment that says what it is. A short `index.ts` is a list and needs none. */
import { isSource, lineCount, type RepositoryFile } from './repository.ts';

const SHORT_INDEX_LINES = 60;

export function headerComments(files: readonly RepositoryFile[]): string[] {
  return files
    .filter(({ path, text }) => isSource(path) && !isShortIndex(path, text) && !hasHeader(text))
    .map(({ path }) => `${path}: begin with a comment that says what the file is`);
}

function isShortIndex(path: string, text: string): boolean {
  return path.endsWith('/index.ts') && lineCount(text) < SHORT_INDEX_LINES;
}

function hasHeader(text: string): boolean {
  const body = text.replace(/^#!.*\n/, '').trimStart();
  const comment = /^\/\*\*?([\s\S]*?)\*\/|^((?:\/\/.*\n?)+)/.exec(body);
  return comment !== null && /\w+\W+\w+/.test(comment[1] ?? comment[2] ?? '');
}
