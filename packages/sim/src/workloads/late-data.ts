/**
 * Late data whose lateness is settled: what is too late, and what a window holds at each of its firings, is computed from
 * the data alone and must come out so, after any restart.
 *
 *     bundles ── pass ── open up ── watermarks ── without marks ──hash──► window ── sink
 *     └────────────── one subtask ──────────────┘                           └─late──► sink
 *
 * Watermarks are no state, so a record is late by the same measure after a restart only if its watermark comes again with
 * it. Each bundle is one record of the source and begins with a mark that carries the watermark. Barriers stand between
 * bundles, so a restored job begins with a mark; a barrier that overtakes would separate a mark from its records, so none
 * does here. The windows have one input channel each, so no other subtask holds their watermark back.
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
  type WatermarkGenerator,
  WatermarkStrategy,
  type WindowAssigner,
} from '@millrace/engine';
import { PacedSource } from '../../../engine/src/testing/paced-source.ts';
import { type SeededRandom, seededRandom } from '../../../engine/src/testing/seeded-random.ts';
import { committedOf, firstOutOfOrder } from '../checkers/committed.ts';
import { firstDifference } from '../checkers/multiset.ts';
import type { Site } from '../world/site.ts';
import { Pass } from './item.ts';
import type { Scenario, Workload } from './workload.ts';

/** What results depend on. */
interface Shape {
  readonly kind: 'tumbling' | 'sliding' | 'sessions';
  readonly bundles: number;
  readonly keys: number;
  readonly latenessMs: number;
  readonly seed: number;
}

/** What they do not. */
interface Pace {
  readonly recordsPerPoll: number;
  readonly pauseMs: number;
  readonly isReduced: boolean;
}

/** A mark is no record: its time is a watermark. */
interface Element {
  readonly key: string;
  /** One; more where records were reduced. */
  readonly ids: readonly number[];
  readonly time: number;
  readonly isMark: boolean;
}

interface Bundle {
  readonly elements: readonly Element[];
}

interface Fired {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  readonly ids: readonly number[];
}

interface Results {
  readonly fired: readonly Fired[];
  readonly late: readonly Element[];
}

const SIZE_MS = 20;
const SLIDE_MS = 10;
const GAP_MS = 6;
const BUNDLE_MAX = 6;
/** Records are behind the newest by so much, at most; watermarks by less, so that some are late. */
const BEHIND_MS = 50;
const WATERMARK_BEHIND_MS = 12;

const elementType = Types.ROW({
  key: Types.STRING,
  ids: Types.LIST(Types.LONG),
  time: Types.LONG,
  isMark: Types.BOOLEAN,
});
const bundleType = Types.ROW({ elements: Types.LIST(elementType) });
const firedType = Types.ROW({
  key: Types.STRING,
  start: Types.LONG,
  end: Types.LONG,
  ids: Types.LIST(Types.LONG),
});
const FIRED = 'fired';
const LATE = 'late';
const LATE_TAG = new OutputTag<Element>('late', elementType);

export const lateData: Scenario = {
  name: 'late-data',
  weight: 1,
  draw: (random) => workload(drawShape(random), drawPace(random)),
};

function drawShape(random: SeededRandom): Shape {
  return {
    kind: random.pick(['tumbling', 'sliding', 'sessions']),
    bundles: random.pick([3, 10, 25]),
    keys: random.pick([1, 3]),
    latenessMs: random.pick([0, 7, 30]),
    seed: random.below(20),
  };
}

function drawPace(random: SeededRandom): Pace {
  return {
    recordsPerPoll: random.pick([1, 3]),
    pauseMs: random.pick([1, 5]),
    isReduced: random.oneIn(2),
  };
}

function workload(shape: Shape, pace: Pace): Workload {
  const bundles = bundlesOf(shape);
  const expected = expectedOf(bundles, shape);
  return {
    name: lateData.name,
    parameters: Object.entries(shape)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
    limits: { atLeastOnce: false, parallelismMax: 4 },
    settings: { 'execution.checkpointing.unaligned.enabled': false },
    setup: (env, site) => buildJob(env, site, bundles, shape, pace),
    results: (site): Results => ({ fired: committedOf(site, FIRED), late: committedOf(site, LATE) }),
    check: (results, undisturbed) =>
      difference(results as Results, expected, shape) ?? difference(undisturbed as Results, expected, shape),
  };
}

function bundlesOf({ bundles, keys, seed }: Shape): Bundle[] {
  const random = seededRandom(seed);
  let [newest, watermark, id] = [0, -1, 0];
  const mark = (): Element => {
    watermark = Math.max(watermark, newest - random.below(WATERMARK_BEHIND_MS));
    return { key: '', ids: [], time: watermark, isMark: true };
  };
  const record = (): Element => {
    newest += random.below(6);
    const behind = random.oneIn(3) ? random.below(BEHIND_MS) : random.below(4);
    const time = Math.max(0, newest - behind);
    return { key: `k${random.below(keys)}`, ids: [id++], time, isMark: false };
  };
  return Array.from({ length: bundles }, () => {
    const rest = Array.from({ length: 1 + random.below(BUNDLE_MAX) }, () => random.oneIn(4));
    return { elements: [mark(), ...rest.map((isMark) => (isMark ? mark() : record()))] };
  });
}

/** A window that still takes records; sessions grow. */
interface Open {
  readonly key: string;
  start: number;
  end: number;
  ids: number[];
}

/** The rules of event time windows on plain arrays. */
function expectedOf(bundles: readonly Bundle[], { kind, latenessMs }: Shape): Results {
  const fired: Fired[] = [];
  const late: Element[] = [];
  let open: Open[] = [];
  let watermark = Number.NEGATIVE_INFINITY;
  const fire = ({ key, start, end, ids }: Open): void => {
    fired.push({ key, start, end, ids: [...ids].sort((a, b) => a - b) });
  };
  const advance = (to: number): void => {
    for (const window of open) if (window.end - 1 > watermark && window.end - 1 <= to) fire(window);
    open = open.filter(({ end }) => end - 1 + latenessMs > to);
    watermark = to;
  };
  const put = (element: Element, start: number, end: number): boolean => {
    const isHit = (window: Open): boolean =>
      window.key === element.key &&
      (kind === 'sessions'
        ? window.start <= end && window.end >= start
        : window.start === start && window.end === end);
    const hit = open.filter(isHit);
    const window: Open = {
      key: element.key,
      start: Math.min(start, ...hit.map((each) => each.start)),
      end: Math.max(end, ...hit.map((each) => each.end)),
      ids: [...hit.flatMap(({ ids }) => ids), ...element.ids],
    };
    if (window.end - 1 + latenessMs <= watermark) return false;
    open = [...open.filter((each) => !hit.includes(each)), window];
    if (window.end - 1 <= watermark) fire(window);
    return true;
  };
  for (const element of bundles.flatMap(({ elements }) => elements)) {
    if (element.isMark) advance(Math.max(watermark, element.time));
    else if (
      !intervalsOf(element.time, kind)
        .map(([start, end]) => put(element, start, end))
        .includes(true)
    )
      late.push(element);
  }
  advance(Number.POSITIVE_INFINITY);
  return { fired, late };
}

/** The windows of a record of that time, before sessions merge. */
function intervalsOf(time: number, kind: Shape['kind']): (readonly [number, number])[] {
  if (kind === 'sessions') return [[time, time + GAP_MS]];
  const step = kind === 'tumbling' ? SIZE_MS : SLIDE_MS;
  const last = Math.floor(time / step) * step;
  return Array.from({ length: SIZE_MS / step }, (_, index) => [
    last - index * step,
    last - index * step + SIZE_MS,
  ]);
}

function assignerOf(kind: Shape['kind']): WindowAssigner<Element, TimeWindow> {
  if (kind === 'tumbling') return TumblingEventTimeWindows.of(SIZE_MS);
  if (kind === 'sliding') return SlidingEventTimeWindows.of(SIZE_MS, SLIDE_MS);
  return EventTimeSessionWindows.withGap(GAP_MS) as MergingWindowAssigner<Element>;
}

function buildJob(
  env: StreamExecutionEnvironment,
  site: Site,
  bundles: readonly Bundle[],
  { kind, latenessMs }: Shape,
  { recordsPerPoll, pauseMs, isReduced }: Pace,
): void {
  const windowed = env
    .fromSource(
      new PacedSource([bundles], { recordsPerPoll, pauseMs }),
      WatermarkStrategy.noWatermarks(),
      'bundles',
      bundleType,
    )
    .uid('bundles')
    .setParallelism(1)
    .process(() => new Pass<Bundle>(site))
    .returns(bundleType)
    .uid('pass')
    .setParallelism(1)
    .flatMap(({ elements }) => elements)
    .returns(elementType)
    .uid('open-up')
    .setParallelism(1)
    .assignTimestampsAndWatermarks(
      WatermarkStrategy.forGenerator<Element>(watermarksOfMarks).withTimestampAssigner(({ time }) => time),
    )
    .uid('watermarks')
    .setParallelism(1)
    .filter(({ isMark }) => !isMark)
    .uid('without-marks')
    .setParallelism(1)
    .keyBy(({ key }) => key, Types.STRING)
    .window(assignerOf(kind))
    .allowedLateness(latenessMs)
    .sideOutputLateData(LATE_TAG);
  const fired = isReduced
    ? windowed.reduce(together, () => new Ids(site), firedType)
    : windowed.process(() => new Ids(site), firedType);
  fired.uid('window');
  fired.sinkTo(site.sink<Fired>(FIRED)).uid('sink');
  fired.getSideOutput(LATE_TAG).sinkTo(site.sink<Element>(LATE)).uid('late');
}

function watermarksOfMarks(): WatermarkGenerator<Element> {
  return {
    onEvent({ isMark, time }, _timestampMs, output) {
      if (isMark) output.emitWatermark(time);
    },
    onPeriodicEmit() {},
  };
}

const together = (a: Element, b: Element): Element => ({ ...a, ids: [...a.ids, ...b.ids] });

class Ids extends ProcessWindowFunction<Element, Fired, string, TimeWindow> {
  readonly #site: Site;

  constructor(site: Site) {
    super();
    this.#site = site;
  }

  override process(
    key: string,
    context: ProcessWindowContext<TimeWindow>,
    elements: Iterable<Element>,
    out: Collector<Fired>,
  ): void {
    this.#site.pass('record');
    const { start, end } = context.window();
    const ids = Array.from(elements, (element) => element.ids).flat();
    out.collect({ key, start, end, ids: ids.sort((a, b) => a - b) });
  }
}

const windowOf = ({ key, start, end }: Fired): string => `${key} [${start}, ${end})`;
const firedTextOf = (fired: Fired): string => `${windowOf(fired)} ${fired.ids.join(' ')}`;
const lateTextOf = ({ key, ids, time }: Element): string => `${key} late record ${ids.join(' ')} of ${time}`;

/** A window that fires again has more records each time. */
function difference(found: Results, expected: Results, { kind }: Shape): string | undefined {
  const wrong =
    firstDifference(found.fired.map(firedTextOf), expected.fired.map(firedTextOf)) ??
    firstDifference(found.late.map(lateTextOf), expected.late.map(lateTextOf));
  // A session may end, be forgotten, and another one have the same bounds.
  if (wrong !== undefined || kind === 'sessions') return wrong;
  return firstOutOfOrder(found.fired, windowOf, ({ ids }) => ids.length);
}
