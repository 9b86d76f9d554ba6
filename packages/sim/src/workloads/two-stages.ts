/**
 * Event time through two stages: windows over the results of windows. Data is in the order of time, so no record is ever
 * late, and all results are computed from the data alone; a watermark that overtakes a result, or that is higher after a
 * restore than what is still in flight, makes that result late.
 *
 *     items ── pass ──hash──► short windows ──hash──► long windows ──► sink
 *                                                          └──late──► sink
 */
import {
  type Collector,
  OutputTag,
  type ProcessWindowContext,
  ProcessWindowFunction,
  type StreamExecutionEnvironment,
  type TimeWindow,
  TumblingEventTimeWindows,
  Types,
  WatermarkStrategy,
} from '@millrace/engine';
import type { SeededRandom } from '../../../engine/src/testing/seeded-random.ts';
import { committedOf } from '../checkers/committed.ts';
import { firstDifference } from '../checkers/multiset.ts';
import { MergingSource } from '../world/merging-source.ts';
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
  readonly recordsPerPoll: number;
  readonly pauseMs: number;
}

interface Total {
  readonly key: string;
  /** Of the window. */
  readonly start: number;
  readonly count: number;
}

const SHORT_MS = 5;
const LONG_MS = 20;
const totalType = Types.ROW({ key: Types.STRING, start: Types.LONG, count: Types.LONG });
const TOTALS = 'totals';
const LATE_TAG = new OutputTag<Total>('late', totalType);

export const twoStages: Scenario = {
  name: 'two-stages',
  weight: 1,
  draw: (random) => workload(drawShape(random), drawPace(random)),
};

function drawShape(random: SeededRandom): Shape {
  return { records: random.pick([5, 40, 80]), partitions: random.pick([1, 2]), keys: random.pick([1, 3]) };
}

function drawPace(random: SeededRandom): Pace {
  return { recordsPerPoll: random.pick([1, 5]), pauseMs: random.pick([1, 5]) };
}

function workload(shape: Shape, pace: Pace): Workload {
  const items = itemsOf({ name: 'k', ...shape, paddingChars: 0 });
  const expected = expectedOf(items.flat()).map(textOf);
  return {
    name: twoStages.name,
    parameters: Object.entries(shape)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
    limits: { atLeastOnce: false, parallelismMax: 3 },
    setup: (env, site) => buildJob(env, site, items, pace),
    results: (site) => committedOf<Total>(site, TOTALS),
    check: (results) => firstDifference((results as Total[]).map(textOf), expected),
  };
}

const textOf = ({ key, start, count }: Total): string => `${key} from ${start}: ${count}`;

function expectedOf(items: readonly Item[]): Total[] {
  const totals = new Map<string, Total>();
  for (const { key, time } of items) {
    const start = Math.floor(time / LONG_MS) * LONG_MS;
    const place = `${key} ${start}`;
    totals.set(place, { key, start, count: (totals.get(place)?.count ?? 0) + 1 });
  }
  return [...totals.values()];
}

function buildJob(
  env: StreamExecutionEnvironment,
  site: Site,
  items: readonly Item[][],
  { recordsPerPoll, pauseMs }: Pace,
): void {
  const totals = env
    .fromSource(
      new MergingSource(items, { recordsPerPoll, pauseMs }),
      WatermarkStrategy.forMonotonousTimestamps(),
      'items',
      itemType,
    )
    .uid('items')
    .process(() => new Pass<Item>(site))
    .returns(itemType)
    .uid('pass')
    .keyBy((item) => item.key, Types.STRING)
    .window(TumblingEventTimeWindows.of(SHORT_MS))
    .process(() => new Sum<Item>(site, () => 1), totalType)
    .uid('short')
    .keyBy(({ key }) => key, Types.STRING)
    .window(TumblingEventTimeWindows.of(LONG_MS))
    .sideOutputLateData(LATE_TAG)
    .process(() => new Sum<Total>(site, ({ count }) => count), totalType)
    .uid('long');
  totals.sinkTo(site.sink<Total>(TOTALS)).uid('sink');
  totals.getSideOutput(LATE_TAG).sinkTo(site.sink<Total>(TOTALS)).uid('late');
}

class Sum<T> extends ProcessWindowFunction<T, Total, string, TimeWindow> {
  readonly #site: Site;
  readonly #countOf: (element: T) => number;

  constructor(site: Site, countOf: (element: T) => number) {
    super();
    this.#site = site;
    this.#countOf = countOf;
  }

  override process(
    key: string,
    context: ProcessWindowContext<TimeWindow>,
    elements: Iterable<T>,
    out: Collector<Total>,
  ): void {
    this.#site.pass('record');
    let count = 0;
    for (const element of elements) count += this.#countOf(element);
    out.collect({ key, start: context.window().start, count });
  }
}
