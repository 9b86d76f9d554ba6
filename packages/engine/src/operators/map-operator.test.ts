import { deepStrictEqual, rejects, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../base/index.ts';
import { OperatorHarness } from '../testing/operator-harness.ts';
import { runOperatorThroughAllModes } from '../testing/operator-modes.ts';
import { MapOperator } from './map-operator.ts';

describe('map', () => {
  it('emits one result for each record, with its timestamp, and lets watermarks and status pass', async () => {
    const events = await runOperatorThroughAllModes({ create: () => new MapOperator((n: number) => n * 2) }, [
      { value: 1, timestampMs: 10 },
      { value: 2 },
      { watermarkMs: 15 },
    ]);
    deepStrictEqual(events.slice(0, 3), [
      { kind: 'record', value: 2, timestamp: 10 },
      { kind: 'record', value: 4, timestamp: undefined },
      { kind: 'watermark', timestamp: 15 },
    ]);
  });

  it('offers its function to be inlined', () => {
    const fn = (n: number): number => n + 1;
    const { kind, fn: inlined } = new MapOperator(fn).inline;
    deepStrictEqual({ kind, inlined }, { kind: 'map', inlined: fn });
  });

  it('names the operator in what the function throws, and keeps the cause', async () => {
    const cause = new Error('no');
    const create = () =>
      new MapOperator(() => {
        throw cause;
      });
    const harness = await OperatorHarness.open({ create, name: 'double' });
    throws(
      () => harness.process(1),
      (error: Error) =>
        hasCode(error, 'USER_FUNCTION_FAILED') &&
        /map function.*'double'/.test(error.message) &&
        error.cause === cause,
    );
  });

  it('refuses an async function when it is made, and a promise when it is returned', async () => {
    throws(
      () => new MapOperator(async (n: number) => n),
      (error) => hasCode(error, 'PROMISE_NOT_EXPECTED'),
    );
    throws(
      () => new MapOperator('no' as never),
      (error) => hasCode(error, 'INVALID_ARGUMENT'),
    );
    const create = () => new MapOperator((n: number) => Promise.resolve(n));
    const harness = await OperatorHarness.open({ create, name: 'later' });
    throws(
      () => harness.process(1),
      (error: Error) => hasCode(error, 'PROMISE_NOT_EXPECTED') && /'later'/.test(error.message),
    );
    strictEqual(harness.values.length, 0);
  });

  it('may not change the record that it gets', async () => {
    const create = () =>
      new MapOperator((order: { n: number }) => {
        order.n++;
        return order;
      });
    const harness = await OperatorHarness.open({ create });
    await rejects(
      async () => harness.process({ n: 1 }),
      (error) => hasCode(error, 'USER_FUNCTION_FAILED'),
    );
  });
});
