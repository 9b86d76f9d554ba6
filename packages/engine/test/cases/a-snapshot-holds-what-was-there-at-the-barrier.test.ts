/**
 * While a snapshot is being written, half of its keys are updated, some deleted, many added. It must hold exactly what was
 * there at its barrier; and a value that user code changes without setting it is no state. (From apache/flink#19310, #5934,
 * #3466.)
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type CheckpointSummary,
  type Collector,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type MapState,
  MapStateDescriptor,
  type RuntimeContext,
  type StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from '@millrace/engine';
import { createManualPlatform, type ManualPlatform } from '../../src/testing/manual-platform.ts';
import { Gate, GatedSource } from '../gated-source.ts';
import { slowDisk, stateWrites } from '../slow-disk.ts';
import { environmentOn, until, untilStatus } from '../small-job.ts';

const KEYS = 20_000;

interface Command {
  readonly what: 'set' | 'mutate' | 'delete' | 'read';
  readonly key: number;
  readonly value: number;
}

interface Read {
  readonly key: number;
  readonly tags: readonly string[] | undefined;
  readonly map: readonly (readonly [string, number])[];
}

class Commands extends KeyedProcessFunction<number, Command, Read> {
  private entry!: ValueState<{ tags: string[] }>;
  private map!: MapState<string, number>;

  override open(context: RuntimeContext): void {
    this.entry = context.getState(
      new ValueStateDescriptor('entry', Types.ROW({ tags: Types.LIST(Types.STRING) })),
    );
    this.map = context.getMapState(new MapStateDescriptor('map', Types.STRING, Types.LONG));
  }

  override processElement(
    { what, key, value }: Command,
    _context: KeyedProcessContext<number>,
    out: Collector<Read>,
  ): void {
    switch (what) {
      case 'set':
        this.entry.update({ tags: [`tag ${value}`] });
        this.map.put(`m${value % 3}`, value);
        return;
      case 'mutate':
        this.entry.value()?.tags.push('never set');
        return;
      case 'delete':
        this.entry.clear();
        this.map.clear();
        return;
      case 'read':
        out.collect({ key, tags: this.entry.value()?.tags, map: [...this.map.entries()].sort() });
    }
  }
}

/** What comes before the barrier, while the snapshot is written, and after the restore. */
function commands(): { before: Command[]; during: Command[]; after: Command[] } {
  const all = Array.from({ length: KEYS }, (_, key) => key);
  const of = (what: Command['what'], keys: readonly number[], value: (key: number) => number): Command[] =>
    keys.map((key) => ({ what, key, value: value(key) }));
  const every = (n: number, rest: number): number[] => all.filter((key) => key % n === rest);
  return {
    before: of('set', all, (key) => key),
    during: [
      ...of('set', every(2, 0), (key) => key + 1_000_000),
      ...of('mutate', every(4, 1), () => 0),
      ...of('delete', every(4, 3), () => 0),
      ...of(
        'set',
        all.map((key) => key + KEYS),
        (key) => key,
      ),
    ],
    after: of('read', all, () => 0),
  };
}

/** What the first snapshot has of each key. */
function atTheBarrier(): Read[] {
  return Array.from({ length: KEYS }, (_, key) => ({
    key,
    tags: [`tag ${key}`],
    map: [[`m${key % 3}`, key]],
  }));
}

describe('a snapshot that is written while records go on', () => {
  const seen = { count: 0 };
  const job = (env: StreamExecutionEnvironment, gate: Gate, values: readonly Command[]) =>
    env
      .fromSource(new GatedSource([values], gate), WatermarkStrategy.noWatermarks(), 'commands')
      .uid('commands')
      .setParallelism(1)
      .map((command) => {
        seen.count++;
        return command;
      })
      .uid('seen')
      .keyBy(({ key }) => key, Types.INT)
      .process(Commands)
      .uid('state');
  const untilSeen = (count: number): Promise<void> =>
    until(() => seen.count === count, `the records do not come through: not ${count}`);

  /** What is read of all keys in a job that starts from the snapshot. */
  async function readFrom(platform: ManualPlatform, path: string | undefined, done: readonly Command[]) {
    const env = environmentOn(platform, { 'execution.state-recovery.path': path });
    const { after } = commands();
    const values = job(env, new Gate(Number.POSITIVE_INFINITY), [...done, ...after]);
    return (await values.executeAndCollect('commands')).sort((a, b) => a.key - b.key);
  }

  for (const unaligned of [false, true])
    it(`holds what was there at its ${unaligned ? 'unaligned' : 'aligned'} barrier`, async () => {
      const { before, during, after } = commands();
      const memory = createManualPlatform();
      const disk = slowDisk(memory, stateWrites(1));
      seen.count = 0;
      const gate = new Gate(before.length);
      const env = environmentOn(disk.platform, { 'execution.checkpointing.unaligned.enabled': unaligned });
      job(env, gate, [...before, ...during, ...after]).print();
      const client = await env.executeAsync('commands');
      await untilStatus(client, 'RUNNING');
      await untilSeen(before.length);
      const checkpoint = client.triggerCheckpoint();
      await until(() => disk.held().length === 1, 'the snapshot has only one chunk: it is not held');
      gate.open(before.length + during.length);
      await untilSeen(before.length + during.length);
      disk.release();
      const { path } = await checkpoint;
      client.getJobExecutionResult().catch(() => {});
      await client.cancel();
      assert.deepEqual(await readFrom(memory, path, before), atTheBarrier());
    });

  it('holds what was there at its barrier although a second and a third one begin meanwhile', async () => {
    const { before, during, after } = commands();
    const memory = createManualPlatform();
    const disk = slowDisk(memory, stateWrites(1));
    seen.count = 0;
    const gate = new Gate(before.length);
    const env = environmentOn(disk.platform, {
      'execution.checkpointing.max-concurrent-checkpoints': 3,
      'execution.checkpointing.num-retained': 3,
    });
    const half = before.length + during.length / 2;
    const all = before.length + during.length;
    job(env, gate, [...before, ...during, ...after]).print();
    const client = await env.executeAsync('commands');
    await untilStatus(client, 'RUNNING');
    const checkpoints: Promise<CheckpointSummary>[] = [];
    for (const [index, records] of [before.length, half, all].entries()) {
      gate.open(records);
      await untilSeen(records);
      checkpoints.push(client.triggerCheckpoint());
      await until(() => disk.held().length === index + 1, `snapshot ${index} is not held`);
    }
    disk.release();
    const paths = (await Promise.all(checkpoints)).map(({ path }) => path);
    client.getJobExecutionResult().catch(() => {});
    await client.cancel();
    const records = [...before, ...during];
    assert.deepEqual(await readFrom(memory, paths[0], before), atTheBarrier());
    // The others equal what plain work gives, from the beginning to their barriers.
    for (const [path, count] of [
      [paths[1], half],
      [paths[2], all],
    ] as const) {
      const done = records.slice(0, count);
      assert.deepEqual(
        await readFrom(memory, path, done),
        await readFrom(createManualPlatform(), undefined, done),
      );
    }
  });
});
