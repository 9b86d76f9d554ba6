/**
 * The keyed backend contract: random work with states with time-to-live against plain data, with restores at random points
 * and a clock moved by hand. Everything is decided by a seed; a failure names it.
 *
 * An expired value that nobody accessed may be removed in the background or not. Where that would be seen (expired values
 * are returned; the clock goes back) the background work is switched off.
 */
import assert from 'node:assert/strict';
import {
  type KeyedStateBackend,
  ListStateDescriptor,
  MapStateDescriptor,
  ReducingStateDescriptor,
  type StateTtlOptions,
  ValueStateDescriptor,
} from '../../state/index.ts';
import { Types } from '../../types/index.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { type BackendCases, type BackendWorkbench, useKey } from './backend-workbench.ts';

const TTL = 1000;
const KEYS = 12;
const USER_KEYS = 8;
const STEPS = 700;
const SEEDS = 4;

interface Mode {
  readonly ttl: StateTtlOptions;
  readonly goesBack: boolean;
}

const MODES: readonly Mode[] = (['OnCreateAndWrite', 'OnReadAndWrite'] as const).flatMap((updateType) => [
  { ttl: { ttl: TTL, updateType }, goesBack: false },
  { ttl: { ttl: TTL, updateType, disableCleanupInBackground: true }, goesBack: true },
  {
    ttl: {
      ttl: TTL,
      updateType,
      visibility: 'ReturnExpiredIfNotCleanedUp',
      disableCleanupInBackground: true,
    },
    goesBack: false,
  },
]);

/** A value and when it was accessed last. */
interface Timed<V> {
  readonly value: V;
  atMs: number;
}

interface Model {
  readonly values: Map<string, Timed<string>>;
  readonly lists: Map<string, Timed<string>[]>;
  readonly maps: Map<string, Map<string, Timed<string>>>;
  readonly sums: Map<string, Timed<number>>;
}

function statesOf(backend: KeyedStateBackend<string>, ttl: StateTtlOptions) {
  const sum = (a: number, b: number) => a + b;
  return {
    value: backend.getValueState(new ValueStateDescriptor('value', Types.STRING).enableTimeToLive(ttl)),
    list: backend.getListState(new ListStateDescriptor('list', Types.STRING).enableTimeToLive(ttl)),
    map: backend.getMapState(new MapStateDescriptor('map', Types.STRING, Types.STRING).enableTimeToLive(ttl)),
    sum: backend.getReducingState(
      new ReducingStateDescriptor<number>('sum', sum, Types.LONG).enableTimeToLive(ttl),
    ),
  };
}

class TtlModelRun {
  private readonly bench: BackendWorkbench;
  private readonly mode: Mode;
  private readonly random: SeededRandom;
  private backend!: KeyedStateBackend<string>;
  private states!: ReturnType<typeof statesOf>;
  private readonly model: Model = {
    values: new Map(),
    lists: new Map(),
    maps: new Map(),
    sums: new Map(),
  };

  constructor(bench: BackendWorkbench, mode: Mode, random: SeededRandom) {
    this.bench = bench;
    this.mode = mode;
    this.random = random;
  }

  async run(): Promise<void> {
    this.use(await this.bench.create());
    for (let step = 0; step < STEPS; step++) {
      this.moveTime();
      const key = `key${this.random.below(KEYS)}`;
      useKey(this.backend, key);
      this.workWith(key);
      if (this.random.oneIn(3)) this.backend.cleanUpExpired();
      if (this.random.oneIn(100)) await this.restore();
    }
    this.checkAll();
  }

  private use(backend: KeyedStateBackend<string>): void {
    this.backend = backend;
    this.states = statesOf(backend, this.mode.ttl);
  }

  private async restore(): Promise<void> {
    const maxParallelism = this.random.pick([128, 128, 200]);
    this.use(await this.bench.restoreOf(this.backend, { maxParallelism }));
  }

  private moveTime(): void {
    const { random, bench } = this;
    if (random.oneIn(3)) bench.nowMs += random.below(150);
    if (random.oneIn(60)) bench.nowMs += random.below(3 * TTL);
    if (this.mode.goesBack && random.oneIn(40)) bench.nowMs -= random.below(2 * TTL);
  }

  private workWith(key: string): void {
    const { random } = this;
    const isRead = random.oneIn(2);
    switch (random.below(4)) {
      case 0:
        return isRead ? this.readValue(key) : this.writeValue(key);
      case 1:
        return isRead ? this.readList(key) : this.writeList(key);
      case 2:
        return isRead ? this.readMap(key) : this.writeMap(key);
      default:
        return isRead ? this.readSum(key) : this.addToSum(key);
    }
  }

  private text(): string {
    const length = this.random.oneIn(10) ? this.random.below(4000) : this.random.below(60);
    return this.random.pick(['a', 'é']).repeat(length);
  }

  private isExpired({ atMs }: Timed<unknown>): boolean {
    return atMs + TTL <= this.bench.nowMs;
  }

  private get returnsExpired(): boolean {
    return this.mode.ttl.visibility === 'ReturnExpiredIfNotCleanedUp';
  }

  private timed<V>(value: V): Timed<V> {
    return { value, atMs: this.bench.nowMs };
  }

  /** What reading one value gives, and does to the model. */
  private read<V>(of: Map<string, Timed<V>> | undefined, key: string): V | undefined {
    const found = of?.get(key);
    if (of === undefined || found === undefined) return undefined;
    if (this.isExpired(found)) {
      of.delete(key);
      return this.returnsExpired ? found.value : undefined;
    }
    if (this.mode.ttl.updateType === 'OnReadAndWrite') found.atMs = this.bench.nowMs;
    return found.value;
  }

  private readValue(key: string): void {
    assert.equal(this.states.value.value(), this.read(this.model.values, key));
  }

  private writeValue(key: string): void {
    const text = this.text();
    this.states.value.update(text);
    this.model.values.set(key, this.timed(text));
  }

  private readSum(key: string): void {
    assert.equal(this.states.sum.get(), this.read(this.model.sums, key));
  }

  private addToSum(key: string): void {
    const { sums } = this.model;
    const amount = this.random.below(100);
    const before = sums.get(key);
    const base = before === undefined || (this.isExpired(before) && !this.returnsExpired) ? 0 : before.value;
    this.states.sum.add(amount);
    sums.set(key, this.timed(base + amount));
  }

  private readList(key: string): void {
    assert.deepEqual(this.states.list.get(), this.readElements(key));
  }

  /** Elements go from the front only; those that expired behind one that lives are not seen. */
  private readElements(key: string): string[] {
    const { lists } = this.model;
    const list = lists.get(key) ?? [];
    const front = list.findIndex((each) => !this.isExpired(each));
    const kept = front < 0 ? [] : list.slice(front);
    const seen = (this.returnsExpired ? list : kept).filter(
      (each) => this.returnsExpired || !this.isExpired(each),
    );
    for (const each of kept) {
      if (this.mode.ttl.updateType === 'OnReadAndWrite' && !this.isExpired(each))
        each.atMs = this.bench.nowMs;
    }
    if (kept.length === 0) lists.delete(key);
    else lists.set(key, kept);
    return seen.map(({ value }) => value);
  }

  private writeList(key: string): void {
    const { states, model, random } = this;
    const texts = Array.from({ length: random.below(6) }, () => this.text());
    const list = model.lists.get(key) ?? [];
    const timed = texts.map((text) => this.timed(text));
    if (random.oneIn(8)) {
      states.list.update(texts);
      model.lists.delete(key);
      if (texts.length > 0) model.lists.set(key, timed);
      return;
    }
    if (random.oneIn(2)) states.list.addAll(texts);
    else for (const text of texts) states.list.add(text);
    if (list.length + timed.length > 0) model.lists.set(key, [...list, ...timed]);
  }

  private readMap(key: string): void {
    const { states, random, model } = this;
    const map = model.maps.get(key);
    if (random.oneIn(2)) {
      const userKey = `u${random.below(USER_KEYS)}`;
      assert.equal(states.map.get(userKey), this.read(map, userKey));
    } else {
      const expected = new Map<string, string>();
      for (const userKey of [...(map?.keys() ?? [])]) {
        const value = this.read(map, userKey);
        if (value !== undefined) expected.set(userKey, value);
      }
      assert.deepEqual(new Map(states.map.entries()), expected);
    }
    if (!this.returnsExpired) assert.equal(states.map.isEmpty(), this.isEmptyMap(map));
  }

  /** Looks for the first entry that lives, in the order of insertion, and removes those before. */
  private isEmptyMap(map: Map<string, Timed<string>> | undefined): boolean {
    for (const [userKey, each] of map ?? []) {
      if (!this.isExpired(each)) return false;
      map!.delete(userKey);
    }
    return true;
  }

  private writeMap(key: string): void {
    const { states, random, model } = this;
    const map = model.maps.get(key) ?? new Map<string, Timed<string>>();
    model.maps.set(key, map);
    for (let i = random.below(5); i > 0; i--) {
      const userKey = `u${random.below(USER_KEYS)}`;
      if (random.oneIn(4)) {
        states.map.remove(userKey);
        map.delete(userKey);
      } else {
        const text = this.text();
        states.map.put(userKey, text);
        map.set(userKey, this.timed(text));
      }
    }
  }

  /** Reads everything; then exactly what the model has is there. */
  private checkAll(): void {
    const { backend, states, model } = this;
    let entries = 0;
    for (let i = 0; i < KEYS; i++) {
      const key = `key${i}`;
      useKey(backend, key);
      this.readValue(key);
      this.readSum(key);
      this.readList(key);
      const map = model.maps.get(key);
      for (const userKey of [...(map?.keys() ?? [])]) {
        assert.equal(states.map.get(userKey), this.read(map, userKey));
      }
      for (const each of [model.values, model.sums, model.lists]) entries += each.has(key) ? 1 : 0;
      entries += map?.size ?? 0;
    }
    assert.equal(backend.statistics().entries, entries);
  }
}

export const ttlModelCases: BackendCases = {
  'random work with time-to-live agrees with plain data': async (bench) => {
    for (const mode of MODES) {
      for (let seed = 1; seed <= SEEDS; seed++) {
        try {
          await new TtlModelRun(bench, mode, seededRandom(seed)).run();
        } catch (error) {
          const what = `${JSON.stringify(mode)}, seed ${seed}: ${(error as Error).message}`;
          throw new Error(what, { cause: error });
        }
      }
    }
  },
};
