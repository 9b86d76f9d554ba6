/** Value states whose values are known as objects hold what a Map of copies holds, and so does what is restored from them. */
import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  ALL_KEY_GROUPS,
  MAX_PARALLELISM,
  MemorySink,
  toRestore,
  useKey,
  writeSnapshot,
} from '../../testing/keyed-backend/backend-workbench.ts';
import { type SeededRandom, seededRandom } from '../../testing/seeded-random.ts';
import { Types } from '../../types/index.ts';
import type { KeyedStateToRestore } from '../backend.ts';
import { ValueStateDescriptor } from '../descriptors.ts';
import { createHeapKeyedStateBackend } from './heap-keyed-state-backend.ts';

interface Basket {
  owner: string;
  items: { name: string; count: number }[];
}

const BASKET = Types.ROW({
  owner: Types.STRING,
  items: Types.LIST(Types.ROW({ name: Types.STRING, count: Types.LONG })),
});

async function baskets(restore?: readonly KeyedStateToRestore[]) {
  const backend = await createHeapKeyedStateBackend<number>({
    keyType: Types.LONG,
    keyGroups: ALL_KEY_GROUPS,
    maxParallelism: MAX_PARALLELISM,
    processingTimeMs: () => 0,
    operatorName: 'baskets',
    tuning: { pageBytes: 1024, chunkBytes: 4096 },
    ...(restore === undefined ? {} : { restore }),
  });
  return {
    backend,
    state: backend.getNamespacedValueState(new ValueStateDescriptor('basket', BASKET), Types.LONG),
  };
}

type Baskets = Awaited<ReturnType<typeof baskets>>;

const idOf = (key: number, namespace: number): string => `${key}/${namespace}`;

function select({ backend, state }: Baskets, key: number, namespace: number): void {
  useKey(backend, key);
  state.setNamespace(namespace);
}

function checkAll(all: Baskets, model: ReadonlyMap<string, Basket>, keys: number): void {
  for (let key = 0; key < keys; key++) {
    for (const namespace of [0, 1]) {
      select(all, key, namespace);
      deepStrictEqual(all.state.value(), model.get(idOf(key, namespace)));
    }
  }
}

/** Does something random to the value of a random key. */
function change(all: Baskets, model: Map<string, Basket>, keys: number, random: SeededRandom): void {
  const { state } = all;
  // A few keys are hot, as those are whose values are known.
  const key = random.oneIn(3) ? random.below(keys) : random.below(10);
  const namespace = random.below(2);
  const id = idOf(key, namespace);
  select(all, key, namespace);
  const held = state.value();
  deepStrictEqual(held, model.get(id));
  switch (random.below(8)) {
    case 0:
      state.clear();
      model.delete(id);
      return;
    case 1:
      // What is read and not given back changes nothing.
      held?.items.push({ name: 'never', count: 0 });
      return deepStrictEqual(state.value(), model.get(id));
    case 2: {
      // Neither does what is refused.
      const refused = { owner: 'x', items: [{ name: 'x', count: 0.5 }] };
      return throws(() => state.update(refused), { code: 'TYPE_MISMATCH' });
    }
    case 3: {
      const large = { owner: random.pick(['a', '語']).repeat(random.below(6000)), items: [] };
      state.update(large);
      return void model.set(id, structuredClone(large));
    }
    default: {
      const next: Basket = held ?? { owner: `owner of ${key}`, items: [] };
      next.items.push({ name: 'item'.repeat(random.below(20)), count: random.below(100) });
      if (next.items.length > 12) next.items.splice(0, 11);
      state.update(next);
      model.set(id, structuredClone(next));
      // What was given is the user's again.
      next.items.length = 0;
    }
  }
}

describe('values that are known', () => {
  it('are those of a model, while snapshots are taken and restored', async () => {
    const runs = fc.record({ seed: fc.nat(), keys: fc.constantFrom(5, 300, 3000) });
    await fc.assert(
      fc.asyncProperty(runs, async ({ seed, keys }) => {
        const random = seededRandom(seed);
        let all = await baskets();
        const model = new Map<string, Basket>();
        for (let round = 0; round < 4; round++) {
          for (let i = 0; i < 500; i++) change(all, model, keys, random);
          const atSnapshot = structuredClone(model);
          const snapshot = all.backend.snapshot();
          const sink = new MemorySink();
          snapshot.start(sink);
          // The state goes on while it is written.
          while (!snapshot.advance(1000)) for (let i = 0; i < 5; i++) change(all, model, keys, random);
          const restored = await baskets([toRestore(snapshot, sink.bytes())]);
          checkAll(restored, atSnapshot, keys);
          if (random.oneIn(2)) {
            all = restored;
            model.clear();
            for (const [id, basket] of atSnapshot) model.set(id, basket);
          }
        }
        checkAll(all, model, keys);
      }),
      { numRuns: 12 },
    );
  });

  it('are right when most reads find nothing, and when later they do again', async () => {
    const all = await baskets();
    const basketOf = (key: number): Basket => ({
      owner: `owner of ${key}`,
      items: [{ name: 'item', count: key }],
    });
    const keys = 5000;
    const check = (key: number): void => {
      select(all, key, 0);
      const basket = all.state.value()!;
      strictEqual(basket.owner, `owner of ${key}`);
      basket.items[0]!.count++;
      all.state.update(basket);
    };
    for (let key = 0; key < keys; key++) {
      select(all, key, 0);
      all.state.update(basketOf(key));
    }
    for (let pass = 0; pass < 20; pass++) for (let key = 0; key < keys; key++) check(key);
    for (let i = 0; i < 5000; i++) check(i % 10);
    const restored = await baskets([writeSnapshot(all.backend.snapshot())]);
    for (let key = 0; key < keys; key++) {
      select(restored, key, 0);
      strictEqual(restored.state.value()!.items[0]!.count, key + 20 + (key < 10 ? 500 : 0));
    }
  });
});
