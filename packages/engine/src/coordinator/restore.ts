/**
 * Makes what an attempt begins with out of a snapshot: checks that the job fits, gives each subtask its state, decodes what
 * belongs to enumerators. No I/O: hashes were checked when the snapshot was opened, tasks read the bytes.
 */

import type { Logger } from '../base/index.ts';
import {
  assertRestorable,
  assignState,
  type CompletedSnapshot,
  checkRestore,
  droppedStateLines,
  type OperatorDescription,
  type RestoreOptions,
} from '../checkpoint/index.ts';
import type { JobGraph, SubtaskRestore } from '../runtime/index.ts';
import { createSerializer, decodeFromBytes } from '../types/index.ts';
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
      key:
        operator.keyed === undefined ? undefined : (operator.keyed.type?.description ?? { kind: 'generic' }),
    })),
  );
}

/**
 * Throws RESTORE_MISMATCH with a report of saved and new operators side by side if state would be lost that nobody agreed
 * to lose. What is dropped by agreement is logged.
 */
export function restoreExecution(
  snapshot: CompletedSnapshot,
  graph: JobGraph,
  options: RestoreOptions,
  logger: Logger,
): RestoredExecution {
  const { manifest } = snapshot;
  const report = checkRestore(manifest, describeOperators(graph), options);
  assertRestorable(report, snapshot.directory ?? `checkpoint ${snapshot.checkpointId}`);
  for (const line of droppedStateLines(report)) logger.log('warn', line);
  const kept = new Set(
    report.matches.filter(({ outcome }) => outcome.type === 'restored').map(({ saved }) => saved.uid),
  );
  const subtasks: SubtaskRestore[] = graph.vertices.flatMap((vertex) =>
    Array.from({ length: vertex.parallelism }, (_, subtask) => ({
      task: { vertex: vertex.index, subtask },
      operators: [],
    })),
  );
  const enumerators = new Map<string, unknown>();
  const serializer = createSerializer<unknown>(undefined, 'state of a split enumerator');
  for (const saved of manifest.operators) {
    if (!kept.has(saved.uid)) continue;
    const vertex = graph.vertices.find(({ operators }) => operators.some(({ uid }) => uid === saved.uid))!;
    for (const [subtask, state] of assignState(saved, vertex).entries()) {
      const entry = subtasks.find(({ task }) => task.vertex === vertex.index && task.subtask === subtask)!;
      (entry.operators as { uid: string; state: typeof state }[]).push({ uid: saved.uid, state });
    }
    if (saved.coordinator !== undefined)
      enumerators.set(saved.uid, decodeFromBytes(serializer, saved.coordinator));
  }
  return { checkpointId: manifest.checkpointId, directory: snapshot.directory, subtasks, enumerators };
}
