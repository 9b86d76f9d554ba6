/**
 * Counts records by key into a transactional sink. Every result is numbered by its key's state, so a record that is lost,
 * counted twice or counted out of order shows in the results.
 *
 *     partitions ── pass ──hash──► count (value state) ──► sink
 *                                                └─rebalance─► in half of the draws
 */
import { type StreamExecutionEnvironment, Types, WatermarkStrategy } from '@millrace/engine';
import { PacedSource } from '../../../engine/src/testing/paced-source.ts';
import type { SeededRandom } from '../../../engine/src/testing/seeded-random.ts';
import { committedOf, firstMissing, firstOutOfOrder } from '../checkers/committed.ts';
import { firstDifference } from '../checkers/multiset.ts';
import type { Site } from '../world/site.ts';
import { Count, type Counted, countedType, type Item, itemsOf, itemType, Pass } from './item.ts';
import type { Scenario, Workload } from './workload.ts';

const DATABASE = 'counts';

/** What results depend on. */
interface Shape {
  readonly partitions: number;
  readonly records: number;
  readonly keys: number;
}

/** What they do not. */
interface Pace {
  readonly recordsPerPoll: number;
  readonly pauseMs: number;
  readonly paddingChars: number;
  readonly rebalances: boolean;
}

export const keyedCounts: Scenario = {
  name: 'keyed-counts',
  weight: 1,
  draw: (random) => workload(drawShape(random), drawPace(random)),
};

function drawShape(random: SeededRandom): Shape {
  return {
    partitions: random.pick([1, 2, 3]),
    records: random.pick([5, 15, 40]),
    keys: random.pick([1, 3, 10]),
  };
}

function drawPace(random: SeededRandom): Pace {
  return {
    recordsPerPoll: random.pick([1, 3, 10]),
    pauseMs: random.pick([1, 1, 5]),
    paddingChars: random.pick([0, 0, 20, 300]),
    rebalances: random.oneIn(2),
  };
}

function workload(shape: Shape, pace: Pace): Workload {
  const all = itemsOf({ name: '', ...shape, paddingChars: pace.paddingChars });
  return {
    name: keyedCounts.name,
    parameters: Object.entries(shape)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
    limits: { atLeastOnce: true, parallelismMax: 4 },
    setup: (env, site) => buildJob(env, site, all, pace),
    results: (site) => committedOf<Counted>(site, DATABASE),
    check: (results, undisturbed, mode) =>
      difference(results as Counted[], undisturbed as Counted[], mode, !pace.rebalances),
  };
}

function buildJob(env: StreamExecutionEnvironment, site: Site, all: Item[][], pace: Pace): void {
  const { recordsPerPoll, pauseMs, rebalances } = pace;
  const source = new PacedSource(all, { recordsPerPoll, pauseMs });
  const counted = env
    .fromSource(source, WatermarkStrategy.noWatermarks(), 'items', itemType)
    .uid('items')
    .process(() => new Pass(site))
    .returns(itemType)
    .uid('pass')
    .keyBy((item) => item.key, Types.STRING)
    .process(() => new Count(site))
    .returns(countedType)
    .uid('count');
  (rebalances ? counted.rebalance() : counted).sinkTo(site.sink<Counted>(DATABASE)).uid('sink');
}

const textOf = ({ key, id, count }: Counted): string => `${key} record ${id} count ${count}`;

function difference(
  results: readonly Counted[],
  undisturbed: readonly Counted[],
  mode: 'exactly-once' | 'at-least-once',
  isOrdered: boolean,
): string | undefined {
  if (mode === 'at-least-once') {
    // Counts go on where records come again; the records themselves must all be there.
    const recordOf = ({ key, id }: Counted): string => `${key} record ${id}`;
    return firstMissing(results.map(recordOf), undisturbed.map(recordOf));
  }
  const wrong = firstDifference(results.map(textOf), undisturbed.map(textOf));
  if (wrong !== undefined || !isOrdered) return wrong;
  return firstOutOfOrder(
    results,
    ({ key }) => key,
    ({ count }) => count,
  );
}
