import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fileNames } from './file-names.ts';
import { repositoryFiles } from './repository.ts';

const named = (path: string) => ({ path, text: '' });

it('a file or folder whose name fits anything is found', () => {
  const paths = [
    'packages/engine/src/state/state-utils.ts',
    'packages/engine/src/common/row.ts',
    'packages/engine/src/state/base-row.ts',
    'packages/engine/src/state/abstract-row.test.ts',
    'packages/engine/src/state/row-v2.ts',
  ];
  assert.deepEqual(fileNames(paths.map(named)), [
    `${paths[0]}: "utils" says nothing about what it holds`,
    `${paths[1]}: "common" says nothing about what it holds`,
    `${paths[2]}: "base" says nothing about what it holds`,
    `${paths[3]}: "abstract" says nothing about what it holds`,
    `${paths[4]}: "v2" says nothing about what it holds`,
  ]);
});

it('the floor base and words that only contain a banned one are left alone', () => {
  assert.deepEqual(fileNames([named('packages/engine/src/base/simplification.ts')]), []);
});

it('each file is named after what it holds', () => {
  assert.deepEqual(fileNames(repositoryFiles()), []);
});
