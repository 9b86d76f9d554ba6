/**
 * Counts records by key into a transactional sink. Every result is numbered by its key's state, so a record that is lost,
 * counted twice or counted out of order shows in the results.
 *
 *     partitions ── pass ──hash──► count (value state) ──► sink
 *                                                └─rebalance─► in half of the draws
 */
import {
  type Collector,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type ProcessContext,
  ProcessFunction,
  type RuntimeContext,
  type StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from '@millrace/engine';
import { PacedSource } from '../../../engine/src/testing/paced-source.ts';
import type { SeededRandom } from '../../../engine/src/testing/seeded-random.ts';
import { firstDifference } from '../checkers/multiset.ts';
import type { Site } from '../world/site.ts';
import type { Scenario, Workload } from './workload.ts';

interface Item {
  readonly key: string;
  readonly id: number;
  readonly padding: string;
}

interface Counted {
  readonly key: string;
  readonly id: number;
  readonly count: number;
}

const itemType = Types.ROW({ key: Types.STRING, id: Types.LONG, padding: Types.STRING });
const countedType = Types.ROW({ key: Types.STRING, id: Types.LONG, count: Types.LONG });
const DATABASE = 'counts';

class Pass extends ProcessFunction<Item, Item> {
  readonly #site: Site;

  constructor(site: Site) {
    super();
    this.#site = site;
  }

  override open(): void {
    this.#site.pass('open');
  }

  override processElement(item: Item, _context: ProcessContext, out: Collector<Item>): void {
    this.#site.pass('source');
    out.collect(item);
  }
}

class Count extends KeyedProcessFunction<string, Item, Counted> {
  readonly #site: Site;
  #count!: ValueState<number>;

  constructor(site: Site) {
    super();
    this.#site = site;
  }

  override open(context: RuntimeContext): void {
    this.#site.pass('open');
    this.#count = context.getState(new ValueStateDescriptor('count', Types.LONG));
  }

  override processElement(item: Item, _context: KeyedProcessContext<string>, out: Collector<Counted>): void {
    this.#site.pass('record');
    const count = (this.#count.value() ?? 0) + 1;
    this.#count.update(count);
    out.collect({ key: item.key, id: item.id, count });
  }

  override snapshotState(): void {
    this.#site.pass('snapshot');
  }

  override notifyCheckpointComplete(): void {
    this.#site.pass('complete');
  }
}

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
  const all = partitionsOf(shape, pace.paddingChars);
  return {
    name: keyedCounts.name,
    parameters: Object.entries(shape)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
    limits: { atLeastOnce: true, parallelismMax: 4 },
    setup: (env, site) => buildJob(env, site, all, pace),
    results: (site) => resultsOf(site),
    check: (results, undisturbed, mode) =>
      difference(results as Counted[], undisturbed as Counted[], mode, !pace.rebalances),
  };
}

function partitionsOf({ partitions, records, keys }: Shape, paddingChars: number): Item[][] {
  const padding = 'x'.repeat(paddingChars);
  return Array.from({ length: partitions }, (_, partition) =>
    Array.from({ length: records }, (_, id) => ({ key: `${partition}-${id % keys}`, id, padding })),
  );
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

/** In the order in which they were written. After a restart transactions of several checkpoints are committed in any order. */
function resultsOf(site: Site): Counted[] {
  const { transactions } = site.database<Counted>(DATABASE);
  return [...transactions.values()]
    .filter(({ state }) => state === 'committed')
    .sort((a, b) => a.checkpointId! - b.checkpointId!)
    .flatMap(({ values }) => values);
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
    return firstDifference(new Set(results.map(recordOf)), undisturbed.map(recordOf));
  }
  const wrong = firstDifference(results.map(textOf), undisturbed.map(textOf));
  if (wrong !== undefined || !isOrdered) return wrong;
  const last = new Map<string, number>();
  for (const result of results) {
    const before = last.get(result.key) ?? 0;
    if (result.count !== before + 1)
      return `out of order: ${textOf(result)} came after count ${before} of its key`;
    last.set(result.key, result.count);
  }
  return undefined;
}
