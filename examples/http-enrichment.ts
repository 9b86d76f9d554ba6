/**
 * Orders with the city of their customer, asked of an HTTP service: several requests at a time, repeated when they fail, given
 * up when they take too long. Results come in the order of the orders.
 *
 *     node examples/http-enrichment.ts
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamExecutionEnvironment, Types } from 'millrace';

const orderType = Types.ROW({ id: Types.LONG, customer: Types.STRING });
const deliveryType = Types.ROW({ id: Types.LONG, city: Types.STRING, attempts: Types.INT });

/** The service, here in the same process so that the example needs no network. Yours is somewhere else. */
const cities: Readonly<Record<string, string>> = { ada: 'London', grace: 'New York', edsger: 'Rotterdam' };
let failures = 1;
const server = createServer((request, response) => {
  const customer = request.url!.slice('/customers/'.length);
  // It fails once, and never answers what it is asked about kurt.
  if (customer === 'edsger' && failures-- > 0) response.writeHead(503).end();
  else if (customer !== 'kurt') response.end(JSON.stringify({ city: cities[customer] }));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const service = `http://127.0.0.1:${(server.address() as AddressInfo).port}/customers`;

const env = StreamExecutionEnvironment.getExecutionEnvironment();
env.enableCheckpointing(1000);

const customers = ['ada', 'grace', 'edsger', 'kurt', 'grace', 'ada', 'edsger', 'grace', 'ada', 'edsger'];

env
  .fromCollection(
    customers.map((customer, i) => ({ id: i + 1, customer })),
    orderType,
  )
  .uid('orders')
  .mapAsync(
    async (order, { signal, attempt }) => {
      // The signal ends the request when it took too long, or when the job is cancelled.
      const response = await fetch(`${service}/${order.customer}`, { signal });
      if (!response.ok) throw new Error(`customer service: status ${response.status}`);
      const { city } = (await response.json()) as { city: string };
      return { id: order.id, city, attempts: attempt };
    },
    {
      // Orders that are on their way at a time; those behind them wait, and so does the source.
      capacity: 4,
      // All attempts together. Without onTimeout the job would fail.
      timeout: '2 s',
      onTimeout: (order, { attempt }) => ({ id: order.id, city: 'unknown', attempts: attempt }),
      // Up to 5 repetitions, after 50 ms, 100 ms, 200 ms, …; what fails then too, fails the job.
      retry: { attempts: 5, delay: '50 ms', multiplier: 2, maxDelay: '1 s' },
      type: deliveryType,
    },
  )
  // Requests that were not answered when a checkpoint was taken are part of it, and are made again after a restart.
  .uid('city')
  .map(({ id, city, attempts }) => `order ${id} to ${city}${attempts > 1 ? `, ${attempts} attempts` : ''}`)
  .print();

try {
  await env.execute('http enrichment');
} finally {
  server.closeAllConnections();
  server.close();
}
