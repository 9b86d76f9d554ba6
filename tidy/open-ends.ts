/** Work that is left is an issue, not a mark in a comment. */
import type { RepositoryFile } from './repository.ts';

const MARK = /\b(?:TODO|FIXME|XXX|HACK)\b/;

export function openEnds(files: readonly RepositoryFile[]): string[] {
  return files
    .filter(({ path }) => /\.(?:ts|mjs|md)$/.test(path) && !path.startsWith('tidy/open-ends'))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => {
        const mark = MARK.exec(line);
        return mark === null ? [] : [`${path}:${index + 1} ${mark[0]}: finish it or file an issue`];
      }),
    );
}
