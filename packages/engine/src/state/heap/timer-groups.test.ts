import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TimerGroups } from './timer-groups.ts';

interface Timer {
  readonly group: number;
  timestamp: number;
  readonly hash: number;
  readonly row: number;
}

const GROUPS = 5;

const anyStep = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      group: fc.nat(GROUPS - 1),
      timestamp: fc.integer({ min: -3, max: 3 }),
      hash: fc.nat(2),
    }),
  },
  { weight: 3, arbitrary: fc.constant('pop' as const) },
  { weight: 1, arbitrary: fc.record({ postponeMs: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ filter: fc.nat(GROUPS - 1), every: fc.integer({ min: 1, max: 3 }) }) },
);

const byOrder = (a: Timer, b: Timer) =>
  a.timestamp - b.timestamp || a.group - b.group || a.hash - b.hash || a.row - b.row;

test('timers come by timestamp, then key group, then hash, through whatever is done in between', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 200 }), fc.nat(60), (steps, appended) => {
      const groups = new TimerGroups(GROUPS, (a, b) => a - b);
      let model: Timer[] = [];
      let row = 0;
      let isOrdered = false;
      const check = (): void => {
        model.sort(byOrder);
        assert.equal(groups.size, model.length);
        const [first] = model;
        if (first === undefined) return;
        const found = [groups.firstTimestamp, groups.firstGroup, groups.firstRow];
        assert.deepEqual(found, [first.timestamp, first.group, first.row]);
      };
      for (const step of steps) {
        if (typeof step === 'object' && 'group' in step) {
          const timer = { ...step, row: ++row };
          model.push(timer);
          const { group, timestamp, hash } = timer;
          if (row <= appended) groups.append(group, timestamp, hash, row);
          else {
            if (!isOrdered) groups.heapify();
            isOrdered = true;
            groups.push(group, timestamp, hash, row);
          }
        }
        if (!isOrdered) continue;
        if (step === 'pop' && model.length > 0) {
          model.shift();
          groups.pop();
        } else if (typeof step === 'object' && 'postponeMs' in step && model.length > 0) {
          model[0]!.timestamp += step.postponeMs;
          groups.postponeFirst(model[0]!.timestamp, model[0]!.hash);
        } else if (typeof step === 'object' && 'filter' in step) {
          const keeps = (each: number) => each % step.every === 0;
          groups.filter(step.filter, keeps);
          model = model.filter((timer) => timer.group !== step.filter || keeps(timer.row));
        }
        check();
      }
      if (!isOrdered) groups.heapify();
      for (check(); model.length > 0; check()) {
        model.shift();
        groups.pop();
      }
    }),
  );
});
