/**
 * While a snapshot is being written, half of its keys are updated, some deleted, many added. It must hold exactly what was
 * there at its barrier; and a value that user code changes without setting it is no state. (From apache/flink#19310, #5934,
 * #3466.)
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
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
import type { FileSystem, Platform, WritableFile } from '../../src/platform/index.ts';
import { createManualPlatform } from '../../src/testing/manual-platform.ts';
import { Gate, GatedSource } from '../gated-source.ts';
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

/** Files of checkpoints whose second and later writes wait for `release`. */
function heldWrites(platform: Platform): { platform: Platform; release: () => void; isHeld: () => boolean } {
  const held = Promise.withResolvers<void>();
  let isHeld = false;
  const holding = (file: WritableFile): WritableFile => {
    let writes = 0;
    return {
      path: file.path,
      async write(bytes) {
        if (writes++ > 0) {
          isHeld = true;
          await held.promise;
        }
        return file.write(bytes);
      },
      sync: () => file.sync(),
      close: () => file.close(),
    };
  };
  const wrapped = (files: FileSystem): FileSystem =>
    new Proxy(files, {
      get(target, name) {
        if (name !== 'create') {
          const member: unknown = Reflect.get(target, name);
          return typeof member === 'function' ? member.bind(target) : member;
        }
        return async (path: string) => {
          const file = await target.create(path);
          return /chk-[1-9]\d*\/[^._]/.test(path) ? holding(file) : file;
        };
      },
    });
  return {
    platform: {
      ...platform,
      fileSystem: (uri) => {
        const { files, path } = platform.fileSystem(uri);
        return { files: wrapped(files), path };
      },
    },
    release: () => held.resolve(),
    isHeld: () => isHeld,
  };
}

describe('a snapshot that is written while records go on', () => {
  it('holds what was there at its barrier', async () => {
    const { before, during, after } = commands();
    const memory = createManualPlatform();
    const { platform, release, isHeld } = heldWrites(memory);
    let seen = 0;
    const job = (env: StreamExecutionEnvironment, gate: Gate, values: readonly Command[]) =>
      env
        .fromSource(new GatedSource([values], gate), WatermarkStrategy.noWatermarks(), 'commands')
        .uid('commands')
        .setParallelism(1)
        .map((command) => {
          seen++;
          return command;
        })
        .uid('seen')
        .keyBy(({ key }) => key, Types.INT)
        .process(Commands)
        .uid('state');
    const gate = new Gate(before.length);
    const env = environmentOn(platform);
    job(env, gate, [...before, ...during, ...after]).print();
    const client = await env.executeAsync('commands');
    await untilStatus(client, 'RUNNING');
    await until(() => seen === before.length, 'the first records did not come through');
    const checkpoint = client.triggerCheckpoint();
    await until(isHeld, 'the snapshot has only one chunk: it is not held');
    gate.open(before.length + during.length);
    await until(() => seen === before.length + during.length, 'records wait for the snapshot');
    release();
    const { path } = await checkpoint;
    client.getJobExecutionResult().catch(() => {});
    await client.cancel();

    const restored = environmentOn(memory, { 'execution.state-recovery.path': path });
    const results = await job(restored, new Gate(Number.POSITIVE_INFINITY), [
      ...before,
      ...after,
    ]).executeAndCollect('commands');
    const wanted = Array.from({ length: KEYS }, (_, key) => ({
      key,
      tags: [`tag ${key}`],
      map: [[`m${key % 3}`, key]],
    }));
    assert.deepEqual(
      results.sort((a, b) => a.key - b.key),
      wanted,
    );
  });
});
