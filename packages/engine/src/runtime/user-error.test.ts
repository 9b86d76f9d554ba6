/** What the person who reads it is told of an error in user code. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode, MillraceError } from '../base/index.ts';
import { atRecord, elementOf } from './failed-element.ts';
import { wrapUserError } from './user-error.ts';

const wrap = (error: unknown) =>
  wrapUserError(error, 'map function', 'price', 'price-uid', 2) as MillraceError;

describe('an error of user code', () => {
  it('names operator and function, and what was the cause of it', () => {
    const refused = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' });
    const wrapped = wrap(new TypeError('fetch failed', { cause: refused }));
    assert.ok(hasCode(wrapped, 'USER_FUNCTION_FAILED'));
    assert.equal(
      wrapped.message,
      "The map function of operator 'price' (subtask 2) threw TypeError: fetch failed, because of AggregateError: ECONNREFUSED",
    );
    assert.deepEqual(wrapped.details, { operator: 'price', uid: 'price-uid', subtask: 2 });
    assert.match(wrap('a text').message, /threw a text$/);
  });

  it('says what was thrown, however little it is an error', () => {
    const hostile = Object.defineProperty(new Error(), 'message', {
      get: () => {
        throw new Error('not even this');
      },
    });
    assert.match(wrap({ status: 404 }).message, /threw \{status: 404\}$/);
    assert.match(wrap(Object.create(null)).message, /threw \{\}$/);
    assert.match(wrap(undefined).message, /threw undefined$/);
    assert.match(wrap(hostile).message, /threw Error \{message: a getter\}$/);
  });

  it('keeps the record at which it happened when it gets its operator', () => {
    const bare = atRecord(new MillraceError('TYPE_MISMATCH', 'no'), { value: 7, timestampMs: 1 });
    assert.equal(elementOf(wrap(bare))?.record, '7');
    assert.equal(
      elementOf(atRecord(wrap(bare), { value: 8, timestampMs: 1 }))?.record,
      '7',
      'the first place is right',
    );
  });

  it('keeps its code, and gets the operator if it does not say which', () => {
    const bare = new MillraceError('TYPE_MISMATCH', 'The record does not fit.', { details: { path: 'a' } });
    const wrapped = wrap(bare);
    assert.ok(hasCode(wrapped, 'TYPE_MISMATCH'));
    assert.equal(wrapped.message, "Operator 'price' (subtask 2), map function: The record does not fit.");
    assert.deepEqual(wrapped.details, { path: 'a', operator: 'price', uid: 'price-uid', subtask: 2 });
    assert.equal(wrapped.cause, bare);
    for (const named of [
      new MillraceError('TYPE_MISMATCH', 'no', { details: { operator: 'other' } }),
      new MillraceError('TYPE_MISMATCH', "The output of operator 'price' is wrong."),
    ])
      assert.equal(wrap(named), named);
  });
});
