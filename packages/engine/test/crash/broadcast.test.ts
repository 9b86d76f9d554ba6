/** The crash suite for broadcast state and all exchanges: processes are killed, tasks fail, and the parallelism changes. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { ORDERS } from './crash-run.ts';
import { crashTests, inline, workers } from './crash-tests.ts';
import { orderOf, paymentsOf } from './orders.ts';

describe('broadcast state', () => {
  crashTests({
    module: 'broadcast-job.ts',
    claim: 'loses and repeats nothing',
    hosts: [inline(3), workers(2), workers(4)],
    seed: 91,
    check(expected) {
      assert.equal(expected.get('orders')!.length, ORDERS);
      const reports = expected
        .get('customers')!
        .map((line) => JSON.parse(line) as { orders: number; payments: number });
      const payments = Array.from({ length: ORDERS }, (_, id) => paymentsOf(orderOf(id)).length);
      const all = payments.reduce((sum, each) => sum + each, 0);
      assert.ok(reports.every((report) => report.payments === all));
      assert.equal(
        reports.reduce((sum, report) => sum + report.orders, 0),
        ORDERS,
      );
    },
  });
});
