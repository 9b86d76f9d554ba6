import assert from 'node:assert/strict';
import { it } from 'node:test';
import { deadFiles } from './dead-files.ts';
import { repositoryFiles } from './repository.ts';

const source = (name: string, text = '') => ({ path: `packages/engine/src/${name}`, text });

it('a source that only its own test imports is found', () => {
  const files = [
    source('state/row.ts', "import './row.ts';"),
    source('state/row.test.ts', "import { row } from './row.ts';"),
  ];
  assert.deepEqual(deadFiles(files), ['packages/engine/src/state/row.ts: nothing imports it']);
});

it('front doors, entries, imported types and worker modules are alive', () => {
  const manifest = {
    path: 'packages/engine/package.json',
    text: '{"exports":{".":{"millrace-source":"./src/connector.ts"}},"bin":{"x":"./dist/command.js"}}',
  };
  const files = [
    manifest,
    source('connector.ts'),
    source('command.ts'),
    source(
      'state/index.ts',
      "export type { Row } from './row.ts';\nnew URL('../worker.js', import.meta.url);",
    ),
    source('state/row.ts'),
    source('worker.ts'),
  ];
  assert.deepEqual(deadFiles(files), []);
});

it('each source of a package is imported by another or is an entry', () => {
  assert.deepEqual(deadFiles(repositoryFiles()), []);
});
