import { deepStrictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../base/index.ts';
import { OperatorHarness } from '../testing/operator-harness.ts';
import { runOperatorThroughAllModes } from '../testing/operator-modes.ts';
import { FlatMapOperator } from './flat-map-operator.ts';
import type { FlatMapFunction } from './functions.ts';

const splits: Record<string, FlatMapFunction<string, string>> = {
  collects: (line, out) => {
    for (const word of line.split(' ')) out.collect(word);
  },
  'returns an array': (line) => line.split(' '),
  *'is a generator'(line) {
    yield* line.split(' ');
  },
};

describe('flatMap', () => {
  for (const [how, fn] of Object.entries(splits)) {
    it(`emits any number of results with the timestamp of the record when the function ${how}`, async () => {
      const events = await runOperatorThroughAllModes({ create: () => new FlatMapOperator(fn) }, [
        { value: 'a b', timestampMs: 7 },
        { value: 'c' },
      ]);
      deepStrictEqual(events.slice(0, 3), [
        { kind: 'record', value: 'a', timestamp: 7 },
        { kind: 'record', value: 'b', timestamp: 7 },
        { kind: 'record', value: 'c', timestamp: undefined },
      ]);
    });
  }

  it('refuses results that are no iterable of values: promises, strings, what `map(out.collect)` gives', async () => {
    const refused: [FlatMapFunction<string, string>, string][] = [
      [() => Promise.resolve([]) as never, 'PROMISE_NOT_EXPECTED'],
      [(line) => line, 'RESULT_NOT_ALLOWED'],
      [() => 5 as never, 'RESULT_NOT_ALLOWED'],
      [(line, out) => line.split(' ').map((word) => out.collect(word)) as never, 'RESULT_NOT_ALLOWED'],
    ];
    for (const [fn, code] of refused) {
      const harness = await OperatorHarness.open({ create: () => new FlatMapOperator(fn), name: 'split' });
      throws(
        () => harness.process('a b'),
        (error: Error) => hasCode(error, code as 'RESULT_NOT_ALLOWED') && /'split'/.test(error.message),
      );
    }
    const generator = async function* () {} as never;
    throws(
      () => new FlatMapOperator(generator),
      (error) => hasCode(error, 'PROMISE_NOT_EXPECTED'),
    );
  });

  it('wraps what the function throws, and what a later operator threw stays as it is', async () => {
    const create = () =>
      new FlatMapOperator((value: { n: number }, out: { collect(value: unknown): void }) => {
        out.collect(value);
        (value as { n: unknown }).n = 1;
      });
    const harness = await OperatorHarness.open({ create, name: 'split' });
    throws(
      () => harness.process({ n: 5 }),
      (error: Error) =>
        hasCode(error, 'USER_FUNCTION_FAILED') && /flatMap function.*'split'/.test(error.message),
    );
  });
});
