import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nearestName } from './nearest-name.ts';

describe('the nearest name', () => {
  it('is the one with the fewest differences', () => {
    assert.equal(nearestName('cuont', ['map', 'count', 'counter']), 'count');
    assert.equal(nearestName('Running-Total', ['running-total', 'runs']), 'running-total');
  });

  it('is none if nothing is near', () => {
    assert.equal(nearestName('totals', ['source', 'window']), undefined);
    assert.equal(nearestName('x', []), undefined);
  });
});
