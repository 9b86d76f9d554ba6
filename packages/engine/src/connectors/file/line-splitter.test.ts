import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LineSplitter } from './line-splitter.ts';
import { MalformedRecord } from './malformed-record.ts';

/** All lines of `bytes`, given in pieces of these sizes. */
function linesOf(
  bytes: Uint8Array,
  sizes: readonly number[],
  offset = 0,
): { text: string; position: number }[] {
  const splitter = new LineSplitter(offset, 1000);
  const lines: { text: string; position: number }[] = [];
  const drain = (): void => {
    for (let text = splitter.next(); text !== undefined; text = splitter.next()) {
      lines.push({ text, position: splitter.position });
    }
  };
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length]!;
    splitter.append(bytes.slice(at, at + size));
    at += size;
    drain();
  }
  splitter.end();
  drain();
  return lines;
}

test('lines are the same however the bytes are cut into pieces, and positions are after their line breaks', () => {
  const line = fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replaceAll(/[\r\n]/g, '_'));
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 8 }),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
      (texts, lineBreak, endsWithBreak, sizes) => {
        const ends = endsWithBreak || texts.at(-1) === '';
        const text = texts.join(lineBreak) + (ends && texts.length > 0 ? lineBreak : '');
        const bytes = Buffer.from(text, 'utf8');
        const lines = linesOf(bytes, sizes, 100);
        assert.deepEqual(
          lines.map((one) => one.text),
          texts,
        );
        let position = 100;
        for (const [i, { position: found }] of lines.entries()) {
          position += Buffer.byteLength(texts[i]! + lineBreak);
          assert.equal(found, Math.min(position, 100 + bytes.length));
        }
      },
    ),
  );
});

test('a byte order mark at the beginning of a file is no text', () => {
  const bytes = Buffer.from('\uFEFFa\n\uFEFFb\n', 'utf8');
  assert.deepEqual(
    linesOf(bytes, [2]).map(({ text }) => text),
    ['a', '\uFEFFb'],
  );
});

test('bytes that are no UTF-8 are malformed, a replacement character in the text is not', () => {
  const splitter = new LineSplitter(0, 100);
  splitter.append(
    Buffer.concat([Buffer.from('ok \uFFFD\n'), Buffer.from([0xc3, 0x28, 0x0a]), Buffer.from('next\n')]),
  );
  assert.equal(splitter.next(), 'ok \uFFFD');
  assert.throws(() => splitter.next(), MalformedRecord);
  assert.equal(splitter.next(), 'next');
});

test('a line longer than the limit is an error before it is read to its end', () => {
  const splitter = new LineSplitter(0, 10);
  splitter.append(Buffer.alloc(13, 97));
  assert.throws(
    () => splitter.next(),
    (error) =>
      error instanceof MalformedRecord && error.extent === 'endless' && /maxLineBytes/.test(error.message),
  );
});
