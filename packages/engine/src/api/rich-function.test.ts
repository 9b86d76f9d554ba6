import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../base/index.ts';
import type { Collector, RuntimeContext } from '../operators/index.ts';
import { type ValueState, ValueStateDescriptor } from '../state/index.ts';
import { Types } from '../types/index.ts';
import { collectAll, RichFilterFunction, RichFlatMapFunction, RichMapFunction } from './rich-function.ts';
import { StreamExecutionEnvironment } from './stream-execution-environment.ts';

/** Numbers the values of each key. */
class Numbered extends RichMapFunction<string, string> {
  private count!: ValueState<number>;

  override open(context: RuntimeContext): void {
    this.count = context.getState(new ValueStateDescriptor('count', Types.LONG, 0));
  }

  map(value: string): string {
    this.count.update(this.count.value()! + 1);
    return `${value}${this.count.value()}`;
  }
}

/** Keeps one of `of`. */
class OneOf<T> extends RichFilterFunction<T> {
  readonly #of: number;
  #seen = 0;

  constructor(of: number) {
    super();
    this.#of = of;
  }

  filter(): boolean {
    return this.#seen++ % this.#of === 0;
  }
}

class Twice extends RichFlatMapFunction<string, string> {
  flatMap(value: string, out: Collector<string>): Iterable<string> {
    out.collect(value);
    return [value.toUpperCase()];
  }
}

const environment = (parallelism = 1): StreamExecutionEnvironment =>
  StreamExecutionEnvironment.getExecutionEnvironment({ host: 'inline', parallelism });

describe('a map, filter or flatMap object', () => {
  it('has a life and the state of its key', async () => {
    const results = await environment()
      .fromElements('a', 'b', 'a')
      .keyBy((value) => value)
      .map(new Numbered())
      .executeAndCollect();
    assert.deepEqual(results, ['a1', 'b1', 'a2']);
  });

  it('may be a class, may have private fields, and may collect or return results', async () => {
    const stream = environment().fromElements('a', 'b', 'c').filter(new OneOf<string>(2)).flatMap(Twice);
    assert.deepEqual(await stream.executeAndCollect(), ['a', 'A', 'c', 'C']);
  });

  it('is copied for each subtask; if it cannot be copied, the error says what to pass instead', async () => {
    const numbers = environment(2).fromSequence(1, 10);
    await assert.rejects(numbers.filter(new OneOf<number>(2)).executeAndCollect(), (error) => {
      assert.ok(hasCode(error, 'FUNCTION_SHARED'), String(error));
      assert.match(
        (error as Error).message,
        /OneOf.*private fields.*Pass the class or a function that makes it/s,
      );
      return true;
    });
  });

  it('may serve two calls, and may have methods of any name', async () => {
    const both = {
      map: (value: number): number => both.processElement(value),
      filter: (value: number) => value > 2,
      processElement: (value: number) => value + 1,
    };
    const results = await environment().fromElements(1, 2).map(both).filter(both).executeAndCollect();
    assert.deepEqual(results, [3]);
  });
});

describe('a map object that answers with a promise', () => {
  it('is refused where it is given if it is async, else when it does, naming the operator', async () => {
    const asynchronous = { map: async (value: number) => value };
    const late = { map: (value: number) => Promise.resolve(value) };
    assert.throws(
      () => environment().fromSequence(1, 2).map(asynchronous),
      (error) => hasCode(error, 'PROMISE_NOT_EXPECTED'),
    );
    await assert.rejects(
      environment().fromSequence(1, 2).map(late).name('later').executeAndCollect(),
      (error) => hasCode(error, 'PROMISE_NOT_EXPECTED') && /later/.test((error as Error).message),
    );
  });
});

describe('what a flatMap function returns', () => {
  it('is iterated, or nothing, or refused', () => {
    const collected: number[] = [];
    const out = { collect: (value: number) => void collected.push(value) };
    collectAll(undefined, out);
    collectAll(new Set([1, 2]), out);
    assert.deepEqual(collected, [1, 2]);
    for (const wrong of [3, 'text', null, {}]) {
      assert.throws(
        () => collectAll(wrong, out),
        (error) => error instanceof TypeError,
      );
    }
  });

  it('is refused with the name of the operator and what was found', async () => {
    const wrong = environment()
      .fromElements(1)
      .flatMap({ flatMap: () => 3 as never })
      .name('split');
    await assert.rejects(
      wrong.executeAndCollect(),
      (error) => hasCode(error, 'USER_FUNCTION_FAILED') && /'split'.*found the number 3/.test(String(error)),
    );
  });
});

describe('the map functions of connected streams', () => {
  it('are called for their stream, and may not answer with a promise', async () => {
    const env = environment();
    const connected = env.fromElements(1, 2).connect(env.fromElements('a'));
    const results = await connected
      .map<string>(
        (n) => `n${n}`,
        (text) => text,
      )
      .executeAndCollect();
    assert.deepEqual(results.sort(), ['a', 'n1', 'n2']);
    const other = environment();
    const late = other.fromElements(1).connect(other.fromElements('a'));
    await assert.rejects(
      late
        .map<unknown>(
          (n) => Promise.resolve(n),
          (text) => text,
        )
        .name('later')
        .executeAndCollect(),
      (error) => hasCode(error, 'PROMISE_NOT_EXPECTED') && /later/.test((error as Error).message),
    );
  });
});
