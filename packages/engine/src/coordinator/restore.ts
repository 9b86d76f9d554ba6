/**
 * Makes what an attempt begins with out of a snapshot: checks that the job fits, gives each subtask its state, decodes what
 * belongs to enumerators. No I/O: hashes were checked when the snapshot was opened, tasks read the bytes.
 */

import type { Logger } from '../base/index.ts';
import {
  assertRestorable,
  assignInFlight,
  assignState,
  type CompletedSnapshot,
  checkRestore,
  droppedStateLines,
  type EdgeDescription,
  edgeKey,
  type OperatorDescription,
  type RestoreOptions,
} from '../checkpoint/index.ts';
import {
  chainedEdgeIdentity,
  chainedValueType,
  edgeIdentities,
  type InFlightRestore,
  type JobGraph,
  type SubtaskRestore,
} from '../runtime/index.ts';
import {
  createSerializer,
  decodeFromBytes,
  type TypeDescription,
  type TypeInformation,
} from '../types/index.ts';
import type { RestoredExecution } from './execution-attempt.ts';

/** The operators of a job as manifests and restore checks describe them. */
export function describeOperators(graph: JobGraph): OperatorDescription[] {
  return graph.vertices.flatMap((vertex) =>
    vertex.operators.map((operator) => ({
      uid: operator.uid,
      uidIsGenerated: operator.uidIsGenerated,
      name: operator.name,
      kind: operator.kind,
      vertexIndex: vertex.index,
      parallelism: vertex.parallelism,
      maxParallelism: vertex.maxParallelism,
      key: operator.keyed === undefined ? undefined : descriptionOf(operator.keyed.type),
    })),
  );
}

/** A stream between two operators of a job, and where its records enter. */
interface JobStream extends EdgeDescription {
  readonly targetVertex: number;
  /** Where data in flight of it is restored to. */
  readonly entrance: Pick<InFlightRestore, 'edgeIndex' | 'operator' | 'input'>;
}

/** The streams between the operators of a job, those within chains included, as manifests and restore checks describe them. */
export function describeEdges(graph: JobGraph): EdgeDescription[] {
  return streamsOfJob(graph);
}

/**
 * Whether two operators form one chain depends on their parallelism: what is an exchange in one run may be a call in the
 * next. A call is described as `forward`, which it is.
 */
function streamsOfJob(graph: JobGraph): JobStream[] {
  const identities = edgeIdentities(graph);
  const exchanges = graph.edges.map((edge): JobStream => {
    const source = graph.vertices[edge.sourceVertex]!;
    const target = graph.vertices[edge.targetVertex]!;
    return {
      identity: identities[edge.index]!,
      partitioning: edge.partitioning,
      type: descriptionOf(edge.valueType),
      key: edge.partitioning === 'hash' ? descriptionOf(edge.key?.type) : undefined,
      senders: source.parallelism,
      receivers: target.parallelism,
      maxParallelism: target.maxParallelism,
      targetVertex: target.index,
      entrance: { edgeIndex: edge.index, operator: 0, input: edge.targetInput },
    };
  });
  const calls = graph.vertices.flatMap((vertex) =>
    vertex.operators.flatMap(({ parent }, operator): JobStream[] => {
      if (parent < 0) return [];
      return [
        {
          identity: chainedEdgeIdentity(vertex, operator),
          partitioning: 'forward',
          type: descriptionOf(chainedValueType(vertex, operator)),
          key: undefined,
          senders: vertex.parallelism,
          receivers: vertex.parallelism,
          maxParallelism: vertex.maxParallelism,
          targetVertex: vertex.index,
          entrance: { edgeIndex: undefined, operator, input: 0 },
        },
      ];
    }),
  );
  return [...exchanges, ...calls];
}

function descriptionOf(type: TypeInformation<unknown> | undefined): TypeDescription {
  return type?.description ?? { kind: 'generic' };
}

/**
 * Throws RESTORE_MISMATCH with a report of saved and new operators side by side if state or data in flight would be lost
 * that nobody agreed to lose. What is dropped by agreement is logged.
 */
export function restoreExecution(
  snapshot: CompletedSnapshot,
  graph: JobGraph,
  options: RestoreOptions,
  logger: Logger,
): RestoredExecution {
  const { manifest } = snapshot;
  const streams = streamsOfJob(graph);
  const report = checkRestore(manifest, { operators: describeOperators(graph), edges: streams }, options);
  assertRestorable(report, snapshot.directory ?? `checkpoint ${snapshot.checkpointId}`);
  for (const line of droppedStateLines(report)) logger.log('warn', line);
  const kept = new Set(
    report.matches.filter(({ outcome }) => outcome.type === 'restored').map(({ saved }) => saved.uid),
  );
  const subtasks = graph.vertices.map(({ index: vertex, parallelism }) =>
    Array.from({ length: parallelism }, (_, subtask) => ({
      task: { vertex, subtask },
      operators: [] as SubtaskRestore['operators'][number][],
      inFlight: [] as InFlightRestore[],
    })),
  );
  const enumerators = new Map<string, unknown>();
  const serializer = createSerializer<unknown>(undefined, 'state of a split enumerator');
  for (const saved of manifest.operators) {
    if (!kept.has(saved.uid)) continue;
    const vertex = graph.vertices.find(({ operators }) => operators.some(({ uid }) => uid === saved.uid))!;
    for (const [subtask, state] of assignState(saved, vertex).entries())
      subtasks[vertex.index]![subtask]!.operators.push({ uid: saved.uid, state });
    if (saved.coordinator !== undefined)
      enumerators.set(saved.uid, decodeFromBytes(serializer, saved.coordinator));
  }
  const byEdge = new Map(streams.map((stream) => [edgeKey(stream.identity), stream]));
  for (const [index, { outcome }] of report.inFlight.entries()) {
    if (outcome.type !== 'restored') continue;
    const saved = manifest.inFlight[index]!;
    const { targetVertex, entrance, ...edge } = byEdge.get(edgeKey(saved.identity))!;
    for (const [subtask, pieces] of assignInFlight(saved, edge).entries())
      for (const piece of pieces) subtasks[targetVertex]![subtask]!.inFlight.push({ ...piece, ...entrance });
  }
  return {
    checkpointId: manifest.checkpointId,
    directory: snapshot.directory,
    subtasks: subtasks.flat(),
    enumerators,
  };
}
