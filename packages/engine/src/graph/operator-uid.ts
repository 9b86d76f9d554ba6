/**
 * The ids by which state is found again: given by the user, or generated from the shape of the graph.
 *
 * A generated uid is a hash over the operator's kind and name and the generated or given uids of what it reads, with the
 * side outputs between; operators that do not differ in that are numbered in the order in which they were added. So it
 * does not depend on other branches, on parallelism or on chaining, and it changes when something is inserted upstream:
 * then the state is not found and the restore is refused, rather than given to an operator that may mean something else.
 * (For the idea: org.apache.flink.streaming.api.graph.StreamGraphHasherV2.)
 */
import type { StreamNode } from './stream-graph.ts';

/** SHA-256 over the UTF-8 bytes of a text, as hex. */
export type TextHash = (text: string) => string;

const UID_HASH_LENGTH = 16;

export interface OperatorUid {
  readonly uid: string;
  readonly isGenerated: boolean;
}

/** The uid of each node, by its index. Deterministic; no two are equal. */
export function operatorUids(nodes: readonly StreamNode[], hash: TextHash): OperatorUid[] {
  const uids: OperatorUid[] = [];
  const taken = new Set(nodes.flatMap(({ uid }) => uid ?? []));
  const seen = new Map<string, number>();
  for (const node of nodes) {
    if (node.uid !== undefined) {
      uids.push({ uid: node.uid, isGenerated: false });
      continue;
    }
    const shape = JSON.stringify([
      node.spec.kind,
      node.name,
      node.spec.inputs.map((streams) => streams.map((s) => [uids[s.node.index]!.uid, s.sideTag ?? null])),
    ]);
    let uid: string;
    do {
      const occurrence = seen.get(shape) ?? 0;
      seen.set(shape, occurrence + 1);
      uid = `${node.spec.kind}-${hash(`${occurrence}:${shape}`).slice(0, UID_HASH_LENGTH)}`;
    } while (taken.has(uid));
    taken.add(uid);
    uids.push({ uid, isGenerated: true });
  }
  return uids;
}
