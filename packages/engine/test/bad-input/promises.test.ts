/** User code that returns a promise where an answer is needed at once. */
import { describe, it } from 'node:test';
import {
  type Collector,
  GeneratorSource,
  type KeyedProcessContext,
  KeyedProcessFunction,
  StreamExecutionEnvironment,
  TumblingEventTimeWindows,
  Types,
  WatermarkStrategy,
} from '@millrace/engine';
import { assertRefused } from '../refusal.ts';

type Job = (env: StreamExecutionEnvironment) => Promise<unknown>;

/** What TypeScript refuses and JavaScript lets pass. */
const later = <T>(value: T): never => Promise.resolve(value) as never;
const numbers = (env: StreamExecutionEnvironment) => env.fromElements(1, 2);
const keyed = (env: StreamExecutionEnvironment) => numbers(env).keyBy((value) => value % 2, Types.LONG);

class AsyncProcess extends KeyedProcessFunction<number, number, number> {
  override async processElement(
    value: number,
    _context: KeyedProcessContext<number>,
    out: Collector<number>,
  ): Promise<void> {
    out.collect(value);
  }
}

class PromisedProcess extends KeyedProcessFunction<number, number, number> {
  override processElement(): void {
    return later(1);
  }
}

class PromisedTimer extends KeyedProcessFunction<number, number, number> {
  override processElement(_value: number, context: KeyedProcessContext<number>): void {
    context.timerService().registerEventTimeTimer(5);
  }

  override onTimer(): void {
    return later(1);
  }
}

const DECLARED: readonly (readonly [string, Job])[] = [
  [
    'an async function in map',
    (env) =>
      numbers(env)
        .map(async (value) => value)
        .executeAndCollect(),
  ],
  [
    'an async function in filter',
    (env) =>
      numbers(env)
        .filter((async () => true) as never)
        .executeAndCollect(),
  ],
  [
    'an async function in flatMap',
    (env) =>
      numbers(env)
        .flatMap((async () => []) as never)
        .executeAndCollect(),
  ],
  [
    'an async key selector',
    (env) =>
      numbers(env)
        .keyBy(async (value) => value)
        .reduce((a) => a)
        .executeAndCollect(),
  ],
  [
    'an async method of a process function',
    (env) =>
      keyed(env)
        .process(AsyncProcess as never)
        .executeAndCollect(),
  ],
];

const RETURNED: readonly (readonly [string, string, Job])[] = [
  ['map', 'later', (env) => numbers(env).map(later).name('later').executeAndCollect()],
  [
    'filter',
    'later',
    (env) =>
      numbers(env)
        .filter(() => later(true))
        .name('later')
        .executeAndCollect(),
  ],
  [
    'flatMap',
    'later',
    (env) =>
      numbers(env)
        .flatMap(() => later([]))
        .name('later')
        .executeAndCollect(),
  ],
  [
    'reduce',
    'later',
    (env) =>
      constantKey(env)
        .reduce(() => later(1))
        .name('later')
        .executeAndCollect(),
  ],
  [
    'a process function',
    'later',
    (env) => keyed(env).process(PromisedProcess).name('later').executeAndCollect(),
  ],
  ['a timer', 'later', (env) => keyed(env).process(PromisedTimer).name('later').executeAndCollect()],
  [
    'a generator',
    'later',
    (env) => env.fromSource(generator(), WatermarkStrategy.noWatermarks(), 'later').executeAndCollect(),
  ],
  ['an aggregate', 'later', (env) => aggregated(env).name('later').executeAndCollect()],
];

function constantKey(env: StreamExecutionEnvironment) {
  return numbers(env).keyBy(() => 1, Types.LONG);
}

function generator(): GeneratorSource<number> {
  return new GeneratorSource<number>((index) => later(index), { count: 3 });
}

function aggregated(env: StreamExecutionEnvironment) {
  const strategy = WatermarkStrategy.forMonotonousTimestamps<number>().withTimestampAssigner(() => 0);
  return numbers(env)
    .assignTimestampsAndWatermarks(strategy)
    .keyBy(() => 1, Types.LONG)
    .window(TumblingEventTimeWindows.of(10))
    .aggregate({ createAccumulator: () => 0, add: () => later(1), getResult: (sum) => sum, merge: (a) => a });
}

describe('a promise where none is expected', () => {
  const environment = () => StreamExecutionEnvironment.getExecutionEnvironment({ host: 'inline' });

  for (const [what, job] of DECLARED) {
    it(`${what} is refused before the job starts`, async () => {
      await assertRefused(async () => job(environment()), 'PROMISE_NOT_EXPECTED', /async/);
    });
  }

  for (const [what, name, job] of RETURNED) {
    it(`a promise returned by ${what} is refused, naming the operator`, async () => {
      await assertRefused(job(environment()), 'PROMISE_NOT_EXPECTED', new RegExp(name), /promise/i);
    });
  }

  it('a promise returned by a key selector is refused, naming the operator', async () => {
    const stream = numbers(environment())
      .keyBy(later)
      .reduce((a) => a)
      .name('by later');
    await assertRefused(stream.executeAndCollect(), 'KEY_NOT_ALLOWED', /by later/, /promise/i);
  });
});
