/**
 * Time-to-live to the millisecond: beside each value that expires stands one that does not, with the time at which it was
 * written. So the function knows at each record whether the value has to be there, after a restore as before, and says what
 * was wrong.
 *
 *     items ── pass ──hash──► look ──► sink
 */
import {
  type Collector,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type MapState,
  MapStateDescriptor,
  type RuntimeContext,
  type StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from '@millrace/engine';
import { PacedSource } from '../../../engine/src/testing/paced-source.ts';
import type { SeededRandom } from '../../../engine/src/testing/seeded-random.ts';
import { committedOf } from '../checkers/committed.ts';
import { firstDifference } from '../checkers/multiset.ts';
import type { Site } from '../world/site.ts';
import { type Item, itemsOf, itemType, Pass } from './item.ts';
import type { Scenario, Workload } from './workload.ts';

/** What results depend on. */
interface Shape {
  readonly records: number;
  readonly partitions: number;
  readonly keys: number;
}

/** What they do not. */
interface Pace {
  readonly pauseMs: number;
  readonly ttlMs: number;
  /** A value is written at every so many records, and only looked at in between. */
  readonly writeEvery: number;
}

interface Seen {
  readonly key: string;
  readonly id: number;
  readonly text: string;
}

const seenType = Types.ROW({ key: Types.STRING, id: Types.LONG, text: Types.STRING });
const SEEN = 'seen';
const RIGHT = 'right';
/** The entry of the map that is looked at. */
const ENTRY = 'entry';

export const timeToLive: Scenario = {
  name: 'time-to-live',
  weight: 1,
  draw: (random) => workload(drawShape(random), drawPace(random)),
};

function drawShape(random: SeededRandom): Shape {
  return { records: random.pick([5, 20, 40]), partitions: random.pick([1, 2]), keys: random.pick([1, 3]) };
}

function drawPace(random: SeededRandom): Pace {
  return {
    pauseMs: random.pick([1, 5, 20]),
    ttlMs: random.pick([3, 20, 60]),
    writeEvery: random.pick([1, 2, 5]),
  };
}

function workload(shape: Shape, pace: Pace): Workload {
  const items = itemsOf({ name: 'k', ...shape, paddingChars: 0 });
  const expected = items.flat().map(({ key, id }) => textOf({ key, id, text: RIGHT }));
  return {
    name: timeToLive.name,
    parameters: Object.entries(shape)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
    // What was removed because it had expired is not there again when the clock is set back.
    limits: { atLeastOnce: false, parallelismMax: 3, withoutStrikes: ['wall-clock-jump'] },
    setup: (env, site) => buildJob(env, site, items, pace),
    results: (site) => committedOf<Seen>(site, SEEN),
    check: (results) => firstDifference((results as Seen[]).map(textOf), expected),
  };
}

const textOf = ({ key, id, text }: Seen): string => `${key} record ${id}: ${text}`;

function buildJob(env: StreamExecutionEnvironment, site: Site, items: readonly Item[][], pace: Pace): void {
  env
    .fromSource(
      new PacedSource(items, { recordsPerPoll: 1, pauseMs: pace.pauseMs }),
      WatermarkStrategy.noWatermarks(),
      'items',
      itemType,
    )
    .uid('items')
    .process(() => new Pass<Item>(site))
    .returns(itemType)
    .uid('pass')
    .keyBy((item) => item.key, Types.STRING)
    .process(() => new Look(site, pace))
    .returns(seenType)
    .uid('look')
    .sinkTo(site.sink<Seen>(SEEN))
    .uid('sink');
}

class Look extends KeyedProcessFunction<string, Item, Seen> {
  readonly #site: Site;
  readonly #pace: Pace;
  #value!: ValueState<number>;
  #map!: MapState<string, number>;
  /** When both were written. */
  #written!: ValueState<number>;

  constructor(site: Site, pace: Pace) {
    super();
    this.#site = site;
    this.#pace = pace;
  }

  override open(context: RuntimeContext): void {
    this.#site.pass('open');
    const value = new ValueStateDescriptor('value', Types.LONG);
    const map = new MapStateDescriptor('map', Types.STRING, Types.LONG);
    for (const state of [value, map]) state.enableTimeToLive({ ttl: this.#pace.ttlMs });
    this.#value = context.getState(value);
    this.#map = context.getMapState(map);
    this.#written = context.getState(new ValueStateDescriptor('written', Types.LONG));
  }

  override processElement(
    { key, id }: Item,
    context: KeyedProcessContext<string>,
    out: Collector<Seen>,
  ): void {
    this.#site.pass('record');
    const now = context.timerService().currentProcessingTime();
    const text =
      this.#judge('value', this.#value.value(), now) ?? this.#judge('map', this.#map.get(ENTRY), now);
    out.collect({ key, id, text: text ?? RIGHT });
    if (id % this.#pace.writeEvery !== 0) return;
    this.#value.update(now);
    this.#map.put(ENTRY, now);
    this.#written.update(now);
  }

  #judge(what: string, found: number | undefined, now: number): string | undefined {
    const written = this.#written.value();
    const ageMs = written === undefined ? Number.POSITIVE_INFINITY : now - written;
    const expected = ageMs < this.#pace.ttlMs ? written : undefined;
    if (found === expected) return undefined;
    return `the ${what} is ${found} and should be ${expected}, ${ageMs} ms after it was written`;
  }
}
