import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { copyMessage } from './message-copy.ts';

const plain = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(undefined, null, true, 1n, Number.NaN, -0),
    fc.double(),
    fc.string(),
    fc.uint8Array({ maxLength: 4 }).map((bytes) => new Uint8Array(bytes)),
    fc.date({ noInvalidDate: true }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.string(), tie('value'), { maxKeys: 3, noNullPrototype: true }),
    fc.array(fc.tuple(fc.string(), tie('value')), { maxLength: 3 }).map((entries) => new Map(entries)),
  ),
})).value;

it('copies what structuredClone copies, to the same', () => {
  fc.assert(
    fc.property(plain, (message) => {
      assert.deepStrictEqual(copyMessage(message), structuredClone(message));
    }),
  );
});

it('shares nothing with the original but shared memory', () => {
  const word = new SharedArrayBuffer(4);
  const message = { list: [1], map: new Map([['a', { b: 1 }]]), bytes: new Uint8Array([1]), word };
  const copy = copyMessage(message);
  message.list.push(2);
  message.map.get('a')!.b = 2;
  message.bytes[0] = 2;
  assert.deepEqual([copy.list, copy.map.get('a'), [...copy.bytes]], [[1], { b: 1 }, [1]]);
  assert.equal(copy.word, word);
});

it('keeps cycles, keeps errors, and takes the class off an object', () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const copy = copyMessage(cycle);
  assert.equal(copy.self, copy);
  assert.ok(copyMessage(new TypeError('bad')) instanceof TypeError);
  class Point {
    x = 1;
  }
  assert.deepStrictEqual(copyMessage(new Point()), { x: 1 });
});

it('refuses what a MessagePort refuses', () => {
  assert.throws(() => copyMessage({ f: () => {} }), { name: 'DataCloneError' });
  assert.throws(() => copyMessage([Symbol('s')]), { name: 'DataCloneError' });
});
