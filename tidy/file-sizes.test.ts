import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fileSizes } from './file-sizes.ts';
import { repositoryFiles } from './repository.ts';

const path = 'packages/engine/src/state/sample.ts';
const test = 'packages/engine/src/state/sample.test.ts';
const sized = (name: string, lines: number) => ({ path: name, text: '\n'.repeat(lines) });

it('a file over its limit is found', () => {
  assert.deepEqual(fileSizes([sized(path, 600), sized(test, 800)], []), []);
  assert.deepEqual(fileSizes([sized(path, 601), sized(test, 801)], []), [
    `${path}: 601 lines, 600 are allowed`,
    `${test}: 801 lines, 800 are allowed`,
  ]);
});

it('an exception may not grow, follows a file that shrinks, and needs a file', () => {
  const exception = { path, lines: 700, reason: 'sample' };
  assert.deepEqual(fileSizes([sized(path, 700)], [exception]), []);
  assert.deepEqual(fileSizes([sized(path, 701)], [exception]), [`${path}: 701 lines, 700 are allowed`]);
  assert.deepEqual(fileSizes([sized(path, 650)], [exception]), [
    `${path}: its exception can shrink to 650 lines`,
  ]);
  assert.deepEqual(fileSizes([], [exception]), [`${path}: exception for a file that does not exist`]);
});

it('each file keeps to its limit', () => {
  assert.deepEqual(fileSizes(repositoryFiles()), []);
});
