import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteView } from '../../types/index.ts';
import { compareBytes, copyBytes, equalBytes, hashBytes } from './bytes.ts';

const bytes = fc.uint8Array({ maxLength: 200 });

/** A view over `content` that begins at `at`. */
function viewOf(content: Uint8Array, at: number): ByteView {
  const view = ByteView.allocate(at + content.length + 8);
  view.u8.fill(0xee);
  view.u8.set(content, at);
  return view;
}

test('bytes are equal if and only if their comparison says so', () => {
  fc.assert(
    fc.property(bytes, bytes, fc.nat(9), fc.nat(9), fc.boolean(), (a, other, i, j, same) => {
      const b = same ? a.slice() : other;
      const left = viewOf(a, i);
      const right = viewOf(b, j);
      assert.equal(compareBytes(left, i, a.length, right, j, b.length), Buffer.compare(a, b));
      if (a.length === b.length)
        assert.equal(equalBytes(left, i, right, j, a.length), Buffer.compare(a, b) === 0);
    }),
  );
});

test('one changed byte anywhere makes two runs differ', () => {
  for (const length of [1, 3, 4, 7, 95, 96, 97, 150]) {
    const a = Uint8Array.from({ length }, (_, i) => i);
    for (let i = 0; i < length; i++) {
      const b = a.slice();
      b[i]! ^= 0x80;
      assert.equal(equalBytes(viewOf(a, 1), 1, viewOf(b, 2), 2, length), false);
    }
  }
});

test('copying moves exactly the bytes that were asked for', () => {
  fc.assert(
    fc.property(bytes, fc.nat(9), fc.nat(9), (content, from, to) => {
      const target = viewOf(new Uint8Array(content.length), to);
      copyBytes(viewOf(content, from), from, target, to, content.length);
      assert.deepEqual([...target.u8], [...viewOf(content, to).u8]);
    }),
  );
});

test('hashes are those of 32-bit Murmur3', () => {
  const hash = (text: string, seed: number) =>
    hashBytes(viewOf(new TextEncoder().encode(text), 3), 3, text.length, seed) >>> 0;
  assert.equal(hash('', 0), 0);
  assert.equal(hash('', 1), 0x514e28b7);
  assert.equal(hash('test', 0), 0xba6bd213);
  assert.equal(hash('Hello, world!', 0), 0xc0363e43);
  assert.equal(hash('The quick brown fox jumps over the lazy dog', 0), 0x2e4ff723);
  assert.equal(hash('The quick brown fox jumps over the lazy dog', 0x9747b28c), 0x2fa826cd);
});
