import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatMemorySize, parseMemorySize } from './memory-size.ts';

describe('amounts of memory', () => {
  it('are read with every unit of Flink, as multiples of 1024', () => {
    const cases: [string | number, number][] = [
      [4096, 4096],
      ['4096', 4096],
      ['10 b', 10],
      ['20 kb', 20_480],
      ['20k', 20_480],
      ['5 MB', 5_242_880],
      ['1g', 2 ** 30],
      ['2 tebibytes', 2 ** 41],
    ];
    for (const [text, bytes] of cases) assert.equal(parseMemorySize(text), bytes, String(text));
  });

  it('of what is no amount say what was expected', () => {
    for (const text of ['', '-1 mb', '1.5 mb', 'much', -4, 0.5]) {
      assert.throws(() => parseMemorySize(text), /expected an amount of memory such as "5 mb"/, String(text));
    }
    assert.throws(() => parseMemorySize('3 pb'), /unknown unit "pb"; units are b, kb, mb, gb, tb/);
    assert.throws(() => parseMemorySize('9999999999 tb'), /more memory than can be counted/);
  });

  it('are written with the largest unit that keeps them whole, and read back', () => {
    assert.equal(formatMemorySize(5 * 1024 * 1024), '5 mb');
    assert.equal(formatMemorySize(1500), '1500 bytes');
    fc.assert(
      fc.property(fc.nat(), (bytes) => assert.equal(parseMemorySize(formatMemorySize(bytes)), bytes)),
    );
  });
});
