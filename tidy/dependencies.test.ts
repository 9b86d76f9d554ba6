import assert from 'node:assert/strict';
import { it } from 'node:test';
import { dependencies } from './dependencies.ts';
import { repositoryFiles } from './repository.ts';

const manifest = (name: string, names: object) => ({
  path: `packages/${name}/package.json`,
  text: JSON.stringify({ name, dependencies: names }),
});
const architecture = (lines: string) => ({
  path: 'ARCHITECTURE.md',
  text: `# A\n\n## Dependencies\n\n${lines}\n`,
});

it('a range, a missing line and a line too many are found', () => {
  const files = [
    manifest('engine', { yaml: '^2.9.1', sax: '1.0.0' }),
    architecture('- `yaml`: x\n- `old`: y'),
  ];
  assert.deepEqual(dependencies(files), [
    'packages/engine/package.json: pin yaml exactly, not "^2.9.1"',
    'ARCHITECTURE.md: sax has no line under Dependencies',
    'ARCHITECTURE.md: old is under Dependencies but in no package.json',
  ]);
});

it('packages of the workspace need no line, and one line may name several', () => {
  const files = [
    manifest('engine', { a: '1.0.0', b: '1.0.0-rc.1' }),
    manifest('millrace', { engine: '0.1.0' }),
    architecture('- `a`, `b`: both'),
  ];
  assert.deepEqual(dependencies(files), []);
});

it('each dependency is pinned and has its reason in ARCHITECTURE.md', () => {
  assert.deepEqual(dependencies(repositoryFiles()), []);
});
