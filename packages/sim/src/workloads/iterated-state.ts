/**
 * All kinds of keyed state in one function, read back by iterating: each record changes them, and every few records the key
 * shows everything it has. What is shown is computed by the same steps on plain arrays and maps, so state after a restore
 * is compared entry by entry. Entries are removed again, too, while snapshots are written.
 *
 * Time-to-live is so long that nothing expires, whatever the clocks do, or so short that it may have expired at each look:
 * then a value is what was written last, or nothing.
 */
import {
  type AggregatingState,
  AggregatingStateDescriptor,
  type Collector,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type ListState,
  ListStateDescriptor,
  type MapState,
  MapStateDescriptor,
  type ReducingState,
  ReducingStateDescriptor,
  type RuntimeContext,
  type StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from '@millrace/engine';
import { PacedSource } from '../../../engine/src/testing/paced-source.ts';
import type { SeededRandom } from '../../../engine/src/testing/seeded-random.ts';
import { committedOf, firstOutOfOrder } from '../checkers/committed.ts';
import { firstDifference } from '../checkers/multiset.ts';
import type { Site } from '../world/site.ts';
import { type Item, itemsOf, itemType, Pass } from './item.ts';
import type { Scenario, Workload } from './workload.ts';

/** What results depend on. */
interface Shape {
  readonly records: number;
  readonly partitions: number;
  readonly keys: number;
  readonly mapKeys: number;
  /** Records of a key from one time that it shows its state to the next. */
  readonly showEvery: number;
}

/** What they do not. */
interface Pace {
  readonly recordsPerPoll: number;
  readonly pauseMs: number;
  readonly valueChars: number;
  readonly hasLongTimeToLive: boolean;
}

interface Shown {
  readonly key: string;
  readonly id: number;
  readonly text: string;
}

const shownType = Types.ROW({ key: Types.STRING, id: Types.LONG, text: Types.STRING });
const SHOWN = 'shown';
const LIST_MAX = 8;
const LONG_TTL = '30 d';
const SHORT_TTL_MS = 3;

export const iteratedState: Scenario = {
  name: 'iterated-state',
  weight: 1,
  draw: (random) => workload(drawShape(random), drawPace(random)),
};

function drawShape(random: SeededRandom): Shape {
  return {
    records: random.pick([5, 30, 80]),
    partitions: random.pick([1, 2]),
    keys: random.pick([1, 4]),
    mapKeys: random.pick([2, 7]),
    showEvery: random.pick([1, 4]),
  };
}

function drawPace(random: SeededRandom): Pace {
  return {
    recordsPerPoll: random.pick([1, 3, 10]),
    pauseMs: random.pick([1, 5]),
    valueChars: random.pick([0, 10, 300]),
    hasLongTimeToLive: random.oneIn(2),
  };
}

function workload(shape: Shape, pace: Pace): Workload {
  const items = itemsOf({ name: 'k', ...shape, paddingChars: 0 });
  const expected = expectedOf(items, shape).map(textOf);
  return {
    name: iteratedState.name,
    parameters: Object.entries(shape)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
    limits: { atLeastOnce: false, parallelismMax: 4 },
    setup: (env, site) => buildJob(env, site, items, shape, pace),
    results: (site) => committedOf<Shown>(site, SHOWN),
    check: (results, undisturbed) => {
      const found = results as Shown[];
      return (
        firstDifference(found.map(textOf), expected) ??
        firstDifference((undisturbed as Shown[]).map(textOf), expected) ??
        firstOutOfOrder(
          found,
          ({ key }) => key,
          ({ id }) => id,
        )
      );
    },
  };
}

const textOf = ({ key, id, text }: Shown): string => `${key} after record ${id}: ${text}`;

function show(
  map: Iterable<readonly [string, number]>,
  list: readonly number[],
  sum: number,
  most: number,
): string {
  const entries = Array.from(map, ([key, value]) => `${key}=${value}`).sort();
  return `${entries.join(' ')} / ${list.join(' ')} / ${sum} / ${most}`;
}

function expectedOf(items: readonly Item[][], { mapKeys, showEvery }: Shape): Shown[] {
  const byKey = new Map<string, Item[]>();
  for (const item of items.flat()) byKey.set(item.key, [...(byKey.get(item.key) ?? []), item]);
  return [...byKey].flatMap(([key, ofKey]) => {
    const map = new Map<string, number>();
    let list: number[] = [];
    let [sum, most] = [0, 0];
    return ofKey.flatMap(({ id }, index) => {
      const entry = `m${id % mapKeys}`;
      if (map.get(entry) === 2) map.delete(entry);
      else map.set(entry, (map.get(entry) ?? 0) + 1);
      list = list.length === LIST_MAX ? [id] : [...list, id];
      sum += id;
      most = Math.max(most, id % 5);
      return (index + 1) % showEvery === 0 ? [{ key, id, text: show(map, list, sum, most) }] : [];
    });
  });
}

function buildJob(
  env: StreamExecutionEnvironment,
  site: Site,
  items: readonly Item[][],
  shape: Shape,
  pace: Pace,
): void {
  const { recordsPerPoll, pauseMs } = pace;
  env
    .fromSource(
      new PacedSource(items, { recordsPerPoll, pauseMs }),
      WatermarkStrategy.noWatermarks(),
      'items',
      itemType,
    )
    .uid('items')
    .process(() => new Pass<Item>(site))
    .returns(itemType)
    .uid('pass')
    .keyBy((item) => item.key, Types.STRING)
    .process(() => new Keep(site, shape, pace))
    .returns(shownType)
    .uid('keep')
    .sinkTo(site.sink<Shown>(SHOWN))
    .uid('sink');
}

interface Padded {
  readonly count: number;
  readonly padding: string;
}

/** With a string, so that values in use are known as objects and newer than their rows. */
const valueType = Types.ROW({ count: Types.LONG, padding: Types.STRING });

class Keep extends KeyedProcessFunction<string, Item, Shown> {
  readonly #site: Site;
  readonly #shape: Shape;
  readonly #pace: Pace;
  #map!: MapState<string, Padded>;
  #list!: ListState<number>;
  #sum!: AggregatingState<number, number>;
  #most!: ReducingState<number>;
  #seen!: ValueState<Padded>;
  #fleeting!: ValueState<number>;

  constructor(site: Site, shape: Shape, pace: Pace) {
    super();
    this.#site = site;
    this.#shape = shape;
    this.#pace = pace;
  }

  override open(context: RuntimeContext): void {
    this.#site.pass('open');
    const map = new MapStateDescriptor('map', Types.STRING, valueType);
    const list = new ListStateDescriptor('list', Types.LONG);
    const sum = new AggregatingStateDescriptor('sum', SUM, Types.LONG);
    const most = new ReducingStateDescriptor('most', (a: number, b: number) => Math.max(a, b), Types.LONG);
    const seen = new ValueStateDescriptor('seen', valueType);
    const fleeting = new ValueStateDescriptor('fleeting', Types.LONG);
    if (this.#pace.hasLongTimeToLive)
      for (const state of [map, list, sum, most, seen]) state.enableTimeToLive({ ttl: LONG_TTL });
    fleeting.enableTimeToLive({ ttl: SHORT_TTL_MS });
    this.#map = context.getMapState(map);
    this.#list = context.getListState(list);
    this.#sum = context.getAggregatingState(sum);
    this.#most = context.getReducingState(most);
    this.#seen = context.getState(seen);
    this.#fleeting = context.getState(fleeting);
  }

  override processElement(
    { key, id }: Item,
    _context: KeyedProcessContext<string>,
    out: Collector<Shown>,
  ): void {
    this.#site.pass('record');
    const { mapKeys, showEvery } = this.#shape;
    const entry = `m${id % mapKeys}`;
    const count = this.#map.get(entry)?.count ?? 0;
    if (count === 2) this.#map.remove(entry);
    else this.#map.put(entry, this.padded(count + 1));
    if (this.#list.get().length === LIST_MAX) this.#list.update([id]);
    else this.#list.add(id);
    this.#sum.add(id);
    this.#most.add(id % 5);
    const seen = (this.#seen.value()?.count ?? 0) + 1;
    this.#seen.update(this.padded(seen));
    const fleeting = this.#fleeting.value();
    if (fleeting !== undefined && fleeting !== seen - 1)
      out.collect({ key, id, text: `an expired value came back: ${fleeting}` });
    this.#fleeting.update(seen);
    if (seen % showEvery !== 0) return;
    const entries = Array.from(this.#map.entries(), ([name, value]) => [name, value.count] as const);
    out.collect({ key, id, text: show(entries, this.#list.get(), this.#sum.get()!, this.#most.get()!) });
  }

  override snapshotState(): void {
    this.#site.pass('snapshot');
  }

  private padded(count: number): Padded {
    return { count, padding: 'x'.repeat(this.#pace.valueChars) };
  }
}

const SUM = {
  createAccumulator: (): number => 0,
  add: (value: number, sum: number): number => sum + value,
  getResult: (sum: number): number => sum,
  merge: (a: number, b: number): number => a + b,
};
