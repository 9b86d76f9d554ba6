/**
 * Timers by processing time and by event time: each record sets one of each. Records of one moment share a timer. When it
 * fires, everything that waits for it goes to the sink and is forgotten: a timer that fires twice shows nothing the second
 * time, so firings are counted in state and shown, too. The source stays until all timers by processing time have
 * fired and are committed: the end of a job drops those that are left.
 *
 *     items ── pass ──hash──► set timers ──► sink
 */
import {
  type Collector,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type MapState,
  MapStateDescriptor,
  type OnTimerContext,
  type RuntimeContext,
  type StreamExecutionEnvironment,
  Types,
  WatermarkStrategy,
} from '@millrace/engine';
import type { SeededRandom } from '../../../engine/src/testing/seeded-random.ts';
import { committedOf, firstMissing } from '../checkers/committed.ts';
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
  readonly pauseMs: number;
  readonly delayMs: number;
  readonly deletesOthers: boolean;
}

interface Fired {
  readonly key: string;
  readonly id: number;
  readonly domain: string;
}

const firedType = Types.ROW({ key: Types.STRING, id: Types.LONG, domain: Types.STRING });
const FIRED = 'fired';
/** Event time from a record to its timer. */
const EVENT_DELAY_MS = 4;
/** Stands for a timer for which nothing waited. */
const NOBODY = -1;

export const timers: Scenario = {
  name: 'timers',
  weight: 1,
  draw: (random) => workload(drawShape(random), drawPace(random)),
};

function drawShape(random: SeededRandom): Shape {
  return { records: random.pick([3, 20, 40]), partitions: random.pick([1, 2]), keys: random.pick([1, 3]) };
}

function drawPace(random: SeededRandom): Pace {
  return {
    pauseMs: random.pick([1, 5]),
    delayMs: random.pick([1, 10, 50]),
    deletesOthers: random.oneIn(2),
  };
}

function workload(shape: Shape, pace: Pace): Workload {
  const items = itemsOf({ name: 'k', ...shape, paddingChars: 0 });
  const expected = items
    .flat()
    .flatMap(({ key, id }) => ['EVENT_TIME', 'PROCESSING_TIME'].map((domain) => textOf({ key, id, domain })));
  return {
    name: timers.name,
    parameters: Object.entries(shape)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
    // A clock that is set back by an hour keeps timers, and the job, for an hour.
    limits: { atLeastOnce: true, parallelismMax: 3, withoutStrikes: ['wall-clock-jump'] },
    setup: (env, site) => {
      const mayEnd = (): boolean => firedByProcessingTime(site) >= items.flat().length;
      buildJob(env, site, items, mayEnd, pace);
    },
    results: (site) => committedOf<Fired>(site, FIRED),
    check: (results, _undisturbed, mode) => {
      const found = (results as Fired[]).map(textOf);
      return mode === 'at-least-once' ? firstMissing(found, expected) : firstDifference(found, expected);
    },
  };
}

/** After a restore of sources that have read everything only the end fires timers by event time: these are not waited for. */
function firedByProcessingTime(site: Site): number {
  const fired = site.database<Fired>(FIRED).committed();
  return new Set(fired.filter(({ domain }) => domain === 'PROCESSING_TIME').map(textOf)).size;
}

const textOf = ({ key, id, domain }: Fired): string => `${key} record ${id} by ${domain}`;

function buildJob(
  env: StreamExecutionEnvironment,
  site: Site,
  items: readonly Item[][],
  mayEnd: () => boolean,
  pace: Pace,
): void {
  env
    .fromSource(
      new MergingSource(items, { recordsPerPoll: 2, pauseMs: pace.pauseMs, mayEnd }),
      WatermarkStrategy.forMonotonousTimestamps(),
      'items',
      itemType,
    )
    .uid('items')
    .process(() => new Pass<Item>(site))
    .returns(itemType)
    .uid('pass')
    .keyBy((item) => item.key, Types.STRING)
    .process(() => new SetTimers(site, pace))
    .returns(firedType)
    .uid('set-timers')
    .sinkTo(site.sink<Fired>(FIRED))
    .uid('sink');
}

class SetTimers extends KeyedProcessFunction<string, Item, Fired> {
  readonly #site: Site;
  readonly #pace: Pace;
  /** By domain and time: the ids that wait for the timer. */
  #waiting!: MapState<string, readonly number[]>;

  constructor(site: Site, pace: Pace) {
    super();
    this.#site = site;
    this.#pace = pace;
  }

  override open(context: RuntimeContext): void {
    this.#site.pass('open');
    this.#waiting = context.getMapState(
      new MapStateDescriptor('waiting', Types.STRING, Types.LIST(Types.LONG)),
    );
  }

  override processElement({ id, time }: Item, context: KeyedProcessContext<string>): void {
    this.#site.pass('record');
    const service = context.timerService();
    const byProcessing = service.currentProcessingTime() + this.#pace.delayMs;
    const byEvent = time + EVENT_DELAY_MS;
    service.registerProcessingTimeTimer(byProcessing);
    service.registerEventTimeTimer(byEvent);
    this.#wait(`PROCESSING_TIME ${byProcessing}`, id);
    this.#wait(`EVENT_TIME ${byEvent}`, id);
    if (!this.#pace.deletesOthers) return;
    // Set and deleted: fires for nobody if it fires.
    service.registerProcessingTimeTimer(byProcessing + 1_000_000);
    service.deleteProcessingTimeTimer(byProcessing + 1_000_000);
    service.registerEventTimeTimer(byEvent + 1_000_000);
    service.deleteEventTimeTimer(byEvent + 1_000_000);
  }

  override onTimer(timestampMs: number, context: OnTimerContext<string>, out: Collector<Fired>): void {
    this.#site.pass('record');
    const domain = context.timeDomain();
    const name = `${domain} ${timestampMs}`;
    const key = context.getCurrentKey();
    for (const id of this.#waiting.get(name) ?? [NOBODY]) out.collect({ key, id, domain });
    this.#waiting.remove(name);
  }

  override snapshotState(): void {
    this.#site.pass('snapshot');
  }

  #wait(name: string, id: number): void {
    this.#waiting.put(name, [...(this.#waiting.get(name) ?? []), id]);
  }
}
