/** How a task takes a checkpoint, with stand-ins for its chain and its stream. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StateStream } from '../checkpoint/index.ts';
import type { Barrier, RecordWriter } from '../exchange/index.ts';
import { createManualPlatform } from '../testing/manual-platform.ts';
import type { OperatorChain, OperatorSnapshot } from './operator-chain.ts';
import type { SourceHead } from './source-head.ts';
import { TaskCheckpoint } from './task-checkpoint.ts';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const barrier: Barrier = { checkpointId: 1, timestampMs: 0, kind: 'checkpoint' };

interface Options {
  readonly async?: boolean;
  readonly slices?: number;
  readonly deferred?: Promise<readonly never[]>;
}

function fixture({ async = true, slices = 3, deferred }: Options = {}) {
  const events: string[] = [];
  const opening = Promise.withResolvers<StateStream>();
  const disk = { isCongested: false, backlogBytes: 0, ready: Promise.withResolvers<void>() };
  const finished = Promise.withResolvers<void>();
  const stream = {
    position: 0,
    append() {},
    isCongested: () => disk.isCongested,
    get backlogBytes() {
      return disk.backlogBytes;
    },
    ready: () => {
      events.push('waits for the disk');
      return disk.ready.promise;
    },
    finish: async () => {
      await finished.promise;
      return {
        lengthBytes: 7,
        file: undefined,
        handleOf: () => ({ kind: 'inline', bytes: new Uint8Array(0) }),
      };
    },
    abort: async () => void events.push('abort stream'),
  } as unknown as StateStream;
  let left = slices;
  const keyed = {
    format: 'heap-1',
    keyGroups: { start: 0, end: 127 },
    maxParallelism: 128,
    start: () => events.push('start'),
    advance: () => {
      events.push('slice');
      return --left === 0;
    },
    metadata: () => [],
    release: () => events.push('release'),
  };
  const chain = {
    prepareSnapshot: (id: number) => events.push(`prepare ${id}`),
    snapshot: (id: number): OperatorSnapshot[] => {
      events.push(`freeze ${id}`);
      return [{ uid: 'u', keyed: keyed as never, operator: [], deferred }];
    },
  } as unknown as OperatorChain;
  const source = { prepareSnapshot: (id: number) => events.push(`positions ${id}`) } as unknown as SourceHead;
  const writer = { broadcastBarrier: ({ checkpointId }: Barrier) => events.push(`barrier ${checkpointId}`) };
  const checkpoint = new TaskCheckpoint({
    key: { vertex: 0, subtask: 0 },
    attemptNumber: 0,
    clock: createManualPlatform().clock,
    async,
    openStream: () => opening.promise,
    acknowledge: ({ checkpointId }) => events.push(`acknowledge ${checkpointId}`),
    decline: ({ checkpointId, reason, message }) =>
      events.push(`decline ${checkpointId}: ${reason}, ${message}`),
    wake: () => events.push('wake'),
  });
  const take = (): void =>
    checkpoint.take(barrier, 0, chain, source, [writer as unknown as RecordWriter<unknown>]);
  const take2 = async (): Promise<void> => {
    take();
    opening.resolve(stream);
    await settle();
    events.length = 0;
  };
  return { checkpoint, events, opening, stream, disk, finished, take, begun: take2 };
}

describe('a checkpoint of a task', () => {
  it('emits what belongs before, sends the barrier on, then freezes the state', () => {
    const { take, events } = fixture();
    take();
    assert.deepEqual(events, ['prepare 1', 'positions 1', 'barrier 1', 'freeze 1']);
  });

  it('copies a slice at a time and acknowledges once all is durable', async () => {
    const { begun, checkpoint, events, finished } = fixture();
    await begun();
    assert.deepEqual([checkpoint.advance(), checkpoint.advance(), checkpoint.advance()], [true, true, false]);
    await settle();
    assert.deepEqual(events.splice(0), ['start', 'slice', 'slice', 'slice']);
    finished.resolve();
    await settle();
    assert.deepEqual(events.slice(0, 1), ['release']);
    assert.equal(events.at(-1), 'acknowledge 1');
  });

  it('waits for a slow disk, processing only if very much waits for it; it asks to be woken once', async () => {
    const { begun, checkpoint, events, disk } = fixture();
    await begun();
    checkpoint.advance();
    disk.isCongested = true;
    for (let i = 0; i < 50; i++) assert.equal(checkpoint.advance(), false);
    assert.ok(!checkpoint.isCongested());
    disk.backlogBytes = 2 ** 30;
    assert.ok(checkpoint.isCongested());
    assert.deepEqual(events.splice(0), ['start', 'slice', 'waits for the disk']);
    disk.isCongested = false;
    disk.backlogBytes = 0;
    disk.ready.resolve();
    await settle();
    assert.deepEqual(events.splice(0), ['wake']);
    assert.ok(!checkpoint.isCongested());
    assert.ok(checkpoint.advance());
  });

  it('does not hold processing up once everything is copied, however long the disk takes', async () => {
    const { begun, checkpoint, disk } = fixture({ slices: 1 });
    await begun();
    checkpoint.advance();
    disk.isCongested = true;
    disk.backlogBytes = 2 ** 30;
    assert.ok(!checkpoint.isCongested());
  });

  it('holds processing up to its end if snapshots are synchronous', async () => {
    const { take, checkpoint, opening, stream, finished, events } = fixture({ async: false });
    take();
    assert.ok(checkpoint.isCongested());
    opening.resolve(stream);
    await settle();
    while (checkpoint.advance()) assert.ok(checkpoint.isCongested());
    await settle();
    assert.ok(checkpoint.isCongested());
    finished.resolve();
    await settle();
    assert.ok(!checkpoint.isCongested());
    assert.ok(events.includes('wake'));
  });

  it('is given up before its place is known, and lets go of everything', async () => {
    const { take, checkpoint, opening, stream, events } = fixture();
    take();
    checkpoint.abort(1);
    opening.resolve(stream);
    await settle();
    assert.deepEqual(events.slice(4), ['release', 'wake', 'abort stream']);
    assert.equal(checkpoint.advance(), false);
  });

  it('is given up while it is written, and not answered any more', async () => {
    const { begun, checkpoint, events, finished } = fixture({ slices: 1 });
    await begun();
    checkpoint.advance();
    checkpoint.abort(1);
    finished.resolve();
    await settle();
    assert.ok(events.includes('abort stream'));
    assert.ok(!events.some((event) => /acknowledge|decline/.test(event)), events.join());
  });

  it('is declined once when the place cannot be had, or the asynchronous part of an operator fails', async () => {
    const first = fixture();
    first.take();
    first.opening.reject(new Error('no place'));
    await settle();
    const failing = Promise.reject(new Error('no transaction'));
    const second = fixture({ deferred: failing });
    await second.begun();
    while (second.checkpoint.advance());
    await settle();
    const declines = [...first.events, ...second.events].filter((event) => event.startsWith('decline'));
    assert.deepEqual(declines, ['decline 1: snapshot-failed, no place']);
  });
});
