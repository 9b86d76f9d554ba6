import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SimulatedWorld } from '../../../engine/src/testing/simulation/index.ts';
import { Site } from '../world/site.ts';
import { committedOf, firstMissing, firstOutOfOrder } from './committed.ts';

it('readers see what is committed, in the order of the checkpoints', () => {
  const site = new Site(new SimulatedWorld({ seed: 1 }));
  const { transactions } = site.database<string>('results');
  const add = (id: string, checkpointId: number, state: 'committed' | 'prepared' | 'aborted'): void =>
    void transactions.set(id, { id, lineageId: 'l', subtask: 0, values: [id], checkpointId, state });
  add('b', 2, 'committed');
  add('lost', 1, 'aborted');
  add('a', 1, 'committed');
  add('pending', 3, 'prepared');
  assert.deepEqual(committedOf(site, 'results'), ['a', 'b']);
});

it('numbers of a key that do not rise are out of order', () => {
  const first = (numbers: readonly [string, number][]): string | undefined =>
    firstOutOfOrder(
      numbers,
      ([key]) => key,
      ([, number]) => number,
    );
  assert.equal(
    first([
      ['a', 1],
      ['b', 1],
      ['a', 2],
    ]),
    undefined,
  );
  assert.match(
    first([
      ['a', 2],
      ['b', 1],
      ['a', 2],
    ]) ?? '',
    /2 of a came after 2/,
  );
});

it('at least once bears what comes again and misses what does not come', () => {
  assert.equal(firstMissing(['a', 'b', 'a'], ['a', 'b']), undefined);
  assert.match(firstMissing(['a', 'a'], ['a', 'b']) ?? '', /^b: 0/);
});
