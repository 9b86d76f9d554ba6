import assert from 'node:assert/strict';
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { threadEnvironment } from './node-compile-cache.ts';

const uid = process.getuid?.();
const ENVIRONMENT = { PATH: '/bin' };

describe('the compiled code of threads', { skip: uid === undefined }, () => {
  let parent: string;
  let directory: string;

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'millrace-cache-test-'));
    directory = join(parent, `millrace-${uid}`);
  });

  afterEach(() => rmSync(parent, { recursive: true }));

  const chosen = () => threadEnvironment(ENVIRONMENT, parent)?.['NODE_COMPILE_CACHE'];

  it('is kept in a directory that only this user can look into', () => {
    assert.deepEqual(threadEnvironment(ENVIRONMENT, parent), {
      ...ENVIRONMENT,
      NODE_COMPILE_CACHE: directory,
    });
    assert.equal(lstatSync(directory).mode & 0o777, 0o700);
    assert.equal(chosen(), directory, 'and there again');
  });

  it('is kept where everybody may write only if nobody can replace the directory', () => {
    chmodSync(parent, 0o777);
    assert.equal(chosen(), undefined);
    chmodSync(parent, 0o1777);
    assert.equal(chosen(), directory);
  });

  it('is not kept in a directory that others can write to, or read', () => {
    mkdirSync(directory, { mode: 0o700 });
    for (const mode of [0o777, 0o770, 0o720, 0o755]) {
      chmodSync(directory, mode);
      assert.equal(chosen(), undefined);
    }
    chmodSync(directory, 0o700);
    assert.equal(chosen(), directory);
  });

  it('is not kept behind a link, nor where there is a file, nor where nothing can be made', () => {
    const elsewhere = join(parent, 'elsewhere');
    mkdirSync(elsewhere, { mode: 0o700 });
    symlinkSync(elsewhere, directory);
    assert.equal(chosen(), undefined);
    rmSync(directory);
    writeFileSync(directory, '', { mode: 0o600 });
    assert.equal(chosen(), undefined);
    assert.equal(threadEnvironment(ENVIRONMENT, join(parent, 'missing')), undefined);
  });

  it('is where the user says, or nowhere if the user says so or measures coverage', () => {
    for (const name of ['NODE_COMPILE_CACHE', 'NODE_DISABLE_COMPILE_CACHE', 'NODE_V8_COVERAGE'])
      assert.equal(threadEnvironment({ ...ENVIRONMENT, [name]: '1' }, parent), undefined);
  });
});
