import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const ENGINE = join(import.meta.dirname, '../../engine/src');

/** The names a file exports, types marked as such. */
function exportedNames(path: string): string[] {
  const lists = readFileSync(path, 'utf8').matchAll(/export (type )?\{([^}]*)\} from/g);
  const names = [...lists].flatMap(([, isType, list]) =>
    list!.split(',').flatMap((item) => {
      const name = item.trim();
      return name === '' ? [] : [isType === undefined || name.startsWith('type ') ? name : `type ${name}`];
    }),
  );
  return names.sort();
}

describe('the package millrace', () => {
  for (const [entry, source] of [
    ['index.ts', 'index.ts'],
    ['connector.ts', 'connector.ts'],
    ['testing.ts', 'testing/index.ts'],
  ] as const) {
    it(`gives in ${entry} all that the engine gives, and nothing else`, () => {
      assert.deepEqual(exportedNames(join(import.meta.dirname, entry)), exportedNames(join(ENGINE, source)));
    });
  }
});
