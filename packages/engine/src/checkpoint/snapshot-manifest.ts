/**
 * The contents of a snapshot's `_metadata`, in memory, and how they are put together from what the tasks acknowledged.
 *
 * Called by the JobManager when all participants have acknowledged. Knows no file and no JSON: savepoint-metadata.ts
 * writes and reads the text.
 *
 * Invariants:
 * I1 Each operator has one state for each of its subtasks, in the order of their indices; empty states included.
 * I2 Each file handle lies within a file of `files`.
 * I3 The ends of each exchange with data in flight are operators of the snapshot.
 * I4 It stands alone: all its files lie in its own directory. So the first checkpoint of a job needs nothing of the snapshot
 *    that the job was restored from and does not own.
 */
import { assert, MillraceError } from '../base/index.ts';
import type { OperatorSubtaskState, StreamHandle } from '../state/index.ts';
import type { TypeDescription } from '../types/index.ts';
import type { SnapshotFile, TaskAcknowledgement } from './acknowledgement.ts';
import { collectInFlight, type EdgeDescription, type EdgeSnapshot, inFlightBytes } from './in-flight-data.ts';
import { relativePathProblem } from './snapshot-path.ts';
import { streamLengthBytes } from './stream-length.ts';

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
  /** Changes at every fork (a start from a path, claimed or not); ids of checkpoints rise strictly within a lineage. */
  readonly lineageId: string;
  readonly planHash: string;
  readonly millraceVersion: string;
  readonly operators: readonly OperatorSnapshot[];
  /** Data in flight, by exchange; empty if no barrier overtook any. */
  readonly inFlight: readonly EdgeSnapshot[];
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
  /** All streams between them. */
  readonly edges: readonly EdgeDescription[];
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

/** Puts the manifest together; asserts I1 to I3. */
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
  const inFlight = collectInFlight(job.edges, job.acknowledgements);
  const files = job.acknowledgements.flatMap((acknowledgement) => acknowledgement.files);
  for (const { path } of files) {
    const problem = relativePathProblem(path);
    assert(problem === undefined, `checkpoint ${job.checkpointId} does not stand alone: ${path}: ${problem}`);
  }
  const { checkpointId, kind, timestampMs, jobName, jobId, lineageId, planHash, millraceVersion } = job;
  const manifest: SnapshotManifest = {
    ...{ checkpointId, kind, timestampMs, jobName, jobId, lineageId, planHash, millraceVersion },
    ...{ operators, inFlight, files },
  };
  const problem = inconsistencyOf(manifest);
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

/** I2 and I3: a sentence about what is wrong first; undefined if nothing is. */
export function inconsistencyOf(manifest: SnapshotManifest): string | undefined {
  const sizes = new Map<string, number>();
  for (const { path, sizeBytes } of manifest.files) {
    if (sizes.has(path)) return `the file ${path} is listed twice`;
    sizes.set(path, sizeBytes);
  }
  for (const { name, uid, subtasks } of manifest.operators) {
    for (const [index, state] of subtasks.entries()) {
      const where = `state of operator ${name} (uid ${uid}), subtask ${index}`;
      for (const stream of streamsOf(state)) {
        const problem = outsideFiles(stream, sizes);
        if (problem !== undefined) return `${where} ${problem}`;
      }
    }
  }
  const uids = new Set(manifest.operators.map(({ uid }) => uid));
  for (const { identity, channels } of manifest.inFlight) {
    const { sourceUid, targetUid } = identity;
    const unknown = [sourceUid, targetUid].find((uid) => !uids.has(uid));
    if (unknown !== undefined)
      return `data in flight belongs to the operator with uid ${unknown}, which is not listed`;
    for (const { sender, receiver, stream } of channels) {
      const problem = outsideFiles(stream, sizes);
      if (problem !== undefined)
        return `data in flight from ${sourceUid}, subtask ${sender}, to ${targetUid}, subtask ${receiver}, ${problem}`;
    }
  }
  return undefined;
}

function outsideFiles(stream: StreamHandle, sizes: ReadonlyMap<string, number>): string | undefined {
  if (stream.kind === 'inline') return undefined;
  const size = sizes.get(stream.path);
  if (size === undefined) return `refers to the file ${stream.path}, which is not listed`;
  const end = stream.offset + stream.lengthBytes;
  return end > size ? `ends at byte ${end} of ${stream.path}, which has ${size} bytes` : undefined;
}

/** Bytes of all state of a snapshot, inline ones and data in flight included. */
export function stateSizeBytes(manifest: SnapshotManifest): number {
  let sum = manifest.inFlight.reduce((bytes, edge) => bytes + inFlightBytes(edge), 0);
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
