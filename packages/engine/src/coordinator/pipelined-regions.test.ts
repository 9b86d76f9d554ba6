/** Which parts of a job fail alone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JobGraph } from '../runtime/index.ts';
import { nameOfRegion, pipelinedRegions } from './pipelined-regions.ts';

/** A graph of so many vertices; `groups`: the alignment groups of sources. */
function graphOf(
  count: number,
  edges: readonly (readonly [number, number])[],
  groups: Readonly<Record<number, string>> = {},
): JobGraph {
  const vertices = Array.from({ length: count }, (_, index) => {
    const isSource = !edges.some(([, target]) => target === index);
    const group = groups[index];
    const watermarks = group === undefined ? undefined : { alignment: { group } };
    return {
      index,
      name: `v${index}`,
      operators: [{ name: `o${index}` }],
      source: isSource ? { watermarks } : undefined,
    };
  });
  return {
    jobName: 'job',
    vertices,
    edges: edges.map(([sourceVertex, targetVertex], index) => ({ index, sourceVertex, targetVertex })),
  } as unknown as JobGraph;
}

const shape = (graph: JobGraph) =>
  pipelinedRegions(graph, 'region').map(({ vertices, edges }) => [
    vertices.map(({ index }) => index),
    edges.map(({ index }) => index),
  ]);

describe('the regions of a job', () => {
  it('are the parts between which nothing passes, in the order of the job', () => {
    const graph = graphOf(6, [
      [0, 3],
      [1, 4],
      [2, 3],
    ]);
    assert.deepEqual(shape(graph), [
      [
        [0, 2, 3],
        [0, 2],
      ],
      [[1, 4], [1]],
      [[5], []],
    ]);
  });

  it('hold sources together that wait for each other by watermark alignment', () => {
    const graph = graphOf(3, [], { 0: 'clicks', 2: 'clicks', 1: 'orders' });
    assert.deepEqual(shape(graph), [
      [[0, 2], []],
      [[1], []],
    ]);
  });

  it('are one with the strategy full', () => {
    const regions = pipelinedRegions(graphOf(3, [[0, 1]]), 'full');
    assert.deepEqual(
      regions.map(({ index, vertices, edges }) => [index, vertices.length, edges.length]),
      [[0, 3, 1]],
    );
  });

  it('are named by their sources, by three of them at most', () => {
    const [region] = pipelinedRegions(
      graphOf(5, [
        [0, 4],
        [1, 4],
        [2, 4],
        [3, 4],
      ]),
      'region',
    );
    assert.equal(nameOfRegion(region!), "the part of 'o0', 'o1', 'o2' and 1 more");
  });

  it('agree with a search from each vertex, for any graph', () => {
    const graphs = fc
      .integer({ min: 1, max: 12 })
      .chain((count) =>
        fc
          .array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 14 })
          .map((pairs) => ({ count, edges: pairs.filter(([a, b]) => a < b) })),
      );
    fc.assert(
      fc.property(graphs, ({ count, edges }) => {
        const regions = pipelinedRegions(graphOf(count, edges), 'region');
        const regionOf = (vertex: number) =>
          regions.findIndex(({ vertices }) => vertices.some(({ index }) => index === vertex));
        for (let from = 0; from < count; from++) {
          const reached = new Set([from]);
          for (const vertex of reached)
            for (const [a, b] of edges) {
              if (a === vertex) reached.add(b);
              if (b === vertex) reached.add(a);
            }
          for (let to = 0; to < count; to++)
            assert.equal(reached.has(to), regionOf(from) === regionOf(to), `${from} and ${to}`);
        }
        assert.equal(regions.flatMap(({ edges: own }) => own).length, edges.length);
        assert.deepEqual(
          regions.map(({ index }) => index),
          regions.map((_, position) => position),
        );
      }),
    );
  });
});
