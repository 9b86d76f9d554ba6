/**
 * Asynchronous calls, ordered or not: calls take simulated time, some are answered by a failure first and asked again, some
 * are never answered and time out. Calls that are under way at a snapshot are made again after a restore.
 *
 *     items ── pass ──► look up (asynchronous) ──► sink
 *
 * Whether a slow answer comes in time depends on clocks; so each record has one result, of one of two kinds.
 */
import { type StreamExecutionEnvironment, Types, WatermarkStrategy } from '@millrace/engine';
import { PacedSource } from '../../../engine/src/testing/paced-source.ts';
import type { SeededRandom } from '../../../engine/src/testing/seeded-random.ts';
import { committedOf, firstMissing, firstOutOfOrder } from '../checkers/committed.ts';
import { firstDifference } from '../checkers/multiset.ts';
import type { Site } from '../world/site.ts';
import { type Item, itemsOf, itemType, Pass } from './item.ts';
import type { Scenario, Workload } from './workload.ts';

/** What results depend on. */
interface Shape {
  readonly records: number;
  readonly partitions: number;
}

/** What they do not. */
interface Pace {
  readonly parallelism: number;
  readonly isOrdered: boolean;
  readonly capacity: number;
  readonly callMs: number;
  readonly timeoutMs: number;
  readonly someAreSilent: boolean;
  readonly pauseMs: number;
}

interface Answered {
  readonly key: string;
  readonly id: number;
  readonly how: string;
}

const answeredType = Types.ROW({ key: Types.STRING, id: Types.LONG, how: Types.STRING });
const ANSWERS = 'answers';
const SILENT_EVERY = 9;
/** The first call for every so many records is answered by an error. */
const REFUSED_EVERY = 4;
/** Far more than a slow call takes. */
const LONG_MS = 3_600_000;

export const asyncCalls: Scenario = {
  name: 'async-calls',
  weight: 1,
  draw: (random) => workload(drawShape(random), drawPace(random)),
};

function drawShape(random: SeededRandom): Shape {
  return { records: random.pick([5, 20, 40]), partitions: random.pick([1, 2]) };
}

function drawPace(random: SeededRandom): Pace {
  const someAreSilent = random.oneIn(2);
  return {
    parallelism: 1 + random.below(3),
    isOrdered: random.oneIn(2),
    capacity: random.pick([1, 3, 10]),
    callMs: random.pick([0.5, 5, 20]),
    timeoutMs: someAreSilent ? random.pick([10, 40]) : LONG_MS,
    someAreSilent,
    pauseMs: random.pick([1, 5]),
  };
}

function workload(shape: Shape, pace: Pace): Workload {
  const items = itemsOf({ name: 'k', ...shape, keys: 1, paddingChars: 0 });
  return {
    name: asyncCalls.name,
    parameters: `${shape.partitions} x ${shape.records}`,
    limits: { atLeastOnce: true, parallelismMax: 1, waits: true },
    setup: (env, site) => buildJob(env, site, items, pace),
    results: (site) => committedOf<Answered>(site, ANSWERS),
    check: (results, _undisturbed, mode) => {
      const found = results as Answered[];
      const expected = items.flat().map(idOf);
      if (mode === 'at-least-once') return firstMissing(found.map(idOf), expected);
      const wrong = firstDifference(found.map(idOf), expected);
      if (wrong !== undefined) return wrong;
      const odd = found.find(({ id, how }) => how === 'answered' && isSilent(id, pace));
      if (odd !== undefined) return `${idOf(odd)} was answered, though its call never is`;
      if (!pace.isOrdered) return undefined;
      return firstOutOfOrder(
        found,
        ({ key }) => key,
        ({ id }) => id,
      );
    },
  };
}

const idOf = ({ key, id }: { readonly key: string; readonly id: number }): string => `${key} record ${id}`;
const isSilent = (id: number, { someAreSilent }: Pace): boolean =>
  someAreSilent && id % SILENT_EVERY === SILENT_EVERY - 1;

/** Its parallelism stays: calls under way would go to another subtask than their partition, and order be lost. */
function buildJob(env: StreamExecutionEnvironment, site: Site, items: readonly Item[][], pace: Pace): void {
  const { parallelism, pauseMs, isOrdered, timeoutMs, capacity } = pace;
  env.setParallelism(parallelism);
  const passed = env
    .fromSource(new PacedSource(items, { pauseMs }), WatermarkStrategy.noWatermarks(), 'items', itemType)
    .uid('items')
    .process(() => new Pass<Item>(site))
    .returns(itemType)
    .uid('pass');
  passed
    .mapAsync(({ key, id }, { attempt }) => lookUp(site, pace, key, id, attempt), {
      ordered: isOrdered,
      timeout: timeoutMs,
      capacity,
      retry: { attempts: 3, delay: 5 },
      onTimeout: ({ key, id }): Answered => ({ key, id, how: 'timed out' }),
      type: answeredType,
    })
    .uid('look-up')
    .sinkTo(site.sink<Answered>(ANSWERS))
    .uid('sink');
}

async function lookUp(site: Site, pace: Pace, key: string, id: number, attempt: number): Promise<Answered> {
  site.pass('record');
  if (isSilent(id, pace)) return new Promise(() => {});
  await site.call('look-up', pace.callMs);
  if (attempt === 1 && id % REFUSED_EVERY === 0) throw new Error('asked too early');
  return { key, id, how: 'answered' };
}
