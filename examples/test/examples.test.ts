/** Each example prints what it should; those that write files do so exactly once, however they are killed. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { EXAMPLES, type ExampleEnd, ExampleSite } from './example-process.ts';

/** Records a second while an example is to be killed: some seconds for all of them. */
const SLOW = '40';
const FAST = '2000';

const MINUTE_MS = 60_000;

const tested = new Set<string>();

/** A test of one example, in a directory of its own. */
function example(name: string, what: string, test: (site: ExampleSite) => Promise<void>): void {
  tested.add(name);
  it(`${name} ${what}`, async () => {
    const site = new ExampleSite(name);
    try {
      await test(site);
    } finally {
      site.remove();
    }
  });
}

/** Runs the example to its end and gives the lines that it printed. */
async function printedBy(site: ExampleSite, ...parameters: readonly string[]): Promise<readonly string[]> {
  const end = await site.run(parameters);
  assert.equal(end.exitCode, 0, end.log);
  return end.printed;
}

/** Kills the example once `killWhen`, and gives what it had printed by then. */
async function killedRun(
  site: ExampleSite,
  parameters: readonly string[],
  killWhen: () => boolean,
): Promise<ExampleEnd> {
  const end = await site.run(parameters, killWhen);
  assert.equal(end.signal, 'SIGKILL', `it ended before it was killed: ${end.log}`);
  return end;
}

/** Runs it to its end after it was killed: it must have gone on from a checkpoint. */
async function secondRun(site: ExampleSite, parameters: readonly string[]): Promise<ExampleEnd> {
  const end = await site.run(parameters);
  assert.equal(end.exitCode, 0, end.log);
  assert.match(end.log, /chk-\d+: used/);
  return end;
}

describe('the example', () => {
  example('word-count', 'counts the words of a text', async (site) => {
    const text = readFileSync(join(EXAMPLES, 'data/rhyme.txt'), 'utf8').toLowerCase();
    const counts = new Map<string, number>();
    const expected = text
      .split(/[\s.,?]+/)
      .filter((word) => word !== '')
      .map((word) => {
        counts.set(word, (counts.get(word) ?? 0) + 1);
        return `${word} ${counts.get(word)}`;
      });
    assert.equal(counts.get('peck'), 4);
    assert.deepEqual(await printedBy(site), expected);
  });

  example('click-sessions', 'tells sessions from late clicks', async (site) => {
    assert.deepEqual(await printedBy(site), [
      'session> ada from 10:00:00 to 10:19:20: / > /shoes > /shoes/7 > /cart',
      'session> bob from 10:03:00 to 10:20:00: / > /hats/3 > /hats',
      'session> cleo from 10:20:00 to 10:31:40: /hats/3 > /cart',
      'late> {"user":"ada","page":"/checkout","at":2026-03-01T10:08:00.000Z}',
      'session> cleo from 10:39:00 to 10:49:00: /checkout',
      'session> ada from 10:40:00 to 10:51:15: / > /shoes/7',
      'session> bob from 11:30:00 to 11:40:00: /',
    ]);
  });

  example('broadcast-enrichment', 'names the product of each order, in any order', async (site) => {
    assert.deepEqual((await printedBy(site)).toSorted(), [
      'order 1: 2 × teapot, 49.00 €',
      'order 2: 1 × kettle, 39.00 €',
      'order 3: 5 × cup, 39.75 €',
    ]);
  });

  example('rate-limit', 'refuses what is too much', async (site) => {
    assert.deepEqual(await printedBy(site), [
      'allowed> ada /search',
      'allowed> bot /login',
      'allowed> bot /login',
      'allowed> bot /login',
      'allowed> ada /item/3',
      'refused> bot /login: more than 3 requests',
      'refused> bot /login: more than 3 requests',
      'allowed> ada /item/4',
      'allowed> ada /item/5',
      'allowed> bot /login',
      'allowed> bot /login',
      'allowed> bot /login',
      'refused> bot /login: more than 3 requests',
      'refused> bot /login: shut out',
      'allowed> ada /cart',
    ]);
  });

  example('top-n', 'finds the best of each hour', async (site) => {
    const products = ['tea', 'coffee', 'cocoa', 'milk', 'juice', 'water'];
    const expected = [10, 11, 12].map((hour, h) => {
      const sales = new Map(products.map((product) => [product, 0]));
      for (let n = h * 3600; n < (h + 1) * 3600; n++) {
        const product = products[((n * n) % 97) % products.length]!;
        sales.set(product, sales.get(product)! + 1);
      }
      const best = [...sales].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, 3);
      return `2026-03-01T${hour}:00 ${best.map(([product, count], i) => `${i + 1}. ${product} ${count}`).join(', ')}`;
    });
    assert.deepEqual(await printedBy(site), expected);
  });

  example('http-enrichment', 'bears failures and silence of the service', async (site) => {
    assert.deepEqual(await printedBy(site), [
      'order 1 to London',
      'order 2 to New York',
      'order 3 to Rotterdam, 2 attempts',
      'order 4 to unknown',
      'order 5 to New York',
      'order 6 to London',
      'order 7 to Rotterdam',
      'order 8 to New York',
      'order 9 to London',
      'order 10 to Rotterdam',
    ]);
  });

  example('latest-rows', 'prints the table', async (site) => {
    const printed = await printedBy(site);
    assert.deepEqual(printed.toSorted(), [
      '{"id":2,"name":"Grace","city":"Arlington"}',
      '{"id":3,"name":"Edsger","city":"Austin"}',
      '{"id":4,"name":"Kurt","city":"Princeton"}',
      '{"id":5,"name":"Barbara","city":"Boston"}',
    ]);
    assert.deepEqual(site.lines('table'), printed.toSorted());
  });
});

describe('the example', () => {
  example('crash-test', 'finds nothing in the right job, and the mistake in the wrong one', async (site) => {
    const [line, ...rest] = await printedBy(site);
    assert.match(line!, /^The totals are right after \d{3} kills in \d{3} runs\.$/);
    assert.deepEqual(rest, []);
    const wrong = await site.run(['wrong']);
    assert.notEqual(wrong.exitCode, 0);
    assert.match(wrong.log, /The job does not survive a crash: .*\n {2}killed before /);
    assert.match(wrong.log, /Typical causes:\n {2}- state that is kept in a field of the function/);
  });
});

describe('the example, killed and started again,', () => {
  example('running-totals', 'writes each total once, and nothing more when it is over', async (site) => {
    const customers = ['Ada', 'Grace', 'Edsger'];
    const totals = new Map(customers.map((customer) => [customer, { orders: 0, cents: 0 }]));
    const expected = Array.from({ length: 100 }, (_, order) => {
      const customer = customers[order % 3]!;
      const { orders, cents } = totals.get(customer)!;
      const total = { orders: orders + 1, cents: cents + 100 + ((order * 37) % 900) };
      totals.set(customer, total);
      return { order, customer, ...total };
    });
    const lines = expected.map((total) => JSON.stringify(total)).sort();
    const first = await killedRun(site, [SLOW], () => site.lines('totals').length > 20);
    const found = site.lines('totals').length;
    assert.ok(found < lines.length, `${found} lines before the kill`);
    const second = await secondRun(site, [FAST]);
    assert.deepEqual(site.lines('totals'), lines);
    assert.deepEqual(
      new Set([...first.printed, ...second.printed]),
      new Set(expected.map((t) => `${t.customer}: ${t.orders} orders, ${(t.cents / 100).toFixed(2)} €`)),
    );
    assert.deepEqual((await secondRun(site, [FAST])).printed, []);
    assert.deepEqual(site.lines('totals'), lines);
  });

  example('deduplicate', 'lets each event through once', async (site) => {
    const originals = Array.from({ length: 100 }, (_, n) => n).filter((n) => n % 4 !== 3);
    const lines = originals
      .map((n) => JSON.stringify({ id: `e${n}`, sensor: `s${n % 5}`, celsius: 15 + (n % 10) / 2 }))
      .sort();
    const first = await killedRun(site, [SLOW], () => site.lines('events').length > 20);
    assert.ok(site.lines('events').length < lines.length);
    const second = await secondRun(site, [FAST]);
    assert.deepEqual(site.lines('events'), lines);
    assert.deepEqual([...new Set([...first.printed, ...second.printed])].sort(), lines);
  });

  example('order-payments', 'joins or sets aside each payment once', async (site) => {
    const late = [5, 8];
    const orders = Array.from({ length: 60 }, (_, i) => i + 1).filter((id) => !late.includes(id));
    const paid = orders.map((order) => JSON.stringify(paidOrder(order))).sort();
    const lateLines = late
      .map((id) => JSON.stringify({ kind: 'payment', id, at: paidAt(id), cents: 500 + id * 10 }))
      .sort();
    // Watermarks are no state: after a restart the first record is never late. So the late ones come before the kill.
    await killedRun(site, [SLOW], () => site.lines('paid').length > 20);
    assert.ok(site.lines('paid').length < paid.length);
    assert.deepEqual(site.lines('late'), lateLines);
    await secondRun(site, [FAST]);
    assert.deepEqual(site.lines('paid'), paid);
    assert.deepEqual(site.lines('late'), lateLines);
  });

  example('latest-rows', 'writes the latest row of each key', async (site) => {
    const rows = new Map<number, object>();
    const changes = join(site.directory, 'changes');
    mkdirSync(changes);
    for (let file = 0, lsn = 1; file < 4; file++) {
      const lines: string[] = [];
      for (; lines.length < 100_000; lsn++) {
        const id = (lsn * 7919) % 50;
        const row = { id, name: `customer ${id}`, city: `city ${lsn}` };
        const isDelete = lsn % 97 === 0;
        lines.push(JSON.stringify(isDelete ? { op: 'd', lsn, before: row } : { op: 'c', lsn, after: row }));
        if (isDelete) rows.delete(id);
        else rows.set(id, row);
      }
      writeFileSync(join(changes, `${file}.jsonl`), `${lines.join('\n')}\n`);
    }
    const expected = [...rows.values()].map((row) => JSON.stringify(row)).sort();
    await killedRun(site, [changes], () => site.checkpoints().some((id) => id > 1));
    assert.deepEqual(site.lines('table'), [], 'killed in the middle');
    const { printed } = await secondRun(site, [changes]);
    assert.deepEqual(site.lines('table'), expected);
    assert.deepEqual(printed.toSorted(), expected);
  });
});

describe('all examples', () => {
  it('are tested here and listed in the README', () => {
    const names = readdirSync(EXAMPLES)
      .filter((file) => file.endsWith('.ts'))
      .map((file) => file.slice(0, -'.ts'.length))
      .sort();
    assert.equal(names.length, 11);
    assert.deepEqual([...tested].sort(), names);
    const readme = readFileSync(join(EXAMPLES, 'README.md'), 'utf8');
    const listed = [...readme.matchAll(/^\| \[([\w-]+)\.ts\]\(\1\.ts\) \|.*`npx node examples\/\1\.ts/gm)];
    assert.deepEqual(listed.map(([, name]) => name!).sort(), names);
  });
});

function orderedAt(id: number): number {
  return Date.UTC(2026, 2, 1, 10) + id * MINUTE_MS;
}

function paidAt(id: number): number {
  return orderedAt(id) + (1 + (id % 4)) * MINUTE_MS;
}

function paidOrder(order: number): object {
  const minutes = (paidAt(order) - orderedAt(order)) / MINUTE_MS;
  return { order, cents: 500 + order * 10, minutes };
}
