/**
 * The contents of a snapshot's `_metadata`, in memory, and how they are put together from what the tasks acknowledged.
 *
 * Called by the JobManager when all participants have acknowledged. Knows no file and no JSON: savepoint-metadata.ts
 * writes and reads the text.
 *
 * Invariants:
 * I1 Each operator has one state for each of its subtasks, in the order of their indices; empty states included.
 * I2 Each file handle lies within a file of `files`.
 */
import { assert, MillraceError } from '../base/index.ts';
import type { OperatorSubtaskState, StreamHandle } from '../state/index.ts';
import type { TypeDescription } from '../types/index.ts';
import type { SnapshotFile, TaskAcknowledgement } from './acknowledgement.ts';

/** A checkpoint belongs to the engine, a savepoint to the user. */
export type SnapshotKind = 'checkpoint' | 'savepoint';

/** One operator as it was when the snapshot was taken. */
export interface OperatorSnapshot {
  readonly uid: string;
  readonly uidIsGenerated: boolean;
  readonly name: string;
  /** `map`, `keyed-process`, `window`, `source`, ... */
  readonly kind: string;
  readonly parallelism: number;
  readonly maxParallelism: number;
  /** Type of its keys; undefined if it is not keyed. */
  readonly key: TypeDescription | undefined;
  /** By subtask index. */
  readonly subtasks: readonly OperatorSubtaskState[];
  /** State of what runs beside the JobManager for this operator (a source's enumerator). */
  readonly coordinator: Uint8Array | undefined;
}

/** Everything that a snapshot says about itself. */
export interface SnapshotManifest {
  readonly checkpointId: number;
  readonly kind: SnapshotKind;
  /** Wall time of the trigger, milliseconds since the epoch. For people and for the choice between lineages. */
  readonly timestampMs: number;
  readonly jobName: string;
  readonly jobId: string;
  /** Changes at every fork (restore without claiming); ids of checkpoints rise strictly within a lineage. */
  readonly lineageId: string;
  readonly planHash: string;
  readonly millraceVersion: string;
  readonly operators: readonly OperatorSnapshot[];
  readonly files: readonly SnapshotFile[];
}

/** An operator of the running job, as the manifest describes it. */
export interface OperatorDescription {
  readonly uid: string;
  readonly uidIsGenerated: boolean;
  readonly name: string;
  readonly kind: string;
  readonly vertexIndex: number;
  readonly parallelism: number;
  readonly maxParallelism: number;
  readonly key: TypeDescription | undefined;
}

/** What the JobManager has when a checkpoint is to be stored. */
export interface JobSnapshot {
  readonly checkpointId: number;
  readonly kind: SnapshotKind;
  readonly timestampMs: number;
  readonly jobName: string;
  readonly jobId: string;
  readonly lineageId: string;
  readonly planHash: string;
  readonly millraceVersion: string;
  /** All operators of the job, those without state too. */
  readonly operators: readonly OperatorDescription[];
  /** One of every subtask of every vertex. */
  readonly acknowledgements: readonly TaskAcknowledgement[];
  readonly coordinatorStates: readonly { readonly uid: string; readonly bytes: Uint8Array }[];
}

/** State given to one subtask at a restore. Handles are relative to the snapshot's directory. */
export interface RestoredSubtaskState {
  readonly checkpointId: number;
  readonly operators: readonly { readonly uid: string; readonly state: OperatorSubtaskState }[];
}

export const EMPTY_STATE: OperatorSubtaskState = { keyed: [], operator: [] };

/** True if nothing is in it, not even an empty state that was registered. */
export function isEmptyState(state: OperatorSubtaskState): boolean {
  return state.keyed.length === 0 && state.operator.length === 0;
}

/** All streams of a state. */
export function streamsOf(state: OperatorSubtaskState): StreamHandle[] {
  return [...state.keyed.map((handle) => handle.stream), ...state.operator.map((handle) => handle.stream)];
}

/** The bytes that a stream handle stands for. */
export function streamLengthBytes(stream: StreamHandle): number {
  return stream.kind === 'inline' ? stream.bytes.length : stream.lengthBytes;
}

/** Puts the manifest together; asserts I1 and I2. */
export function buildManifest(job: JobSnapshot): SnapshotManifest {
  const states = statesByOperator(job);
  const coordinators = new Map(job.coordinatorStates.map(({ uid, bytes }) => [uid, bytes]));
  const operators = job.operators.map((operator): OperatorSnapshot => {
    const byIndex = states.get(operator.uid) ?? new Map<number, OperatorSubtaskState>();
    const subtasks = Array.from(
      { length: operator.parallelism },
      (_, index) => byIndex.get(index) ?? EMPTY_STATE,
    );
    const coordinator = coordinators.get(operator.uid);
    coordinators.delete(operator.uid);
    const { uid, uidIsGenerated, name, kind, parallelism, maxParallelism, key } = operator;
    return { uid, uidIsGenerated, name, kind, parallelism, maxParallelism, key, subtasks, coordinator };
  });
  assert(
    coordinators.size === 0,
    `coordinator state of unknown operators: ${[...coordinators.keys()].join(', ')}`,
  );
  const files = job.acknowledgements.flatMap((acknowledgement) => acknowledgement.files);
  const { checkpointId, kind, timestampMs, jobName, jobId, lineageId, planHash, millraceVersion } = job;
  const manifest: SnapshotManifest = {
    ...{ checkpointId, kind, timestampMs, jobName, jobId, lineageId, planHash, millraceVersion },
    ...{ operators, files },
  };
  const problem = handleOutsideFiles(manifest);
  assert(problem === undefined, problem ?? '');
  return manifest;
}

function statesByOperator(job: JobSnapshot): Map<string, Map<number, OperatorSubtaskState>> {
  const operators = new Map(job.operators.map((operator) => [operator.uid, operator]));
  const states = new Map<string, Map<number, OperatorSubtaskState>>();
  for (const { vertexIndex, subtaskIndex, operators: acknowledged } of job.acknowledgements) {
    for (const { uid, state } of acknowledged) {
      const operator = operators.get(uid);
      assert(operator !== undefined, `state of an operator with uid ${uid} that the job does not have`);
      assert(operator.vertexIndex === vertexIndex, `state of ${uid} came from vertex ${vertexIndex}`);
      assert(subtaskIndex < operator.parallelism, `state of ${uid} came from subtask ${subtaskIndex}`);
      const byIndex = states.get(uid) ?? new Map<number, OperatorSubtaskState>();
      assert(!byIndex.has(subtaskIndex), `state of ${uid}, subtask ${subtaskIndex} came twice`);
      byIndex.set(subtaskIndex, state);
      states.set(uid, byIndex);
    }
  }
  return states;
}

/** I2: a sentence about the first handle that no listed file holds; undefined if there is none. */
export function handleOutsideFiles(manifest: SnapshotManifest): string | undefined {
  const sizes = new Map<string, number>();
  for (const { path, sizeBytes } of manifest.files) {
    if (sizes.has(path)) return `the file ${path} is listed twice`;
    sizes.set(path, sizeBytes);
  }
  for (const { name, uid, subtasks } of manifest.operators) {
    for (const [index, state] of subtasks.entries()) {
      for (const stream of streamsOf(state)) {
        if (stream.kind === 'inline') continue;
        const size = sizes.get(stream.path);
        const where = `state of operator ${name} (uid ${uid}), subtask ${index}`;
        if (size === undefined) return `${where} refers to the file ${stream.path}, which is not listed`;
        const end = stream.offset + stream.lengthBytes;
        if (end > size) return `${where} ends at byte ${end} of ${stream.path}, which has ${size} bytes`;
      }
    }
  }
  return undefined;
}

/** Bytes of all state of a snapshot, inline ones included. */
export function stateSizeBytes(manifest: SnapshotManifest): number {
  let sum = 0;
  for (const { subtasks, coordinator } of manifest.operators) {
    sum += coordinator?.length ?? 0;
    for (const state of subtasks) for (const stream of streamsOf(state)) sum += streamLengthBytes(stream);
  }
  return sum;
}

/** The operator with this uid, or an error that says which there are. */
export function operatorOf(manifest: SnapshotManifest, uid: string): OperatorSnapshot {
  const operator = manifest.operators.find((candidate) => candidate.uid === uid);
  if (operator !== undefined) return operator;
  const known = manifest.operators.map(({ name, uid: other }) => `${name} (uid ${other})`).join(', ');
  throw new MillraceError(
    'INVALID_ARGUMENT',
    `the snapshot has no operator with uid ${uid}; it has ${known}`,
  );
}
