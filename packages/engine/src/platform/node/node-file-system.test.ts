import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { hasCode, type MillraceError } from '../../base/index.ts';
import { fileSystemError } from '../file-system-error.ts';
import { createNodePlatform } from './index.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-files-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const platform = createNodePlatform();
const { files } = platform.fileSystem(directory);

test('a file is written in pieces, synced, renamed and read back', async () => {
  const path = `${directory}/a/b/c`;
  await files.makeDirectory(path);
  const file = await files.create(`${path}/x`);
  await file.write(Buffer.from('hello '));
  await file.write(Buffer.from('world'));
  await file.sync();
  await file.close();
  await files.syncDirectory(path);
  await files.rename(`${path}/x`, `${path}/y`);
  assert.equal(Buffer.from(await files.readAll(`${path}/y`)).toString(), 'hello world');
  const reader = await files.open(`${path}/y`);
  assert.equal(reader.sizeBytes, 11);
  assert.equal(Buffer.from(await reader.read(6, 100)).toString(), 'world');
  assert.equal((await reader.read(11, 1)).length, 0);
  await reader.close();
  assert.deepEqual(await files.list(path), [{ name: 'y', isDirectory: false }]);
  assert.equal((await files.stat(`${path}/y`))?.sizeBytes, 11);
  await files.delete(`${directory}/a`);
  assert.equal(await files.stat(path), undefined);
});

test('a file keeps its identity when it is renamed and written to, and gives it to no other', async () => {
  const identity = async (name: string): Promise<string | undefined> =>
    (await files.stat(`${directory}/${name}`))?.identity;
  writeFileSync(`${directory}/first`, 'a');
  const first = await identity('first');
  assert.ok(first !== undefined);
  writeFileSync(`${directory}/first`, 'longer', { flag: 'a' });
  await files.rename(`${directory}/first`, `${directory}/renamed`);
  assert.equal(await identity('renamed'), first);
  const open = await files.open(`${directory}/renamed`);
  assert.equal(open.identity, first);
  await open.close();
  writeFileSync(`${directory}/second`, 'b');
  assert.notEqual(await identity('second'), first);
});

test('what is not there lists as empty, has no stat, and is deleted without error', async () => {
  assert.deepEqual(await files.list(`${directory}/nowhere`), []);
  assert.equal(await files.stat(`${directory}/nowhere/at/all`), undefined);
  await files.delete(`${directory}/nowhere`);
});

test('create refuses a file that exists, with path, operation and errno', async () => {
  writeFileSync(`${directory}/there`, '');
  await assert.rejects(files.create(`${directory}/there`), (error: MillraceError) => {
    assert.ok(hasCode(error, 'FILE_SYSTEM_ERROR'));
    assert.deepEqual(error.details, { path: `${directory}/there`, operation: 'create', errno: 'EEXIST' });
    return true;
  });
});

test('an operation on a missing file rejects with the path, and a directory is not read as a file', async () => {
  await assert.rejects(files.readAll(`${directory}/missing`), /cannot read .*missing.*ENOENT/);
  await assert.rejects(files.open(directory), /EISDIR/);
});

test('a full disk and missing rights say what to do', () => {
  const error = fileSystemError('write', '/x', Object.assign(new Error('no space'), { code: 'ENOSPC' }));
  assert.match(error.message, /cannot write \/x: ENOSPC\. The disk is full: free some space/);
  const denied = fileSystemError('create', '/x', Object.assign(new Error('denied'), { code: 'EACCES' }));
  assert.match(denied.message, /EACCES\. .*give its user the right to read and write there/);
  const readOnly = fileSystemError('create', '/x', Object.assign(new Error('denied'), { code: 'EROFS' }));
  assert.match(readOnly.message, /EROFS\. .*mounted read-only/);
});

test('a file is cut to its beginning; one that is not there is an error', async () => {
  writeFileSync(`${directory}/long`, 'hello world');
  await files.truncate(`${directory}/long`, 5);
  assert.equal(Buffer.from(await files.readAll(`${directory}/long`)).toString(), 'hello');
  await assert.rejects(files.truncate(`${directory}/none`, 0), (error) =>
    hasCode(error, 'FILE_SYSTEM_ERROR'),
  );
});

test('a directory that cannot be made is an error at once', { timeout: 10_000 }, async () => {
  const refused = async (path: string, errno: string): Promise<void> =>
    assert.rejects(
      files.makeDirectory(path),
      (error: MillraceError) => error.code === 'FILE_SYSTEM_ERROR' && error.details['errno'] === errno,
    );
  symlinkSync(`${directory}/nowhere`, `${directory}/dangling`);
  await refused(`${directory}/dangling`, 'EEXIST');
  const file = await files.create(`${directory}/file`);
  await file.close();
  await refused(`${directory}/file`, 'EEXIST');
  await refused(`${directory}/file/below`, 'ENOTDIR');
  if (process.platform === 'linux') await refused('/proc/no-such-directory/below', 'ENOENT');
});

test('several may make the same directory at once', async () => {
  await Promise.all(Array.from({ length: 8 }, () => files.makeDirectory(`${directory}/at/once/below`)));
  assert.equal((await files.stat(`${directory}/at/once/below`))?.isDirectory, true);
});

test('a link to a directory is listed as a directory', async () => {
  await files.makeDirectory(`${directory}/target`);
  symlinkSync(`${directory}/target`, `${directory}/link`);
  const link = (await files.list(directory)).find(({ name }) => name === 'link');
  assert.equal(link?.isDirectory, true);
});

test('a file system is found by URI or plain path, and unknown schemes are named', () => {
  assert.equal(platform.fileSystem('file:///data/a%20b/').path, '/data/a b');
  assert.equal(platform.fileSystem('file:/data').path, '/data');
  assert.equal(platform.fileSystem('/data/').path, '/data');
  assert.equal(platform.fileSystem('data').path, join(process.cwd(), 'data'));
  assert.throws(
    () => platform.fileSystem('hdfs://namenode/x'),
    (error: MillraceError) => {
      assert.equal(error.code, 'FILE_SYSTEM_SCHEME_UNKNOWN');
      assert.match(error.message, /"hdfs:".*Known are: file:/);
      return true;
    },
  );
  assert.throws(() => platform.fileSystem('file://host/x'), /must name a path of this machine/);
  assert.throws(() => platform.fileSystem('file:relative'), /must be absolute/);
  assert.throws(() => platform.fileSystem('file:///a?b'), /no "\?" or "#"/);
});
