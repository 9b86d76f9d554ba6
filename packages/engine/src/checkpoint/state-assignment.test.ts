import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type KeyedStateHandle,
  type OperatorStateHandle,
  type OperatorStateMode,
  rangeOf,
} from '../state/index.ts';
import { assignState } from './state-assignment.ts';

function keyed(subtask: number, parallelism: number, maxParallelism: number): KeyedStateHandle {
  const stream = { kind: 'file', path: `s${subtask}`, offset: 0, lengthBytes: 1 } as const;
  return {
    format: 'heap-1',
    keyGroups: rangeOf(subtask, parallelism, maxParallelism),
    maxParallelism,
    states: [],
    stream,
  };
}

function operatorState(
  name: string,
  mode: OperatorStateMode,
  subtask: number,
  elements: number,
): OperatorStateHandle {
  const stream = { kind: 'file', path: `s${subtask}`, offset: 0, lengthBytes: elements } as const;
  return {
    name,
    mode,
    element: { kind: 'long' },
    offsets: Array.from({ length: elements }, (_, i) => i),
    stream,
  };
}

/** `s0:3` for the fourth element of the handle that subtask 0 wrote. */
function elements(handles: readonly OperatorStateHandle[]): string[] {
  return handles.flatMap(({ stream, offsets }) =>
    offsets.map((offset) => `${stream.kind === 'file' && stream.path}:${offset}`),
  );
}

test('each key group goes to exactly one subtask, for all pairs of parallelism', () => {
  const parallelisms = [1, 2, 3, 4, 5, 6, 7, 8, 128];
  for (const p of parallelisms) {
    for (const q of parallelisms) {
      const subtasks = Array.from({ length: p }, (_, i) => ({ keyed: [keyed(i, p, 128)], operator: [] }));
      const assigned = assignState(
        { maxParallelism: 128, subtasks },
        { parallelism: q, maxParallelism: 128 },
      );
      for (let group = 0; group < 128; group++) {
        const owners = assigned.filter((state, index) => {
          const range = rangeOf(index, q, 128);
          const own = group >= range.first && group <= range.last;
          const given = state.keyed.some(
            ({ keyGroups }) => group >= keyGroups.first && group <= keyGroups.last,
          );
          assert.ok(!own || given, `group ${group} is missing in subtask ${index} of ${q} (was ${p})`);
          return own;
        });
        assert.equal(owners.length, 1);
      }
      if (p === q) assert.ok(assigned.every(({ keyed: handles }) => handles.length === 1));
    }
  }
});

test('with another max parallelism every subtask gets all keyed handles', () => {
  const subtasks = [0, 1].map((i) => ({ keyed: [keyed(i, 2, 128)], operator: [] }));
  const assigned = assignState({ maxParallelism: 128, subtasks }, { parallelism: 3, maxParallelism: 256 });
  assert.deepEqual(
    assigned.map((state) => state.keyed.length),
    [2, 2, 2],
  );
});

test('with the same parallelism each subtask gets its own split state back', () => {
  const subtasks = [5, 0, 2].map((n, i) => ({ keyed: [], operator: [operatorState('s', 'split', i, n)] }));
  const assigned = assignState({ maxParallelism: 128, subtasks }, { parallelism: 3, maxParallelism: 128 });
  assert.deepEqual(assigned, subtasks);
});

test('split elements are given out evenly, each once, in order (property)', () => {
  const counts = fc.array(fc.nat(6), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(counts, fc.integer({ min: 1, max: 8 }), fc.nat(2), (old, q, states) => {
      const names = Array.from({ length: states + 1 }, (_, i) => `state-${i}`);
      const subtasks = old.map((n, i) => ({
        keyed: [],
        operator: names.map((name) => operatorState(name, 'split', i, n)),
      }));
      const assigned = assignState(
        { maxParallelism: 128, subtasks },
        { parallelism: q, maxParallelism: 128 },
      );
      for (const name of names) {
        const all = elements(
          subtasks.flatMap(({ operator }) => operator.filter((handle) => handle.name === name)),
        );
        const got = assigned.map(({ operator }) =>
          elements(operator.filter((handle) => handle.name === name)),
        );
        assert.deepEqual(got.flat().sort(), [...all].sort());
        const sizes = got.map((list) => list.length);
        if (old.length !== q) assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1, `${sizes}`);
        assert.ok(
          assigned.every(({ operator }) => all.length > 0 || operator.some((handle) => handle.name === name)),
        );
      }
    }),
  );
});

test('several short split states do not pile up on the first subtask', () => {
  const operator = ['a', 'b', 'c'].map((name) => operatorState(name, 'split', 0, 1));
  const assigned = assignState(
    { maxParallelism: 128, subtasks: [{ keyed: [], operator }] },
    { parallelism: 3, maxParallelism: 128 },
  );
  assert.deepEqual(
    assigned.map((state) => state.operator.map(({ name }) => name)),
    [['a'], ['b'], ['c']],
  );
});

test('union state goes to everybody, broadcast state to each once', () => {
  const subtasks = [0, 1].map((i) => ({
    keyed: [],
    operator: [operatorState('u', 'union', i, 2), operatorState('b', 'broadcast', i, 1)],
  }));
  for (const q of [1, 2, 5]) {
    const assigned = assignState({ maxParallelism: 128, subtasks }, { parallelism: q, maxParallelism: 128 });
    for (const [index, { operator }] of assigned.entries()) {
      assert.equal(elements(operator.filter(({ name }) => name === 'u')).length, 4);
      const copies = operator.filter(({ name }) => name === 'b');
      assert.deepEqual(elements(copies), [`s${index % 2}:0`]);
    }
  }
});

test('a broadcast state that one old subtask lacks still reaches everybody', () => {
  const subtasks = [
    { keyed: [], operator: [] },
    { keyed: [], operator: [operatorState('b', 'broadcast', 1, 1)] },
  ];
  const assigned = assignState({ maxParallelism: 128, subtasks }, { parallelism: 3, maxParallelism: 128 });
  assert.ok(assigned.every(({ operator }) => operator.length === 1));
});
