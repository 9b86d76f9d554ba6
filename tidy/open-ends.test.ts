import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openEnds } from './open-ends.ts';
import { repositoryFiles } from './repository.ts';

it('a mark for later is found, a word that contains it is not', () => {
  const files = [{ path: 'packages/engine/src/state/row.ts', text: '/** A TODOLIST. */\n// FIXME later\n' }];
  assert.deepEqual(openEnds(files), ['packages/engine/src/state/row.ts:2 FIXME: finish it or file an issue']);
});

it('no comment leaves work open', () => {
  assert.deepEqual(openEnds(repositoryFiles()), []);
});
