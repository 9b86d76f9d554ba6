/**
 * Windows by event time: tumbling, sliding, sessions; records out of order and, in half of the draws, some that may come too
 * late. Each result of a window holds the ids of its records, so a record that is lost, or there twice, shows.
 *
 *     items ──hash──► window ── sink
 *                       └─late──► sink
 *
 * Which records are too late depends on how fast watermarks are, and after a restart a watermark is there later than in an
 * undisturbed run. So what may be late is judged by rules: it is in a window or it is late, never both, never neither.
 */
import {
  type Collector,
  EventTimeSessionWindows,
  type MergingWindowAssigner,
  OutputTag,
  type ProcessWindowContext,
  ProcessWindowFunction,
  SlidingEventTimeWindows,
  type StreamExecutionEnvironment,
  type TimeWindow,
  TumblingEventTimeWindows,
  Types,
  WatermarkStrategy,
  type WindowAssigner,
} from '@millrace/engine';
import { type SeededRandom, seededRandom } from '../../../engine/src/testing/seeded-random.ts';
import { committedOf } from '../checkers/committed.ts';
import { firstDifference } from '../checkers/multiset.ts';
import { MergingSource } from '../world/merging-source.ts';
import type { Site } from '../world/site.ts';
import { type Item, itemType, Pass } from './item.ts';
import type { Scenario, Workload } from './workload.ts';

/** What results depend on. */
interface Shape {
  readonly kind: 'tumbling' | 'sliding' | 'sessions';
  readonly records: number;
  readonly partitions: number;
  readonly keys: number;
  readonly latenessMs: number;
  readonly hasStragglers: boolean;
  readonly seed: number;
}

/** What they do not. */
interface Pace {
  readonly recordsPerPoll: number;
  readonly pauseMs: number;
  readonly contents: 'elements' | 'aggregate';
}

interface Fired {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  /** In ascending order. */
  readonly ids: readonly number[];
}

interface Results {
  readonly fired: readonly Fired[];
  readonly late: readonly Item[];
}

/** Records are out of order by so much, at most, unless they are stragglers. */
const DISORDER_MS = 5;
const SIZE_MS = 20;
const SLIDE_MS = 10;
const GAP_MS = 6;
const STRAGGLER_ONE_IN = 6;

const firedType = Types.ROW({
  key: Types.STRING,
  start: Types.LONG,
  end: Types.LONG,
  ids: Types.LIST(Types.LONG),
});
const FIRED = 'fired';
const LATE = 'late';
const LATE_TAG = new OutputTag<Item>('late', itemType);

export const windows: Scenario = {
  name: 'windows',
  weight: 1,
  draw: (random) => workload(drawShape(random), drawPace(random)),
};

function drawShape(random: SeededRandom): Shape {
  return {
    kind: random.pick(['tumbling', 'sliding', 'sessions']),
    records: random.pick([5, 20, 50]),
    partitions: random.pick([1, 2]),
    keys: random.pick([1, 3]),
    latenessMs: random.pick([0, 0, 10]),
    hasStragglers: random.oneIn(2),
    seed: random.below(20),
  };
}

function drawPace(random: SeededRandom): Pace {
  return {
    recordsPerPoll: random.pick([1, 3, 10]),
    pauseMs: random.pick([1, 5]),
    contents: random.pick(['elements', 'aggregate']),
  };
}

function workload(shape: Shape, pace: Pace): Workload {
  const partitions = itemsOf(shape);
  return {
    name: windows.name,
    parameters: Object.entries(shape)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
    limits: { atLeastOnce: false, parallelismMax: 3 },
    setup: (env, site) => buildJob(env, site, partitions, shape, pace),
    results: (site): Results => ({ fired: committedOf(site, FIRED), late: committedOf(site, LATE) }),
    check: (results, undisturbed) => {
      const { fired, late } = results as Results;
      const wrong = firstBrokenRule({ fired, late }, partitions.flat(), shape);
      if (wrong !== undefined || shape.hasStragglers) return wrong;
      return firstDifference(fired.map(textOf), (undisturbed as Results).fired.map(textOf));
    },
  };
}

/** Stragglers have negative ids. */
function itemsOf({ records, partitions, keys, hasStragglers, seed }: Shape): Item[][] {
  const random = seededRandom(seed);
  return Array.from({ length: partitions }, (_, partition) =>
    Array.from({ length: records }, (_, index): Item => {
      const isStraggler = hasStragglers && random.oneIn(STRAGGLER_ONE_IN);
      const behind = isStraggler ? random.below(60) : random.below(DISORDER_MS);
      const number = 1 + partition * records + index;
      return {
        key: `k${random.below(keys)}`,
        id: isStraggler ? -number : number,
        time: Math.max(0, index * 3 - behind),
        padding: '',
      };
    }),
  );
}

function assignerOf(kind: Shape['kind']): WindowAssigner<Item, TimeWindow> {
  if (kind === 'tumbling') return TumblingEventTimeWindows.of(SIZE_MS);
  if (kind === 'sliding') return SlidingEventTimeWindows.of(SIZE_MS, SLIDE_MS);
  return EventTimeSessionWindows.withGap(GAP_MS) as MergingWindowAssigner<Item>;
}

function buildJob(
  env: StreamExecutionEnvironment,
  site: Site,
  partitions: readonly Item[][],
  { kind, latenessMs }: Shape,
  { recordsPerPoll, pauseMs, contents }: Pace,
): void {
  const windowed = env
    .fromSource(
      new MergingSource(partitions, { recordsPerPoll, pauseMs }),
      WatermarkStrategy.forBoundedOutOfOrderness(DISORDER_MS),
      'items',
      itemType,
    )
    .uid('items')
    .process(() => new Pass<Item>(site))
    .returns(itemType)
    .uid('pass')
    .keyBy((item) => item.key, Types.STRING)
    .window(assignerOf(kind))
    .allowedLateness(latenessMs)
    .sideOutputLateData(LATE_TAG);
  const fired =
    contents === 'elements'
      ? windowed.process(() => new Ids(site), firedType)
      : windowed.aggregate(COLLECTED, () => new Together(site), { result: firedType });
  fired.uid('window');
  fired.sinkTo(site.sink<Fired>(FIRED)).uid('sink');
  fired.getSideOutput(LATE_TAG).sinkTo(site.sink<Item>(LATE)).uid('late');
}

class Ids extends ProcessWindowFunction<Item, Fired, string, TimeWindow> {
  readonly #site: Site;

  constructor(site: Site) {
    super();
    this.#site = site;
  }

  override process(
    key: string,
    context: ProcessWindowContext<TimeWindow>,
    items: Iterable<Item>,
    out: Collector<Fired>,
  ): void {
    this.#site.pass('record');
    out.collect(
      firedOf(
        key,
        context.window(),
        Array.from(items, ({ id }) => id),
      ),
    );
  }
}

const COLLECTED = {
  createAccumulator: (): number[] => [],
  add: ({ id }: Item, ids: number[]): number[] => [...ids, id],
  getResult: (ids: number[]): number[] => ids,
  merge: (a: number[], b: number[]): number[] => [...a, ...b],
};

class Together extends ProcessWindowFunction<number[], Fired, string, TimeWindow> {
  readonly #site: Site;

  constructor(site: Site) {
    super();
    this.#site = site;
  }

  override process(
    key: string,
    context: ProcessWindowContext<TimeWindow>,
    [ids]: Iterable<number[]>,
    out: Collector<Fired>,
  ): void {
    this.#site.pass('record');
    out.collect(firedOf(key, context.window(), ids!));
  }
}

function firedOf(key: string, window: TimeWindow, ids: readonly number[]): Fired {
  return { key, start: window.start, end: window.end, ids: [...ids].sort((a, b) => a - b) };
}

const textOf = ({ key, start, end, ids }: Fired): string => `${key} [${start}, ${end}) ${ids.join(' ')}`;

/** What holds whichever records were late. */
function firstBrokenRule(
  { fired, late }: Results,
  all: readonly Item[],
  { kind, latenessMs }: Shape,
): string | undefined {
  const timeOf = new Map(all.map(({ id, time }) => [id, time]));
  const times = new Map<number, number>();
  for (const each of fired) {
    const { start, end, ids } = each;
    for (const [index, id] of ids.entries()) {
      if (ids[index - 1] === id) return `record ${id} is twice in ${textOf(each)}`;
      const time = timeOf.get(id)!;
      if (time < start || time >= end) return `record ${id} of time ${time} is in ${textOf(each)}`;
      times.set(id, (times.get(id) ?? 0) + 1);
    }
  }
  for (const { id } of late) {
    if (id > 0) return `record ${id} is late, and nothing is known why`;
    if (times.has(id)) return `record ${id} is late, and in a window`;
    times.set(id, 0);
  }
  if (new Set(late.map(({ id }) => id)).size < late.length) return 'a record is late twice';
  for (const { id } of all) {
    const found = times.get(id);
    if (found === undefined) return `record ${id} is in no window and not late`;
    const most = latenessMs > 0 ? Number.POSITIVE_INFINITY : kind === 'sliding' ? SIZE_MS / SLIDE_MS : 1;
    if (found > most) return `record ${id} is in ${found} results of windows`;
    if (id > 0 && kind === 'sliding' && found < most && latenessMs === 0)
      return `record ${id} is in ${found} results of windows instead of ${most}`;
  }
  return undefined;
}
