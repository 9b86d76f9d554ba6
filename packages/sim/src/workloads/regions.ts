/**
 * Several pipelines without a connection in one job: each is a region, and restarts alone after a failure, while the others
 * go on with checkpoints that hold all of them. Each has its own pace, so that one has often ended when another fails.
 */
import { type StreamExecutionEnvironment, Types, WatermarkStrategy } from '@millrace/engine';
import { PacedSource } from '../../../engine/src/testing/paced-source.ts';
import type { SeededRandom } from '../../../engine/src/testing/seeded-random.ts';
import { committedOf, firstMissing, firstOutOfOrder } from '../checkers/committed.ts';
import { firstDifference } from '../checkers/multiset.ts';
import type { Site } from '../world/site.ts';
import { Count, type Counted, countedType, itemsOf, itemType, Pass } from './item.ts';
import type { Scenario, Workload } from './workload.ts';

interface Pipeline {
  /** What its results depend on. */
  readonly records: number;
  readonly partitions: number;
  /** What they do not. */
  readonly pauseMs: number;
  readonly slowMs: number;
  readonly rebalances: boolean;
}

const KEYS = 3;

export const regions: Scenario = {
  name: 'regions',
  weight: 1,
  draw: (random) =>
    workload(
      Array.from({ length: random.pick([2, 2, 3]) }, () => drawPipeline(random)),
      random.pick(['region', 'region', 'full']),
    ),
};

function drawPipeline(random: SeededRandom): Pipeline {
  return {
    records: random.pick([0, 5, 20, 40]),
    partitions: random.pick([1, 2]),
    pauseMs: random.pick([1, 5, 20]),
    slowMs: random.pick([0, 0, 3]),
    rebalances: random.oneIn(2),
  };
}

function workload(pipelines: readonly Pipeline[], failover: 'region' | 'full'): Workload {
  return {
    name: regions.name,
    parameters: pipelines.map(({ records, partitions }) => `${partitions} x ${records}`).join(', '),
    limits: { atLeastOnce: true, parallelismMax: 3 },
    settings: { 'jobmanager.execution.failover-strategy': failover },
    setup: (env, site) => {
      for (const [index, pipeline] of pipelines.entries()) addPipeline(env, site, index, pipeline);
    },
    results: (site) => pipelines.map((_, index) => committedOf<Counted>(site, databaseOf(index))),
    check: (results, undisturbed, mode) => {
      const expected = undisturbed as Counted[][];
      for (const [index, found] of (results as Counted[][]).entries()) {
        const wrong = difference(found, expected[index]!, mode, !pipelines[index]!.rebalances);
        if (wrong !== undefined) return `pipeline ${index}: ${wrong}`;
      }
      return undefined;
    },
  };
}

const databaseOf = (index: number): string => `counts-${index}`;

function addPipeline(
  env: StreamExecutionEnvironment,
  site: Site,
  index: number,
  { records, partitions, pauseMs, slowMs, rebalances }: Pipeline,
): void {
  const items = itemsOf({ name: `p${index}-`, partitions, records, keys: KEYS, paddingChars: 0 });
  const counted = env
    .fromSource(
      new PacedSource(items, { pauseMs }),
      WatermarkStrategy.noWatermarks(),
      `items ${index}`,
      itemType,
    )
    .uid(`items-${index}`)
    .process(() => new Pass(site))
    .returns(itemType)
    .uid(`pass-${index}`)
    .keyBy((item) => item.key, Types.STRING)
    .process(() => new Count(site))
    .returns(countedType)
    .uid(`count-${index}`);
  (rebalances ? counted.rebalance() : counted)
    .sinkTo(site.sink<Counted>(databaseOf(index), slowMs))
    .uid(`sink-${index}`);
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
    ({ count }) => count,
  );
}
