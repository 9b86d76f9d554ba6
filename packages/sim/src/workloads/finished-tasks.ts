/**
 * Sources that end at different times beside one that stays until everything is committed: tasks finish one after the other,
 * checkpoints go on without them, and commit what writers that have ended left behind. In the end only checkpoints with
 * finished tasks can have committed the results.
 *
 *     ends early ── pass ──hash─┐
 *                               ├─union─► count ── sink
 *     stays ──── pass ──hash────┘
 *     uneven ── pass ──forward──► sink, each writer ends with its own partition
 */
import { type DataStream, type StreamExecutionEnvironment, Types, WatermarkStrategy } from '@millrace/engine';
import type { SeededRandom } from '../../../engine/src/testing/seeded-random.ts';
import { committedOf, firstMissing, firstOutOfOrder } from '../checkers/committed.ts';
import { firstDifference } from '../checkers/multiset.ts';
import { MergingSource } from '../world/merging-source.ts';
import type { Site } from '../world/site.ts';
import { Count, type Counted, countedType, type Item, itemsOf, itemType, Pass } from './item.ts';
import type { Scenario, Workload } from './workload.ts';

/** What results depend on. */
interface Shape {
  readonly earlyRecords: number;
  readonly stayingRecords: number;
  /** Records of each partition, each read and written by a subtask of its own where there are enough. */
  readonly uneven: readonly number[];
}

/** What they do not. */
interface Pace {
  readonly earlyPauseMs: number;
  readonly stayingPauseMs: number;
  readonly rebalances: boolean;
}

const COUNTED = 'counted';
const UNEVEN = 'uneven';

export const finishedTasks: Scenario = {
  name: 'finished-tasks',
  weight: 1,
  draw: (random) => workload(drawShape(random), drawPace(random)),
};

function drawShape(random: SeededRandom): Shape {
  return {
    earlyRecords: random.pick([0, 3, 20]),
    stayingRecords: random.pick([0, 5, 30]),
    uneven: random.pick([[1], [0, 20], [3, 40, 10], []]),
  };
}

function drawPace(random: SeededRandom): Pace {
  return {
    earlyPauseMs: random.pick([1, 5]),
    stayingPauseMs: random.pick([1, 10]),
    rebalances: random.oneIn(3),
  };
}

function workload(shape: Shape, pace: Pace): Workload {
  const { earlyRecords, stayingRecords, uneven } = shape;
  const items = (name: string, records: number): Item[][] =>
    itemsOf({ name, partitions: 1, records, keys: 3, paddingChars: 0 });
  const unevenItems = uneven.map((records, partition) => items(`u${partition}-`, records)[0]!);
  const total = earlyRecords + stayingRecords + uneven.reduce((sum, records) => sum + records, 0);
  return {
    name: finishedTasks.name,
    parameters: `early ${earlyRecords}, staying ${stayingRecords}, uneven ${uneven.join(' + ')}`,
    limits: { atLeastOnce: true, parallelismMax: 4 },
    setup: (env, site) => {
      const mayEnd = (): boolean => isCommitted(site, COUNTED) + isCommitted(site, UNEVEN) >= total;
      buildJob(
        env,
        site,
        {
          early: items('e', earlyRecords),
          staying: items('s', stayingRecords),
          uneven: unevenItems,
          mayEnd,
        },
        pace,
      );
    },
    results: (site) => [...committedOf<Counted>(site, COUNTED), ...committedOf<Counted>(site, UNEVEN)],
    check: (results, undisturbed, mode) =>
      difference(results as Counted[], undisturbed as Counted[], mode, !pace.rebalances),
  };
}

function isCommitted(site: Site, database: string): number {
  return new Set(site.database<Counted>(database).committed().map(idOf)).size;
}

interface Inputs {
  readonly early: readonly Item[][];
  readonly staying: readonly Item[][];
  readonly uneven: readonly Item[][];
  mayEnd(): boolean;
}

function buildJob(env: StreamExecutionEnvironment, site: Site, inputs: Inputs, pace: Pace): void {
  const { earlyPauseMs, stayingPauseMs, rebalances } = pace;
  const source = (name: string, items: readonly Item[][], pauseMs: number, mayEnd?: () => boolean) =>
    env
      .fromSource(
        new MergingSource(items, {
          recordsPerPoll: 2,
          pauseMs,
          ...(mayEnd === undefined ? {} : { mayEnd }),
        }),
        WatermarkStrategy.forMonotonousTimestamps(),
        name,
        itemType,
      )
      .uid(name)
      .process(() => new Pass<Item>(site))
      .returns(itemType)
      .uid(`${name}-pass`);
  const counted = source('early', inputs.early, earlyPauseMs)
    .union(source('staying', inputs.staying, stayingPauseMs, inputs.mayEnd))
    .keyBy((item) => item.key, Types.STRING)
    .process(() => new Count(site))
    .returns(countedType)
    .uid('count');
  const written: DataStream<Counted> = rebalances ? counted.rebalance() : counted;
  written.sinkTo(site.sink<Counted>(COUNTED)).uid('sink');
  source('uneven', inputs.uneven, earlyPauseMs)
    .map(({ key, id }): Counted => ({ key, id, count: id }))
    .returns(countedType)
    .uid('shape')
    .sinkTo(site.sink<Counted>(UNEVEN))
    .uid('uneven-sink');
}

const idOf = ({ key, id }: Counted): string => `${key} record ${id}`;
const textOf = (result: Counted): string => `${idOf(result)} count ${result.count}`;

function difference(
  results: readonly Counted[],
  undisturbed: readonly Counted[],
  mode: 'exactly-once' | 'at-least-once',
  isOrdered: boolean,
): string | undefined {
  if (mode === 'at-least-once') return firstMissing(results.map(idOf), undisturbed.map(idOf));
  const wrong = firstDifference(results.map(textOf), undisturbed.map(textOf));
  if (wrong !== undefined || !isOrdered) return wrong;
  return firstOutOfOrder(
    results,
    ({ key }) => key,
    ({ id }) => id,
  );
}
