import { deepStrictEqual, rejects, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../base/index.ts';
import { type ListState, ListStateDescriptor } from '../state/index.ts';
import { OperatorHarness } from '../testing/operator-harness.ts';
import { runOperatorThroughAllModes } from '../testing/operator-modes.ts';
import { Types } from '../types/index.ts';
import { type Collector, type ProcessContext, ProcessFunction, type RuntimeContext } from './functions.ts';
import { OutputTag } from './output-tag.ts';
import { ProcessOperator } from './process-operator.ts';

const odd = new OutputTag<number>('odd', Types.INT);

/** Numbers its records, in operator state; odd values go aside. */
class Numbering extends ProcessFunction<number, string> {
  private state!: ListState<number>;
  private count = 0;

  override open(context: RuntimeContext): void {
    this.state = context.getOperatorListState(new ListStateDescriptor('count', Types.LONG));
    this.count = this.state.get().reduce((sum, each) => sum + each, 0);
  }

  override processElement(value: number, context: ProcessContext, out: Collector<string>): void {
    this.count++;
    if (value % 2 === 1) context.output(odd, value);
    else
      out.collect(
        `${this.count}: ${value} at ${context.timestamp()} after ${context.timerService().currentWatermark()}`,
      );
  }

  override snapshotState(): void {
    this.state.update([this.count]);
  }
}

describe('a process function without keys', () => {
  it('sees timestamps and watermarks, has side outputs, and keeps fields by operator state', async () => {
    const given = new Numbering();
    const events = await runOperatorThroughAllModes({ create: () => new ProcessOperator(given) }, [
      { watermarkMs: 3 },
      { value: 2, timestampMs: 5 },
      { value: 1, timestampMs: 6 },
      { value: 4 },
    ]);
    deepStrictEqual(events.slice(1, 4), [
      { kind: 'record', value: '1: 2 at 5 after 3', timestamp: 5 },
      { kind: 'side', tag: 'odd', value: 1, timestamp: 6 },
      { kind: 'record', value: '3: 4 at undefined after 3', timestamp: undefined },
    ]);
  });

  it('is refused timers and keyed state, with the advice to use keyBy', async () => {
    const timer = () =>
      new ProcessOperator({
        processElement(_value: unknown, context: ProcessContext) {
          context.timerService().registerEventTimeTimer(5);
        },
      });
    const harness = await OperatorHarness.open({ create: timer });
    throws(
      () => harness.process(1),
      (error: Error) => hasCode(error, 'INVALID_ARGUMENT') && /keyBy/.test(error.message),
    );
    const state = () =>
      new ProcessOperator({
        open(context: RuntimeContext) {
          context.getListState(new ListStateDescriptor('x'));
        },
        processElement() {},
      });
    await rejects(OperatorHarness.open({ create: state }), (error: Error) =>
      /has no keys.*keyBy/.test(error.message),
    );
  });

  it('may open and close asynchronously, and what they throw names the operator', async () => {
    const calls: string[] = [];
    const create = () =>
      new ProcessOperator({
        async open() {
          calls.push('open');
        },
        processElement() {},
        async close() {
          throw new Error('still open');
        },
      });
    const harness = await OperatorHarness.open({ create, name: 'client' });
    strictEqual(calls.length, 1);
    await rejects(
      harness.close(),
      (error: Error) =>
        hasCode(error, 'USER_FUNCTION_FAILED') && /close function.*'client'/.test(error.message),
    );
  });

  it('is refused when processElement returns a promise; other results do not matter', async () => {
    const later = new ProcessOperator({ processElement: () => Promise.resolve() as never });
    const harness = await OperatorHarness.open({ create: () => later });
    throws(
      () => harness.process(1),
      (error) => hasCode(error, 'PROMISE_NOT_EXPECTED'),
    );
    const number = await OperatorHarness.open({
      create: () => new ProcessOperator({ processElement: () => 5 as never }),
    });
    number.process(1);
  });

  it('gets a fresh object in every subtask and attempt', async () => {
    const given = new Numbering();
    const create = () => new ProcessOperator(given);
    const first = await OperatorHarness.open({ create });
    const second = await OperatorHarness.open({ create, attemptNumber: 1 });
    first.process(2, 1);
    second.process(2, 1);
    deepStrictEqual(first.values, second.values);
  });
});
