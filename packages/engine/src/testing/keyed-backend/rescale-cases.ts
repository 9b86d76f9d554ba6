/** The keyed backend contract: restoring at another parallelism and another max parallelism. */
import assert from 'node:assert/strict';
import { keyGroupOf, subtaskOf, ValueStateDescriptor } from '../../state/index.ts';
import { Types } from '../../types/index.ts';
import { type BackendCases, useKey, writeSnapshot } from './backend-workbench.ts';
import { checkAll, fillAll } from './sample-states.ts';

const PAIRS = [
  [1, 2],
  [2, 1],
  [3, 5],
  [5, 3],
  [4, 8],
  [8, 7],
  [1, 128],
  [128, 1],
] as const;

export const rescaleCases: BackendCases = {
  'keys, values and timers are each in one subtask after a change of parallelism': async (bench) => {
    for (const [p, q] of PAIRS) {
      const before = await bench.createAll(p);
      const model = fillAll(before, 500);
      const saved = before.map((backend) => writeSnapshot(backend.snapshot()));
      const after = await bench.createAll(q, {}, saved);
      checkAll(after, model);
      const unread = await bench.createAll(q, {}, saved);
      const again = await bench.createAll(
        p,
        {},
        unread.map((backend) => writeSnapshot(backend.snapshot())),
      );
      checkAll(again, model);
    }
  },

  'keys are put into their new key groups after a change of max parallelism': async (bench) => {
    const before = await bench.createAll(3);
    const model = fillAll(before, 800);
    const saved = before.map((backend) => writeSnapshot(backend.snapshot()));
    for (const [q, maxParallelism] of [
      [2, 256],
      [3, 64],
      [1, 100],
      [4, 1000],
      [2, 5000],
    ] as const) {
      const after = await bench.createAll(q, { maxParallelism }, saved);
      checkAll(after, model);
      const back = await bench.createAll(
        2,
        { maxParallelism: 128 },
        (await bench.createAll(q, { maxParallelism }, saved)).map((backend) =>
          writeSnapshot(backend.snapshot()),
        ),
      );
      checkAll(back, model);
    }
  },

  'keys spread evenly over key groups and subtasks': async (bench) => {
    const backend = await bench.create();
    const counts = new Array<number>(7).fill(0);
    for (let i = 0; i < 100_000; i++) {
      counts[subtaskOf(keyGroupOf(backend.hashOf(`key-${i}`), 2100), 7, 2100)]!++;
    }
    for (const count of counts) assert.ok(Math.abs(count / (100_000 / 7) - 1) < 0.02, `${counts}`);
  },

  'only the key groups of the subtask are restored': async (bench) => {
    const before = await bench.create();
    fillAll([before], 300);
    const saved = writeSnapshot(before.snapshot());
    const keyGroups = { first: 10, last: 12 };
    const after = await bench.create({ keyGroups, restore: [saved] });
    for (const key of after.keys('count')) {
      const group = keyGroupOf(after.hashOf(key), 128);
      assert.ok(group >= 10 && group <= 12);
    }
    assert.ok(after.statistics().entries < before.statistics().entries / 20);
    assert.deepEqual(after.keyGroups, keyGroups);
  },

  'states of several subtasks need not be the same ones': async (bench) => {
    const [left, right] = await bench.createAll(2);
    const a = left!.getValueState(new ValueStateDescriptor('a', Types.LONG));
    const b = right!.getValueState(new ValueStateDescriptor('b', Types.STRING));
    for (let i = 0; i < 100; i++) {
      const key = `k${i}`;
      if (keyGroupOf(left!.hashOf(key), 128) < 64) {
        useKey(left!, key);
        a.update(i);
      } else {
        useKey(right!, key);
        b.update(key);
      }
    }
    const [both] = await bench.createAll(
      1,
      {},
      [left!, right!].map((backend) => writeSnapshot(backend.snapshot())),
    );
    const restoredA = both!.getValueState(new ValueStateDescriptor('a', Types.LONG));
    const restoredB = both!.getValueState(new ValueStateDescriptor('b', Types.STRING));
    for (let i = 0; i < 100; i++) {
      useKey(both!, `k${i}`);
      assert.ok((restoredA.value() === i) !== (restoredB.value() === `k${i}`));
    }
  },
};
