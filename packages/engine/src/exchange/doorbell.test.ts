import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import type { Parking } from '../platform/index.ts';
import { createDoorbells, Doorbell } from './doorbell.ts';

/** Parks for real, and counts the sleeps that nobody ended. */
class CountingParking implements Parking {
  timeouts = 0;
  parked = 0;

  async park(word: Int32Array, index: number, expected: number, timeoutMs: number): Promise<void> {
    const wait = Atomics.waitAsync(word, index, expected, timeoutMs);
    if (!wait.async) return;
    this.parked++;
    if ((await wait.value) === 'timed-out') this.timeouts++;
  }

  unpark(word: Int32Array, index: number): void {
    Atomics.notify(word, index);
  }
}

const ROUNDS = 20_000;

/** Two threads pass a counter to and fro; each sleeps while it is the other's turn. */
async function playPingPong(
  side: 0 | 1,
  doorbells: SharedArrayBuffer,
  turns: Int32Array,
): Promise<CountingParking> {
  const keepAlive = setInterval(() => {}, 1000);
  const parking = new CountingParking();
  const mine = new Doorbell(doorbells, side, parking);
  const other = new Doorbell(doorbells, side === 0 ? 1 : 0, parking);
  const isOver = () => Atomics.load(turns, 0) >= ROUNDS || parking.timeouts > 0;
  const isMyTurn = () => isOver() || Atomics.load(turns, 0) % 2 === side;
  for (;;) {
    while (!isMyTurn()) await mine.sleep(isMyTurn, 3000);
    if (isOver()) break;
    Atomics.add(turns, 0, 1);
    other.ring();
  }
  clearInterval(keepAlive);
  return parking;
}

interface StressData {
  readonly doorbells: SharedArrayBuffer;
  readonly turns: Int32Array;
}

if (!isMainThread) {
  const { doorbells, turns } = workerData as StressData;
  await playPingPong(1, doorbells, turns);
} else {
  describe('a doorbell', () => {
    it('wakes the thread that sleeps on it, and no other', async () => {
      const doorbells = createDoorbells(2);
      const parking = new CountingParking();
      const first = new Doorbell(doorbells, 0, parking);
      const second = new Doorbell(doorbells, 1, parking);
      let awake = 0;
      const sleeps = [first, second].map((bell) => bell.sleep(() => false, 5000).then(() => awake++));
      second.ring();
      await sleeps[1];
      assert.equal(awake, 1);
      first.ring();
      await sleeps[0];
      assert.equal(parking.timeouts, 0);
    });

    it('does not park when there is work already', async () => {
      const parking = new CountingParking();
      const bell = new Doorbell(createDoorbells(1), 0, parking);
      await bell.sleep(() => true, 5000);
      assert.equal(parking.parked, 0);
    });

    it('is disarmed when the look for work fails', async () => {
      const doorbells = createDoorbells(1);
      const bell = new Doorbell(doorbells, 0, new CountingParking());
      await assert.rejects(
        bell.sleep(() => assert.fail('no'), 5000),
        /no/,
      );
      await bell.sleep(() => true, 5000);
    });

    it('refuses a second sleeper, and a thread that it was not made for', async () => {
      const doorbells = createDoorbells(1);
      const bell = new Doorbell(doorbells, 0, new CountingParking());
      const sleep = bell.sleep(() => false, 5000);
      await assert.rejects(
        bell.sleep(() => false, 5000),
        /two loops/,
      );
      bell.ring();
      await sleep;
      assert.throws(() => new Doorbell(doorbells, 1, new CountingParking()), /no doorbell for thread 1/);
    });

    it('loses no wake-up wherever between two accesses to memory the other side rings', {
      timeout: 5000,
    }, async () => {
      for (let ringAt = 0; ringAt < 8; ringAt++) {
        for (const nested of [false, true]) await sleepWhileRingingAt(ringAt, nested);
      }
    });

    it('loses no wake-up between two threads', { timeout: 20_000 }, async () => {
      const data: StressData = {
        doorbells: createDoorbells(2),
        turns: new Int32Array(new SharedArrayBuffer(4)),
      };
      const worker = new Worker(new URL(import.meta.url), { workerData: data });
      const exited = new Promise((resolve) => worker.once('exit', resolve));
      const parking = await playPingPong(0, data.doorbells, data.turns);
      assert.equal(parking.timeouts, 0);
      assert.ok(Atomics.load(data.turns, 0) >= ROUNDS);
      assert.equal(await exited, 0);
    });
  });
}

/**
 * One sleeper and one ringer on one word, with the ringer's turn put before access number `ringAt` of the sleeper. If
 * `nested`, a second ringer comes between the first one's accesses. The sleeper must find the work without a timeout.
 */
async function sleepWhileRingingAt(ringAt: number, nested: boolean): Promise<void> {
  const parking: Parking & { woken: (() => void) | undefined } = {
    woken: undefined,
    park(word, index, expected) {
      access();
      if (word[index] !== expected) return Promise.resolve();
      const woken = new Promise<void>((resolve) => {
        parking.woken = resolve;
      });
      access();
      return woken;
    },
    unpark() {
      parking.woken?.();
    },
  };
  const bell = new Doorbell(createDoorbells(1), 0, parking);
  let accesses = 0;
  let depth = 0;
  let work = false;
  const ring = () => {
    depth++;
    work = true;
    bell.ring();
    depth--;
  };
  const access = () => {
    if (depth === 0 && accesses++ === ringAt) ring();
    else if (depth === 1 && nested) ring();
  };
  const { load, store, exchange } = Atomics;
  const hooked = <A extends unknown[], R>(operation: (...args: A) => R) => {
    return (...args: A): R => {
      access();
      return operation(...args);
    };
  };
  Object.assign(Atomics, { load: hooked(load), store: hooked(store), exchange: hooked(exchange) });
  try {
    const sleep = bell.sleep(() => {
      access();
      return work;
    }, 1e9);
    // A ringer that comes after all of the sleeper's accesses finds it parked.
    if (!work) ring();
    await sleep;
  } finally {
    Object.assign(Atomics, { load, store, exchange });
  }
  assert.ok(work);
}
