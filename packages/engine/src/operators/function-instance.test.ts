import { deepStrictEqual, notStrictEqual, ok, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../base/index.ts';
import { checkFunctionObject, takeFunction } from './function-instance.ts';

class Counting {
  count = 0;
  seen: string[] = [];
  byKey = new Map<string, { n: number }>();
  readonly step: number;
  constructor(step = 1) {
    this.step = step;
  }
  processElement(): void {
    this.count += this.step;
    this.seen.push('x');
  }
}

class Private {
  #count = 0;
  processElement(): number {
    return ++this.#count;
  }
}

class Arrow {
  count = 0;
  processElement = (): number => ++this.count;
}

const METHODS = ['processElement', 'onTimer'];

describe('the function object of a subtask', () => {
  it('is a copy with fields of its own, and the given one stays as it was made', () => {
    const given = new Counting(5);
    const first = takeFunction(given, METHODS, 'op').fn;
    first.processElement();
    first.byKey.set('a', { n: 1 });
    const second = takeFunction(given, METHODS, 'op').fn;
    ok(second instanceof Counting);
    notStrictEqual(first, second);
    deepStrictEqual([first.count, first.seen.length, second.count, second.seen.length], [5, 1, 0, 0]);
    deepStrictEqual([second.byKey.size, second.step, given.count], [0, 5, 0]);
  });

  it('keeps objects that are no plain data by reference, and cycles as cycles', () => {
    const client = new (class Client {})();
    const given: { client: object; self?: object; processElement(): void } = { client, processElement() {} };
    given.self = given;
    const { fn } = takeFunction(given, METHODS, 'op');
    strictEqual(fn.client, client);
    strictEqual(fn.self, fn);
  });

  it('is made anew by a class or by a function', () => {
    const byClass = takeFunction<Counting>(Counting, METHODS, 'op').fn;
    const byFunction = takeFunction<Private>(() => new Private(), METHODS, 'op').fn;
    strictEqual(byClass.step, 1);
    strictEqual(byFunction.processElement(), 1);
  });

  it('is the given one, for one subtask at a time, if it has private fields or bound functions', () => {
    for (const given of [new Private(), new Arrow()]) {
      const taken = takeFunction<Private | Arrow>(given, METHODS, 'totals');
      strictEqual(taken.fn, given);
      throws(
        () => takeFunction<Private | Arrow>(given, METHODS, 'totals'),
        (error: Error) =>
          hasCode(error, 'FUNCTION_SHARED') && /'totals'.*\(\) => new \w+/.test(error.message),
      );
      taken.release();
      takeFunction<Private | Arrow>(given, METHODS, 'totals').release();
    }
  });

  it('is not made by a function that has parameters: that was meant to be the function itself', () => {
    throws(
      () => checkFunctionObject(((value: number) => value) as never, METHODS),
      (error: Error) => hasCode(error, 'INVALID_ARGUMENT') && /with 1 parameters/.test(error.message),
    );
  });

  it('is refused if it lacks its method, or if the method is async', () => {
    throws(
      () => checkFunctionObject({}, METHODS),
      (error) => hasCode(error, 'INVALID_ARGUMENT'),
    );
    throws(
      () => checkFunctionObject(undefined as never, METHODS),
      (error) => hasCode(error, 'INVALID_ARGUMENT'),
    );
    throws(
      () => takeFunction(() => ({}), METHODS, 'op'),
      (error) => hasCode(error, 'INVALID_ARGUMENT'),
    );
    const asyncMethod = { async processElement() {} };
    const asyncTimer = class {
      processElement(): void {}
      async onTimer(): Promise<void> {}
    };
    class Named {
      async processElement(): Promise<void> {}
    }
    const anonymous = new (class {
      async processElement(): Promise<void> {}
    })();
    for (const [given, name] of [
      [asyncMethod, 'processElement of the function object'],
      [asyncTimer, 'onTimer of asyncTimer'],
      [anonymous, 'processElement of the anonymous class'],
      [Named, 'processElement of Named'],
    ] as const) {
      throws(
        () => checkFunctionObject(given, METHODS),
        (error: Error) =>
          hasCode(error, 'PROMISE_NOT_EXPECTED') &&
          error.message.startsWith(`The method ${name} is declared async. `),
      );
    }
  });
});
