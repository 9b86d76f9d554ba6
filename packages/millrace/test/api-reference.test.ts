/**
 * The pages of the API: every name that users can import is on exactly one of them, with its members, and they are what the
 * docstrings say. TypeDoc itself is made to complain of names and methods without a docstring, which fails the tests that
 * read it.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { before, it } from 'node:test';
import { type DeclarationReflection, ReflectionKind } from 'typedoc';
import {
  API_FOLDER,
  type ApiReference,
  apiReference,
  groupFiles,
  namesOf,
} from '../../../scripts/api-reference.ts';

const ROOT = join(import.meta.dirname, '../../..');
const ENTRIES = ['index.ts', 'connector.ts', 'testing.ts'].map((name) =>
  join(import.meta.dirname, '../src', name),
);

let reference: ApiReference;

before(async () => {
  reference = await apiReference();
});

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

it('every class and interface shows its members', () => {
  const missing = (reference.project.children ?? []).flatMap(({ name: page, children: types }) => {
    const text = reference.pages.get(`${API_FOLDER}/${page}.md`)!;
    // A type and a constant may share a name.
    const sections = Map.groupBy(text.split(/^## /m), titleOf);
    return (types ?? [])
      .filter((type) => type.kindOf(ReflectionKind.ClassOrInterface))
      .flatMap((type) => {
        const shown = sections.get(type.name)?.flatMap(memberNames) ?? [];
        return membersOf(type).flatMap((name) =>
          shown.includes(name) ? [] : [`${page}.md: ${type.name}.${name}`],
        );
      });
  });
  assert.deepEqual(missing, []);
});

it('the pages in docs/reference/api are what the docstrings say, and each name has one', () => {
  const { pages } = reference;
  const found = globSync(`${API_FOLDER}/*.md`, { cwd: ROOT }).sort();
  assert.deepEqual(found, [...pages.keys()].sort());
  for (const [path, text] of pages)
    assert.ok(readFileSync(join(ROOT, path), 'utf8') === text, `${path} is old: npm run reference`);
});

/** Of an interface, and of a class that users extend: all that it does not inherit. Of other classes: what is new in them. */
function membersOf(type: DeclarationReflection): string[] {
  const { isAbstract } = type.flags;
  const isClass = type.kindOf(ReflectionKind.Class);
  const own = (type.children ?? []).filter((member) => {
    if (member.kindOf(ReflectionKind.Constructor) || member.inheritedFrom?.reflection !== undefined)
      return false;
    if (!isClass) return true;
    return isDocumented(member) && member.name !== 'toString' && (isAbstract || !isKnownAbove(type, member));
  });
  return own.map(({ name }) => name);
}

function isDocumented({ comment, signatures, getSignature }: DeclarationReflection): boolean {
  return [comment, getSignature?.comment, ...(signatures ?? []).map((each) => each.comment)].some(Boolean);
}

/** Also above classes that are not exported, which TypeDoc does not know. */
function isKnownAbove({ parent }: DeclarationReflection, member: DeclarationReflection): boolean {
  if (member.overwrites !== undefined || member.implementationOf !== undefined) return true;
  const types = (parent as DeclarationReflection).children ?? [];
  return types.some(
    ({ flags, children }) => flags.isAbstract && children?.some(({ name }) => name === member.name),
  );
}

/** `` `abstract` Trigger`` and ``Trigger\<T\>`` as `Trigger`. */
function titleOf(section: string): string {
  return /^(?:`abstract` )?(\w+)/.exec(section)?.[1] ?? '';
}

/** Of headings, and of the first column of tables. */
function memberNames(section: string): string[] {
  const headings = section.matchAll(/^#{3,4} (?:`\w+` )?([\w$~]+)/gm);
  const rows = section.matchAll(/^\| <a id="[^"]*"><\/a> `([\w$~-]+)/gm);
  return [...headings, ...rows].map((match) => match[1]!);
}
