/**
 * The pages of the API: every name that users can import is on exactly one of them, and they are what the docstrings say.
 * TypeDoc itself is made to complain of names and methods without a docstring, which fails the last test.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { it } from 'node:test';
import { API_FOLDER, apiPages, groupFiles, namesOf } from '../../../scripts/api-reference.ts';

const ROOT = join(import.meta.dirname, '../../..');
const ENTRIES = ['index.ts', 'connector.ts', 'testing.ts'].map((name) =>
  join(import.meta.dirname, '../src', name),
);

it('every name that users can import is in exactly one group, and the groups have no others', () => {
  const exported = new Set(ENTRIES.flatMap(namesOf));
  const grouped = groupFiles().flatMap((file) =>
    namesOf(file).map((name) => ({ name, group: basename(file) })),
  );
  const groupsOf = Map.groupBy(grouped, ({ name }) => name);
  const wrong = [...new Set([...exported, ...groupsOf.keys()])].flatMap((name) => {
    const groups = groupsOf.get(name)?.map(({ group }) => group) ?? [];
    if (!exported.has(name)) return [`${name} in ${groups} is not exported any more`];
    return groups.length === 1
      ? []
      : [`${name} is in ${groups.length} groups: put it into one of scripts/reference`];
  });
  assert.deepEqual(wrong, []);
});

it('the pages in docs/reference/api are what the docstrings say, and each name has one', async () => {
  const pages = await apiPages();
  const found = globSync(`${API_FOLDER}/*.md`, { cwd: ROOT }).sort();
  assert.deepEqual(found, [...pages.keys()].sort());
  for (const [path, text] of pages)
    assert.equal(readFileSync(join(ROOT, path), 'utf8'), text, `${path} is old: npm run reference`);
});
