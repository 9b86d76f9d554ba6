/**
 * Which edges of a job barriers may overtake. Pure; the wiring of channels asks, so that both ends of an edge agree.
 *
 * An edge that cannot be overtaken (its partitioning) makes its receiver wait, and keep channels closed whose barrier has come.
 * Should that barrier have overtaken records that come from where the awaited one comes from, both wait for each other:
 *
 *                    ┌── forward ────────────────────┐
 *     a ──► b (of two subtasks)                      ▼
 *                    └── hash ──► c ── hash ──────► d      d waits for the barrier of b.0, and has closed c
 *                                                          c takes no more records of b.0: its output is full
 *                                                          b.0 waits for room towards c, its barrier behind its records
 *
 * c was allowed to send its barrier because b.1 had. It may not: where two ways part and meet again, and one of them ends with
 * an edge that cannot be overtaken, the tasks on the other wait for all barriers, in order, as in an aligned checkpoint.
 *
 * Invariant: a barrier that arrives by a way around an edge that cannot be overtaken has been sent into that edge, too.
 */
import { overtakes } from '../exchange/index.ts';
import type { JobEdge, JobGraph } from './job-vertex.ts';

/** By index of the edge: true if barriers may overtake its records. */
export function overtakableEdges({ vertices, edges }: Pick<JobGraph, 'vertices' | 'edges'>): boolean[] {
  const overtakable = edges.map(({ partitioning }) => overtakes(partitioning));
  const into = vertices.map((_, vertex) => edges.filter(({ targetVertex }) => targetVertex === vertex));
  const above = vertices.map((_, vertex) =>
    closure(vertex, (at) => into[at]!.map((edge) => edge.sourceVertex)),
  );
  /** How many edges have become ordered. They may make others so. */
  const order = (inputs: readonly JobEdge[]): number => {
    const around = inputs
      .filter(({ index }) => !overtakable[index])
      .flatMap((awaited) =>
        inputs.filter((other) => other !== awaited).map((other) => [awaited, other] as const),
      )
      .flatMap(([awaited, other]) => detour(above[awaited.sourceVertex]!, above[other.sourceVertex]!, above))
      .flatMap((vertex) => into[vertex]!)
      .filter(({ index }) => overtakable[index]);
    for (const { index } of around) overtakable[index] = false;
    return around.length;
  };
  while (into.map(order).some((count) => count > 0));
  return overtakable;
}

/** What lies on the way of `others` below something that is on the awaited way, too. */
function detour(
  awaited: ReadonlySet<number>,
  others: ReadonlySet<number>,
  above: readonly ReadonlySet<number>[],
): number[] {
  return [...others].filter(
    (vertex) => !awaited.has(vertex) && [...above[vertex]!].some((at) => awaited.has(at)),
  );
}

/** What is reached from `vertex`, itself included. */
function closure(vertex: number, next: (vertex: number) => readonly number[]): Set<number> {
  const reached = new Set([vertex]);
  for (const at of reached) for (const following of next(at)) reached.add(following);
  return reached;
}
