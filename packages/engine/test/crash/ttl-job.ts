/**
 * State with time-to-live under crashes: two operators with the same states, of which one remembers for a day, that is for
 * ever, and the other for a millisecond, that is hardly from one order of a customer to the next.
 *
 *     orders ─ by customer ─┬─► remember (1 d)  ─► remember/
 *                           └─► forget   (1 ms) ─► forget/
 */
import { FileSink, type StateTtlOptions, Types } from '@millrace/engine';
import { orders, runToEnd, settings } from './crash-job-frame.ts';
import { RememberOrders } from './ttl-functions.ts';

const sinkTo = (folder: string) => FileSink.forJsonLines(`${settings.directory}/out/${folder}`);
const byCustomer = orders.keyBy((order) => order.customer, Types.STRING);

const long: StateTtlOptions = { ttl: '1 d', updateType: 'OnReadAndWrite', cleanupFullSnapshot: true };
byCustomer
  .process(() => new RememberOrders(long))
  .uid('remember')
  .sinkTo(sinkTo('remember'))
  .uid('remember-sink');

// How much is left of what was forgotten depends on the clock; that the states agree does not.
const short: StateTtlOptions = {
  ttl: '1 ms',
  cleanupIncrementally: { cleanupSize: 50, runCleanupForEveryRecord: true },
};
byCustomer
  .process(() => new RememberOrders(short))
  .uid('forget')
  .map(({ order, agree }) => ({ order, agree }))
  .uid('agree')
  .sinkTo(sinkTo('forget'))
  .uid('forget-sink');

await runToEnd('time-to-live');
