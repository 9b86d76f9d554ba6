/** Tests of generated functions. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { generateCode } from './generated-code.ts';

describe('generated code', () => {
  it('sees its bindings under their names', () => {
    const add = generateCode<(n: number) => number>('adder', { base: 40 }, 'return (n) => base + n;');
    assert.equal(add(2), 42);
  });

  it('is strict', () => {
    assert.throws(() => generateCode('leak', {}, 'notDeclared = 1;'), ReferenceError);
  });

  it('cannot be left by a name that closes its comment', () => {
    assert.equal(generateCode<number>('a */ return 1; /*', {}, 'return 2;'), 2);
  });
});
