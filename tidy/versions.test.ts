/** All packages have one version, and snapshots name it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { ROOT } from './repository.ts';

it('the version is the same in all packages and in the engine that writes it into snapshots', () => {
  const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
  const versions = ['.', 'packages/engine', 'packages/millrace', 'packages/sim'].map(
    (folder) => (JSON.parse(read(join(folder, 'package.json'))) as { version: string }).version,
  );
  versions.push(
    /MILLRACE_VERSION = '([^']+)'/.exec(read('packages/engine/src/api/local-executor.ts'))?.[1] ?? 'none',
  );
  assert.deepEqual(new Set(versions).size, 1, versions.join(', '));
});
