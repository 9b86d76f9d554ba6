import { deepStrictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../base/index.ts';
import type { ReduceFunction } from '../state/index.ts';
import { type HarnessOptions, OperatorHarness } from '../testing/operator-harness.ts';
import { runOperatorThroughAllModes } from '../testing/operator-modes.ts';
import { Types } from '../types/index.ts';
import { ReduceOperator } from './reduce-operator.ts';

interface Count {
  word: string;
  n: number;
}

const countType = Types.POJO('Count', { word: Types.STRING, n: Types.LONG });

function options(fn: ReduceFunction<Count>, typed = true): HarnessOptions {
  const type = typed ? countType : undefined;
  return {
    create: () => new ReduceOperator(fn, type),
    name: 'count',
    key: { selectors: [(count: Count) => count.word] },
    inputTypes: [type],
    outputType: type,
  };
}

describe('a rolling reduce', () => {
  for (const typed of [true, false]) {
    it(`emits the merged value of the key for each record, ${typed ? 'described' : 'undescribed'}`, async () => {
      const sum: ReduceFunction<Count> = (left, right) => ({ word: left.word, n: left.n + right.n });
      const events = await runOperatorThroughAllModes(options(sum, typed), [
        { value: { word: 'a', n: 1 }, timestampMs: 1 },
        { value: { word: 'b', n: 1 }, timestampMs: 2 },
        { value: { word: 'a', n: 4 }, timestampMs: 3 },
        { value: { word: 'a', n: 1 } },
      ]);
      const values = events.flatMap((event) =>
        event.kind === 'record' ? [[event.value, event.timestamp]] : [],
      );
      deepStrictEqual(values, [
        [{ word: 'a', n: 1 }, 1],
        [{ word: 'b', n: 1 }, 2],
        [{ word: 'a', n: 5 }, 3],
        [{ word: 'a', n: 6 }, undefined],
      ]);
    });
  }

  it('refuses a result that is a promise or nothing, and names the operator in errors', async () => {
    for (const [fn, code] of [
      [() => Promise.resolve() as never, 'PROMISE_NOT_EXPECTED'],
      [() => undefined as never, 'RESULT_NOT_ALLOWED'],
      [
        () => {
          throw new Error('no');
        },
        'USER_FUNCTION_FAILED',
      ],
    ] as const) {
      const harness = await OperatorHarness.open(options(fn));
      harness.process({ word: 'a', n: 1 });
      throws(
        () => harness.process({ word: 'a', n: 1 }),
        (error: Error) => hasCode(error, code) && /'count'/.test(error.message),
      );
    }
    throws(
      () => new ReduceOperator((async () => ({})) as never),
      (error) => hasCode(error, 'PROMISE_NOT_EXPECTED'),
    );
  });
});
