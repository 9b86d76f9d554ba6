/** The keyed backend contract: state in namespaces (windows), and merging them (session windows). */
import assert from 'node:assert/strict';
import {
  AggregatingStateDescriptor,
  type KeyedStateBackend,
  ListStateDescriptor,
  ReducingStateDescriptor,
  ValueStateDescriptor,
} from '../../state/index.ts';
import { Types } from '../../types/index.ts';
import { seededRandom } from '../seeded-random.ts';
import { type BackendCases, useKey } from './backend-workbench.ts';

const Window = Types.POJO('Window', { start: Types.LONG, end: Types.LONG });
const window = (start: number) => ({ start, end: start + 10 });

/** Collects what was added into a sorted list: an accumulator of changing size. */
const collect = {
  createAccumulator: (): string[] => [],
  add: (value: string, accumulator: string[]) => [...accumulator, value],
  getResult: (accumulator: string[]) => accumulator.join(','),
  merge: (a: string[], b: string[]) => [...a, ...b],
};

/** One whose values keep their size, and one whose values grow. */
function rememberingStates(backend: KeyedStateBackend<string>) {
  const count = {
    createAccumulator: () => 0,
    add: (_: string, sum: number) => sum + 1,
    getResult: (sum: number) => sum,
    merge: (a: number, b: number) => a + b,
  };
  return [
    backend.getNamespacedAggregatingState(new AggregatingStateDescriptor('c', count, Types.LONG), Types.LONG),
    backend.getNamespacedAggregatingState(
      new AggregatingStateDescriptor('g', collect, Types.LIST(Types.STRING)),
      Types.LONG,
    ),
  ] as const;
}

export const namespaceCases: BackendCases = {
  'each namespace of a key has state of its own': async (bench) => {
    const backend = await bench.create();
    const value = backend.getNamespacedValueState(new ValueStateDescriptor('v', Types.LONG, 0), Window);
    const list = backend.getNamespacedListState(new ListStateDescriptor('l', Types.STRING), Window);
    for (const key of ['a', 'b']) {
      useKey(backend, key);
      for (let start = 0; start < 100; start += 10) {
        value.setNamespace(window(start));
        value.update(start);
        list.setNamespace(window(start));
        list.addAll([key, String(start)]);
      }
    }
    useKey(backend, 'a');
    value.setNamespace(window(20));
    assert.equal(value.value(), 20);
    value.clear();
    assert.equal(value.value(), 0);
    useKey(backend, 'b');
    assert.equal(value.value(), 20, 'the namespace stays when the key changes');
    list.setNamespace(window(30));
    assert.deepEqual(list.get(), ['b', '30']);
    list.setNamespace(window(35));
    assert.deepEqual(list.get(), []);
    assert.equal(backend.statistics().entries, 39);
  },

  'addIfPresent adds only where there is something': async (bench) => {
    const backend = await bench.create();
    const list = backend.getNamespacedListState(new ListStateDescriptor('l', Types.LONG), Types.LONG);
    const sum = backend.getNamespacedReducingState(
      new ReducingStateDescriptor('s', (a, b) => a + b, Types.LONG),
      Types.LONG,
    );
    const all = backend.getNamespacedAggregatingState(
      new AggregatingStateDescriptor('a', collect, Types.LIST(Types.STRING)),
      Types.LONG,
    );
    if (list.addIfPresent === undefined || sum.addIfPresent === undefined || all.addIfPresent === undefined)
      return;
    useKey(backend, 'a');
    for (const namespace of [1, 2]) {
      for (const state of [list, sum, all]) state.setNamespace(namespace);
      assert.deepEqual(
        [list.addIfPresent(1), sum.addIfPresent(1), all.addIfPresent('x')],
        [false, false, false],
      );
      assert.deepEqual([list.get(), sum.get(), all.get()], [[], undefined, undefined]);
      list.add(1);
      sum.add(1);
      all.add('x');
      assert.deepEqual(
        [list.addIfPresent(2), sum.addIfPresent(2), all.addIfPresent('y')],
        [true, true, true],
      );
      assert.deepEqual([list.get(), sum.get(), all.get()], [[1, 2], 3, 'x,y']);
    }
  },

  'namespaces that are remembered get what each of them would get': async (bench) => {
    const random = seededRandom(7);
    let backend = await bench.create();
    let states = rememberingStates(backend);
    if (states[0].remember === undefined || states[1].remember === undefined) return;
    const model = new Map<string, string[]>();
    let hits = 0;
    for (let step = 0; step < 2000; step++) {
      const key = `k${random.below(random.oneIn(3) ? 200 : 4)}`;
      const first = random.below(4);
      const namespaces = [first, first + 1, first + 2];
      const value = String(step % 10).repeat(random.below(4));
      useKey(backend, key);
      for (const [index, state] of states.entries()) {
        if (random.oneIn(40)) {
          state.setNamespace(first);
          state.clear();
          model.delete(`${index} ${key} ${first}`);
        }
        state.setNamespace(first);
        state.get();
        const isKnown = state.addToRemembered!(first, value);
        const current = isKnown ? state.get() : undefined;
        if (isKnown) hits++;
        else {
          for (const [i, namespace] of namespaces.entries()) {
            state.setNamespace(namespace);
            if (!state.addIfPresent!(value)) state.add(value);
            state.remember!(first, i, namespaces.length);
          }
        }
        for (const namespace of namespaces) {
          const id = `${index} ${key} ${namespace}`;
          model.set(id, [...(model.get(id) ?? []), value]);
          state.setNamespace(namespace);
          const expected = index === 0 ? model.get(id)!.length : model.get(id)!.join(',');
          assert.equal(state.get(), expected);
          if (isKnown && namespace === first) assert.equal(current, expected, 'the current namespace stays');
        }
      }
      if (random.oneIn(500)) {
        backend = await bench.restoreOf(backend);
        states = rememberingStates(backend);
      }
    }
    assert.ok(hits > 200, `${hits} hits`);
  },

  'merging moves what is in the sources into the target, and the current namespace stays': async (bench) => {
    const backend = await bench.create();
    const sum = backend.getNamespacedReducingState(
      new ReducingStateDescriptor('s', (a, b) => a + b, Types.STRING),
      Window,
    );
    const all = backend.getNamespacedAggregatingState(new AggregatingStateDescriptor('a', collect), Window);
    const list = backend.getNamespacedListState(new ListStateDescriptor('l', Types.STRING), Window);
    const states = [sum, all, list];
    const at = (start: number) => {
      for (const state of states) state.setNamespace(window(start));
    };
    const add = (start: number, ...values: string[]) => {
      at(start);
      for (const value of values) for (const state of states) state.add(value);
    };
    const contents = (start: number) => {
      at(start);
      return [sum.get(), all.get(), list.get().join(',')];
    };
    useKey(backend, 'a');
    add(1, 'a', 'b');
    add(2, 'c');
    add(4, 'd');
    at(7);
    for (const state of states)
      state.mergeNamespaces(window(2), [window(1), window(2), window(3), window(4)]);
    add(7, 'z');
    const before = [sum.get(), all.get(), list.get().join(',')];
    assert.deepEqual(before, ['z', 'z', 'z'], 'the namespace is that of before the merge');
    assert.deepEqual(contents(1), [undefined, undefined, '']);
    assert.deepEqual(contents(4), [undefined, undefined, '']);
    assert.deepEqual(contents(2), ['cabd', 'c,a,b,d', 'c,a,b,d']);
    for (const state of states) state.mergeNamespaces(window(9), [window(8)]);
    assert.deepEqual(contents(9), [undefined, undefined, '']);
    for (const state of states) state.mergeNamespaces(window(9), [window(2), window(7)]);
    assert.deepEqual(contents(9), ['cabdz', 'c,a,b,d,z', 'c,a,b,d,z']);
    assert.equal(backend.statistics().entries, 3);
  },

  'long lists are merged in order': async (bench) => {
    const backend = await bench.create();
    const list = backend.getNamespacedListState(new ListStateDescriptor('l', Types.STRING), Types.LONG);
    useKey(backend, 'a');
    const expected: string[] = [];
    for (let namespace = 0; namespace < 6; namespace++) {
      list.setNamespace(namespace);
      for (let i = 0; i < namespace * 200; i++) {
        list.add(`${namespace}/${i}`);
        expected.push(`${namespace}/${i}`);
      }
    }
    list.mergeNamespaces(100, [0, 1, 2, 3, 4, 5]);
    list.setNamespace(100);
    assert.deepEqual(list.get(), expected);
    list.add('last');
    assert.deepEqual(list.get(), [...expected, 'last']);
    list.clear();
    assert.equal(backend.statistics().sizeBytes, 0);
  },

  'a merge whose function throws changes nothing': async (bench) => {
    const backend = await bench.create();
    const descriptor = new ReducingStateDescriptor<number>(
      's',
      () => {
        throw new Error('no');
      },
      Types.LONG,
    );
    const sum = backend.getNamespacedReducingState(descriptor, Types.LONG);
    useKey(backend, 'a');
    for (const namespace of [1, 2, 3]) {
      sum.setNamespace(namespace);
      sum.add(namespace);
    }
    assert.throws(() => sum.mergeNamespaces(1, [2, 3]), /no/);
    for (const namespace of [1, 2, 3]) {
      sum.setNamespace(namespace);
      assert.equal(sum.get(), namespace);
    }
  },
};
