/**
 * The keyed backend contract: random work against plain Maps, with snapshots and restores at random points.
 *
 * Everything is decided by a seed; a failure names it.
 */
import assert from 'node:assert/strict';
import {
  type KeyedStateBackend,
  type KeyedStateSnapshot,
  ListStateDescriptor,
  MapStateDescriptor,
  ReducingStateDescriptor,
  ValueStateDescriptor,
} from '../../state/index.ts';
import { Types } from '../../types/index.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import {
  type BackendCases,
  type BackendWorkbench,
  MemorySink,
  toRestore,
  useKey,
} from './backend-workbench.ts';

/** Everything, as plain data, by what it belongs to. */
interface Model {
  readonly values: Map<string, string>;
  readonly lists: Map<string, number[]>;
  readonly maps: Map<string, Map<string, string>>;
  readonly sums: Map<string, number>;
  readonly timers: Set<string>;
}

const emptyModel = (): Model => ({
  values: new Map(),
  lists: new Map(),
  maps: new Map(),
  sums: new Map(),
  timers: new Set(),
});

function statesOf(backend: KeyedStateBackend<string>) {
  return {
    value: backend.getValueState(new ValueStateDescriptor('value', Types.STRING)),
    list: backend.getNamespacedListState(new ListStateDescriptor('list', Types.LONG), Types.STRING),
    map: backend.getMapState(new MapStateDescriptor('map', Types.STRING, Types.STRING)),
    sum: backend.getNamespacedReducingState(
      new ReducingStateDescriptor('sum', (a, b) => a + b, Types.LONG),
      Types.LONG,
    ),
    timers: backend.getTimerQueue('timers', Types.STRING),
  };
}

/** A run: one backend after another, and the model they all must agree with. */
class ModelRun {
  private readonly bench: BackendWorkbench;
  private readonly random: SeededRandom;
  private backend!: KeyedStateBackend<string>;
  private states!: ReturnType<typeof statesOf>;
  private model = emptyModel();
  private readonly open: {
    snapshot: KeyedStateSnapshot;
    sink: MemorySink;
    model: Model;
    started: boolean;
  }[] = [];

  constructor(bench: BackendWorkbench, random: SeededRandom) {
    this.bench = bench;
    this.random = random;
  }

  async run(steps: number): Promise<void> {
    await this.use(await this.bench.create());
    for (let step = 0; step < steps; step++) {
      this.change();
      if (this.random.oneIn(8)) this.readOne();
      if (this.open.length > 0 && this.random.oneIn(3)) await this.advanceOne();
      if (this.random.oneIn(60) && this.open.length < 3) this.beginSnapshot();
    }
    while (this.open.length > 0) await this.advanceOne();
    this.checkAll();
  }

  private async use(backend: KeyedStateBackend<string>): Promise<void> {
    this.backend = backend;
    this.states = statesOf(backend);
  }

  private key(): string {
    return `key${this.random.below(25)}`;
  }

  private text(): string {
    const length = this.random.oneIn(15) ? this.random.below(3000) : this.random.below(60);
    return this.random.pick(['a', 'é', '語']).repeat(length);
  }

  private change(): void {
    const { random, states, model } = this;
    const key = this.key();
    useKey(this.backend, key);
    const hashes = Int32Array.from({ length: 10 }, () => this.backend.hashOf(this.key()));
    if (random.oneIn(20)) this.backend.prefetch(hashes, 10);
    switch (random.below(14)) {
      case 0:
      case 1:
      case 2: {
        const text = this.text();
        states.value.update(text);
        model.values.set(key, text);
        return;
      }
      case 3:
        states.value.clear();
        model.values.delete(key);
        return;
      case 4:
      case 5:
        return this.changeList(key);
      case 6:
      case 7:
      case 8:
        return this.changeMap(key);
      case 9:
      case 10:
        return this.changeSum(key);
      default:
        return this.changeTimers(key);
    }
  }

  private changeList(key: string): void {
    const { random, states, model } = this;
    const namespace = `n${random.below(3)}`;
    const id = `${key}/${namespace}`;
    states.list.setNamespace(namespace);
    const list = model.lists.get(id) ?? [];
    const numbers = Array.from({ length: random.below(40) }, () => random.below(1000));
    const dice = random.below(9);
    if (dice === 0) {
      states.list.clear();
      model.lists.delete(id);
    } else if (dice === 1) {
      states.list.update(numbers);
      model.lists.set(id, numbers);
    } else if (dice === 2) {
      const other = `n${random.below(3)}`;
      states.list.mergeNamespaces(namespace, [other]);
      if (other === namespace) return;
      model.lists.set(id, [...list, ...(model.lists.get(`${key}/${other}`) ?? [])]);
      model.lists.delete(`${key}/${other}`);
    } else if (dice < 6) {
      states.list.addAll(numbers);
      model.lists.set(id, [...list, ...numbers]);
    } else {
      for (const number of numbers) states.list.add(number);
      model.lists.set(id, [...list, ...numbers]);
    }
  }

  private changeMap(key: string): void {
    const { random, states, model } = this;
    const map = model.maps.get(key) ?? new Map<string, string>();
    model.maps.set(key, map);
    for (let i = random.below(12); i > 0; i--) {
      const userKey = random.oneIn(20) ? 'u'.repeat(300 + random.below(3)) : `user${random.below(20)}`;
      if (random.oneIn(3)) {
        states.map.remove(userKey);
        map.delete(userKey);
      } else {
        const text = this.text();
        states.map.put(userKey, text);
        map.set(userKey, text);
      }
    }
    if (random.oneIn(12)) {
      states.map.clear();
      map.clear();
    }
  }

  private changeSum(key: string): void {
    const { random, states, model } = this;
    const namespace = random.below(4);
    const id = `${key}/${namespace}`;
    states.sum.setNamespace(namespace);
    if (random.oneIn(5)) {
      states.sum.clear();
      model.sums.delete(id);
    } else {
      states.sum.add(namespace + 1);
      model.sums.set(id, (model.sums.get(id) ?? 0) + namespace + 1);
    }
  }

  private changeTimers(key: string): void {
    const { random, states, model } = this;
    const timestamp = random.below(200);
    const namespace = `n${random.below(2)}`;
    const id = `${String(timestamp).padStart(5, '0')} ${key} ${namespace}`;
    if (random.oneIn(4)) {
      assert.equal(states.timers.delete(timestamp, namespace), model.timers.delete(id));
    } else if (random.oneIn(3)) {
      const to = Math.max(0, timestamp + random.below(60) - 15);
      const toNamespace = `n${random.below(2)}`;
      states.timers.move(timestamp, namespace, to, toNamespace);
      model.timers.delete(id);
      model.timers.add(`${String(to).padStart(5, '0')} ${key} ${toNamespace}`);
    } else if (random.oneIn(10)) {
      const upTo = random.below(100);
      let last = -1;
      while (states.timers.poll(upTo)) {
        const { polledTimestamp, polledNamespace } = states.timers;
        const polled = `${String(polledTimestamp).padStart(5, '0')} ${this.backend.currentKey} ${polledNamespace}`;
        assert.ok(model.timers.delete(polled), `${polled} fired`);
        assert.ok(polledTimestamp >= last, `${polled} fired after ${last}`);
        last = polledTimestamp;
      }
      for (const each of model.timers) assert.ok(Number(each.slice(0, 5)) > upTo, `${each} did not fire`);
    } else {
      assert.equal(states.timers.register(timestamp, namespace), !model.timers.has(id));
      model.timers.add(id);
    }
    assert.equal(states.timers.size, model.timers.size);
  }

  private readOne(): void {
    const { states, model } = this;
    const key = this.key();
    useKey(this.backend, key);
    assert.equal(states.value.value(), model.values.get(key));
    assert.deepEqual(new Map(states.map.entries()), model.maps.get(key) ?? new Map());
    const namespace = `n${this.random.below(3)}`;
    states.list.setNamespace(namespace);
    assert.deepEqual(states.list.get(), model.lists.get(`${key}/${namespace}`) ?? []);
  }

  private beginSnapshot(): void {
    const snapshot = this.backend.snapshot();
    this.open.push({ snapshot, sink: new MemorySink(), model: structuredClone(this.model), started: false });
  }

  /** Lets a snapshot go on; when it is complete the run may go on from it. */
  private async advanceOne(): Promise<void> {
    const index = this.random.below(this.open.length);
    const chosen = this.open[index]!;
    if (!chosen.started) {
      chosen.started = true;
      chosen.snapshot.start(chosen.sink);
    }
    if (!chosen.snapshot.advance(1 + this.random.below(4000))) return;
    this.open.splice(index, 1);
    if (this.random.oneIn(2)) return chosen.snapshot.release();
    const maxParallelism = this.random.pick([128, 128, 128, 200]);
    const saved = toRestore(chosen.snapshot, chosen.sink.bytes());
    for (const { snapshot } of this.open.splice(0)) snapshot.release();
    await this.use(await this.bench.create({ restore: [saved], maxParallelism }));
    this.model = structuredClone(chosen.model);
    this.checkAll();
  }

  private checkAll(): void {
    const { states, model, backend } = this;
    let entries = model.timers.size;
    for (let i = 0; i < 25; i++) {
      const key = `key${i}`;
      useKey(backend, key);
      assert.equal(states.value.value(), model.values.get(key));
      const map = model.maps.get(key) ?? new Map();
      assert.deepEqual(new Map(states.map.entries()), map);
      entries += (model.values.has(key) ? 1 : 0) + map.size;
      for (let n = 0; n < 4; n++) {
        states.list.setNamespace(`n${n}`);
        const list = model.lists.get(`${key}/n${n}`) ?? [];
        assert.deepEqual(states.list.get(), list);
        states.sum.setNamespace(n);
        assert.equal(states.sum.get(), model.sums.get(`${key}/${n}`));
        entries += (list.length > 0 ? 1 : 0) + (model.sums.has(`${key}/${n}`) ? 1 : 0);
      }
    }
    assert.equal(states.timers.size, model.timers.size);
    assert.equal(backend.statistics().entries, entries);
  }
}

const SEEDS = 12;
const STEPS = 600;

/** One run; throws with the seed in the message. */
export async function runModel(bench: BackendWorkbench, seed: number): Promise<void> {
  try {
    await new ModelRun(bench, seededRandom(seed)).run(STEPS);
  } catch (error) {
    throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
  }
}

export const modelCases: BackendCases = {
  'random work with snapshots and restores agrees with plain maps': async (bench) => {
    for (let seed = 1; seed <= SEEDS; seed++) await runModel(bench, seed);
  },
};
