/**
 * Joins two streams by key and time. Timestamps of each partition rise, so no record is late, and all pairs whose times are
 * near enough must be there, once: computed by two loops.
 *
 *     left ── pass ──hash──┐
 *                          ├─► interval join ──► sink
 *     right ─ pass ──hash──┘
 */
import { type DataStream, type StreamExecutionEnvironment, Types, WatermarkStrategy } from '@millrace/engine';
import type { SeededRandom } from '../../../engine/src/testing/seeded-random.ts';
import { committedOf } from '../checkers/committed.ts';
import { firstDifference } from '../checkers/multiset.ts';
import { MergingSource } from '../world/merging-source.ts';
import type { Site } from '../world/site.ts';
import { type Item, itemType, Pass } from './item.ts';
import type { Scenario, Workload } from './workload.ts';

/** What results depend on. */
interface Shape {
  readonly leftRecords: number;
  readonly rightRecords: number;
  readonly rightPartitions: number;
  readonly keys: number;
  readonly lowerMs: number;
  readonly upperMs: number;
}

/** What they do not. */
interface Pace {
  readonly leftPauseMs: number;
  readonly rightPauseMs: number;
  readonly paddingChars: number;
}

const PAIRS = 'pairs';

export const intervalJoin: Scenario = {
  name: 'interval-join',
  weight: 1,
  draw: (random) => workload(drawShape(random), drawPace(random)),
};

function drawShape(random: SeededRandom): Shape {
  return {
    leftRecords: random.pick([5, 20, 40]),
    rightRecords: random.pick([5, 20]),
    rightPartitions: random.pick([1, 2]),
    keys: random.pick([1, 3]),
    lowerMs: random.pick([-6, -2, 0]),
    upperMs: random.pick([0, 2, 9]),
  };
}

function drawPace(random: SeededRandom): Pace {
  return {
    leftPauseMs: random.pick([1, 5, 20]),
    rightPauseMs: random.pick([1, 5, 20]),
    paddingChars: random.pick([0, 0, 60]),
  };
}

function workload(shape: Shape, pace: Pace): Workload {
  const { leftRecords, rightRecords, rightPartitions, keys } = shape;
  const padding = 'x'.repeat(pace.paddingChars);
  const left = itemsOf(leftRecords, 2, keys, 0, padding);
  const right = Array.from({ length: rightPartitions }, (_, partition) =>
    itemsOf(rightRecords, 3, keys, (partition + 1) * 1000, padding),
  );
  const expected = pairsOf(left, right.flat(), shape);
  return {
    name: intervalJoin.name,
    parameters: Object.entries(shape)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
    limits: { atLeastOnce: false, parallelismMax: 3 },
    setup: (env, site) => buildJob(env, site, left, right, shape, pace),
    results: (site) => committedOf<string>(site, PAIRS),
    check: (results, undisturbed) =>
      firstDifference(results as string[], expected) ?? firstDifference(undisturbed as string[], expected),
  };
}

/** Of one partition, `stepMs` from one to the next. */
function itemsOf(records: number, stepMs: number, keys: number, firstId: number, padding: string): Item[] {
  return Array.from({ length: records }, (_, index) => ({
    key: `k${(index * 7) % keys}`,
    id: firstId + index,
    time: index * stepMs,
    padding,
  }));
}

function pairsOf(left: readonly Item[], right: readonly Item[], { lowerMs, upperMs }: Shape): string[] {
  return left.flatMap((one) =>
    right
      .filter((other) => {
        const difference = other.time - one.time;
        return other.key === one.key && difference >= lowerMs && difference <= upperMs;
      })
      .map((other) => pairOf(one, other)),
  );
}

const pairOf = (left: Item, right: Item): string => `${left.key}: ${left.id} with ${right.id}`;

function buildJob(
  env: StreamExecutionEnvironment,
  site: Site,
  left: readonly Item[],
  right: readonly Item[][],
  { lowerMs, upperMs }: Shape,
  { leftPauseMs, rightPauseMs }: Pace,
): void {
  const source = (name: string, items: readonly (readonly Item[])[], pauseMs: number): DataStream<Item> =>
    env
      .fromSource(
        new MergingSource(items, { recordsPerPoll: 2, pauseMs }),
        WatermarkStrategy.forMonotonousTimestamps(),
        name,
        itemType,
      )
      .uid(name)
      .process(() => new Pass<Item>(site))
      .returns(itemType)
      .uid(`${name}-pass`);
  source('left', [left], leftPauseMs)
    .keyBy((item) => item.key, Types.STRING)
    .intervalJoin(source('right', right, rightPauseMs).keyBy((item) => item.key, Types.STRING))
    .between(lowerMs, upperMs)
    .process((one: Item, other: Item) => {
      site.pass('record');
      return pairOf(one, other);
    }, Types.STRING)
    .uid('join')
    .sinkTo(site.sink<string>(PAIRS))
    .uid('sink');
}
