/** The harness must find what it is there to find: state outside of state, changed records, results after a full output. */
import { deepStrictEqual, rejects, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OneInputOperator, OperatorContext } from '../runtime/index.ts';
import { type ReducingState, ReducingStateDescriptor } from '../state/index.ts';
import { Types } from '../types/index.ts';
import { deepFreeze } from './frozen-reads.ts';
import { OperatorHarness } from './operator-harness.ts';
import { runOperatorThroughAllModes } from './operator-modes.ts';

/** Sums its records in keyed state, or, as a mistake, in a field. */
class Summing implements OneInputOperator<number, number> {
  private context!: OperatorContext<number>;
  private state!: ReducingState<number>;
  private field = 0;
  private readonly inField: boolean;

  constructor(inField: boolean) {
    this.inField = inField;
  }

  setup(context: OperatorContext<number>): void {
    this.context = context;
  }

  open(): void {
    this.state = this.context.keyedState.getReducingState(
      new ReducingStateDescriptor('sum', (a, b) => a + b, Types.LONG),
    );
  }

  processElement(value: number, timestampMs: number): void {
    this.field += value;
    this.state.add(value);
    this.context.output.collect(this.inField ? this.field : this.state.get()!, timestampMs);
  }

  processWatermark(watermarkMs: number): void {
    this.context.output.emitWatermark(watermarkMs);
  }

  processWatermarkStatus(idle: boolean): void {
    this.context.output.emitWatermarkStatus(idle);
  }
}

const key = { selectors: [() => 'all'] };

describe('the operator harness', () => {
  it('gives the same in all modes for an operator whose state is state', async () => {
    const events = await runOperatorThroughAllModes({ create: () => new Summing(false), key }, [
      { value: 1 },
      { value: 2 },
      { value: 3 },
    ]);
    deepStrictEqual(
      events.flatMap((event) => (event.kind === 'record' ? [event.value] : [])),
      [1, 3, 6],
    );
  });

  it('finds an operator that keeps in a field what must be in state', async () => {
    await rejects(
      runOperatorThroughAllModes({ create: () => new Summing(true), key }, [{ value: 1 }, { value: 2 }]),
      /something else when it is restored after every step/,
    );
  });

  it('feeds nothing while the output is full, and goes on where it was', async () => {
    const harness = await OperatorHarness.open({ create: () => new Summing(false), key });
    harness.setOutputFull(true);
    harness.process(1);
    harness.process(2);
    harness.watermark(5);
    strictEqual(harness.events.length, 0);
    harness.setOutputFull(false);
    deepStrictEqual(
      harness.events.map((event) => event.kind),
      ['record', 'record', 'watermark'],
    );
  });

  it('freezes records, what they hold, and maps and sets too', () => {
    const value = deepFreeze({
      list: [{ n: 1 }],
      map: new Map([['a', { n: 1 }]]),
      set: new Set([1]),
      bytes: new Uint8Array(2),
    });
    throws(() => {
      value.list[0]!.n = 2;
    }, TypeError);
    throws(() => value.map.set('b', { n: 2 }), TypeError);
    throws(() => {
      value.map.get('a')!.n = 2;
    }, TypeError);
    throws(() => value.set.add(2), TypeError);
    value.bytes[0] = 1;
  });
});
