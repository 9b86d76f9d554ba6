/** A process that runs seeds for `npm run sim`, one order after the other. */
import { Coverage, findBug, type RunResult, runSeed, runTwice } from '../../packages/sim/src/index.ts';
import type { Answer, Order } from './worker-messages.ts';

process.on('message', async (order: Order) => {
  const answer = order.type === 'bug' ? await searchBug(order.name) : await runSeeds(order);
  process.send!(answer);
});
process.on('disconnect', () => process.exit());

async function searchBug(name: string): Promise<Answer> {
  return { type: 'bug', search: await findBug(name) };
}

async function runSeeds({
  first,
  count,
  workload,
  twiceEvery,
}: Extract<Order, { type: 'seeds' }>): Promise<Answer> {
  const coverage = new Coverage();
  let ran = 0;
  let events = 0;
  let lives = 0;
  let found: RunResult | undefined;
  for (let seed = first; seed < first + count && found === undefined; seed++) {
    const isTwice = twiceEvery > 0 && seed % twiceEvery === 0;
    const result = await (isTwice ? runTwice : runSeed)(seed, { workload });
    ran++;
    events += result.events;
    lives += result.lives;
    coverage.addAll(result.coverage);
    for (const [name, value] of Object.entries(result.features)) {
      if (name !== 'strikes') coverage.add('features', `${name} = ${value}`);
    }
    if (result.finding !== undefined) found = result;
  }
  return { type: 'seeds', ran, events, lives, coverage: coverage.toData(), found };
}
