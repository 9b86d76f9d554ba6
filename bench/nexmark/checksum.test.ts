import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Checksum, checksumText, mix, mixLong, textDigest, textHash } from './checksum.ts';

function checksumOf(...hashes: readonly number[]) {
  const checksum = new Checksum();
  for (const h of hashes) checksum.add(h);
  return checksum.value();
}

it('the order of results does not matter, their number and each of them does', () => {
  assert.deepEqual(checksumOf(1, 2, 3), checksumOf(3, 1, 2));
  assert.notDeepEqual(checksumOf(1, 2, 3), checksumOf(1, 2, 4));
  assert.notDeepEqual(checksumOf(1, 2), checksumOf(1, 2, 2));
});

it('a result that is taken back leaves nothing', () => {
  const checksum = new Checksum();
  checksum.add(5);
  checksum.addTimes(7, 1);
  checksum.addTimes(7, -1);
  assert.deepEqual(checksum.value(), checksumOf(5));
});

it('parts of a count add up to the whole', () => {
  const parts = new Checksum();
  parts.addTimes(9, 3);
  parts.addTimes(9, 4);
  const whole = new Checksum();
  whole.addTimes(9, 7);
  assert.deepEqual(parts.value(), whole.value());
});

it('texts and long numbers hash as in Java', () => {
  assert.equal(textHash('Nexmark'), -783_446_066);
  assert.equal(textHash(''), 0);
  assert.equal(textDigest(''), 0);
  assert.equal(textDigest('ab'), 2 * 961 + 97 * 31 + 98);
  const high = 395;
  const low = 3_487_918_080;
  assert.equal(high * 2 ** 32 + low, 1_700_000_000_000);
  assert.equal(mixLong(1, 1_700_000_000_000), mix(mix(1, low | 0), high));
});

it('a checksum is written as 16 digits', () => {
  assert.equal(checksumText({ count: 1, low: 10, high: 0xffffffff }), 'ffffffff0000000a');
});
