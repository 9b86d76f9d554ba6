/** Worker threads that are prepared: when they are told what they run, and what becomes of those that never are. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MillraceError } from '../base/index.ts';
import type { ThreadEvents } from '../platform/index.ts';
import type { JobGraph, SlotDeployment } from '../runtime/index.ts';
import { planJob } from '../testing/manual-job.ts';
import { createManualPlatform } from '../testing/manual-platform.ts';
import { type SlotHost, type SlotPlace, workerSlotHost } from './slot-host.ts';

interface FakeThread {
  readonly name: string;
  readonly data: unknown;
  readonly events: ThreadEvents;
  readonly received: unknown[];
  isTerminated: boolean;
}

function fakeWorkers(): { host: SlotHost; graph: JobGraph; threads: FakeThread[] } {
  const threads: FakeThread[] = [];
  const platform = {
    ...createManualPlatform(),
    threads: {
      current: undefined,
      entryModuleUrl: 'file:///job.ts',
      start(_: string, name: string, data: unknown, events: ThreadEvents) {
        const thread: FakeThread = { name, data, events, received: [], isTerminated: false };
        threads.push(thread);
        return {
          post: (message: unknown) => void thread.received.push(message),
          terminate: async () => {
            thread.isTerminated = true;
          },
        };
      },
    },
  };
  const { graph } = planJob((env) => {
    env.fromElements(1, 2).print();
  });
  const explain = (plan: unknown) => new Error(`another plan: ${String(plan)}`);
  return { host: workerSlotHost(platform, 'file:///job.ts', 0, 2, [], explain), graph, threads };
}

const placeOf = (graph: JobGraph, slotIndex: number): SlotPlace => ({
  ...{ slotIndex, region: 0 },
  vertices: graph.vertices.map(({ index }) => index),
});

const deploymentOf = (graph: JobGraph, slotIndex: number): SlotDeployment =>
  ({ ...placeOf(graph, slotIndex), attemptNumber: 0 }) as unknown as SlotDeployment;

function listener() {
  const told: unknown[] = [];
  const lost: Error[] = [];
  return {
    ...{ told, lost },
    onMessage: (message: unknown) => void told.push(message),
    onLost: (error: Error) => void lost.push(error),
  };
}

describe('a worker thread', () => {
  it('that is prepared is told once what it runs; the next attempt has a thread of its own', () => {
    const { host, graph, threads } = fakeWorkers();
    host.prepare(graph, placeOf(graph, 0));
    host.prepare(graph, placeOf(graph, 1));
    host.prepare(graph, placeOf(graph, 1));
    assert.deepEqual(
      threads.map(({ name, received }) => [name, received.length]),
      [
        [`${graph.jobName} slot 0`, 0],
        [`${graph.jobName} slot 1`, 0],
      ],
    );
    const deployment = deploymentOf(graph, 1);
    const handle = host.start(graph, deployment, listener());
    handle.post({ type: 'start' });
    assert.deepEqual(threads[1]!.received, [{ type: 'deploy', deployment }, { type: 'start' }]);
    assert.deepEqual([threads.length, threads[0]!.received], [2, []]);
    host.start(graph, deployment, listener());
    assert.equal(threads.length, 3);
    assert.deepEqual(threads[2]!.received, [{ type: 'deploy', deployment }]);
  });

  it('that nobody prepared is started all the same', () => {
    const { host, graph, threads } = fakeWorkers();
    const deployment = deploymentOf(graph, 0);
    const events = listener();
    host.start(graph, deployment, events);
    threads[0]!.events.onMessage({ type: 'closed' });
    assert.deepEqual(threads[0]!.received, [{ type: 'deploy', deployment }]);
    assert.deepEqual(events.told, [{ type: 'closed' }]);
  });

  it('that was lost before anybody asked for it is lost when somebody does, once', async () => {
    const { host, graph, threads } = fakeWorkers();
    host.prepare(graph, placeOf(graph, 0));
    threads[0]!.events.onExit({ exitCode: 1, error: new Error('no such module') });
    const events = listener();
    host.start(graph, deploymentOf(graph, 0), events);
    assert.equal(events.lost.length, 0, 'not before the caller has its handle');
    await Promise.resolve();
    assert.deepEqual(
      events.lost.map((error) => (error as MillraceError).code),
      ['SLOT_LOST'],
    );
    assert.match(events.lost[0]!.message, /no such module/);
    assert.deepEqual(threads[0]!.received, []);
  });

  it('that builds another job says so first, though it ends afterwards', async () => {
    const { host, graph, threads } = fakeWorkers();
    host.prepare(graph, placeOf(graph, 0));
    threads[0]!.events.onMessage({ type: 'plan-differs', plan: 'other' });
    threads[0]!.events.onExit({ exitCode: 0, error: undefined });
    const events = listener();
    host.start(graph, deploymentOf(graph, 0), events);
    await Promise.resolve();
    assert.deepEqual(
      events.lost.map(({ message }) => message),
      ['another plan: other'],
    );
  });

  it('that was prepared and not started ends when the host is closed; the others go on', async () => {
    const { host, graph, threads } = fakeWorkers();
    for (const slot of [0, 1]) host.prepare(graph, placeOf(graph, slot));
    const events = listener();
    host.start(graph, deploymentOf(graph, 1), events);
    await host.close();
    assert.deepEqual(
      threads.map(({ isTerminated }) => isTerminated),
      [true, false],
    );
    await host.close();
    assert.equal(events.lost.length, 0);
  });
});
