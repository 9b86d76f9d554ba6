import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Comparison, type Contender, compare, timesBetter } from './comparison.ts';

function comparison(contenders: readonly Contender[]): Comparison {
  return { section: 's', name: 'n', quantities: [{ name: 'speed', isBetter: 'higher' }], contenders };
}

it('contenders take turns, are open meanwhile, and their medians count', async () => {
  const log: string[] = [];
  const contender = (name: string, speeds: number[]): Contender => ({
    name,
    open: async () => void log.push(`open ${name}`),
    measure: () => {
      log.push(name);
      return { speed: speeds.shift()! };
    },
    close: () => void log.push(`close ${name}`),
  });
  const measured = await compare(comparison([contender('a', [1, 9, 2]), contender('b', [5, 4, 7])]), 3);
  assert.deepEqual(measured, [
    { contender: 'a', figures: { speed: 2 } },
    { contender: 'b', figures: { speed: 5 } },
  ]);
  assert.deepEqual(log, ['open a', 'open b', 'a', 'b', 'a', 'b', 'a', 'b', 'close a', 'close b']);
});

it('what was opened is closed when a contender fails', async () => {
  const closed: string[] = [];
  const close = (name: string) => (): void => void closed.push(name);
  const wrong: Contender = {
    name: 'wrong',
    measure: () => Promise.reject(new Error('wrong result')),
    close: close('wrong'),
  };
  const broken: Contender = {
    name: 'broken',
    open: () => Promise.reject(new Error('does not start')),
    measure: () => ({}),
    close: close('broken'),
  };
  await assert.rejects(compare(comparison([wrong]), 1), /wrong result/);
  await assert.rejects(compare(comparison([wrong, broken, wrong]), 1), /does not start/);
  assert.deepEqual(closed, ['wrong', 'wrong', 'broken']);
});

it('a speed or a cost below zero is no figure, a cost of zero is one', async () => {
  const quantities = [
    { name: 'speed', isBetter: 'higher' },
    { name: 'cost', isBetter: 'lower' },
  ] as const;
  const measured = (speed: number, cost: number) =>
    compare({ ...comparison([{ name: 'noisy', measure: () => ({ speed, cost }) }]), quantities }, 1);
  await assert.rejects(measured(-5, 1), /noisy: -5 speed: too few/);
  await assert.rejects(measured(0, 1), /noisy: 0 speed: too few/);
  await assert.rejects(measured(5, -1), /noisy: -1 cost: too few/);
  assert.deepEqual((await measured(5, 0))[0]!.figures, { speed: 5, cost: 0 });
});

it('lower is better of what is to be low', () => {
  assert.equal(timesBetter({ name: 'speed', isBetter: 'higher' }, 10, 4), 2.5);
  assert.equal(timesBetter({ name: 'cost', isBetter: 'lower' }, 4, 10), 2.5);
});
