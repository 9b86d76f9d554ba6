import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildManifest, type JobSnapshot } from './snapshot-manifest.ts';

/** A checkpoint of one subtask with one file. */
function jobWith(path: string): JobSnapshot {
  const metrics = { startDelayMs: 0, alignmentMs: 0, syncMs: 0, asyncMs: 0 };
  const bytes = { stateSizeBytes: 1, checkpointedBytes: 1, processedBytes: 0, persistedBytes: 0 };
  return {
    ...{ checkpointId: 7, kind: 'checkpoint', timestampMs: 0, jobName: 'job', jobId: 'a', lineageId: 'l' },
    ...{ planHash: 'p', millraceVersion: '0', coordinatorStates: [], edges: [] },
    operators: [
      {
        ...{ uid: 'map', uidIsGenerated: false, name: 'map', kind: 'map', vertexIndex: 0 },
        ...{ parallelism: 1, maxParallelism: 128, key: undefined },
      },
    ],
    acknowledgements: [
      {
        ...{ checkpointId: 7, vertexIndex: 0, subtaskIndex: 0, attemptNumber: 0, operators: [] },
        files: [{ path, sizeBytes: 1, sha256: '0'.repeat(64) }],
        metrics: { ...metrics, ...bytes },
      },
    ],
  };
}

test('a checkpoint stands alone: it refers to no file outside of its directory', () => {
  assert.deepEqual(
    buildManifest(jobWith('0-0-abc')).files.map(({ path }) => path),
    ['0-0-abc'],
  );
  for (const path of ['../chk-6/0-0-abc', '/cp/a/shared/1', 'file:///cp/1', '']) {
    assert.throws(() => buildManifest(jobWith(path)), {
      code: 'ASSERTION_FAILED',
      message: /7 does not stand alone/,
    });
  }
});
