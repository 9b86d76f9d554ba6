import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { architecture } from './architecture.ts';
import { ROOT, repositoryFiles } from './repository.ts';

const page = (floors: string, questions: string) => ({
  path: 'ARCHITECTURE.md',
  text: `# A\n\n## Floors\n\n| floor | holds |\n| - | - |\n${floors}\n\n## Questions\n\n| q | where |\n| - | - |\n${questions}\n`,
});

it('a path that does not exist and a floor out of order are found', () => {
  const files = [
    page('| `state` | x |\n| `base` | y |', '| Where? | `state/row.ts` |'),
    { path: 'bench/a.ts', text: '' },
  ];
  assert.deepEqual(architecture(files, ['base', 'state']), [
    'ARCHITECTURE.md: state/row.ts does not exist',
    'ARCHITECTURE.md: the table of floors must be base, state, testing',
  ]);
});

it('a page without the tables is found', () => {
  assert.equal(architecture([{ path: 'ARCHITECTURE.md', text: '' }], ['base']).length, 2);
});

it('paths may start at the root or at the sources of the engine', () => {
  const files = [
    page('| `base` | x |\n| `testing` | y |', '| Where? | `base/error.ts`, then `bench/a.ts` |'),
    { path: 'packages/engine/src/base/error.ts', text: '' },
    { path: 'bench/a.ts', text: '' },
  ];
  assert.deepEqual(architecture(files, ['base']), []);
});

it('ARCHITECTURE.md names paths that exist and the floors as they are', async () => {
  const { FLOORS } = (await import(join(ROOT, '.dependency-cruiser.mjs'))) as { FLOORS: readonly string[] };
  assert.deepEqual(architecture(repositoryFiles(), FLOORS), []);
});
