import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { EventQueue, type SimulatedEvent } from './event-queue.ts';

function event(timeMs: number, dueMs: number, order: number): SimulatedEvent {
  return { timeMs, dueMs, order, thread: undefined, kind: 'timer', detail: '', action: () => {}, index: -1 };
}

function byTime(a: SimulatedEvent, b: SimulatedEvent): number {
  return a.timeMs - b.timeMs || a.dueMs - b.dueMs || a.order - b.order;
}

it('gives events by time, then by when they were due, then by order, whatever was pushed and cancelled before', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(5), fc.nat(2), fc.nat(9)), { maxLength: 60 }), (steps) => {
      const queue = new EventQueue();
      let model: SimulatedEvent[] = [];
      for (const [order, [timeMs, waited, choice]] of steps.entries()) {
        if (choice < 6) {
          const pushed = event(timeMs, timeMs - waited, order);
          queue.push(pushed);
          model.push(pushed);
        } else if (choice < 8) {
          const victim = model[timeMs];
          if (victim === undefined) continue;
          assert.ok(queue.remove(victim));
          assert.ok(!queue.remove(victim), 'it has left already');
          model = model.filter((each) => each !== victim);
        } else {
          model.sort(byTime);
          assert.equal(queue.pop(), model.shift());
        }
        assert.equal(queue.size, model.length);
      }
      model.sort(byTime);
      for (const expected of model) assert.equal(queue.pop(), expected);
      assert.equal(queue.pop(), undefined);
    }),
  );
});
