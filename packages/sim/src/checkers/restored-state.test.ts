import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  createHeapKeyedStateBackend,
  type KeyedStateBackend,
  ListStateDescriptor,
  MapStateDescriptor,
  ValueStateDescriptor,
} from '../../../engine/src/state/index.ts';
import {
  BackendWorkbench,
  hasKey,
  useKey,
  writeSnapshot,
} from '../../../engine/src/testing/keyed-backend/backend-workbench.ts';
import { Types } from '../../../engine/src/types/index.ts';
import type { KeyedBackend } from '../world/engine-calls.ts';
import { RestoredState } from './restored-state.ts';

const bench = new BackendWorkbench(createHeapKeyedStateBackend);
const KEYS = Array.from({ length: 60 }, (_, i) => `key ${i}`);
const VALUE = new ValueStateDescriptor('value', Types.STRING);
const LIST = new ListStateDescriptor('list', Types.STRING);
const MAP = new MapStateDescriptor('map', Types.STRING, Types.STRING);

const asSeen = (backend: KeyedStateBackend): KeyedBackend => backend as unknown as KeyedBackend;

/** Values of all lengths, in all kinds of state, some in pieces; a part of them removed again. */
function fill(backend: KeyedStateBackend<string>, keys: readonly string[]): void {
  for (const [i, key] of keys.entries()) {
    useKey(backend, key);
    backend.getValueState(VALUE).update('v'.repeat(i * 97));
    for (let n = 0; n < i % 7; n++) backend.getListState(LIST).add('e'.repeat(n * 200));
    for (let n = 0; n < i % 5; n++) backend.getMapState(MAP).put(`${'k'.repeat(n * 9)}`, 'm'.repeat(n * 300));
    if (i % 4 === 0) backend.getListState(LIST).clear();
    if (i % 3 === 0) backend.getMapState(MAP).remove('');
    backend.getTimerQueue('timers', Types.VOID).register(1000 + i, undefined);
  }
}

/** What two subtasks have frozen for checkpoint 5, and the states of three that are restored from it. */
async function restored(): Promise<{ state: RestoredState; backends: KeyedStateBackend<string>[] }> {
  const state = new RestoredState();
  const before = await bench.createAll(2);
  const saved = before.map((backend) => {
    fill(
      backend,
      KEYS.filter((key) => hasKey(backend, key)),
    );
    state.freeze('p1', 'count', 5, asSeen(backend));
    return writeSnapshot(backend.snapshot());
  });
  return { state, backends: await bench.createAll(3, {}, saved) };
}

const problemOf = (
  state: RestoredState,
  backends: readonly KeyedStateBackend<string>[],
): string | undefined => {
  for (const backend of backends) state.compare('count', 5, asSeen(backend));
  return state.problem;
};

it('what is restored equals what was frozen, wherever its key groups are now', async () => {
  const { state, backends } = await restored();
  assert.equal(problemOf(state, backends), undefined);
  assert.ok(state.compared > 20);
});

it('of other operators and checkpoints nothing is said', async () => {
  const { state } = await restored();
  const [empty] = await bench.createAll(1);
  state.compare('another', 5, asSeen(empty!));
  state.compare('count', 6, asSeen(empty!));
  assert.equal(state.problem, undefined);
});

it('an id that another process gives again does not hide the first', async () => {
  const { state, backends } = await restored();
  for (const backend of await bench.createAll(2)) state.freeze('p2', 'count', 5, asSeen(backend));
  assert.equal(problemOf(state, backends), undefined);
});

it('a key group that is gone is found', async () => {
  const { state } = await restored();
  assert.match(problemOf(state, await bench.createAll(3)) ?? '', /restored from 5: nothing instead of /);
});

const CHANGES: Readonly<Record<string, (backend: KeyedStateBackend<string>) => void>> = {
  value: (backend) => backend.getValueState(VALUE).update('another'),
  list: (backend) => backend.getListState(LIST).add('one more'),
  map: (backend) => backend.getMapState(MAP).put('one more', ''),
  timers: (backend) => void backend.getTimerQueue('timers', Types.VOID).register(1, undefined),
};

for (const [kind, change] of Object.entries(CHANGES))
  it(`a ${kind} that is another is found`, async () => {
    const { state, backends } = await restored();
    const backend = backends[1]!;
    useKey(backend, KEYS.find((key) => hasKey(backend, key))!);
    change(backend);
    assert.match(problemOf(state, backends) ?? '', new RegExp(`${kind} ${kind} [0-9a-f]+.* instead of `));
  });
