import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode } from '../../base/index.ts';
import { ByteView, createKeySerializer, type TypeInformation, Types } from '../../types/index.ts';
import { KeyContext } from './key-context.ts';

const ALL = { first: 0, last: 127 };

function contextOf(type: TypeInformation<unknown> | undefined): KeyContext {
  return new KeyContext(createKeySerializer<unknown>(type, 'key'), ALL, 128, 'count');
}

function select(context: KeyContext, key: unknown): void {
  context.select(key, context.serializer.hash(key));
}

test('comparing a key with bytes agrees with comparing encodings, for every shortcut', () => {
  const strings = [
    '',
    'a',
    'b',
    'ab',
    'x'.repeat(23),
    'x'.repeat(24),
    'ÿ',
    'Ā',
    '語',
    '\ud800',
    'y'.repeat(300),
  ];
  const numbers = [0, -0, 1, 23, 1.5, Number.NaN, Number.POSITIVE_INFINITY, -1];
  const cases: [TypeInformation<unknown> | undefined, unknown[]][] = [
    [Types.STRING, strings],
    [Types.DOUBLE, numbers],
    [Types.LONG, [0, -0, 1, 2 ** 50]],
    [undefined, [...strings, ...numbers, 1n, true, { a: 1 }, { a: 2 }, ['a']]],
    [Types.OPTIONAL(Types.STRING), [...strings, undefined]],
  ];
  for (const [type, keys] of cases) {
    const context = contextOf(type);
    const encodings = keys.map((key) => {
      const view = ByteView.allocate(1000);
      view.pos = 3;
      assert.equal(context.serializer.encode(view, key), true);
      return { view, end: view.pos, text: Buffer.from(view.u8.subarray(3, view.pos)).toString('hex') };
    });
    keys.forEach((key, i) => {
      select(context, key);
      encodings.forEach(({ view, end, text }) => {
        assert.equal(context.match(view, 3), text === encodings[i]!.text ? end : -1);
      });
      const length = context.encode();
      const suffix = ByteView.of(new Uint8Array([7, 8, 9]));
      assert.equal(context.encodeWith(suffix, 2), length + 2);
      const bytes = Buffer.from(context.encoded.u8.subarray(0, length + 2)).toString('hex');
      assert.equal(bytes, `${encodings[i]!.text}0708`);
    });
  }
});

test('the generation changes with the key, and not when the same key comes again', () => {
  const context = contextOf(undefined);
  select(context, 'a');
  const { generation } = context;
  select(context, 'a');
  assert.equal(context.generation, generation);
  select(context, 'b');
  assert.notEqual(context.generation, generation);
  const object = { a: 1 };
  select(context, object);
  const before = context.generation;
  select(context, object);
  assert.notEqual(context.generation, before, 'an object may have changed since');
});

test('when the generations start again, everybody who keeps a row is told', () => {
  const context = contextOf(Types.STRING);
  const follower = { generation: 1 };
  context.followers.push(follower);
  context.generation = 0x7fffffff - 1;
  select(context, 'a');
  assert.equal(context.generation, 0x7fffffff);
  const lengthOfA = context.encode();
  select(context, 'bc');
  assert.equal(context.generation, 1);
  assert.equal(follower.generation, -1);
  assert.equal(context.encode(), lengthOfA + 1);
});

test('a context without a key says so', () => {
  const context = contextOf(Types.STRING);
  assert.throws(
    () => context.requireKey(),
    (error) => hasCode(error, 'STATE_WITHOUT_KEY'),
  );
  assert.throws(
    () => new KeyContext(context.serializer, { first: 5, last: 5 }, 128, 'count').select('a', 6),
    (error) => hasCode(error, 'ASSERTION_FAILED') && /key group 6 .*'count'.*5\.\.5/.test(String(error)),
  );
});
