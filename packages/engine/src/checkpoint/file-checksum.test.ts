import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNodePlatform } from '../platform/node/index.ts';
import { type ChecksumKind, type FileChecksum, isSame, kindOf, startChecksum } from './file-checksum.ts';

const platform = createNodePlatform();

function checksum(kind: ChecksumKind, ...pieces: readonly (string | Uint8Array)[]): FileChecksum {
  const running = startChecksum(kind, platform);
  for (const piece of pieces) running.update(typeof piece === 'string' ? Buffer.from(piece) : piece);
  return running.finish();
}

test('checksums are those that everybody computes, in pieces too', () => {
  assert.deepEqual(checksum('crc32', '123456789'), { crc32: 'cbf43926' });
  assert.deepEqual(checksum('crc32', '1234', '', '56789'), { crc32: 'cbf43926' });
  assert.deepEqual(checksum('crc32'), { crc32: '00000000' });
  const abc = { sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' };
  assert.deepEqual(checksum('sha256', 'abc'), abc);
  assert.deepEqual(checksum('sha256', 'a', 'bc'), abc);
});

test('of both kinds a changed bit, a missing byte and swapped pieces show', () => {
  const bytes = Uint8Array.from({ length: 10_000 }, (_, i) => (i * 7 + (i >> 8)) & 255);
  for (const kind of ['crc32', 'sha256'] as const) {
    const intact = checksum(kind, bytes);
    assert.equal(kindOf(intact), kind);
    assert.ok(isSame(intact, checksum(kind, bytes)));
    for (let at = 0; at < bytes.length; at += 97) {
      const changed = bytes.slice();
      changed[at]! ^= 1 << (at % 8);
      assert.ok(!isSame(intact, checksum(kind, changed)), `${kind}, byte ${at}`);
    }
    assert.ok(!isSame(intact, checksum(kind, bytes.subarray(1))));
    assert.ok(!isSame(intact, checksum(kind, bytes.subarray(5000), bytes.subarray(0, 5000))));
    assert.ok(!isSame(intact, checksum(kind, new Uint8Array(bytes.length))), 'zeros');
  }
  assert.ok(!isSame(checksum('crc32', bytes), checksum('sha256', bytes)));
});
