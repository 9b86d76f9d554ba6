/**
 * An operator with a hash, a forward and a custom output; a checkpoint whose barriers overtake what is queued behind slow
 * receivers; a restore at another parallelism. Records in flight go where the new partitioners send them, each once.
 * (From apache/flink#24857, #26931 and #22584.)
 */
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import {
  type Collector,
  type KeyedProcessContext,
  KeyedProcessFunction,
  RichMapFunction,
  type RuntimeContext,
  type StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from '@millrace/engine';
import { openSnapshot } from '../../src/checkpoint/index.ts';
import { createNodePlatform } from '../../src/platform/node/index.ts';
import { Gate, GatedSource } from '../gated-source.ts';
import { checkpointAndCancel, environmentIn, temporaryFolder, until } from '../small-job.ts';

const KEYS = 7;
/** Of each of the two partitions, before the checkpoint and in all. */
const BEFORE = 2000;
const ALL = 2500;
const PARTITIONS = [0, 1].map((partition) => Array.from({ length: ALL }, (_, i) => 2 * i + partition));

/** Where a record was processed. `count`: the how manieth of its key. */
interface Seen {
  readonly id: number;
  readonly subtask: number;
  readonly parallelism: number;
  readonly count: number;
}

/** Says where it processes a record. */
class Place extends RichMapFunction<number, Seen> {
  private subtask = 0;
  private parallelism = 0;

  override open(context: RuntimeContext): void {
    this.subtask = context.getIndexOfThisSubtask();
    this.parallelism = context.getNumberOfParallelSubtasks();
  }

  override map(id: number): Seen {
    return { id, subtask: this.subtask, parallelism: this.parallelism, count: 0 };
  }
}

class CountByKey extends KeyedProcessFunction<number, number, Seen> {
  private readonly place = new Place();
  private count!: ValueState<number>;

  override open(context: RuntimeContext): void {
    this.place.open(context);
    this.count = context.getState(new ValueStateDescriptor('count', Types.LONG, 0));
  }

  override processElement(id: number, _context: KeyedProcessContext<number>, out: Collector<Seen>): void {
    const count = this.count.value()! + 1;
    this.count.update(count);
    out.collect({ ...this.place.map(id), count });
  }
}

interface Results {
  readonly hash: Seen[];
  readonly forward: Seen[];
  readonly custom: Seen[];
}

/** `served`: what the receivers of the hash and of the custom output wait for at each record. */
function job(env: StreamExecutionEnvironment, gate: Gate, served: Promise<void>): Results {
  const results: Results = { hash: [], forward: [], custom: [] };
  const slowly = async (seen: Seen): Promise<Seen> => {
    await served;
    return seen;
  };
  const numbers = env
    .fromSource(new GatedSource(PARTITIONS, gate), WatermarkStrategy.noWatermarks(), 'numbers', Types.LONG)
    .uid('numbers')
    .map((id) => id, Types.LONG)
    .uid('fan');
  numbers
    .keyBy((id) => id % KEYS, Types.LONG)
    .process(() => new CountByKey())
    .uid('by key')
    .mapAsync(slowly, { capacity: 1 })
    .uid('slow by key')
    .addSink((seen) => void results.hash.push(seen))
    .uid('hash');
  numbers
    .forward()
    .map(new Place())
    .startNewChain()
    .uid('alongside')
    .addSink((seen) => void results.forward.push(seen))
    .uid('forward');
  numbers
    .partitionCustom(
      (id: number, count) => id % count,
      (id) => id,
    )
    .map(new Place())
    .uid('by partitioner')
    .mapAsync(slowly, { capacity: 1 })
    .uid('slow by partitioner')
    .addSink((seen) => void results.custom.push(seen))
    .uid('custom');
  return results;
}

function environment(folder: string, parallelism: number, path?: string): StreamExecutionEnvironment {
  return environmentIn(folder, {
    parallelism,
    checkpointing: { unaligned: true },
    ...(path !== undefined && { restore: { path } }),
  });
}

/**
 * A checkpoint of a job whose receivers are stuck, begun at the beginning or from an earlier one; adds what came through
 * beside them to `forward`.
 */
async function checkpointOfStuckJob(
  folder: string,
  parallelism: number,
  path: string | undefined,
  forward: Seen[],
): Promise<string> {
  const env = environment(folder, parallelism, path);
  const results = job(env, new Gate(BEFORE), new Promise<void>(() => {}));
  const client = await env.executeAsync('fan');
  await until(
    () => forward.length + results.forward.length === 2 * BEFORE,
    'the receivers beside are not done',
  );
  const checkpoint = await checkpointAndCancel(client);
  forward.push(...results.forward);
  assert.deepEqual([results.hash, results.custom], [[], []]);
  const { manifest } = await openSnapshot(createNodePlatform(), checkpoint);
  const inFlight = manifest.inFlight.map(({ identity }) => identity.targetUid);
  assert.deepEqual(inFlight.sort(), ['by key', 'by partitioner']);
  return checkpoint;
}

function ids(...seen: Seen[][]): number[] {
  return seen
    .flat()
    .map(({ id }) => id)
    .sort((a, b) => a - b);
}

/** Stuck at each of these parallelisms, one after the other, and run to the end at the last. */
async function check(t: TestContext, ...parallelisms: readonly number[]): Promise<void> {
  const folder = temporaryFolder(t);
  const forwardBefore: Seen[] = [];
  let path: string | undefined;
  for (const parallelism of parallelisms.slice(0, -1))
    path = await checkpointOfStuckJob(folder, parallelism, path, forwardBefore);
  const last = parallelisms.at(-1)!;
  const env = environment(folder, last, path);
  const { hash, forward, custom } = job(env, new Gate(ALL), Promise.resolve());
  await env.execute('fan');

  const all = PARTITIONS.flat().sort((a, b) => a - b);
  assert.deepEqual(ids(hash), all);
  assert.deepEqual(ids(forwardBefore, forward), all);
  assert.deepEqual(ids(custom), all);
  // What waits in the slow functions themselves was given to them by an earlier run.
  for (const { id, subtask, parallelism } of custom) assert.equal(subtask, id % parallelism);
  assert.ok(custom.filter(({ parallelism }) => parallelism === last).length > BEFORE);
  for (let key = 0; key < KEYS; key++) {
    const ofKey = hash.filter(({ id }) => id % KEYS === key);
    const places = new Set(ofKey.map(({ subtask, parallelism }) => `${subtask} of ${parallelism}`));
    assert.ok(places.size <= new Set(parallelisms).size, `key ${key} was at ${[...places].join(', ')}`);
    assert.deepEqual(
      ofKey.map(({ count }) => count).sort((a, b) => a - b),
      ofKey.map((_, i) => i + 1),
    );
  }
}

for (const parallelism of [3, 1, 2]) {
  it(`records in flight at parallelism 2 go where the partitioners send them at ${parallelism}`, (t) =>
    check(t, 2, parallelism));
}

for (const parallelisms of [
  [2, 1, 3],
  [2, 3, 1],
  [2, 2, 3],
  [3, 2, 4],
]) {
  it(`records in flight are saved again before they were processed: ${parallelisms.join(', then ')}`, (t) =>
    check(t, ...parallelisms));
}
