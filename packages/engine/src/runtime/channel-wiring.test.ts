/** How much memory the channels of a job get. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allocateChannels } from './channel-wiring.ts';
import type { JobEdge, JobGraph, JobVertex } from './job-vertex.ts';

const PARALLELISM = 10;

/** So many parts of two vertices that exchange records all to all. */
function parts(count: number): JobGraph {
  const vertices = Array.from({ length: 2 * count }, (_, index) => ({ index, parallelism: PARALLELISM }));
  const edges = Array.from({ length: count }, (_, index) => ({
    ...{ index, sourceVertex: 2 * index, targetVertex: 2 * index + 1, partitioning: 'rebalance' },
  }));
  return {
    ...{ jobName: 'job', planHash: '' },
    vertices: vertices as unknown as JobVertex[],
    edges: edges as unknown as JobEdge[],
  };
}

test('parts of a job that get their channels one by one share the memory of one job', () => {
  const graph = parts(10);
  const whole = [...allocateChannels(graph, 1).rings.values()][0]!.layout;
  for (const edge of graph.edges) {
    const { rings } = allocateChannels(graph, 1, undefined, [edge]);
    assert.equal(rings.size, PARALLELISM ** 2);
    assert.deepEqual([...rings.values()][0]!.layout, whole);
  }
  const alone = [...allocateChannels(parts(1), 1).rings.values()][0]!.layout;
  assert.ok(alone.segmentBytes > whole.segmentBytes);
});
