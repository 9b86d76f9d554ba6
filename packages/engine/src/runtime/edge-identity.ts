/**
 * Names the edges of a job by what stays when the job changes: the uids of the operators at their ends. Data in flight is
 * saved and found again by these names. Pure; asked by the wiring of a job and by whoever restores one.
 */
import type { EdgeIdentity } from '../checkpoint/index.ts';
import type { JobGraph, JobVertex } from './job-vertex.ts';

/** The identities of the edges between vertices, by `JobEdge.index`. */
export function edgeIdentities({ vertices, edges }: JobGraph): readonly EdgeIdentity[] {
  const counts = new Map<string, number>();
  return edges.map(({ sourceVertex, sourceOperator, sideTag, targetVertex, targetInput: input }) => {
    const sourceUid = vertices[sourceVertex]!.operators[sourceOperator]!.uid;
    const targetUid = vertices[targetVertex]!.operators[0]!.uid;
    const key = JSON.stringify([sourceUid, sideTag ?? null, targetUid, input]);
    const ordinal = counts.get(key) ?? 0;
    counts.set(key, ordinal + 1);
    return { sourceUid, sideTag, targetUid, input, ordinal };
  });
}

/** The identity of the edge inside a chain that feeds one of its operators, which must not be the head. */
export function chainedEdgeIdentity({ operators }: JobVertex, operator: number): EdgeIdentity {
  const { uid: targetUid, parent, parentSideTag: sideTag } = operators[operator]!;
  return { sourceUid: operators[parent]!.uid, sideTag, targetUid, input: 0, ordinal: 0 };
}
