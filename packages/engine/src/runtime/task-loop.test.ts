/** The loop of a thread, with stand-ins for its tasks and a clock that goes on at each look. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDoorbells, Doorbell } from '../exchange/index.ts';
import type { Platform } from '../platform/index.ts';
import { createManualPlatform } from '../testing/manual-platform.ts';
import type { Task } from './task.ts';
import { TaskLoop } from './task-loop.ts';

interface Stub {
  readonly name: string;
  readonly vertex?: number;
  readonly isSource?: boolean;
  readonly isBackPressured?: boolean;
  turn(): boolean;
  hasWork?(): boolean;
  idleForMs?(nowMs: number, monotonicMs: number): number;
}

function loopOf(stubs: readonly Stub[], tickMs: number, bufferTimeoutMs = 100) {
  const manual = createManualPlatform();
  const events: string[] = [];
  const spent: Record<string, { busyMs: number; backPressuredMs: number }> = {};
  let nowMs = 0;
  let yields = 0;
  const platform: Platform = {
    ...manual,
    clock: { monotonicMs: () => (nowMs += tickMs), wallMs: () => manual.clock.wallMs() },
    timers: {
      ...manual.timers,
      yieldToEventLoop: async () => {
        yields++;
      },
    },
  };
  const tasks = stubs.map((stub, index) => ({
    key: { vertex: stub.vertex ?? index, subtask: 0 },
    isSource: stub.isSource ?? false,
    isBackPressured: stub.isBackPressured ?? false,
    checkpoint: { advance: () => false },
    turn: () => {
      events.push(stub.name);
      return stub.turn();
    },
    hasWork: () => stub.hasWork?.() ?? false,
    idleForMs: (nowMs: number, monotonicMs: number) =>
      stub.idleForMs?.(nowMs, monotonicMs) ?? Number.POSITIVE_INFINITY,
    flushOutputs: () => events.push(`flush ${stub.name}`),
    addTime: (busyMs: number, backPressuredMs: number) => {
      const times = (spent[stub.name] ??= { busyMs: 0, backPressuredMs: 0 });
      times.busyMs += busyMs;
      times.backPressuredMs += backPressuredMs;
    },
  })) as unknown as Task[];
  const doorbell = new Doorbell(createDoorbells(1), 0, manual.parking);
  const loop = new TaskLoop(platform, doorbell, bufferTimeoutMs);
  return {
    loop,
    run: () => loop.run(tasks),
    events,
    spent,
    manual,
    yields: () => yields,
    nowMs: () => nowMs,
  };
}

describe('the task loop', () => {
  it('gives turns downstream first and to sources last', async () => {
    const never = { turn: () => false };
    const { loop, run, events, manual } = loopOf(
      [
        { name: 'source', vertex: 0, isSource: true, ...never },
        { name: 'late source', vertex: 3, isSource: true, ...never },
        { name: 'map', vertex: 1, ...never },
        { name: 'sink', vertex: 2, ...never },
      ],
      0,
    );
    void run();
    await manual.settle();
    assert.deepEqual(events.slice(0, 4), ['sink', 'map', 'late source', 'source']);
    loop.stop();
  });

  it('counts as back pressure what others of its thread do while a task has no room', async () => {
    let rounds = 0;
    const { run, loop, spent } = loopOf(
      [
        { name: 'source', isSource: true, isBackPressured: true, turn: () => false },
        {
          name: 'sink',
          turn: () => {
            if (++rounds === 10) loop.stop();
            return true;
          },
        },
      ],
      1,
    );
    await run();
    assert.deepEqual(spent, {
      sink: { busyMs: 10, backPressuredMs: 0 },
      source: { busyMs: 0, backPressuredMs: 20 },
    });
  });

  it('flushes after the buffer time-out while it has work, and lets the event loop have its turn', async () => {
    let turns = 0;
    const countTo = (end: number): boolean => {
      if (++turns === end) loop.stop();
      return true;
    };
    const { loop, run, events, yields, nowMs } = loopOf([{ name: 'busy', turn: () => countTo(5000) }], 0.1);
    await run();
    const flushes = events.filter((event) => event === 'flush busy').length;
    const expected = nowMs() / 100;
    assert.ok(Math.abs(flushes - expected) < expected / 10 + 2, `${flushes} flushes in ${nowMs()} ms`);
    assert.ok(yields() > nowMs() / 7 && yields() < nowMs() / 4, `${yields()} yields in ${nowMs()} ms`);
  });

  it('lets the event loop have its turn also by a clock that stands still', async () => {
    let turns = 0;
    const countTo = (end: number): boolean => {
      if (++turns === end) loop.stop();
      return true;
    };
    const { loop, run, yields } = loopOf([{ name: 'busy', turn: () => countTo(5500) }], 0);
    await run();
    assert.equal(yields(), 5);
  });

  it('flushes before it sleeps, and sleeps until it is woken', async () => {
    const { loop, run, events, manual } = loopOf([{ name: 'task', turn: () => false }], 0);
    void run();
    await manual.settle();
    assert.deepEqual(events.splice(0), ['task', 'flush task']);
    await manual.advanceAndSettle(900);
    assert.deepEqual(events, []);
    loop.wake();
    await manual.settle();
    assert.deepEqual(events.splice(0), ['task', 'flush task']);
    loop.stop();
    await manual.settle();
    assert.deepEqual(events, []);
  });

  it('sleeps no longer than a task asks for', async () => {
    const manualStart = Date.UTC(2024, 0, 1);
    const { loop, run, events, manual } = loopOf(
      [{ name: 'task', turn: () => false, idleForMs: (nowMs) => manualStart + 40 - nowMs }],
      0,
    );
    void run();
    await manual.advanceAndSettle(39);
    assert.deepEqual(events.splice(0), ['task', 'flush task']);
    await manual.advanceAndSettle(1);
    assert.deepEqual(events.slice(0, 2), ['task', 'flush task']);
    loop.stop();
  });

  it('does not sleep when work came between its last look and the bell', async () => {
    let isThere = false;
    let turns = 0;
    const stub: Stub = {
      name: 'task',
      turn: () => {
        turns++;
        const worked = isThere;
        isThere = turns === 1;
        return worked;
      },
      hasWork: () => isThere,
    };
    const { loop, run, manual } = loopOf([stub], 0);
    void run();
    await manual.settle();
    assert.equal(turns, 3);
    loop.stop();
  });
});
