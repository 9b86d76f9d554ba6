import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeySerializer, Types } from '../types/index.ts';
import { customRouting, hashRouting } from './record-routing.ts';

const LABEL = "output of operator 'x'";

test('a custom edge asks for the key and then for the receiver', () => {
  const routing = customRouting(
    LABEL,
    { selector: (value: string) => value.length, partitioner: (key: number, count) => key % count },
    3,
  );
  assert.deepEqual(['', 'a', 'ab', 'abc', 'abcd'].map(routing.receiverOf), [0, 1, 2, 0, 1]);
  assert.equal(routing.hashOf, undefined);
});

test('what selector and partitioner throw, and answers that are no receiver, are said as when a record is sent', () => {
  const fail = (): never => {
    throw new Error('no');
  };
  const same = (value: never): unknown => value;
  const ask = (selector: (value: never) => unknown, answer: () => unknown) =>
    customRouting(LABEL, { selector, partitioner: answer as () => number }, 2).receiverOf('a');
  assert.throws(() => ask(fail, () => 0), { message: `The key selector of the ${LABEL} failed: no` });
  assert.throws(() => ask(same, fail), { message: `The partitioner of the ${LABEL} failed: no` });
  for (const answer of [2, -1, 0.5, '1', undefined, Number.NaN])
    assert.throws(() => ask(same, () => answer), { code: 'RESULT_NOT_ALLOWED' }, String(answer));
});

test('a hash edge gives the hash that it would write, and the subtask that has its key group', () => {
  const serializer = createKeySerializer<unknown>(Types.INT as never, 'key');
  const routing = hashRouting(LABEL, { selector: (value: number) => value % 10, serializer }, 4, 4);
  for (let value = 0; value < 100; value++) {
    const hash = serializer.hash(value % 10);
    assert.equal(routing.hashOf!(value), hash);
    // As many key groups as subtasks: each has one.
    assert.equal(routing.receiverOf(value), Math.abs(hash) % 4);
  }
});
