import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasCode } from '../base/index.ts';
import { type CustomSerializer, type TypeInformation, Types } from '../types/index.ts';
import { ListStateDescriptor, MapStateDescriptor } from './descriptors.ts';
import {
  createOperatorStateBackend,
  type OperatorStateSnapshot,
  type OperatorStateToRestore,
} from './operator-state-backend.ts';

const create = (restore: readonly OperatorStateToRestore[] = []) =>
  createOperatorStateBackend({ operatorName: 'reader', restore });

/** What the checkpoint floor makes of a snapshot; `only` are the elements that are given to a subtask. */
function toRestore(snapshot: OperatorStateSnapshot, only?: readonly number[]): OperatorStateToRestore {
  const { name, mode, element, bytes } = snapshot;
  const offsets = only === undefined ? snapshot.offsets : only.map((index) => snapshot.offsets[index]!);
  const input = {
    lengthBytes: bytes.length,
    read: (position: number, length: number) => Promise.resolve(bytes.slice(position, position + length)),
  };
  return { handle: { name, mode, element, offsets, stream: { kind: 'inline', bytes } }, input };
}

const Split = Types.POJO('Split', { path: Types.STRING, offset: Types.LONG });
const splits = new ListStateDescriptor('splits', Split);
const rules = new MapStateDescriptor('rules', Types.STRING, Split);
const split = (i: number) => ({ path: `file-${'x'.repeat(i)}`, offset: i });

test('lists and broadcast maps come back from a snapshot, element for element', async () => {
  const backend = await create();
  const list = backend.getListState(splits);
  const union = backend.getUnionListState(new ListStateDescriptor<unknown>('union'));
  const map = backend.getBroadcastState(rules);
  list.addAll([split(1), split(2)]);
  list.add(split(3));
  union.update([1, 'two', { three: 3n }]);
  map.putAll([
    ['a', split(1)],
    ['b', split(2)],
  ]);
  map.put('a', split(9));
  map.remove('none');
  const snapshot = backend.snapshot();
  list.clear();
  map.clear();
  assert.deepEqual(
    snapshot.map(({ name, mode, offsets }) => [name, mode, offsets.length]),
    [
      ['splits', 'split', 3],
      ['union', 'union', 3],
      ['rules', 'broadcast', 2],
    ],
  );
  const restored = await create(snapshot.map((each) => toRestore(each)));
  assert.deepEqual(restored.getListState(splits).get(), [split(1), split(2), split(3)]);
  const unionAgain = restored.getUnionListState(new ListStateDescriptor<unknown>('union'));
  assert.deepEqual(unionAgain.get(), [1, 'two', { three: 3n }]);
  const mapAgain = restored.getBroadcastState(rules);
  assert.deepEqual(
    [...mapAgain.entries()],
    [
      ['a', split(9)],
      ['b', split(2)],
    ],
  );
  assert.equal(mapAgain.contains('a'), true);
  assert.equal(mapAgain.isEmpty(), false);
  assert.deepEqual([...mapAgain.keys()], ['a', 'b']);
  assert.deepEqual([...mapAgain.values()], [split(9), split(2)]);
  assert.equal(mapAgain.get('none'), undefined);
});

test('changing what was added or read changes no state', async () => {
  const backend = await create();
  const list = backend.getListState(splits);
  const map = backend.getBroadcastState(rules);
  const mine = split(1);
  list.add(mine);
  map.put('a', mine);
  mine.offset = 99;
  list.get()[0]!.offset = 98;
  list.get().push(split(5));
  map.get('a')!.offset = 97;
  assert.deepEqual(list.get(), [split(1)]);
  assert.deepEqual(map.get('a'), split(1));
});

test('an element of the wrong type is refused when it is added, and nothing is', async () => {
  const backend = await create();
  const list = backend.getListState(splits);
  const map = backend.getBroadcastState(rules);
  const wrong = { path: 5, offset: 1 } as unknown as ReturnType<typeof split>;
  const isMismatch = (error: unknown) =>
    hasCode(error, 'TYPE_MISMATCH') && /'splits'|'rules'/.test(String(error));
  list.add(split(1));
  for (const add of [
    () => list.add(wrong),
    () => list.addAll([split(2), wrong]),
    () => list.update([split(2), wrong]),
    () => map.put('a', wrong),
  ]) {
    assert.throws(add, isMismatch);
  }
  assert.deepEqual(list.get(), [split(1)]);
  assert.equal(map.isEmpty(), true);
});

test('a subtask restores the elements that it was given, from several handles, in order', async () => {
  const backend = await create();
  const list = backend.getListState(splits);
  for (let i = 0; i < 6; i++) list.add(split(i));
  const [snapshot] = backend.snapshot();
  const restored = await create([toRestore(snapshot!, [4, 5]), toRestore(snapshot!, [0])]);
  const untouched = await create([toRestore(snapshot!, [4, 5]), toRestore(snapshot!, [0])]);
  const expected = [split(4), split(5), split(0)];
  assert.deepEqual(restored.getListState(splits).get(), expected);
  const carried = untouched.snapshot();
  assert.equal(carried.length, 1);
  assert.ok(carried[0]!.bytes.length < snapshot!.bytes.length, 'only the own elements are carried on');
  const again = await create(carried.map((each) => toRestore(each)));
  assert.deepEqual(again.getListState(splits).get(), expected);
});

test('an empty state stays known', async () => {
  const backend = await create();
  backend.getListState(splits);
  const restored = await create(backend.snapshot().map((each) => toRestore(each)));
  assert.deepEqual(
    restored.snapshot().map(({ name, offsets }) => [name, offsets]),
    [['splits', []]],
  );
  assert.deepEqual(restored.getListState(splits).get(), []);
});

test('the names of states that were restored and those that begin empty are told', async () => {
  const backend = await create();
  for (const name of ['a', 'b']) backend.getListState(new ListStateDescriptor(name, Split));
  const restored = await create(backend.snapshot().map((each) => toRestore(each)));
  for (const name of ['b', 'c']) restored.getListState(new ListStateDescriptor(name, Split));
  assert.deepEqual(restored.restoredNames(), { added: ['c'], unclaimed: ['a'] });
});

test('a name stands for one state of one mode and type', async () => {
  const backend = await create();
  const list = backend.getListState(splits);
  assert.equal(backend.getListState(splits), list);
  list.add(split(1));
  const restored = await create(backend.snapshot().map((each) => toRestore(each)));
  const isConflict = (error: unknown) =>
    hasCode(error, 'STATE_DESCRIPTOR_CONFLICT') && /'splits'.*'reader'/s.test(String(error));
  for (const each of [backend, restored]) {
    assert.throws(() => each.getUnionListState(splits), isConflict);
    assert.throws(
      () => each.getBroadcastState(new MapStateDescriptor('splits', Types.STRING, Split)),
      isConflict,
    );
  }
  assert.throws(() => backend.getListState(new ListStateDescriptor('splits', Types.LONG)), isConflict);
  assert.deepEqual(restored.getListState(splits).get(), [split(1)]);
});

test('a changed schema is migrated when the state is asked for, and refused where it does not fit', async () => {
  const backend = await create();
  backend.getListState(splits).addAll([split(1), split(2)]);
  backend.getBroadcastState(rules).put('a', split(3));
  const saved = backend.snapshot().map((each) => toRestore(each));
  const More = Types.POJO('Split', { path: Types.STRING, size: Types.LONG, offset: Types.LONG });
  const migrated = await create(saved);
  const more = (i: number) => ({ ...split(i), size: 0 });
  assert.deepEqual(migrated.getListState(new ListStateDescriptor('splits', More)).get(), [more(1), more(2)]);
  const map = migrated.getBroadcastState(new MapStateDescriptor('rules', Types.STRING, More));
  assert.deepEqual([...map.entries()], [['a', more(3)]]);
  const second = migrated.snapshot();
  assert.deepEqual(second[0]!.element, More.description);
  const restored = await create(second.map((each) => toRestore(each)));
  assert.deepEqual(restored.getListState(new ListStateDescriptor('splits', More)).get(), [more(1), more(2)]);
  const refused = await create(saved);
  const Other = Types.POJO('Split', { path: Types.STRING, offset: Types.STRING });
  assert.throws(
    () => refused.getListState(new ListStateDescriptor('splits', Other)),
    (error) =>
      hasCode(error, 'STATE_SCHEMA_INCOMPATIBLE') &&
      /'splits'.*'reader'.*element\.offset.*LONG.*STRING/s.test(String(error)),
  );
  assert.deepEqual(refused.getListState(splits).get(), [split(1), split(2)], 'asking wrongly lost nothing');
});

test('an enum value that is gone is named with the number of elements that hold it', async () => {
  const old = Types.ENUM('S', ['NEW', 'PAID'] as const) as TypeInformation<string>;
  const fewer = Types.ENUM('S', ['NEW'] as const) as TypeInformation<string>;
  const backend = await create();
  backend.getListState(new ListStateDescriptor('s', old)).addAll(['PAID', 'NEW', 'PAID']);
  const restored = await create(backend.snapshot().map((each) => toRestore(each)));
  assert.throws(
    () => restored.getListState(new ListStateDescriptor('s', fewer)),
    (error) => hasCode(error, 'STATE_ENUM_VALUE_REMOVED') && /PAID.*2 of its elements/s.test(String(error)),
  );
});

test('values of an own serializer are migrated as it says; what it cannot read is named with its state', async () => {
  const v1: CustomSerializer<string> = {
    name: 'word',
    version: 1,
    serialize: (value, out) => out.writeString(value),
    deserialize: (input) => input.readString(),
  };
  const v2: CustomSerializer<string> = {
    ...v1,
    version: 2,
    serialize: (value, out) => out.writeString(value.toUpperCase()),
    compatibility: () => 'migrate',
    readOld: (input) => input.readString(),
  };
  const listOf = (word: CustomSerializer<string>) => new ListStateDescriptor('list', Types.CUSTOM(word));
  const mapOf = (word: CustomSerializer<string>) =>
    new MapStateDescriptor('map', Types.STRING, Types.LIST(Types.CUSTOM(word)));
  const backend = await create();
  backend.getListState(listOf(v1)).addAll(['a', 'b']);
  backend.getBroadcastState(mapOf(v1)).put('k', ['c']);
  const saved = backend.snapshot().map((each) => toRestore(each));
  const migrated = await create(saved);
  assert.deepEqual(migrated.getListState(listOf(v2)).get(), ['A', 'B']);
  assert.deepEqual(migrated.getBroadcastState(mapOf(v2)).get('k'), ['C']);
  const again = await create(saved);
  assert.throws(
    () => again.getListState(listOf({ ...v2, readOld: (input) => `${input.readInt()}` })),
    (error) =>
      hasCode(error, 'SERIALIZER_FAILED') &&
      /State 'list' of operator 'reader': CUSTOM\(word, version 2\).*readOld of version 1/s.test(
        String(error),
      ),
  );
  assert.deepEqual(again.getListState(listOf(v1)).get(), ['a', 'b'], 'asking wrongly lost nothing');
});

test('handles of one name that were saved with different types are migrated each by its own', async () => {
  const first = await create();
  first.getListState(splits).add(split(1));
  const More = Types.POJO('Split', { path: Types.STRING, offset: Types.LONG, size: Types.LONG });
  const second = await create();
  second.getListState(new ListStateDescriptor('splits', More)).add({ ...split(2), size: 5 });
  const saved = [...first.snapshot(), ...second.snapshot()].map((each) => toRestore(each));
  const carried = (await create(saved)).snapshot();
  assert.equal(carried.length, 2);
  for (const restore of [saved, carried.map((each) => toRestore(each))]) {
    const restored = await create(restore);
    const list = restored.getListState(new ListStateDescriptor('splits', More));
    assert.deepEqual(list.get(), [
      { ...split(1), size: 0 },
      { ...split(2), size: 5 },
    ]);
  }
});

test('keys of broadcast state are found by their contents, whatever their type', async () => {
  const backend = await create();
  const generic = backend.getBroadcastState(new MapStateDescriptor<unknown, number>('generic'));
  const keys: unknown[] = ['1', 1, 1n, Number.NaN, { a: 1, b: 2 }, [1], true];
  keys.forEach((key, i) => generic.put(key, i));
  keys.forEach((key, i) => assert.equal(generic.get(structuredClone(key)), i));
  assert.equal(generic.get({ b: 2, a: 1 }), 4);
  const numbers = backend.getBroadcastState(new MapStateDescriptor('numbers', Types.DOUBLE, Types.STRING));
  numbers.put(0, 'zero');
  assert.equal(numbers.get(-0), 'zero');
  const restored = await create(backend.snapshot().map((each) => toRestore(each)));
  const again = restored.getBroadcastState(new MapStateDescriptor<unknown, number>('generic'));
  assert.deepEqual([...again.keys()], keys);
});

test('elements that come late are encoded like the others', async () => {
  const backend = await create();
  backend.getListState(splits).add(split(1));
  const late = backend.encodeContribution({ name: 'splits', mode: 'split', type: Split, values: [split(2)] });
  const restored = await create([...backend.snapshot(), late].map((each) => toRestore(each)));
  assert.deepEqual(restored.getListState(splits).get(), [split(1), split(2)]);
});

test('bytes that are cut, offsets that lead nowhere and modes that disagree are corrupt', async () => {
  const backend = await create();
  backend.getListState(splits).addAll([split(1), split(2)]);
  const [snapshot] = backend.snapshot();
  const cut = { ...snapshot!, bytes: snapshot!.bytes.slice(0, -3) };
  const isCorrupt = (error: unknown) => hasCode(error, 'SNAPSHOT_CORRUPT') && /'splits'/.test(String(error));
  await assert.rejects(create([toRestore(cut)]), isCorrupt);
  await assert.rejects(create([toRestore({ ...snapshot!, offsets: [0, 1000] })]), isCorrupt);
  await assert.rejects(create([toRestore({ ...snapshot!, offsets: [-1] })]), isCorrupt);
  await assert.rejects(create([toRestore(snapshot!), toRestore({ ...snapshot!, mode: 'union' })]), isCorrupt);
  const { handle, input } = toRestore(snapshot!);
  const short = { ...input, read: () => Promise.resolve(new Uint8Array(1)) };
  await assert.rejects(create([{ handle, input: short }]), isCorrupt);
});

/** The golden file: what a snapshot was in version 1. It is never rewritten. */
function goldenSnapshot(): OperatorStateSnapshot[] {
  const text = readFileSync(join(import.meta.dirname, 'golden/operator-state-1.json'), 'utf8');
  const saved = JSON.parse(text) as (Omit<OperatorStateSnapshot, 'bytes'> & { bytes: string })[];
  return saved.map((each) => ({ ...each, bytes: new Uint8Array(Buffer.from(each.bytes, 'base64')) }));
}

test('the golden snapshot is restored, and the same states are written as the same bytes', async () => {
  const saved = goldenSnapshot();
  const restored = await create(saved.map((each) => toRestore(each)));
  const values = new ListStateDescriptor<unknown>('values');
  assert.deepEqual(restored.getListState(splits).get(), [split(0), split(1), split(30)]);
  assert.deepEqual(restored.getUnionListState(values).get(), [1, 'two', { three: 3n }, null]);
  const rulesAgain = restored.getBroadcastState(rules);
  assert.deepEqual(
    [...rulesAgain.entries()],
    [
      ['a', split(9)],
      ['ü', split(2)],
    ],
  );
  assert.deepEqual(restored.getListState(new ListStateDescriptor('none', Types.LONG)).get(), []);
  assert.deepEqual(restored.snapshot(), saved);
});

test('a time-to-live is refused for operator state, whose elements have none', async () => {
  const backend = await create();
  const isRefused = (error: unknown) =>
    hasCode(error, 'INVALID_ARGUMENT') && /operator state and has a time-to-live/.test(String(error));
  const list = new ListStateDescriptor('timed', Types.LONG).enableTimeToLive({ ttl: '1 h' });
  const map = new MapStateDescriptor('timed', Types.LONG, Types.LONG).enableTimeToLive({ ttl: '1 h' });
  assert.throws(() => backend.getListState(list), isRefused);
  assert.throws(() => backend.getUnionListState(list), isRefused);
  assert.throws(() => backend.getBroadcastState(map), isRefused);
  list.enableTimeToLive({ ttl: '1 h', updateType: 'Disabled' });
  assert.deepEqual(backend.getListState(list).get(), []);
});
