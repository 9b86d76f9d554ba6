/** The keyed backend contract: states with time-to-live through snapshots, rescaling, and being switched on and off. */
import assert from 'node:assert/strict';
import { type KeyedStateBackend, type KeyedStateToRestore, ValueStateDescriptor } from '../../state/index.ts';
import { type TypeInformation, Types } from '../../types/index.ts';
import {
  type BackendCases,
  type BackendWorkbench,
  hasKey,
  useKey,
  writeSnapshot,
} from './backend-workbench.ts';
import { openTextStates, TEXT_STATE_KINDS } from './ttl-states.ts';

const TTL = 1000;
const KEYS = 60;
/** Half of the keys are written half of the time-to-live after the others. */
const isLate = (i: number) => i % 2 === 1;
const textOf = (i: number) => `${i} ${'x'.repeat((i * 37) % 700)}`;

/** Saves states of all kinds; now is then TTL / 2 after the early keys were written. */
async function save(
  bench: BackendWorkbench,
  ttl: { readonly ttl: number } | undefined,
): Promise<KeyedStateToRestore> {
  const backend = await bench.create();
  const states = openTextStates(backend, ttl);
  for (const late of [false, true]) {
    if (late) bench.nowMs += TTL / 2;
    for (let i = 0; i < KEYS; i++) {
      if (isLate(i) !== late) continue;
      useKey(backend, `k${i}`);
      for (const state of states.values()) state.write(textOf(i));
    }
  }
  return writeSnapshot(backend.snapshot());
}

/** Asserts which keys have their texts. */
function check(
  backends: readonly KeyedStateBackend<string>[],
  ttl: { readonly ttl: number } | undefined,
  lives: (i: number) => boolean,
  type?: TypeInformation<string>,
): void {
  const all = backends.map((backend) => ({ backend, states: openTextStates(backend, ttl, type) }));
  for (let i = 0; i < KEYS; i++) {
    const { backend, states } = all.find((each) => hasKey(each.backend, `k${i}`))!;
    useKey(backend, `k${i}`);
    for (const [kind, state] of states) {
      assert.equal(state.read(), lives(i) ? textOf(i) : undefined, `${kind} of key ${i}`);
    }
  }
}

const everything = () => true;
const nothing = () => false;

export const ttlRestoreCases: BackendCases = {
  'time goes on through a restore': async (bench) => {
    const saved = await save(bench, { ttl: TTL });
    const untouched = await bench.create({ restore: [saved] });
    check([await bench.create({ restore: [saved] })], { ttl: TTL }, everything);
    bench.nowMs += TTL / 2;
    for (const backend of [await bench.create({ restore: [saved] }), await bench.restoreOf(untouched)]) {
      check([backend], { ttl: TTL }, isLate);
    }
    bench.nowMs += TTL / 2;
    const backend = await bench.create({ restore: [saved] });
    check([backend], { ttl: TTL }, nothing);
    assert.equal(backend.statistics().entries, 0);
  },

  'another time-to-live counts from the same last access': async (bench) => {
    const saved = await save(bench, { ttl: TTL });
    bench.nowMs += TTL * 2;
    check([await bench.create({ restore: [saved] })], { ttl: TTL * 3 }, everything);
    check([await bench.create({ restore: [saved] })], { ttl: TTL * 2 + 1 }, isLate);
    check([await bench.create({ restore: [saved] })], { ttl: TTL * 2 }, nothing);
  },

  'values keep their last access at other parallelisms': async (bench) => {
    const saved = await save(bench, { ttl: TTL });
    bench.nowMs += TTL / 2;
    const three = await bench.createAll(3, {}, [saved]);
    const carried = three.map((backend) => writeSnapshot(backend.snapshot()));
    check(three, { ttl: TTL }, isLate);
    check(await bench.createAll(2, {}, carried), { ttl: TTL }, isLate);
    const rehashed = await bench.createAll(3, { maxParallelism: 200 }, carried);
    check(rehashed, { ttl: TTL }, isLate);
    bench.nowMs += TTL / 2;
    check(rehashed, { ttl: TTL }, nothing);
  },

  'all that has expired is dropped at the restore, if it is said so': async (bench) => {
    const saved = await save(bench, { ttl: TTL });
    bench.nowMs += TTL / 2;
    for (const cleanupFullSnapshot of [true, false]) {
      const backend = await bench.create({ restore: [saved] });
      openTextStates(backend, { ttl: TTL, cleanupFullSnapshot });
      const left = (cleanupFullSnapshot ? KEYS / 2 : KEYS) * TEXT_STATE_KINDS.length;
      assert.equal(backend.statistics().entries, left);
      check([await bench.restoreOf(backend)], { ttl: TTL }, isLate);
    }
  },

  'values that had no time-to-live get it from the time of the restore': async (bench) => {
    const saved = await save(bench, undefined);
    bench.nowMs += TTL * 5;
    const backend = await bench.create({ restore: [saved] });
    check([backend], { ttl: TTL }, everything);
    bench.nowMs += TTL - 1;
    check([backend, await bench.restoreOf(backend)], { ttl: TTL }, everything);
    const later = writeSnapshot(backend.snapshot());
    bench.nowMs += 1;
    check([await bench.create({ restore: [later] })], { ttl: TTL }, nothing);
    check([backend], { ttl: TTL }, nothing);
  },

  'values whose time-to-live was switched off stay, those that had expired too': async (bench) => {
    const saved = await save(bench, { ttl: TTL });
    bench.nowMs += TTL / 2;
    const backend = await bench.create({ restore: [saved] });
    check([backend], undefined, everything);
    bench.nowMs += TTL * 10;
    check([backend], undefined, everything);
    const again = await bench.restoreOf(backend);
    check([again], { ttl: TTL }, everything);
    bench.nowMs += TTL;
    check([again], { ttl: TTL }, nothing);
  },

  'a type that evolves keeps the last accesses, and is switched on and off as others are': async (bench) => {
    const Old = Types.POJO('T', { n: Types.INT });
    const New = Types.POJO('T', { n: Types.INT, m: Types.INT });
    const timed = (ttl: number | undefined, type: TypeInformation<{ n: number }>) => {
      const descriptor = new ValueStateDescriptor('t', type);
      return ttl === undefined ? descriptor : descriptor.enableTimeToLive({ ttl });
    };
    const outcomes = [
      [TTL, TTL, false],
      [TTL, undefined, true],
      [undefined, TTL, true],
      [undefined, undefined, true],
    ] as const;
    for (const [before, after, lives] of outcomes) {
      const backend = await bench.create();
      const state = backend.getValueState(timed(before, Old));
      useKey(backend, 'k');
      state.update({ n: 5 });
      const saved = writeSnapshot(backend.snapshot());
      bench.nowMs += TTL;
      const restored = await bench.create({ restore: [saved] });
      const evolved = restored.getValueState(timed(after, New));
      useKey(restored, 'k');
      assert.deepEqual(evolved.value(), lives ? { n: 5, m: 0 } : undefined, `${before} then ${after}`);
    }
  },

  'subtasks of which some had switched it on are merged': async (bench) => {
    const saved = await save(bench, undefined);
    const [left, right] = await bench.createAll(2, {}, [saved]);
    openTextStates(left!, { ttl: TTL });
    bench.nowMs += TTL;
    const halves = [left!, right!].map((backend) => writeSnapshot(backend.snapshot()));
    const whole = await bench.create({ restore: halves });
    const isRight = (i: number) => hasKey(right!, `k${i}`);
    check([await bench.restoreOf(whole)], { ttl: TTL }, isRight);
    check([whole], undefined, everything);
  },
};
