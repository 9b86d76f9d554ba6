import { deepStrictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../base/index.ts';
import { OperatorHarness } from '../testing/operator-harness.ts';
import { runOperatorThroughAllModes } from '../testing/operator-modes.ts';
import { FilterOperator } from './filter-operator.ts';

describe('filter', () => {
  it('keeps the records for which the function answers true, as they are', async () => {
    const fn = (value: { n: number }): boolean => value.n % 2 === 0;
    const events = await runOperatorThroughAllModes({ create: () => new FilterOperator(fn) }, [
      { value: { n: 1 }, timestampMs: 1 },
      { value: { n: 2 }, timestampMs: 2 },
      { value: { n: 4 } },
    ]);
    deepStrictEqual(events.slice(0, 2), [
      { kind: 'record', value: { n: 2 }, timestamp: 2 },
      { kind: 'record', value: { n: 4 }, timestamp: undefined },
    ]);
    const { kind, fn: inlined } = new FilterOperator(fn).inline;
    deepStrictEqual({ kind, inlined }, { kind: 'filter', inlined: fn });
  });

  it('refuses every answer but true and false, promises above all, which are always true', async () => {
    for (const [answer, code] of [
      [1, 'RESULT_NOT_ALLOWED'],
      ['', 'RESULT_NOT_ALLOWED'],
      [undefined, 'RESULT_NOT_ALLOWED'],
      [Promise.resolve(false), 'PROMISE_NOT_EXPECTED'],
    ] as const) {
      const create = () => new FilterOperator(() => answer as never);
      const harness = await OperatorHarness.open({ create, name: 'even' });
      throws(
        () => harness.process(1),
        (error: Error) => hasCode(error, code) && /'even'/.test(error.message),
      );
    }
    throws(
      () => new FilterOperator((async () => true) as never),
      (error) => hasCode(error, 'PROMISE_NOT_EXPECTED'),
    );
  });
});
