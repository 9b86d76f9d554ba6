/**
 * Back-pressure: a source without pauses, a slow one, and a slow sink, so that rings and overflow lists are full and
 * barriers overtake. The exchanges between are drawn, so that data in flight of every kind is saved and restored, also at
 * another parallelism.
 *
 *     fast ── pass ──any exchange──► tag ─┐
 *                                         ├─union─hash─► count ──any exchange──► slow sink
 *     slow ── pass ───────────────────────┘                └──broadcast──► one ──► sink, not slow
 */
import {
  type Collector,
  type DataStream,
  type ProcessContext,
  ProcessFunction,
  type RuntimeContext,
  type StreamExecutionEnvironment,
  Types,
  WatermarkStrategy,
} from '@millrace/engine';
import type { SeededRandom } from '../../../engine/src/testing/seeded-random.ts';
import { committedOf, firstMissing, firstOutOfOrder } from '../checkers/committed.ts';
import { firstDifference } from '../checkers/multiset.ts';
import { MergingSource } from '../world/merging-source.ts';
import type { Site } from '../world/site.ts';
import { Count, type Counted, countedType, type Item, itemsOf, itemType, Pass } from './item.ts';
import type { Scenario, Workload } from './workload.ts';

/** What results depend on. */
interface Shape {
  readonly fastRecords: number;
  readonly fastPartitions: number;
  readonly slowRecords: number;
  readonly keys: number;
}

type Exchange =
  | 'forward'
  | 'hash'
  | 'custom'
  | 'rebalance'
  | 'rescale'
  | 'shuffle'
  | 'global'
  | 'broadcast-to-one';

/** What they do not. */
interface Pace {
  readonly into: Exchange;
  readonly out: Exchange;
  readonly slowMs: number;
  readonly slowPauseMs: number;
  readonly paddingChars: number;
  readonly hasBroadcast: boolean;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** These keep records of a key in order. */
const ORDERED: readonly Exchange[] = ['forward', 'hash', 'custom', 'global', 'broadcast-to-one'];
const INTO: readonly Exchange[] = [
  'forward',
  'hash',
  'custom',
  'rebalance',
  'rescale',
  'shuffle',
  'global',
  'broadcast-to-one',
];
const SEGMENTS = 4;
const RECORDS_PER_POLL = 10;
/** Of one without padding, with what an exchange adds, at most. */
const RECORD_BYTES = 100;
const EXCHANGES = 4;
/** Watermarks and barriers that follow a turn. */
const MARKS = 4;
const PARALLELISM_MAX = 4;
const SLOW = 'slow';
const BESIDE = 'beside';

export const slowSink: Scenario = {
  name: 'slow-sink',
  weight: 2,
  draw: (random) => workload(drawShape(random), drawPace(random)),
};

function drawShape(random: SeededRandom): Shape {
  return {
    fastRecords: random.pick([20, 40, 80]),
    fastPartitions: random.pick([1, 2]),
    slowRecords: random.pick([0, 3, 6]),
    keys: random.pick([1, 3, 10]),
  };
}

function drawPace(random: SeededRandom): Pace {
  return {
    into: random.pick(INTO),
    out: random.pick(INTO.filter((exchange) => exchange !== 'broadcast-to-one')),
    slowMs: random.pick([1, 5, 20]),
    slowPauseMs: random.pick([5, 40]),
    paddingChars: random.pick([0, 60, 300]),
    hasBroadcast: random.oneIn(3),
    settings: drawSettings(random),
  };
}

/** Mostly barriers that overtake, at once or when a short time is over; rings of a few records. */
function drawSettings(random: SeededRandom): Pace['settings'] {
  const isUnaligned = !random.oneIn(5);
  return {
    'execution.checkpointing.interval': random.pick([10, 15, 40]),
    'execution.checkpointing.min-pause': 0,
    'execution.checkpointing.tolerable-failed-checkpoints': 1000,
    'execution.checkpointing.unaligned.enabled': isUnaligned,
    'execution.checkpointing.aligned-checkpoint-timeout': isUnaligned ? random.pick([0, 0, 3, 20]) : 0,
    'execution.checkpointing.max-concurrent-checkpoints': isUnaligned ? 1 : random.pick([1, 2]),
    'millrace.exchange.segment-size': random.pick([128, 512]),
    'millrace.exchange.segments-per-channel': SEGMENTS,
  };
}

function workload(shape: Shape, pace: Pace): Workload {
  const { fastRecords, fastPartitions, slowRecords, keys } = shape;
  const { paddingChars } = pace;
  const fast = itemsOf({ name: 'f', partitions: fastPartitions, records: fastRecords, keys, paddingChars });
  const slow = itemsOf({ name: 's', partitions: 1, records: slowRecords, keys, paddingChars: 0 });
  return {
    name: slowSink.name,
    parameters: `fast ${fastPartitions} x ${fastRecords}, slow ${slowRecords}, keys ${keys}, beside ${pace.hasBroadcast}`,
    limits: {
      atLeastOnce: pace.settings['execution.checkpointing.unaligned.enabled'] !== true,
      parallelismMax: PARALLELISM_MAX,
      inFlightBytesMax: inFlightBytesMax(pace),
      overflowBytesMax: overflowBytesMax(pace),
    },
    settings: pace.settings,
    setup: (env, site) => buildJob(env, site, fast, slow, pace),
    results: (site) => ({ slow: committedOf(site, SLOW), beside: committedOf(site, BESIDE) }),
    check: (results, undisturbed, mode) =>
      difference(
        results as Results,
        undisturbed as Results,
        mode,
        ORDERED.includes(pace.into) && ORDERED.includes(pace.out),
      ),
  };
}

/**
 * Full rings and what one turn of a task leaves behind, in each channel of the exchanges that a barrier overtakes; twice,
 * because what was restored and waits comes on top.
 */
function inFlightBytesMax({ paddingChars, settings }: Pace): number {
  const ring = Number(settings['millrace.exchange.segment-size']) * SEGMENTS;
  const turn = RECORDS_PER_POLL * (paddingChars + RECORD_BYTES);
  return 2 * EXCHANGES * PARALLELISM_MAX ** 2 * (ring + turn);
}

/**
 * What one turn emits, each record in segments of its own at worst, and what only marks a place in the stream: a segment for
 * each receiver. A sender with more than that was given a turn although it had no room.
 */
function overflowBytesMax({ into, paddingChars, settings }: Pace): number {
  const segment = Number(settings['millrace.exchange.segment-size']);
  const record = (Math.ceil((paddingChars + RECORD_BYTES) / segment) + 1) * segment;
  const copies = into === 'broadcast-to-one' ? PARALLELISM_MAX : 1;
  return RECORDS_PER_POLL * copies * record + MARKS * PARALLELISM_MAX * segment;
}

function buildJob(
  env: StreamExecutionEnvironment,
  site: Site,
  fast: readonly Item[][],
  slow: readonly Item[][],
  pace: Pace,
): void {
  const source = (name: string, items: readonly Item[][], pauseMs: number): DataStream<Item> =>
    env
      .fromSource(
        new MergingSource(items, { recordsPerPoll: RECORDS_PER_POLL, pauseMs }),
        WatermarkStrategy.forMonotonousTimestamps(),
        name,
        itemType,
      )
      .uid(name)
      .process(() => new Pass<Item>(site))
      .returns(itemType)
      .uid(`${name}-pass`);
  const tagged = exchanged(source('fast', fast, 0), pace.into)
    .process(() => new FirstCopy<Item>(pace.into === 'broadcast-to-one'))
    .returns(itemType)
    .uid('tag');
  const counted = tagged
    .union(source('slow', slow, pace.slowPauseMs))
    .keyBy((item) => item.key, Types.STRING)
    .process(() => new Count(site))
    .returns(countedType)
    .uid('count');
  exchanged(counted, pace.out).sinkTo(site.sink<Counted>(SLOW, pace.slowMs)).uid('sink');
  if (!pace.hasBroadcast) return;
  counted
    .broadcast()
    .process(() => new FirstCopy<Counted>(true))
    .returns(countedType)
    .uid('one')
    .sinkTo(site.sink<Counted>(BESIDE))
    .uid('sink-beside');
}

function exchanged<T extends { readonly key: string }>(
  stream: DataStream<T>,
  exchange: Exchange,
): DataStream<T> {
  switch (exchange) {
    case 'forward':
      return stream;
    case 'hash':
      return stream.keyBy((value) => value.key, Types.STRING);
    case 'custom':
      return stream.partitionCustom((key: string, count) => key.charCodeAt(key.length - 1) % count, 'key');
    case 'rebalance':
      return stream.rebalance();
    case 'rescale':
      return stream.rescale();
    case 'shuffle':
      return stream.shuffle();
    case 'global':
      return stream.global();
    case 'broadcast-to-one':
      return stream.broadcast();
  }
}

/** Of what every subtask gets, only that of the first; else everything. */
class FirstCopy<T> extends ProcessFunction<T, T> {
  readonly #isCopied: boolean;
  #passes = true;

  constructor(isCopied: boolean) {
    super();
    this.#isCopied = isCopied;
  }

  override open(context: RuntimeContext): void {
    this.#passes = !this.#isCopied || context.getIndexOfThisSubtask() === 0;
  }

  override processElement(value: T, _context: ProcessContext, out: Collector<T>): void {
    if (this.#passes) out.collect(value);
  }
}

interface Results {
  readonly slow: readonly Counted[];
  readonly beside: readonly Counted[];
}

/** Ids and counts by themselves: which record of a key comes first depends on exchanges that keep no order. */
const idOf = ({ key, id }: Counted): string => `${key} record ${id}`;
const countOf = ({ key, count }: Counted): string => `${key} count ${count}`;

function difference(
  results: Results,
  undisturbed: Results,
  mode: 'exactly-once' | 'at-least-once',
  isOrdered: boolean,
): string | undefined {
  for (const sink of ['slow', 'beside'] as const) {
    const [found, expected] = [results[sink], undisturbed[sink]];
    const wrong =
      mode === 'at-least-once'
        ? firstMissing(found.map(idOf), expected.map(idOf))
        : (firstDifference(found.map(idOf), expected.map(idOf)) ??
          firstDifference(found.map(countOf), expected.map(countOf)));
    if (wrong !== undefined) return `${sink}: ${wrong}`;
  }
  if (mode === 'at-least-once' || !isOrdered) return undefined;
  return (
    firstOutOfOrder(
      results.slow,
      ({ key }) => key,
      ({ id }) => id,
    ) ??
    firstOutOfOrder(
      results.slow,
      ({ key }) => key,
      ({ count }) => count,
    )
  );
}
