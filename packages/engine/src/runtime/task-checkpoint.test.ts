/** How a task takes a checkpoint, with stand-ins for its chain and its stream. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StateStream, TaskAcknowledgement } from '../checkpoint/index.ts';
import { type Barrier, ElementKind } from '../exchange/index.ts';
import { createManualPlatform } from '../testing/manual-platform.ts';
import type { OperatorChain, OperatorSnapshot } from './operator-chain.ts';
import type { InFlightData } from './snapshot-stream.ts';
import type { SourceHead } from './source-head.ts';
import type { TaskOutput } from './task-channels.ts';
import { type CheckpointCut, TaskCheckpoint } from './task-checkpoint.ts';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const barrier: Barrier = { checkpointId: 1, timestampMs: 0, kind: 'checkpoint' };

interface Options {
  readonly async?: boolean;
  readonly slices?: number;
  readonly inFlightMaxBytes?: number;
  readonly deferred?: Promise<readonly never[]>;
}

function fixture({ async = true, slices = 3, deferred, inFlightMaxBytes }: Options = {}) {
  const events: string[] = [];
  const opening = Promise.withResolvers<StateStream>();
  const disk = { isCongested: false, backlogBytes: 0, ready: Promise.withResolvers<void>() };
  const finished = Promise.withResolvers<void>();
  const stream = {
    position: 0,
    append(this: { position: number }, { length }: Uint8Array) {
      this.position += length;
    },
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
        handleOf: (offset: number, lengthBytes: number) => ({ kind: 'file', path: 'f', offset, lengthBytes }),
      };
    },
    abort: async () => void events.push('abort stream'),
  } as unknown as StateStream;
  let left = slices;
  const keyed = {
    format: 'heap-1',
    keyGroups: { start: 0, end: 127 },
    maxParallelism: 128,
    start: () => {
      left = slices;
      events.push('start');
    },
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
  const output = { isWaiting: false, unsentBytes: 2 };
  const captures = () => [
    { channel: 1, elements: [{ kind: ElementKind.data, bytes: new Uint8Array(output.unsentBytes) }] },
  ];
  const writer = {
    overtakes: true,
    broadcastBarrier: ({ checkpointId }: Barrier) => events.push(`barrier ${checkpointId}`),
    announceBarrier: ({ checkpointId }: Barrier) => {
      events.push(`announce ${checkpointId}`);
      return captures();
    },
    overtakeWith: ({ checkpointId }: Barrier) => {
      events.push(`overtake ${checkpointId}`);
      if (!output.isWaiting) return [];
      output.isWaiting = false;
      return captures();
    },
    barrierWaits: () => output.isWaiting,
  };
  const edge = { sourceUid: 'u', sideTag: undefined, targetUid: 'v', input: 0, ordinal: 0 };
  const outputs = [{ writer, edge, receivers: [4, 5] } as unknown as TaskOutput];
  const acknowledged: TaskAcknowledgement[] = [];
  const checkpoint = new TaskCheckpoint({
    key: { vertex: 0, subtask: 0 },
    attemptNumber: 0,
    clock: createManualPlatform().clock,
    triggeredMs: () => undefined,
    async,
    ...(inFlightMaxBytes !== undefined && { inFlightMaxBytes }),
    openStream: () => opening.promise,
    acknowledge: (acknowledgement) => {
      acknowledged.push(acknowledgement);
      events.push(`acknowledge ${acknowledgement.checkpointId}`);
    },
    decline: ({ checkpointId, reason, message }) =>
      events.push(`decline ${checkpointId}: ${reason}, ${message}`),
    wake: () => events.push('wake'),
  });
  const cut: CheckpointCut = {
    barrier,
    startedMs: 0,
    alignment: { alignmentMs: 0, processedBytes: 0, lastChannel: undefined },
    leaves: 'in-order',
    startCapture: undefined,
  };
  const take = (more: Partial<CheckpointCut> = {}): void =>
    checkpoint.take({ ...cut, ...more }, chain, source, outputs);
  const begun = async (more?: Partial<CheckpointCut>): Promise<void> => {
    take(more);
    opening.resolve(stream);
    await settle();
    events.length = 0;
  };
  return { checkpoint, events, opening, stream, disk, finished, output, outputs, acknowledged, take, begun };
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

  describe('whose barrier overtakes', () => {
    const alignment = { alignmentMs: 30, processedBytes: 40, lastChannel: 'input 0' };
    const edge = { sourceUid: 's', sideTag: undefined, targetUid: 'u', input: 0, ordinal: 0 } as const;
    const received = (bytes: number): InFlightData => ({
      ...{ edge, sender: 2, receiver: 0, part: 'received', watermarkMs: 7 },
      elements: [{ kind: ElementKind.data, bytes: new Uint8Array(bytes) }],
    });
    const advanceAll = ({ checkpoint }: ReturnType<typeof fixture>) => {
      for (let i = 0; i < 5; i++) checkpoint.advance();
    };

    it('announces it, copies the inputs, then freezes the state', () => {
      const { take, events } = fixture();
      take({ leaves: 'ahead', alignment: undefined, startCapture: () => events.push('capture') });
      assert.deepEqual(events, ['prepare 1', 'positions 1', 'announce 1', 'capture', 'freeze 1']);
    });

    it('is acknowledged when the inputs are recorded, with what was in flight on both sides', async () => {
      const parts = fixture();
      const { checkpoint, begun, events, finished, acknowledged } = parts;
      await begun({ leaves: 'ahead', alignment: undefined });
      finished.resolve();
      advanceAll(parts);
      await settle();
      assert.deepEqual([acknowledged.length, checkpoint.hasWork()], [0, false]);
      checkpoint.captured(1, alignment, [received(3)]);
      assert.equal(checkpoint.hasWork(), true);
      checkpoint.advance();
      assert.equal(checkpoint.hasWork(), false);
      await settle();
      assert.equal(events.at(-1), 'acknowledge 1');
      const { inFlight, metrics } = acknowledged[0]!;
      const places = inFlight!.map(({ sender, receiver, part, stream }) => ({
        sender,
        receiver,
        part,
        ...stream,
      }));
      const file = { kind: 'file', path: 'f' };
      assert.deepEqual(places, [
        { sender: 2, receiver: 0, part: 'received', ...file, offset: 0, lengthBytes: 8 },
        { sender: 0, receiver: 5, part: 'unsent', ...file, offset: 8, lengthBytes: 7 },
      ]);
      assert.deepEqual(
        [metrics.alignmentMs, metrics.processedBytes, metrics.persistedBytes, metrics.lastChannel],
        [30, 40, 15, 'input 0'],
      );
    });

    it('is acknowledged when a barrier that may overtake later has found room', async () => {
      const parts = fixture();
      const { checkpoint, begun, output, acknowledged, finished } = parts;
      output.isWaiting = true;
      await begun({ leaves: 'late' });
      finished.resolve();
      advanceAll(parts);
      await settle();
      assert.equal(acknowledged.length, 0);
      output.isWaiting = false;
      assert.equal(checkpoint.hasWork(), true);
      checkpoint.advance();
      await settle();
      assert.equal(acknowledged[0]!.inFlight, undefined);
    });

    it('saves what is before a barrier that overtakes later, and announces it also after it was acknowledged', async () => {
      const parts = fixture();
      const { checkpoint, begun, output, outputs, acknowledged, finished, events } = parts;
      output.isWaiting = true;
      await begun({ leaves: 'late' });
      finished.resolve();
      advanceAll(parts);
      checkpoint.overtakeInOutputs(barrier, outputs);
      checkpoint.advance();
      await settle();
      assert.deepEqual(
        acknowledged[0]!.inFlight!.map(({ part }) => part),
        ['unsent'],
      );
      checkpoint.overtakeInOutputs(barrier, outputs);
      assert.equal(events.at(-1), 'overtake 1');
      assert.equal(acknowledged.length, 1);
    });

    it('lets processing go on while inputs are recorded, synchronous or not', async () => {
      const parts = fixture({ async: false });
      const { checkpoint, begun, finished } = parts;
      await begun({ leaves: 'ahead', alignment: undefined });
      assert.ok(checkpoint.isCongested());
      advanceAll(parts);
      assert.ok(!checkpoint.isCongested(), 'what is recorded comes by processing');
      checkpoint.captured(1, alignment, []);
      assert.ok(checkpoint.isCongested());
      checkpoint.advance();
      finished.resolve();
      await settle();
      assert.ok(!checkpoint.isCongested());
    });

    it('writes much of one channel in pieces, as the disk takes them', async () => {
      const parts = fixture({ slices: 1 });
      const { checkpoint, begun, acknowledged, finished, disk, stream } = parts;
      await begun({ leaves: 'ahead', alignment: undefined });
      advanceAll(parts);
      const elements = Array.from({ length: 5 }, () => received(600 * 1024).elements[0]!);
      disk.isCongested = true;
      checkpoint.captured(1, alignment, [{ ...received(0), elements }]);
      checkpoint.advance();
      await settle();
      const before = stream.position;
      assert.ok(before > 2 ** 20 && before < 2 * 2 ** 20, `${before} bytes are on their way`);
      disk.isCongested = false;
      disk.ready.resolve();
      finished.resolve();
      await settle();
      assert.equal(acknowledged[0]!.metrics.persistedBytes, 5 * (5 + 600 * 1024) + 5 + 2);
    });

    it('is declined once if it overtakes more than memory may hold, or is given up', async () => {
      const large = fixture({ inFlightMaxBytes: 2048 });
      large.output.unsentBytes = 3 * 1024;
      await large.begun({ leaves: 'ahead', alignment: undefined });
      large.checkpoint.captured(1, alignment, []);
      large.checkpoint.giveUp(1, 'newer-barrier', 'too late');
      assert.equal(large.events.filter((event) => event.startsWith('decline')).length, 1);
      assert.match(large.events.join(), /decline 1: snapshot-failed, .*3 kb.*more than the 2 kb/);
      const given = fixture();
      await given.begun({ leaves: 'ahead', alignment: undefined });
      given.checkpoint.giveUp(1, 'newer-barrier', 'a newer one came');
      given.checkpoint.captured(1, alignment, [received(3)]);
      assert.deepEqual(given.events.slice(-1), ['decline 1: newer-barrier, a newer one came']);
    });
  });

  it('is taken while another one is written; each ends by itself', async () => {
    const { checkpoint, begun, take, events, finished } = fixture({ slices: 4 });
    await begun();
    take({ barrier: { ...barrier, checkpointId: 2 } });
    await settle();
    events.length = 0;
    while (checkpoint.advance());
    checkpoint.abort(1);
    finished.resolve();
    await settle();
    assert.deepEqual(
      events.filter((event) => /acknowledge|decline|abort|release/.test(event)),
      ['release', 'abort stream'],
    );
    for (let i = 0; i < 5; i++) checkpoint.advance();
    await settle();
    assert.equal(events.at(-1), 'acknowledge 2');
  });
});
