import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../base/index.ts';
import {
  type BroadcastContext,
  type BroadcastOnTimerContext,
  BroadcastProcessFunction,
  type Collector,
  KeyedBroadcastProcessFunction,
  type KeyedReadOnlyBroadcastContext,
  type ReadOnlyBroadcastContext,
} from '../operators/index.ts';
import { type ListState, ListStateDescriptor, MapStateDescriptor } from '../state/index.ts';
import { Types } from '../types/index.ts';
import { RestartStrategies } from './restart-strategies.ts';
import { StreamExecutionEnvironment } from './stream-execution-environment.ts';

const names = new MapStateDescriptor('names', Types.LONG, Types.STRING);
const NAMES = ['none', 'one', 'two', 'three'];
const END_OF_TIME = Number.MAX_SAFE_INTEGER - 1;

/** Names numbers when both streams have ended: no order is guaranteed between them before. */
class NameAtEnd extends KeyedBroadcastProcessFunction<number, number, string, string> {
  private numbers!: ListState<number>;

  override open(): void {
    this.numbers = this.getRuntimeContext().getListState(new ListStateDescriptor('numbers', Types.LONG));
  }

  override processElement(value: number, context: KeyedReadOnlyBroadcastContext<number>): void {
    this.numbers.add(value);
    context.timerService().registerEventTimeTimer(END_OF_TIME);
  }

  override processBroadcastElement(name: string, context: BroadcastContext): void {
    context.getBroadcastState(names).put(NAMES.indexOf(name), name);
  }

  override onTimer(_at: number, context: BroadcastOnTimerContext<number>, out: Collector<string>): void {
    const name = context.getBroadcastState(names).get(context.getCurrentKey());
    for (const value of this.numbers.get()) out.collect(`${value} ${name}`);
  }
}

function environment(parallelism: number): StreamExecutionEnvironment {
  const env = StreamExecutionEnvironment.getExecutionEnvironment({ host: 'inline', parallelism });
  return env.setRestartStrategy(RestartStrategies.noRestart());
}

describe('a broadcast stream', () => {
  it('reaches every subtask of a keyed stream, at any parallelism', async () => {
    for (const parallelism of [1, 2, 5]) {
      const env = environment(parallelism);
      const rules = env.fromCollection(NAMES, Types.STRING).broadcast(names);
      const results = await env
        .fromSequence(0, 39)
        .keyBy((value) => value % 4, Types.LONG)
        .connect(rules)
        .process(NameAtEnd, Types.STRING)
        .executeAndCollect();
      const expected = Array.from({ length: 40 }, (_, value) => `${value} ${NAMES[value % 4]}`);
      assert.deepEqual(results.sort(), expected.sort());
    }
  });

  it('reaches every subtask of a stream without keys', async () => {
    class Count extends BroadcastProcessFunction<number, string, string> {
      override processElement(): void {}

      override processBroadcastElement(
        name: string,
        context: BroadcastContext,
        out: Collector<string>,
      ): void {
        const state = context.getBroadcastState(names);
        state.put(NAMES.indexOf(name), name);
        if ([...state.keys()].length < NAMES.length) return;
        out.collect(`${this.getRuntimeContext().getIndexOfThisSubtask()} ${[...state.values()]}`);
      }
    }
    const env = environment(3);
    const rules = env.fromCollection(NAMES, Types.STRING).broadcast(names);
    const results = await env.fromSequence(0, 9).connect(rules).process(new Count()).executeAndCollect();
    assert.deepEqual(
      results.sort(),
      [0, 1, 2].map((subtask) => `${subtask} ${NAMES}`),
    );
  });

  it('stands in the plan as an exchange to the second input', () => {
    const env = environment(2);
    const rules = env.fromCollection(NAMES, Types.STRING).broadcast(names);
    const numbers = env.fromSequence(0, 9);
    const keyed = numbers.keyBy((value) => value, Types.LONG);
    keyed.connect(rules).process(NameAtEnd).name('keyed').print();
    numbers
      .connect(rules)
      .process(() => ({ processElement() {}, processBroadcastElement() {} }))
      .print();
    const { operators } = JSON.parse(env.getExecutionPlan()) as {
      operators: {
        kind: string;
        keyType: { kind: string } | null;
        inputs: { exchange: string; input: number }[];
      }[];
    };
    const exchanges = operators
      .filter(({ kind }) => kind.includes('broadcast'))
      .map(({ kind, keyType, inputs }) => [kind, keyType?.kind, ...inputs.map((each) => each.exchange)]);
    assert.deepEqual(exchanges, [
      ['keyed-broadcast-process', 'long', 'hash', 'broadcast'],
      ['broadcast-process', undefined, 'forward', 'broadcast'],
    ]);
  });

  it('fails the job where a function asks for a state that was not declared', async () => {
    const env = environment(2);
    const rules = env.fromCollection(NAMES, Types.STRING).broadcast(names);
    const stream = env
      .fromSequence(0, 9)
      .connect(rules)
      .process({
        processElement(_value: number, context: ReadOnlyBroadcastContext): void {
          context.getBroadcastState(new MapStateDescriptor('name', Types.LONG, Types.STRING));
        },
        processBroadcastElement(): void {},
      })
      .name('lookup');
    await assert.rejects(stream.executeAndCollect(), (error: Error) => {
      assert.match(error.message, /'lookup' asks for the broadcast state "name".*declared are "names"/);
      return hasCode(error, 'INVALID_ARGUMENT');
    });
  });

  it('is declared with descriptors of maps', () => {
    const stream = environment(1).fromCollection(NAMES, Types.STRING);
    assert.throws(
      () => stream.broadcast(new ListStateDescriptor('names') as never),
      (error) => hasCode(error, 'INVALID_ARGUMENT'),
    );
    assert.throws(
      () => stream.broadcast(names, names),
      (error) => hasCode(error, 'INVALID_ARGUMENT'),
    );
  });
});
