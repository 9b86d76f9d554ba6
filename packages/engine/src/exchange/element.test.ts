import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import type { ByteView, KeySerializer, TypeSerializer } from '../types/index.ts';
import { BARRIER_KINDS, ElementKind } from './element.ts';
import { createRecordWriter } from './record-writer.ts';
import { chooseLayout, createRing, RingReader, RingWriter } from './ring.ts';

const PAGE = readFileSync(new URL('../../../../docs/formats/exchange.md', import.meta.url), 'utf8');

/** Characters after a length of one byte, as the example of the page has it. */
const TEXT: TypeSerializer<string> = {
  description: { kind: 'string' },
  fixedSizeBytes: undefined,
  encode(view: ByteView, value: string): boolean {
    if (view.pos + 1 + value.length > view.limit) return false;
    view.u8[view.pos++] = value.length;
    for (let i = 0; i < value.length; i++) view.u8[view.pos++] = value.charCodeAt(i);
    return true;
  },
  decode: () => assert.fail('nothing is read here'),
  skip: () => assert.fail('nothing is read here'),
};

const HASHES: Readonly<Record<string, number>> = { ab: -2, c: 3, '0123456789abcdefghijklmnop': 1 };

const KEY: KeySerializer<unknown> = {
  ...(TEXT as TypeSerializer<unknown>),
  hash: (key) => HASHES[key as string]!,
  shortcut: 'string',
};

it('the example of docs/formats/exchange.md is what a writer writes', () => {
  const ring = createRing({ segmentBytes: 32, segments: 16 });
  const writer = createRecordWriter({
    label: 'example',
    partitioning: 'hash',
    valueSerializer: TEXT,
    key: { selector: (value: string) => value, serializer: KEY, maxParallelism: 128 },
    channels: [new RingWriter(ring, { ring() {} })],
    unique: 'example',
    subtaskIndex: 0,
  });
  writer.collect('ab', 1);
  writer.collect('c', 2);
  writer.broadcastWatermark(1);
  writer.broadcastStatus(true);
  writer.collect('0123456789abcdefghijklmnop', 0);
  writer.broadcastBarrier({ checkpointId: 7, timestampMs: 9, kind: 'savepoint' });
  writer.broadcastCancelBarrier(7);
  writer.broadcastEnd();

  const reader = new RingReader(ring, { ring() {} });
  let written = '';
  while (reader.hasElement()) {
    const bytes = reader.view.u8.subarray(reader.start, reader.start + reader.lengthBytes);
    written += `${reader.kind} ${Buffer.from(bytes).toString('hex')}`.trimEnd() + '\n';
    reader.release();
  }
  const example = /## Example[\s\S]*?```\n([\s\S]*?)```/.exec(PAGE)?.[1];
  assert.equal(written, example);
});

it('the tables of docs/formats/exchange.md have the kinds and layouts of the code', () => {
  const kinds = [...PAGE.matchAll(/^\| ([a-z-]+) \| (\d) \|/gm)].map(([, name, number]) => [
    name,
    Number(number),
  ]);
  const inKebabCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  assert.deepEqual(
    kinds,
    Object.entries(ElementKind).map(([name, number]) => [inKebabCase(name), number]),
  );
  assert.ok(PAGE.includes(`u8: ${BARRIER_KINDS.map((kind, index) => `${index} ${kind}`).join(', ')} |`));
  const number = (text: string | undefined) => Number(text!.replace(',', ''));
  const layouts = [...PAGE.matchAll(/^\| up to ([\d,]+) \| (\d) \| ([\d,]+) \|/gm)];
  assert.equal(layouts.length, 5);
  for (const [, channels, segments, segmentBytes] of layouts) {
    const expected = { segments: number(segments), segmentBytes: number(segmentBytes) };
    assert.deepEqual(chooseLayout(number(channels)), expected);
  }
});
