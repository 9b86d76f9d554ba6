/** The keyed backend contract: state that was saved with other types than the job declares now. */
import assert from 'node:assert/strict';
import { hasCode } from '../../base/index.ts';
import {
  type KeyedStateBackend,
  type KeyedStateToRestore,
  ListStateDescriptor,
  MapStateDescriptor,
  ReducingStateDescriptor,
  ValueStateDescriptor,
} from '../../state/index.ts';
import { type TypeInformation, Types } from '../../types/index.ts';
import { type BackendCases, type BackendWorkbench, useKey, writeSnapshot } from './backend-workbench.ts';

type Any = Record<string, unknown>;
const pojo = (name: string, fields: Record<string, TypeInformation<unknown>>) =>
  Types.POJO(name, fields) as TypeInformation<Any>;

const V1 = pojo('T', { id: Types.STRING, n: Types.INT, tags: Types.LIST(Types.STRING) });
const v1 = (i: number) => ({ id: `id${i}`, n: i, tags: ['a', 'b'.repeat(i % 30)] });

/** The states that hold the changing type, one of each kind. */
function statesOf(backend: KeyedStateBackend<string>, type: TypeInformation<Any>) {
  return {
    value: backend.getValueState(new ValueStateDescriptor('value', type)),
    list: backend.getListState(new ListStateDescriptor('list', type)),
    map: backend.getMapState(new MapStateDescriptor('map', Types.LONG, type)),
    last: backend.getReducingState(new ReducingStateDescriptor<Any>('last', (_, b) => b, type)),
    window: backend.getNamespacedListState(new ListStateDescriptor('window', type), Types.STRING),
  };
}

const KEYS = 60;

async function savedAsV1(bench: BackendWorkbench): Promise<KeyedStateToRestore> {
  const backend = await bench.create();
  const states = statesOf(backend, V1);
  for (let i = 0; i < KEYS; i++) {
    useKey(backend, `k${i}`);
    states.value.update(v1(i));
    states.last.add(v1(i));
    states.window.setNamespace(`w${i % 3}`);
    for (let j = 0; j < i % 40; j++) {
      states.list.add(v1(j));
      states.map.put(j, v1(j));
      states.window.add(v1(j));
    }
  }
  return writeSnapshot(backend.snapshot());
}

function checkMigrated(
  backend: KeyedStateBackend<string>,
  type: TypeInformation<Any>,
  as: (i: number) => Any,
): void {
  const states = statesOf(backend, type);
  for (let i = 0; i < KEYS; i++) {
    useKey(backend, `k${i}`);
    const elements = Array.from({ length: i % 40 }, (_, j) => as(j));
    assert.deepEqual(states.value.value(), as(i));
    assert.deepEqual(states.last.get(), as(i));
    assert.deepEqual(states.list.get(), elements);
    states.window.setNamespace(`w${i % 3}`);
    assert.deepEqual(states.window.get(), elements);
    assert.deepEqual(new Map(states.map.entries()), new Map(elements.map((each, j) => [j, each])));
  }
  assert.equal([...backend.keys('value')].length, KEYS);
}

const isIncompatible =
  (...words: RegExp[]) =>
  (error: unknown) =>
    hasCode(error, 'STATE_SCHEMA_INCOMPATIBLE') && words.every((word) => word.test(String(error)));

export const evolutionCases: BackendCases = {
  'fields may be added, removed and reordered, and the next snapshot has the new type': async (bench) => {
    const saved = await savedAsV1(bench);
    const changes: [TypeInformation<Any>, (i: number) => Any][] = [
      [
        pojo('T', { id: Types.STRING, n: Types.INT, tags: Types.LIST(Types.STRING), m: Types.INT }),
        (i) => ({ ...v1(i), m: 0 }),
      ],
      [pojo('T', { id: Types.STRING, n: Types.INT }), (i) => ({ id: `id${i}`, n: i })],
      [pojo('T', { tags: Types.LIST(Types.STRING), n: Types.INT, id: Types.STRING }), v1],
    ];
    for (const [type, as] of changes) {
      const backend = await bench.create({ restore: [saved] });
      checkMigrated(backend, type, as);
      const touched = await bench.create({ restore: [saved] });
      statesOf(touched, type);
      const second = writeSnapshot(touched.snapshot());
      for (const { name, value } of second.handle.states) {
        assert.deepEqual(value, type.description, `${name} is written in the new type`);
      }
      checkMigrated(await bench.create({ restore: [second] }), type, as);
      const untouched = await bench.restoreOf(await bench.create({ restore: [saved] }));
      checkMigrated(untouched, type, as);
    }
  },

  'a type that changed otherwise is refused with state, field, old and new type': async (bench) => {
    const saved = await savedAsV1(bench);
    const backend = await bench.create({ restore: [saved] });
    const typed = pojo('T', { id: Types.STRING, n: Types.STRING, tags: Types.LIST(Types.STRING) });
    const renamed = pojo('Other', { id: Types.STRING, n: Types.INT, tags: Types.LIST(Types.STRING) });
    const refusals: [() => unknown, RegExp[]][] = [
      [
        () => backend.getValueState(new ValueStateDescriptor('value', typed)),
        [/'value'/, /'totals'/, /value\.n/, /INT/, /STRING/],
      ],
      [() => backend.getListState(new ListStateDescriptor('list', renamed)), [/'list'/, /T/, /Other/]],
      [
        () => backend.getMapState(new MapStateDescriptor('map', Types.STRING, V1)),
        [/'map'/, /map key/, /LONG/],
      ],
      [
        () => backend.getNamespacedListState(new ListStateDescriptor('window', V1), Types.LONG),
        [/namespace/],
      ],
      [() => backend.getValueState(new ValueStateDescriptor('value')), [/'value'/, /GENERIC/]],
    ];
    for (const [ask, words] of refusals) assert.throws(ask, isIncompatible(...words));
    assert.throws(
      () => backend.getListState(new ListStateDescriptor('value', V1)),
      (error) => hasCode(error, 'STATE_DESCRIPTOR_CONFLICT') && /value.*list/s.test(String(error)),
    );
    // Nothing was lost by asking in a wrong way.
    checkMigrated(backend, V1, v1);
  },

  'keys of another type are refused at the restore': async (bench) => {
    const saved = await savedAsV1(bench);
    await assert.rejects(
      bench.create<number>({ keyType: Types.LONG, restore: [saved] }),
      isIncompatible(/: Operator 'totals': key was saved as STRING and is now LONG; .* drop its state/),
    );
  },

  'an enum may get values anywhere; one that loses a value in use says which and how often': async (
    bench,
  ) => {
    const old = Types.ENUM('S', ['NEW', 'PAID', 'SENT'] as const) as TypeInformation<string>;
    const more = Types.ENUM('S', ['NEW', 'CHECKED', 'PAID', 'SENT'] as const) as TypeInformation<string>;
    const fewer = Types.ENUM('S', ['NEW', 'SENT'] as const) as TypeInformation<string>;
    const names = ['NEW', 'PAID', 'SENT'];
    const before = await bench.create();
    const value = before.getValueState(new ValueStateDescriptor('v', old));
    const map = before.getMapState(new MapStateDescriptor('m', old, Types.LONG));
    for (let i = 0; i < 30; i++) {
      useKey(before, `k${i}`);
      value.update(names[i % 3]);
      for (const name of names) map.put(name, i);
    }
    const saved = writeSnapshot(before.snapshot());
    const after = await bench.create({ restore: [saved] });
    assert.throws(
      () => after.getValueState(new ValueStateDescriptor('v', fewer)),
      (error) => hasCode(error, 'STATE_ENUM_VALUE_REMOVED') && /'v'.*PAID.*10 entries/s.test(String(error)),
    );
    const values = after.getValueState(new ValueStateDescriptor('v', more));
    const maps = after.getMapState(new MapStateDescriptor('m', more, Types.LONG));
    for (let i = 0; i < 30; i++) {
      useKey(after, `k${i}`);
      assert.equal(values.value(), names[i % 3]);
      for (const name of names) assert.equal(maps.get(name), i);
      assert.equal(maps.contains('CHECKED'), false);
    }
  },

  'keys that are an enum stay the same keys when it gets values': async (bench) => {
    const old = Types.ENUM('S', ['NEW', 'PAID'] as const) as TypeInformation<string>;
    const more = Types.ENUM('S', ['CHECKED', 'NEW', 'PAID'] as const) as TypeInformation<string>;
    const before = await bench.create({ keyType: old });
    const count = before.getValueState(new ValueStateDescriptor('count', Types.LONG));
    useKey(before, 'NEW');
    count.update(1);
    useKey(before, 'PAID');
    count.update(2);
    const after = await bench.restoreOf(before, { keyType: more });
    assert.deepEqual([...after.keys('count')].sort(), ['NEW', 'PAID']);
    const restored = after.getValueState(new ValueStateDescriptor('count', Types.LONG));
    for (const [key, n] of [
      ['NEW', 1],
      ['PAID', 2],
      ['CHECKED', undefined],
    ] as const) {
      useKey(after, key);
      assert.equal(restored.value(), n);
    }
  },

  'subtasks that saved a state with different types are merged into the new one': async (bench) => {
    const saved = await savedAsV1(bench);
    const V2 = pojo('T', { id: Types.STRING, m: Types.INT });
    const V3 = pojo('T', { n: Types.INT, m: Types.INT, id: Types.STRING });
    const [left, right] = await bench.createAll(2, {}, [saved]);
    statesOf(right!, V2);
    const halves = [left!, right!].map((backend) => writeSnapshot(backend.snapshot()));
    const whole = await bench.create({ restore: halves });
    assert.equal([...whole.keys('value')].length, KEYS);
    const carried = writeSnapshot(whole.snapshot());
    for (const restore of [halves, [carried]]) {
      const backend = await bench.create({ restore });
      const { value } = statesOf(backend, V3);
      const seen = new Set<unknown>();
      for (let i = 0; i < KEYS; i++) {
        useKey(backend, `k${i}`);
        const { id, n, m } = value.value()!;
        assert.deepEqual([id, m], [`id${i}`, 0]);
        seen.add(n === i ? 'kept' : n);
      }
      assert.ok(
        seen.has('kept') && seen.has(0),
        'n was lost where the type without it was written, and only there',
      );
    }
  },
};
