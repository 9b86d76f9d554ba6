/**
 * Broadcast state: records of a keyed stream wait in list state until all rules have come on the broadcast stream, then get
 * the factor of theirs. So results do not depend on which stream is faster, but a rule that one subtask misses, or a record
 * that is kept twice, shows.
 *
 *     items ── pass ──hash────────┐
 *                                 ├─► apply ──► sink
 *     rules ─────────broadcast────┘
 */
import {
  type BroadcastContext,
  type Collector,
  type KeyedBroadcastContext,
  KeyedBroadcastProcessFunction,
  type KeyedReadOnlyBroadcastContext,
  type ListState,
  ListStateDescriptor,
  MapStateDescriptor,
  type ReadOnlyBroadcastContext,
  type RuntimeContext,
  type StreamExecutionEnvironment,
  Types,
  WatermarkStrategy,
} from '@millrace/engine';
import type { SeededRandom } from '../../../engine/src/testing/seeded-random.ts';
import { committedOf, firstOutOfOrder } from '../checkers/committed.ts';
import { firstDifference } from '../checkers/multiset.ts';
import { MergingSource } from '../world/merging-source.ts';
import type { Site } from '../world/site.ts';
import { type Counted, countedType, type Item, itemsOf, itemType, Pass } from './item.ts';
import type { Scenario, Workload } from './workload.ts';

/** What results depend on. */
interface Shape {
  readonly records: number;
  readonly partitions: number;
  readonly keys: number;
  readonly rules: number;
}

/** What they do not. */
interface Pace {
  readonly pauseMs: number;
  readonly rulePauseMs: number;
}

interface Rule {
  readonly number: number;
  readonly factor: number;
  readonly time: number;
}

const ruleType = Types.ROW({ number: Types.LONG, factor: Types.LONG, time: Types.LONG });
const RULES = new MapStateDescriptor('rules', Types.LONG, Types.LONG);
const WAITING = new ListStateDescriptor<Item>('waiting', itemType);
const APPLIED = 'applied';

export const broadcastRules: Scenario = {
  name: 'broadcast-rules',
  weight: 1,
  draw: (random) => workload(drawShape(random), drawPace(random)),
};

function drawShape(random: SeededRandom): Shape {
  return {
    records: random.pick([5, 20, 40]),
    partitions: random.pick([1, 2]),
    keys: random.pick([1, 3, 10]),
    rules: random.pick([1, 3, 8]),
  };
}

function drawPace(random: SeededRandom): Pace {
  return { pauseMs: random.pick([1, 5, 20]), rulePauseMs: random.pick([1, 20, 60]) };
}

function workload(shape: Shape, pace: Pace): Workload {
  const items = itemsOf({ name: 'k', ...shape, paddingChars: 0 });
  const rules = Array.from({ length: shape.rules }, (_, number) => ({
    number,
    factor: 10 + number,
    time: number,
  }));
  const expected = items.flat().map((item) => textOf(appliedTo(item, item.id % shape.rules, 10)));
  return {
    name: broadcastRules.name,
    parameters: Object.entries(shape)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
    limits: { atLeastOnce: false, parallelismMax: 4 },
    setup: (env, site) => buildJob(env, site, items, rules, pace),
    results: (site) => committedOf<Counted>(site, APPLIED),
    check: (results, undisturbed) => {
      const found = results as Counted[];
      return (
        firstDifference(found.map(textOf), expected) ??
        firstDifference((undisturbed as Counted[]).map(textOf), expected) ??
        firstOutOfOrder(
          found,
          ({ key }) => key,
          ({ id }) => id,
        )
      );
    },
  };
}

/** `count` is what the rule makes of it. */
function appliedTo({ key, id }: Item, rule: number, factor: number): Counted {
  return { key, id, count: id * (rule + factor) };
}

const textOf = ({ key, id, count }: Counted): string => `${key} record ${id}: ${count}`;

function buildJob(
  env: StreamExecutionEnvironment,
  site: Site,
  items: readonly Item[][],
  rules: readonly Rule[],
  { pauseMs, rulePauseMs }: Pace,
): void {
  const ruled = env
    .fromSource(
      new MergingSource<Rule>([rules], { recordsPerPoll: 1, pauseMs: rulePauseMs }),
      WatermarkStrategy.noWatermarks(),
      'rules',
      ruleType,
    )
    .uid('rules')
    .broadcast(RULES);
  env
    .fromSource(
      new MergingSource(items, { recordsPerPoll: 2, pauseMs }),
      WatermarkStrategy.noWatermarks(),
      'items',
      itemType,
    )
    .uid('items')
    .process(() => new Pass<Item>(site))
    .returns(itemType)
    .uid('pass')
    .keyBy((item) => item.key, Types.STRING)
    .connect(ruled)
    .process(() => new Apply(site, rules.length), countedType)
    .uid('apply')
    .sinkTo(site.sink<Counted>(APPLIED))
    .uid('sink');
}

class Apply extends KeyedBroadcastProcessFunction<string, Item, Rule, Counted> {
  readonly #site: Site;
  readonly #ruleCount: number;
  #waiting!: ListState<Item>;

  constructor(site: Site, ruleCount: number) {
    super();
    this.#site = site;
    this.#ruleCount = ruleCount;
  }

  override open(context: RuntimeContext): void {
    this.#site.pass('open');
    this.#waiting = context.getListState(WAITING);
  }

  override processElement(
    item: Item,
    context: KeyedReadOnlyBroadcastContext<string>,
    out: Collector<Counted>,
  ): void {
    this.#site.pass('record');
    if (this.#isComplete(context)) out.collect(this.#apply(item, context));
    else this.#waiting.add(item);
  }

  override processBroadcastElement(
    { number, factor }: Rule,
    context: KeyedBroadcastContext<string>,
    out: Collector<Counted>,
  ): void {
    this.#site.pass('record');
    context.getBroadcastState(RULES).put(number, factor);
    if (!this.#isComplete(context)) return;
    context.applyToKeyedState(WAITING, (_key, waiting) => {
      for (const item of waiting.get()) out.collect(this.#apply(item, context));
      waiting.clear();
    });
  }

  #isComplete(context: ReadOnlyBroadcastContext | BroadcastContext): boolean {
    return [...context.getBroadcastState(RULES).keys()].length === this.#ruleCount;
  }

  #apply(item: Item, context: ReadOnlyBroadcastContext | BroadcastContext): Counted {
    const rule = item.id % this.#ruleCount;
    return appliedTo(item, 0, context.getBroadcastState(RULES).get(rule)!);
  }
}
