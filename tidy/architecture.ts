/**
 * ARCHITECTURE.md stays true: the paths in its table of questions exist, and its table of floors lists the floors of
 * .dependency-cruiser.mjs in their order, with `testing` last.
 */
import { type RepositoryFile, section } from './repository.ts';

const ENGINE = 'packages/engine/src/';

export function architecture(files: readonly RepositoryFile[], floors: readonly string[]): string[] {
  const text = files.find(({ path }) => path === 'ARCHITECTURE.md')?.text ?? '';
  const paths = new Set(files.map(({ path }) => path));
  const violations: string[] = [];

  const rows = tableRows(section(text, 'Questions'));
  if (rows.length === 0) violations.push('ARCHITECTURE.md: the table of questions is missing');
  for (const path of rows.flatMap(quoted).filter((name) => name.includes('/'))) {
    if (!paths.has(path) && !paths.has(ENGINE + path))
      violations.push(`ARCHITECTURE.md: ${path} does not exist`);
  }

  const described = tableRows(section(text, 'Floors')).map((row) => quoted(row)[0] ?? '');
  const expected = [...floors, 'testing'];
  if (described.join() !== expected.join()) {
    violations.push(`ARCHITECTURE.md: the table of floors must be ${expected.join(', ')}`);
  }
  return violations;
}

/** The rows of the tables in `markdown`, without the heading and the rule below it. */
function tableRows(markdown: string): string[] {
  return (markdown.match(/^\|.*\|$/gm) ?? []).slice(2);
}

function quoted(row: string): string[] {
  return [...row.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
}
