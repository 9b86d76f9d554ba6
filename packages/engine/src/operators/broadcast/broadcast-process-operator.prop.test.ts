import { deepStrictEqual } from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { MapStateDescriptor, type ValueState, ValueStateDescriptor } from '../../state/index.ts';
import {
  type HarnessOptions,
  type HarnessSnapshot,
  OperatorHarness,
} from '../../testing/operator-harness.ts';
import { Types } from '../../types/index.ts';
import type { Collector, RuntimeContext } from '../functions.ts';
import {
  type BroadcastOnTimerContext,
  type KeyedBroadcastContext,
  KeyedBroadcastProcessFunction,
  type KeyedReadOnlyBroadcastContext,
} from './broadcast-functions.ts';
import { KeyedBroadcastProcessOperator } from './broadcast-process-operator.ts';

/** A rule multiplies what is counted under a key; `remove` takes it away. */
type Rule = { readonly kind: 'factor' | 'remove' | 'reset'; readonly key: number; readonly factor: number };

const factors = new MapStateDescriptor('factors', Types.INT, Types.INT);
const count = new ValueStateDescriptor('count', Types.INT, 0);

class Weighted extends KeyedBroadcastProcessFunction<number, number, Rule, string> {
  private count!: ValueState<number>;

  override open(context: RuntimeContext): void {
    this.count = context.getState(count);
  }

  override processElement(
    key: number,
    context: KeyedReadOnlyBroadcastContext<number>,
    out: Collector<string>,
  ): void {
    const total = this.count.value()! + (context.getBroadcastState(factors).get(key) ?? 1);
    this.count.update(total);
    context.timerService().registerEventTimeTimer(Math.floor(context.timestamp()! / 10) * 10 + 9);
    out.collect(`${key} ${total}`);
  }

  override processBroadcastElement(
    { kind, key, factor }: Rule,
    context: KeyedBroadcastContext<number>,
    out: Collector<string>,
  ): void {
    if (kind === 'factor') context.getBroadcastState(factors).put(key, factor);
    if (kind === 'remove') context.getBroadcastState(factors).remove(key);
    if (kind === 'reset')
      context.applyToKeyedState(count, (each, state) => {
        out.collect(`${each} had ${state.value()}`);
        if (each >= key) state.clear();
      });
  }

  override onTimer(at: number, context: BroadcastOnTimerContext<number>, out: Collector<string>): void {
    const sum = [...context.getBroadcastState(factors).values()].reduce((a, b) => a + b, 0);
    out.collect(`${context.getCurrentKey()} at ${at}: ${this.count.value()} of ${sum}`);
  }
}

/** The same without subtasks, snapshots and bytes. */
class Model {
  private readonly factors = new Map<number, number>();
  private readonly counts = new Map<number, number>();
  private timers = new Set<string>();

  element(key: number, timestampMs: number): string[] {
    const total = (this.counts.get(key) ?? 0) + (this.factors.get(key) ?? 1);
    this.counts.set(key, total);
    this.timers.add(`${key} ${Math.floor(timestampMs / 10) * 10 + 9}`);
    return [`${key} ${total}`];
  }

  rule({ kind, key, factor }: Rule): string[] {
    if (kind === 'factor') this.factors.set(key, factor);
    if (kind === 'remove') this.factors.delete(key);
    if (kind !== 'reset') return [];
    const had = [...this.counts].map(([each, total]) => `${each} had ${total}`);
    for (const each of [...this.counts.keys()]) if (each >= key) this.counts.delete(each);
    return had;
  }

  watermark(watermarkMs: number): string[] {
    const sum = [...this.factors.values()].reduce((a, b) => a + b, 0);
    const due = [...this.timers].filter((timer) => Number(timer.split(' ')[1]) <= watermarkMs);
    this.timers = new Set([...this.timers].filter((timer) => !due.includes(timer)));
    return due.map((timer) => {
      const [key, at] = timer.split(' ');
      return `${key} at ${at}: ${this.counts.get(Number(key)) ?? 0} of ${sum}`;
    });
  }
}

const options: HarnessOptions = {
  create: () => new KeyedBroadcastProcessOperator(Weighted, [factors]),
  key: { selectors: [(key: number) => key, undefined], type: Types.INT },
  maxParallelism: 8,
};

/** All subtasks of the operator: an element goes to the one that has its key, a rule to all. */
class Subtasks {
  private readonly harnesses: readonly OperatorHarness[];

  constructor(harnesses: readonly OperatorHarness[]) {
    this.harnesses = harnesses;
  }

  static async open(parallelism: number, snapshots: readonly HarnessSnapshot[]): Promise<Subtasks> {
    const indices = Array.from({ length: parallelism }, (_, index) => index);
    return new Subtasks(
      await Promise.all(
        indices.map((subtaskIndex) =>
          OperatorHarness.open({ ...options, subtaskIndex, parallelism }, snapshots),
        ),
      ),
    );
  }

  /** What comes out of `feed`, sorted: subtasks have no order. */
  results(feed: (harness: OperatorHarness) => void): unknown[] {
    return this.harnesses
      .flatMap((harness) => {
        const before = harness.values.length;
        feed(harness);
        return harness.values.slice(before);
      })
      .sort();
  }

  /** The same state in other subtasks, at the same watermark. */
  async moveTo(parallelism: number, watermarkMs: number): Promise<Subtasks> {
    const snapshots = await Promise.all(this.harnesses.map((harness) => harness.snapshot()));
    for (const harness of this.harnesses) await harness.close();
    const moved = await Subtasks.open(parallelism, snapshots);
    moved.results((harness) => harness.watermark(watermarkMs));
    return moved;
  }
}

const key = fc.integer({ min: 0, max: 6 });
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('element' as const), key, late: fc.nat(15) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('rule' as const),
      rule: fc.record({ kind: fc.constantFrom('factor', 'remove', 'reset'), key, factor: fc.nat(9) }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('watermark' as const), by: fc.integer({ min: 1, max: 30 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('move' as const), to: fc.integer({ min: 1, max: 4 }) }),
  },
);

it('a keyed broadcast function does what it would do in one piece, at any parallelism and through any restarts', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(step, { maxLength: 40 }),
      async (first, steps) => {
        const model = new Model();
        let subtasks = await Subtasks.open(first, []);
        let watermarkMs = 0;
        for (const each of steps) {
          if (each.do === 'element') {
            // After the watermark: a timer that is due when subtasks move fires while they do.
            const timestampMs = watermarkMs + 1 + each.late;
            const found = subtasks.results((harness) => {
              if (harness.owns(each.key)) harness.process(each.key, timestampMs);
            });
            deepStrictEqual(found, model.element(each.key, timestampMs));
          } else if (each.do === 'rule') {
            const found = subtasks.results((harness) => harness.process(each.rule, watermarkMs, 1));
            deepStrictEqual(found, model.rule(each.rule).sort());
          } else if (each.do === 'watermark') {
            watermarkMs += each.by;
            const found = subtasks.results((harness) => harness.watermark(watermarkMs));
            deepStrictEqual(found, model.watermark(watermarkMs).sort());
          } else {
            subtasks = await subtasks.moveTo(each.to, watermarkMs);
          }
        }
      },
    ),
    { numRuns: 100 },
  );
});
