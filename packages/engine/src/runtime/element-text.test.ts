/** Values as short texts, hostile ones too. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { elementText } from './element-text.ts';

class Order {
  readonly id: number;
  readonly #secret = 'hidden';
  constructor(id: number) {
    this.id = id;
  }
  get total(): string {
    throw new Error(this.#secret);
  }
}

describe('the text of an element', () => {
  it('is short and readable for what records are made of', () => {
    const cases: readonly (readonly [unknown, string])[] = [
      [undefined, 'undefined'],
      [null, 'null'],
      [-0, '-0'],
      [Number.NaN, 'NaN'],
      [1.5, '1.5'],
      [10n ** 20n, '100000000000000000000n'],
      [2n ** 5000n, 'a large bigint'],
      [true, 'true'],
      ['a "b"\n', '"a \\"b\\"\\n"'],
      [Symbol('s'), 'a symbol'],
      [() => 1, 'a function'],
      [new Date(0), '1970-01-01T00:00:00.000Z'],
      [new Date(Number.NaN), 'an invalid Date'],
      [new Uint8Array(1000), 'Uint8Array(1000 bytes)'],
      [Buffer.from('secret'), 'Buffer(6 bytes)'],
      [new ArrayBuffer(8), 'ArrayBuffer(8 bytes)'],
      [{ id: 7, 'two words': [1, 'x'] }, '{id: 7, "two words": [1, "x"]}'],
      [new Order(7), 'Order {id: 7}'],
      [new Map([['a', { n: 1 }]]), 'Map {"a" => {n: 1}}'],
      [new Set([1, 2]), 'Set {1, 2}'],
      [new TypeError('bad'), 'TypeError {message: "bad"}'],
      [Object.create(null), '{}'],
      [[[[[[1]]]]], '[[[[[…]]]]]'],
    ];
    for (const [value, text] of cases) assert.equal(elementText(value), text);
  });

  it('has at most the length that is asked for, and says that it goes on', () => {
    const text = elementText({ items: Array.from({ length: 1_000_000 }, (_, i) => i) });
    assert.equal(text.length, 200);
    assert.match(text, /^\{items: \[0, 1, 2, .*…$/);
    assert.equal(elementText('x'.repeat(1_000_000)).length, 200);
    assert.equal(elementText('x'.repeat(500), 50).length, 50);
  });

  it('reads no more of a value than fits', () => {
    let reads = 0;
    const endless = new Proxy([], {
      get: (target, key) => (key === 'length' ? 2 ** 31 : Reflect.get(target, key)),
      getOwnPropertyDescriptor: (_, key) => {
        if (key === 'length') return { value: 0, writable: true };
        reads++;
        return { value: 1, configurable: true };
      },
    });
    assert.match(elementText(endless), /^\[1, 1, .*…$/);
    assert.ok(reads < 100, `${reads} reads`);
  });

  it('calls no getter, no toString, no toJSON, and survives proxies that throw', () => {
    const explode = (): never => {
      throw new Error('called');
    };
    const hostile = {
      get a() {
        return explode();
      },
      toString: explode,
      toJSON: explode,
      [Symbol.toPrimitive]: explode,
    };
    assert.equal(elementText(hostile), '{a: a getter, toString: a function, toJSON: a function}');
    const proxy = new Proxy({}, { ownKeys: explode, getPrototypeOf: explode, get: explode });
    assert.equal(elementText({ proxy, b: 1 }), '{proxy: an object that cannot be read, b: 1}');
    const { proxy: revoked, revoke } = Proxy.revocable({}, {});
    revoke();
    assert.equal(elementText(revoked), 'an object that cannot be read');
    assert.equal(elementText(Object.create(Date.prototype)), 'an object that cannot be read');
  });

  it('ends for values that contain themselves', () => {
    const loop: unknown[] = [1];
    loop.push(loop);
    assert.equal(elementText(loop), '[1, [1, [1, [1, […]]]]]');
  });

  it('never throws and keeps its length, whatever the value', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true }),
        fc.integer({ min: 1, max: 300 }),
        (value, maxLength) => elementText(value, maxLength).length <= maxLength,
      ),
    );
  });
});
