/**
 * Cuts a job into the parts that fail and restart alone. Pure; asked by the JobMaster once.
 *
 * A region is a connected component of the job graph: vertices that exchange records, directly or through others, and the
 * sources of one watermark alignment group, which wait for each other. Between two regions nothing passes, so one of them may
 * go back to the last checkpoint while the other goes on: no record is in both.
 *
 * Invariants:
 * I1 Each vertex, and with it each edge, is in exactly one region.
 * I2 Regions are in the order of their first vertex, vertices within them in the job's (topological) order.
 *
 * (org.apache.flink.runtime.executiongraph.failover.RestartPipelinedRegionFailoverStrategy. Flink's regions consist of
 * subtasks; ours of vertices, because the subtasks of a source have one enumerator.)
 */
import type { JobEdge, JobGraph, JobVertex } from '../runtime/index.ts';

/** What a failure restarts (`jobmanager.execution.failover-strategy`). */
export type FailoverStrategy = 'region' | 'full';

/** A part of a job that is restarted as a whole. */
export interface PipelinedRegion {
  /** Position in the job's list. */
  readonly index: number;
  readonly vertices: readonly JobVertex[];
  readonly edges: readonly JobEdge[];
}

/** The regions of a job; one of everything with the strategy `full`. */
export function pipelinedRegions(graph: JobGraph, strategy: FailoverStrategy): PipelinedRegion[] {
  if (strategy === 'full') return [{ index: 0, vertices: graph.vertices, edges: graph.edges }];
  const regionOf = connectedComponents(graph);
  const roots = [...new Set(regionOf)];
  return roots.map((root, index) => ({
    index,
    vertices: graph.vertices.filter((vertex) => regionOf[vertex.index] === root),
    edges: graph.edges.filter((edge) => regionOf[edge.sourceVertex] === root),
  }));
}

/** For each vertex the first vertex of its component. */
function connectedComponents({ vertices, edges }: JobGraph): number[] {
  const parent = vertices.map(({ index }) => index);
  const rootOf = (index: number): number => {
    let root = index;
    while (parent[root] !== root) root = parent[root]!;
    // The next search for it is short.
    parent[index] = root;
    return root;
  };
  const join = (a: number, b: number): void => {
    const [first, second] = [rootOf(a), rootOf(b)];
    parent[Math.max(first, second)] = Math.min(first, second);
  };
  for (const { sourceVertex, targetVertex } of edges) join(sourceVertex, targetVertex);
  const firstOfGroup = new Map<string, number>();
  for (const { index, source } of vertices) {
    const group = source?.watermarks?.alignment?.group;
    if (group === undefined) continue;
    const first = firstOfGroup.get(group);
    if (first === undefined) firstOfGroup.set(group, index);
    else join(first, index);
  }
  return vertices.map(({ index }) => rootOf(index));
}

/** A region for people: by its sources, of which it has at least one. */
export function nameOfRegion({ vertices }: PipelinedRegion): string {
  const sources = vertices.filter(({ source }) => source !== undefined);
  const names = sources.slice(0, NAMES_MAX).map(({ operators }) => `'${operators[0]!.name}'`);
  const more = sources.length > NAMES_MAX ? ` and ${sources.length - NAMES_MAX} more` : '';
  return `the part of ${names.join(', ')}${more}`;
}

const NAMES_MAX = 3;
