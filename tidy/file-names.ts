/** A file is named after the one thing that it holds, so names that fit anything are banned, for folders too. */
import type { RepositoryFile } from './repository.ts';

const BANNED = ['util', 'utils', 'helper', 'helpers', 'common', 'misc', 'impl', 'manager', 'v2'];
/** Banned at the beginning of a longer name; the floor `base` is a word of its own. */
const BANNED_PREFIXES = ['abstract', 'base'];

export function fileNames(files: readonly RepositoryFile[]): string[] {
  return files
    .filter(({ path }) => /\.(ts|mjs)$/.test(path))
    .flatMap(({ path }) =>
      bannedWords(path).map((word) => `${path}: "${word}" says nothing about what it holds`),
    );
}

function bannedWords(path: string): string[] {
  return path.split('/').flatMap((name) => {
    const words = name.split(/[-.]/);
    const hasPrefix = name.includes('-') && BANNED_PREFIXES.includes(words[0]!);
    return words.filter((word, index) => BANNED.includes(word) || (index === 0 && hasPrefix));
  });
}
