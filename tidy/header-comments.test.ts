import assert from 'node:assert/strict';
import { it } from 'node:test';
import { headerComments } from './header-comments.ts';
import { repositoryFiles } from './repository.ts';

const path = 'packages/engine/src/state/sample.ts';

it('a source without a header, or with an empty one, is found', () => {
  const expected = [`${path}: begin with a comment that says what the file is`];
  assert.deepEqual(headerComments([{ path, text: 'export const a = 1;\n' }]), expected);
  assert.deepEqual(headerComments([{ path, text: '/** */\nexport const a = 1;\n' }]), expected);
  assert.deepEqual(headerComments([{ path, text: "import 'x';\n/** A sample. */\n" }]), expected);
});

it('either kind of comment will do; tests and a short index need none', () => {
  assert.deepEqual(headerComments([{ path, text: '/** A sample. */\n' }]), []);
  assert.deepEqual(headerComments([{ path, text: '#!/usr/bin/env node\n// A sample.\n' }]), []);
  const index = { path: 'packages/engine/src/state/index.ts', text: "export { a } from './a.ts';\n" };
  const test = { path: 'packages/engine/src/state/sample.test.ts', text: 'it();\n' };
  assert.deepEqual(headerComments([index, test]), []);
  assert.equal(headerComments([{ ...index, text: 'export {};\n'.repeat(60) }]).length, 1);
});

it('each source begins with a comment that says what it is', () => {
  assert.deepEqual(headerComments(repositoryFiles()), []);
});
