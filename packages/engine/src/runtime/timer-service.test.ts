import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode, MAX_WATERMARK, MIN_WATERMARK } from '../base/index.ts';
import type { TimerQueue } from '../state/index.ts';
import { InternalTimerService } from './timer-service.ts';

/** A queue without keys: enough to see what the service does with one. */
class SortedTimers implements TimerQueue<string> {
  private timers: { at: number; namespace: string }[] = [];
  polledTimestamp = 0;
  polledNamespace = '';
  readonly lastRestoredTimestamp = Number.NEGATIVE_INFINITY;
  get size(): number {
    return this.timers.length;
  }
  register(at: number, namespace: string): boolean {
    if (this.timers.some((timer) => timer.at === at && timer.namespace === namespace)) return false;
    this.timers.push({ at, namespace });
    this.timers.sort((a, b) => a.at - b.at || (a.namespace < b.namespace ? -1 : 1));
    return true;
  }
  delete(at: number, namespace: string): boolean {
    const before = this.timers.length;
    this.timers = this.timers.filter((timer) => timer.at !== at || timer.namespace !== namespace);
    return this.timers.length < before;
  }
  move(fromAt: number, from: string, toAt: number, to: string): void {
    this.delete(fromAt, from);
    this.register(toAt, to);
  }
  nextTimestamp(): number {
    return this.timers[0]?.at ?? Number.MAX_SAFE_INTEGER + 1;
  }
  poll(upToMs: number): boolean {
    if (this.nextTimestamp() > upToMs) return false;
    const timer = this.timers.shift()!;
    this.polledTimestamp = timer.at;
    this.polledNamespace = timer.namespace;
    return true;
  }
}

function setup(onFire: (service: InternalTimerService<string>, at: number) => void = () => {}) {
  const fired: string[] = [];
  const clock = { nowMs: 0 };
  const record = (kind: string) => (at: number, namespace: string) => {
    fired.push(`${kind} ${at} ${namespace}`);
    onFire(service, at);
  };
  const service = new InternalTimerService<string>({
    eventTimers: new SortedTimers(),
    processingTimers: new SortedTimers(),
    triggerable: { onEventTime: record('event'), onProcessingTime: record('processing') },
    currentKey: () => 'k',
    processingTimeMs: () => clock.nowMs,
  });
  return { service, fired, clock };
}

describe('the timer service', () => {
  it('fires event-time timers up to the watermark, in the order of their timestamps, each once', () => {
    const { service, fired } = setup();
    for (const at of [30, 10, 20, 10]) service.registerEventTimeTimer('w', at);
    ok(service.advanceWatermark(20));
    ok(service.advanceWatermark(20));
    deepStrictEqual(fired, ['event 10 w', 'event 20 w']);
    service.advanceWatermark(MAX_WATERMARK);
    strictEqual(fired.length, 3);
  });

  it('fires a timer that is registered by a timer and is due already in the same advance', () => {
    const { service, fired } = setup((timers, at) => {
      if (at < 40) timers.registerEventTimeTimer('w', at + 10);
    });
    service.registerEventTimeTimer('w', 10);
    service.advanceWatermark(35);
    deepStrictEqual(fired, ['event 10 w', 'event 20 w', 'event 30 w']);
  });

  it('shows the new watermark while timers fire, and never an older one', () => {
    const seen: number[] = [];
    const { service } = setup((timers) => seen.push(timers.currentWatermark()));
    strictEqual(service.currentWatermark(), MIN_WATERMARK);
    service.registerEventTimeTimer('w', 5);
    service.advanceWatermark(9);
    service.advanceWatermark(3);
    deepStrictEqual([...seen, service.currentWatermark()], [9, 9]);
  });

  it('keeps the two kinds of time apart', () => {
    const { service, fired, clock } = setup();
    service.registerProcessingTimeTimer('w', 10);
    service.registerEventTimeTimer('w', 10);
    clock.nowMs = 50;
    strictEqual(service.nextProcessingTime(), 10);
    strictEqual(service.nextEventTime(), 10);
    strictEqual(service.currentProcessingTime(), 50);
    service.advanceProcessingTime(50);
    deepStrictEqual(fired, ['processing 10 w']);
    ok(service.nextProcessingTime() > Number.MAX_SAFE_INTEGER);
  });

  it('does not fire what was deleted', () => {
    const { service, fired } = setup();
    service.registerEventTimeTimer('w', 10);
    service.registerEventTimeTimer('v', 10);
    service.deleteEventTimeTimer('w', 10);
    service.registerProcessingTimeTimer('w', 10);
    service.deleteProcessingTimeTimer('w', 10);
    service.advanceWatermark(10);
    service.advanceProcessingTime(10);
    deepStrictEqual(fired, ['event 10 v']);
  });

  it('advances in slices: false while timers are left, so that a full output can drain in between', () => {
    const { service, fired } = setup();
    for (const at of [1, 2, 3]) service.registerEventTimeTimer('w', at);
    const answers = [service.advanceWatermark(3, 2), service.advanceWatermark(3, 2)];
    deepStrictEqual(answers, [false, true]);
    strictEqual(fired.length, 3);
  });

  it('a processing-time timer that registers itself again for now cannot keep a bounded slice for ever', () => {
    const { service, fired } = setup((timers) => timers.registerProcessingTimeTimer('w', 5));
    service.registerProcessingTimeTimer('w', 5);
    strictEqual(service.advanceProcessingTime(5, 10), false);
    strictEqual(fired.length, 10);
  });

  it('refuses a time that is no integer', () => {
    const { service } = setup();
    for (const at of [1.5, Number.NaN, Number.POSITIVE_INFINITY, '7' as never]) {
      throws(
        () => service.registerEventTimeTimer('w', at),
        (error) => hasCode(error, 'TIMESTAMP_INVALID'),
      );
      throws(
        () => service.deleteProcessingTimeTimer('w', at),
        (error) => hasCode(error, 'TIMESTAMP_INVALID'),
      );
    }
  });
});
