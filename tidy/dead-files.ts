/**
 * A source of a package that nothing imports but its own test is dead. Alive are: the entries that package.json
 * names, the front doors (`index.ts`), and what another source or a script imports or names as a relative path in a
 * string (the module of a worker thread).
 */
import { posix } from 'node:path';
import ts from 'typescript';
import { isPackageSource, type RepositoryFile } from './repository.ts';

export function deadFiles(files: readonly RepositoryFile[]): string[] {
  const alive = new Set<string>(files.flatMap(entries));
  for (const { path, text } of files) {
    const isSource = isPackageSource(path) || path.startsWith('scripts/');
    if (!isSource && !path.endsWith('.test.ts')) continue;
    for (const target of relativePaths(path, text)) {
      // What tests import is not alive for that, except the test world itself.
      if (target !== path && (isSource || target.includes('/testing/'))) alive.add(target);
    }
  }
  return files
    .filter(({ path }) => isPackageSource(path) && !path.endsWith('/index.ts') && !alive.has(path))
    .map(({ path }) => `${path}: nothing imports it`);
}

/** The sources named in a package.json, under `exports` or `bin`. */
function entries({ path, text }: RepositoryFile): string[] {
  if (!/^packages\/[^/]+\/package\.json$/.test(path)) return [];
  const sources = text.matchAll(/"\.\/((?:src|dist)\/[^"]+)\.(?:ts|js)"/g);
  return [...sources].map(([, name]) => `${posix.dirname(path)}/${name!.replace(/^dist/, 'src')}.ts`);
}

function relativePaths(path: string, text: string): string[] {
  const imports = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  const strings = [...text.matchAll(/['"`](\.{1,2}\/[^'"`\n]+\.(?:ts|js))['"`]/g)].map((match) => match[1]!);
  return [...imports, ...strings]
    .filter((name) => name.startsWith('.'))
    .map((name) => posix.join(posix.dirname(path), name.replace(/\.js$/, '.ts')));
}
