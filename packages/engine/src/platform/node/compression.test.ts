import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { hasCode } from '../../base/index.ts';
import { decompressPieces } from './compression.ts';

const TEXT = 'to be or not to be, '.repeat(50_000);

/** Gives `bytes` in pieces; `asked` counts how many were wanted. */
function source(bytes: Uint8Array, pieceBytes: number) {
  const state = { asked: 0 };
  const next = async (): Promise<Uint8Array | undefined> => {
    const start = state.asked++ * pieceBytes;
    return start < bytes.length ? bytes.subarray(start, start + pieceBytes) : undefined;
  };
  return { state, next };
}

for (const [format, pack] of [
  ['gzip', gzipSync],
  ['zstd', zstdCompressSync],
] as const) {
  test(`several members or frames of ${format} are one file, however it is cut into pieces`, async () => {
    const packed = Buffer.concat([pack(TEXT), pack(''), pack(TEXT)]);
    for (const pieceBytes of [17, 1000, packed.length]) {
      const pieces: Uint8Array[] = [];
      for await (const piece of decompressPieces(format, source(packed, pieceBytes).next)) pieces.push(piece);
      assert.ok(pieces.every(({ length }) => length <= 256 * 1024));
      assert.equal(Buffer.concat(pieces).toString(), TEXT + TEXT);
    }
  });

  test(`${format} that ends too early, or is none, is refused`, async () => {
    const packed = pack(TEXT);
    for (const bytes of [packed.subarray(0, packed.length - 9), Buffer.from('plain text')]) {
      await assert.rejects(
        async () => {
          for await (const _ of decompressPieces(format, source(bytes, 100).next));
        },
        (error) => hasCode(error, 'DECOMPRESSION_FAILED'),
      );
    }
  });
}

test('what the source of the bytes rejects with is thrown as it is', async () => {
  const broken = new Error('the disk is gone');
  const pieces = decompressPieces('gzip', () => Promise.reject(broken));
  await assert.rejects(pieces.next(), (error) => error === broken);
});

test('no more is read than is wanted, and nothing after the loop was left', async () => {
  const noise = Buffer.from(
    Array.from({ length: 4_000_000 }, (_, i) => (Math.imul(i, 2654435761) >>> 13) & 255),
  );
  const { state, next } = source(gzipSync(noise), 10_000);
  for await (const _ of decompressPieces('gzip', next)) break;
  const { asked } = state;
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(state.asked <= asked + 1);
  assert.ok(asked * 10_000 < 2_000_000, `${asked} pieces`);
});
