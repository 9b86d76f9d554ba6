/**
 * Writes snapshots as a job of one keyed operator with two subtasks does: streams, acknowledgements, manifest. For tests of
 * whatever stores, finds or reads them.
 */
import {
  buildManifest,
  type CheckpointLocation,
  type CheckpointStorage,
  type CompletedSnapshot,
  createCheckpointStreams,
  type SnapshotManifest,
  type TaskAcknowledgement,
} from '../checkpoint/index.ts';
import type { Platform } from '../platform/index.ts';

const SUBTASKS = 2;
const MAX_PARALLELISM = 128;

/** What a snapshot says besides its data. */
export interface WrittenJob {
  readonly jobId: string;
  readonly jobName: string;
  readonly lineageId: string;
}

/** The bytes of a subtask's state in a checkpoint: so that a restore can be compared. */
export function stateBytes(checkpointId: number, subtask: number): Uint8Array {
  return Uint8Array.from({ length: 300 + subtask }, (_, i) => (i * 31 + checkpointId * 7 + subtask) & 255);
}

/** Does the tasks' part of a checkpoint and builds its manifest. */
export async function writeState(
  platform: Platform,
  location: CheckpointLocation,
  job: WrittenJob,
): Promise<SnapshotManifest> {
  const streams = createCheckpointStreams(platform);
  const { checkpointId } = location;
  const acknowledgements: TaskAcknowledgement[] = [];
  for (let subtaskIndex = 0; subtaskIndex < SUBTASKS; subtaskIndex++) {
    const stream = streams.createStream(location, `0-${subtaskIndex}`, 'count');
    const bytes = stateBytes(checkpointId, subtaskIndex);
    stream.append(bytes);
    const finished = await stream.finish();
    const half = MAX_PARALLELISM / SUBTASKS;
    const keyGroups = { first: subtaskIndex * half, last: (subtaskIndex + 1) * half - 1 };
    const handle = { format: 'heap-1', keyGroups, maxParallelism: MAX_PARALLELISM, states: [] } as const;
    const keyed = [{ ...handle, stream: finished.handleOf(0, bytes.length) }];
    acknowledgements.push({
      ...{ checkpointId, vertexIndex: 0, subtaskIndex, attemptNumber: 0 },
      operators: [{ uid: 'count', state: { keyed, operator: [] } }],
      files: finished.file === undefined ? [] : [finished.file],
      metrics: {
        ...{ startDelayMs: 0, alignmentMs: 0, syncMs: 0, asyncMs: 0 },
        ...{
          stateSizeBytes: bytes.length,
          checkpointedBytes: bytes.length,
          processedBytes: 0,
          persistedBytes: 0,
        },
      },
    });
  }
  return buildManifest({
    ...job,
    ...{ checkpointId, kind: 'checkpoint', timestampMs: platform.clock.wallMs(), planHash: 'plan' },
    ...{ millraceVersion: '0.1.0', edges: [], acknowledgements, coordinatorStates: [] },
    operators: [
      {
        ...{ uid: 'count', uidIsGenerated: false, name: 'count', kind: 'keyed-process', vertexIndex: 0 },
        ...{ parallelism: SUBTASKS, maxParallelism: MAX_PARALLELISM, key: { kind: 'string' } },
      },
    ],
  });
}

/** A whole checkpoint. */
export async function writeCheckpoint(
  platform: Platform,
  storage: CheckpointStorage,
  checkpointId: number,
  job: WrittenJob,
): Promise<CompletedSnapshot> {
  const location = await storage.begin(checkpointId);
  return storage.complete(location, await writeState(platform, location, job));
}
