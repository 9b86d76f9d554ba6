import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Partitioning } from '../exchange/index.ts';
import type { JobEdge, JobVertex } from './job-vertex.ts';
import { overtakableEdges } from './overtakable-edges.ts';

/** `a -hash> b`, in order of the edges; vertices in order of their names. Answers with the edges that are in order. */
function inOrder(...texts: string[]): string[] {
  const parts = texts.map((text) => /^(\w) -(\w+)> (\w)$/.exec(text)!);
  const names = [...new Set(parts.flatMap(([, source, , target]) => [source!, target!]))].sort();
  const edges = parts.map(([, source, partitioning, target], index) => ({
    index,
    sourceVertex: names.indexOf(source!),
    targetVertex: names.indexOf(target!),
    partitioning: partitioning as Partitioning,
  }));
  const vertices = names.map((_, index) => ({ index }));
  const overtakable = overtakableEdges({ vertices: vertices as JobVertex[], edges: edges as JobEdge[] });
  return texts.filter((_, index) => !overtakable[index]);
}

describe('barriers', () => {
  it('overtake where the partitioning lets them', () => {
    assert.deepEqual(inOrder('a -hash> b', 'b -rebalance> c', 'c -global> d', 'd -custom> e'), []);
    assert.deepEqual(inOrder('a -hash> b', 'b -forward> c', 'c -hash> d'), ['b -forward> c']);
    assert.deepEqual(inOrder('a -broadcast> b', 'c -hash> b'), ['a -broadcast> b']);
  });

  it('keep their place on a way around an edge that cannot be overtaken', () => {
    assert.deepEqual(inOrder('a -hash> b', 'b -forward> d', 'b -hash> c', 'c -hash> d'), [
      'b -forward> d',
      'b -hash> c',
    ]);
    assert.deepEqual(inOrder('a -broadcast> d', 'a -hash> b', 'x -hash> b', 'b -hash> c', 'c -hash> d'), [
      'a -broadcast> d',
      'a -hash> b',
      'x -hash> b',
      'b -hash> c',
    ]);
  });

  it('keep it there also if the awaited way has several steps', () => {
    assert.deepEqual(inOrder('a -hash> b', 'b -rescale> d', 'a -hash> c', 'c -hash> d'), [
      'b -rescale> d',
      'a -hash> c',
    ]);
  });

  it('keep it, too, on the ways to a task that waits only because of that', () => {
    // w is on the way around a -forward> t. So it waits for x and z, which both have to wait for q.
    const beside = ['q -hash> x', 'q -hash> z', 'x -hash> w', 'z -hash> w'];
    assert.deepEqual(inOrder(...beside, 'w -hash> v'), []);
    assert.deepEqual(inOrder(...beside, 'a -hash> w', 'a -forward> t', 'w -hash> t'), [
      ...beside,
      'a -hash> w',
      'a -forward> t',
    ]);
  });
});
