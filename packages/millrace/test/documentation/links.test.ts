import assert from 'node:assert/strict';
import { it } from 'node:test';
import { brokenLinks } from './links.ts';

const check = (pages: Record<string, string>): string[] =>
  brokenLinks(new Map(Object.entries(pages)), (path) => path in pages || path === 'examples');

it('a link leads to a file, a folder, a heading of a page, or out', () => {
  const links =
    '[a](../README.md) [b](../examples) [c](b.md#what-differs) [d](#types) [e](https://x.org) [f](b.md#id)';
  const pages = {
    'docs/a.md': `${links}\n## Types`,
    'docs/b.md': '## What differs?\n<a id="id"></a>',
    'README.md': '',
  };
  assert.deepEqual(check(pages), []);
});

it('a link to a file or a heading that is not there is named; code is not looked at', () => {
  assert.deepEqual(check({ 'a.md': '[a](b.md) [b](#c)\n```text\n# c\n[d](e.md)\n```\n' }), [
    'a.md: b.md leads nowhere',
    'a.md: #c: the page has no such heading',
  ]);
});

it('the second heading of a name has a number', () => {
  assert.deepEqual(check({ 'a.md': '# of()\n# of()\n[a](#of) [b](#of-1) [c](#of-2)\n' }), [
    'a.md: #of-2: the page has no such heading',
  ]);
});
