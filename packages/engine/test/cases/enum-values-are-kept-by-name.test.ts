/**
 * A value is inserted in the middle of an enum that is in state: the saved values stay what they were. A value that was
 * removed fails the restore if entries hold it, with their number. (From FLINK-6921, FLINK-6948, apache/flink#7766.)
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Collector,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type RuntimeContext,
  type StreamExecutionEnvironment,
  type TypeInformation,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from '@millrace/engine';
import { createManualPlatform } from '../../src/testing/manual-platform.ts';
import { Gate, GatedSource } from '../gated-source.ts';
import { assertRefused } from '../refusal.ts';
import { checkpointAndCancel, environmentOn } from '../small-job.ts';

const STATES = ['NEW', 'PAID', 'SENT'];
const ORDERS = 30;

/** Takes the state of an order at its first record, and says it at the second. */
class OrderStates extends KeyedProcessFunction<number, number, { order: number; state: string }> {
  private readonly type: TypeInformation<string>;
  private state!: ValueState<string>;

  constructor(type: TypeInformation<string>) {
    super();
    this.type = type;
  }

  override open(context: RuntimeContext): void {
    this.state = context.getState(new ValueStateDescriptor('state', this.type));
  }

  override processElement(
    order: number,
    _context: KeyedProcessContext<number>,
    out: Collector<{ order: number; state: string }>,
  ): void {
    const state = this.state.value();
    if (state === undefined) this.state.update(STATES[order % 3]!);
    else out.collect({ order, state });
  }
}

function job(env: StreamExecutionEnvironment, gate: Gate, values: readonly string[]) {
  const orders = Array.from({ length: ORDERS * 2 }, (_, i) => i % ORDERS);
  return env
    .fromSource(new GatedSource([orders], gate), WatermarkStrategy.noWatermarks(), 'orders', Types.INT)
    .uid('orders')
    .setParallelism(1)
    .keyBy((order) => order, Types.INT)
    .process(() => new OrderStates(Types.ENUM('State', values)))
    .uid('states')
    .name('states of orders');
}

describe('an enum in state', () => {
  const restore = async (values: readonly string[]) => {
    const platform = createManualPlatform();
    const env = environmentOn(platform);
    job(env, new Gate(ORDERS), STATES).print();
    const path = await checkpointAndCancel(await env.executeAsync('orders'));
    return job(
      environmentOn(platform, { 'execution.state-recovery.path': path }),
      new Gate(ORDERS * 2),
      values,
    ).executeAndCollect('orders');
  };

  it('keeps its values by name when one is inserted', async () => {
    const results = await restore(['NEW', 'CHECKED', 'PAID', 'SENT']);
    const wanted = Array.from({ length: ORDERS }, (_, order) => ({ order, state: STATES[order % 3]! }));
    assert.deepEqual(
      results.sort((a, b) => a.order - b.order),
      wanted,
    );
  });

  it('keeps its values by name when they are in another order', async () => {
    const results = await restore(['SENT', 'PAID', 'NEW']);
    assert.deepEqual(
      new Set(results.map(({ order, state }) => STATES[order % 3] === state)),
      new Set([true]),
    );
  });

  it('without a value that entries hold fails the restore, naming value, state, operator and number of entries', async () => {
    await assertRefused(
      restore(['NEW', 'SENT']),
      'STATE_ENUM_VALUE_REMOVED',
      /PAID/,
      /"state"|state/,
      /states of orders/,
      /\b10\b/,
    );
  });
});
