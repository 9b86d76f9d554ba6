import { deepStrictEqual, ok, rejects, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../../base/index.ts';
import { type HarnessOptions, OperatorHarness } from '../../testing/operator-harness.ts';
import { runOperatorThroughAllModes } from '../../testing/operator-modes.ts';
import type { RuntimeContext } from '../functions.ts';
import { RichSinkFunction, type SinkFunction, type SinkFunctionContext } from './sink-function.ts';
import { SinkFunctionOperator } from './sink-function-operator.ts';

const options = (
  given: SinkFunction<string> | RichSinkFunction<string> | (new () => RichSinkFunction<string>),
  maxInFlightRequests = 1,
): HarnessOptions => {
  const isClass = typeof given === 'function' && given.prototype !== undefined;
  const fn = typeof given === 'function' && !isClass ? { invoke: given as SinkFunction<string> } : given;
  return {
    create: () => new SinkFunctionOperator<string>(fn as RichSinkFunction<string>, maxInFlightRequests),
    name: 'out',
  };
};

/** An asynchronous function whose calls the test ends. */
class Calls {
  readonly begun: string[] = [];
  private readonly ends: PromiseWithResolvers<void>[] = [];
  readonly fn = (value: string): Promise<void> => {
    this.begun.push(value);
    const end = Promise.withResolvers<void>();
    this.ends.push(end);
    return end.promise;
  };

  async end(): Promise<void> {
    this.ends.shift()!.resolve();
    await settle();
  }

  async fail(error: Error): Promise<void> {
    this.ends.shift()!.reject(error);
    await settle();
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

describe('a sink function', () => {
  it('gets each record once in every way a host may run it, with its time', async () => {
    const seen: unknown[] = [];
    const fn = (value: string, context: SinkFunctionContext): void => {
      seen.push([value, context.timestamp(), context.currentWatermark(), context.currentProcessingTime()]);
    };
    await runOperatorThroughAllModes(options(fn), [
      { value: 'a' },
      { watermarkMs: 5 },
      { processingTimeMs: 7 },
      { value: 'b', timestampMs: 9 },
    ]);
    const each = [
      ['a', undefined, Number.MIN_SAFE_INTEGER, 0],
      ['b', 9, 5, 7],
    ];
    deepStrictEqual(seen, Array(5).fill(each).flat());
  });

  it('that is asynchronous gets each record once in every way a host may run it', async () => {
    const seen: string[] = [];
    const fn = async (value: string): Promise<void> => {
      await Promise.resolve();
      seen.push(value);
    };
    await runOperatorThroughAllModes(
      options(fn),
      ['a', 'b', 'c'].map((value) => ({ value })),
    );
    deepStrictEqual(seen, Array(5).fill(['a', 'b', 'c']).flat());
  });

  it('that is asynchronous is called for one record after the other, and makes the host wait', async () => {
    const calls = new Calls();
    const harness = await OperatorHarness.open(options(calls.fn));
    for (const value of ['a', 'b', 'c']) harness.process(value);
    deepStrictEqual(calls.begun, ['a']);
    let hasRoom = false;
    void harness.busy()!.then(() => (hasRoom = true));
    await calls.end();
    await calls.end();
    deepStrictEqual(calls.begun, ['a', 'b', 'c']);
    strictEqual(hasRoom, false);
    await calls.end();
    strictEqual(hasRoom, true);
    strictEqual(harness.busy(), undefined);
    await harness.close();
  });

  it('may be called for as many records at a time as was allowed', async () => {
    const calls = new Calls();
    const harness = await OperatorHarness.open(options(calls.fn, 2));
    for (const value of ['a', 'b', 'c']) harness.process(value);
    deepStrictEqual(calls.begun, ['a', 'b']);
    ok(harness.busy() !== undefined);
    await calls.end();
    deepStrictEqual(calls.begun, ['a', 'b', 'c']);
    await harness.close();
  });

  it('a snapshot waits for the records before it, not for those after it', async () => {
    const calls = new Calls();
    const harness = await OperatorHarness.open(options(calls.fn));
    harness.process('a');
    harness.process('b');
    let isComplete = false;
    void harness
      .beginSnapshot(1)()
      .then(() => (isComplete = true));
    harness.process('c');
    await calls.end();
    strictEqual(isComplete, false);
    await calls.end();
    strictEqual(isComplete, true);
    deepStrictEqual(calls.begun, ['a', 'b', 'c']);
    await harness.close();
  });

  it('that fails fails the task with the name of the operator, sync or async, and its snapshot', async () => {
    const sync = await OperatorHarness.open(options(() => throwing('no')));
    throws(
      () => sync.process('a'),
      (error: Error) =>
        hasCode(error, 'USER_FUNCTION_FAILED') &&
        /invoke function of the sink.*'out'|'out'.*invoke/.test(error.message),
    );
    await sync.close();
    const calls = new Calls();
    const harness = await OperatorHarness.open(options(calls.fn));
    harness.process('a');
    harness.process('b');
    const snapshot = harness.beginSnapshot(1)();
    const told = rejects(snapshot, (error) => hasCode(error, 'USER_FUNCTION_FAILED'));
    await calls.fail(new Error('connection lost'));
    await told;
    strictEqual(harness.failures.length, 1);
    ok(/connection lost/.test(String(harness.failures[0])));
    deepStrictEqual(calls.begun, ['a'], 'nothing is called after a failure');
    await harness.close();
  });

  it('a call that fails after the end is nobody’s business', async () => {
    const calls = new Calls();
    const harness = await OperatorHarness.open(options(calls.fn));
    harness.process('a');
    harness.process('b');
    await harness.close();
    await calls.fail(new Error('closed'));
    deepStrictEqual(harness.failures, []);
    deepStrictEqual(calls.begun, ['a']);
  });

  it('with a life is opened, flushed in each snapshot and at the end, and closed', async () => {
    const log: string[] = [];
    class Batching extends RichSinkFunction<string> {
      private batch: string[] = [];
      override open(context: RuntimeContext): void {
        log.push(`open ${context.getTaskName()}`);
      }
      invoke(value: string): void {
        this.batch.push(value);
      }
      override async flush(): Promise<void> {
        const { batch } = this;
        this.batch = [];
        await Promise.resolve();
        log.push(`flush ${batch}`);
      }
      override close(): void {
        log.push('close');
      }
    }
    const harness = await OperatorHarness.open(options(Batching));
    harness.process('a');
    harness.process('b');
    await harness.snapshot(1);
    harness.process('c');
    await harness.finish();
    await harness.close();
    deepStrictEqual(log, ['open out', 'flush a,b', 'flush c', 'close']);
  });

  it('whose flush fails fails the task and the snapshot', async () => {
    class Failing extends RichSinkFunction<string> {
      invoke(): void {}
      override flush(): Promise<void> {
        return Promise.reject(new Error('disk full'));
      }
    }
    const harness = await OperatorHarness.open(options(Failing));
    await rejects(harness.snapshot(1), /flush function of the sink|disk full/);
    ok(harness.failures.length > 0);
    await harness.close();
  });

  it('is refused if it is none, or with a number of calls that is none', () => {
    const invalid = (error: unknown): boolean => hasCode(error, 'INVALID_ARGUMENT');
    throws(() => new SinkFunctionOperator({} as never, 1), invalid);
    throws(() => new SinkFunctionOperator({ invoke() {} } as never, 0), invalid);
  });
});

function throwing(message: string): never {
  throw new Error(message);
}
