import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SubtaskCheckpointMetrics } from './acknowledgement.ts';
import type { StatisticsVertex } from './checkpoint-record.ts';
import { CheckpointStatisticsTracker } from './checkpoint-statistics-tracker.ts';
import type { CheckpointSurroundings } from './missing-subtasks.ts';

const [V0, V1] = ['0'.repeat(32), '1'.repeat(32)];
const VERTICES: StatisticsVertex[] = [
  { id: V0!, name: 'src -> map', vertexIndex: 0, parallelism: 1 },
  { id: V1!, name: 'count', vertexIndex: 1, parallelism: 2 },
];

const NOWHERE: CheckpointSurroundings = {
  sendersOf: () => [],
  receiversOf: () => [],
  sameThreadAs: () => [],
  activityOf: () => undefined,
  elapsedMs: 600,
  isAligned: true,
};

const END = { atMs: 1600, afterMs: 510 };

function metrics(rest: Partial<SubtaskCheckpointMetrics>): SubtaskCheckpointMetrics {
  const durations = { startDelayMs: 1, alignmentMs: 2, syncMs: 3, asyncMs: 4 };
  const bytes = { stateSizeBytes: 100, checkpointedBytes: 100, processedBytes: 0, persistedBytes: 0 };
  return { ...durations, ...bytes, ...rest };
}

function acknowledge(
  statistics: CheckpointStatisticsTracker,
  [vertexIndex, subtaskIndex]: [number, number],
  wallMs: number,
  rest: Partial<SubtaskCheckpointMetrics> = {},
): void {
  const acknowledgement = { checkpointId: 5, attemptNumber: 0, operators: [], files: [] };
  statistics.acknowledged(
    { ...acknowledgement, vertexIndex, subtaskIndex, metrics: metrics(rest) },
    {
      atMs: wallMs,
      afterMs: wallMs - 1000,
    },
  );
}

function withOne(rest: Partial<SubtaskCheckpointMetrics> = {}): CheckpointStatisticsTracker {
  const statistics = new CheckpointStatisticsTracker();
  statistics.triggered({ checkpointId: 5, timestampMs: 1000, kind: 'checkpoint' }, VERTICES);
  acknowledge(statistics, [0, 0], 1010);
  acknowledge(statistics, [1, 1], 1500, { alignmentMs: 450, stateSizeBytes: 300, ...rest });
  acknowledge(statistics, [1, 0], 1020);
  return statistics;
}

test('a completed checkpoint is reported with the names of the REST API', () => {
  const statistics = withOne();
  statistics.completed(5, END, 'file:/cp/chk-5', NOWHERE);
  const overview = statistics.overview();
  assert.deepEqual(overview.counts, { restored: 0, total: 1, in_progress: 0, completed: 1, failed: 0 });
  assert.deepEqual(overview.latest.completed, {
    ...{ className: 'completed', id: 5, status: 'COMPLETED', is_savepoint: false, savepointFormat: null },
    ...{ checkpoint_type: 'CHECKPOINT', trigger_timestamp: 1000, latest_ack_timestamp: 1500 },
    ...{ checkpointed_size: 300, state_size: 500, end_to_end_duration: 500, alignment_buffered: 0 },
    ...{ processed_data: 0, persisted_data: 0, num_acknowledged_subtasks: 3, num_subtasks: 3 },
    ...{ external_path: 'file:/cp/chk-5', discarded: false, tasks: {} },
  });
  assert.deepEqual(overview.history, [overview.latest.completed]);
  assert.equal(overview.summary.state_size.avg, 500);
  assert.equal(overview.latest.savepoint, null);
  statistics.discarded(5);
  assert.equal(statistics.overview().latest.completed?.discarded, true);
});

test('tasks and subtasks of a checkpoint are reported by the ids of their vertices', () => {
  const statistics = withOne({ unaligned: true, persistedBytes: 70, processedBytes: 9 });
  const details = statistics.details(5)!;
  assert.equal(details.className, 'in_progress');
  assert.equal(details.checkpoint_type, 'UNALIGNED_CHECKPOINT');
  assert.deepEqual(details.tasks[V1!], {
    ...{ id: 5, status: 'COMPLETED', latest_ack_timestamp: 1500, checkpointed_size: 200, state_size: 400 },
    ...{ end_to_end_duration: 500, alignment_buffered: 0, processed_data: 9, persisted_data: 70 },
    ...{ num_subtasks: 2, num_acknowledged_subtasks: 2 },
  });
  const task = statistics.taskDetails(5, V1!)!;
  assert.equal(task.summary.alignment.duration.max, 450);
  assert.equal(task.summary.start_delay.p50, 1);
  assert.deepEqual(task.subtasks[1], {
    ...{ className: 'completed', index: 1, status: 'completed', ack_timestamp: 1500 },
    ...{ end_to_end_duration: 500, checkpointed_size: 100, state_size: 300, start_delay: 1 },
    ...{ checkpoint: { sync: 3, async: 4 }, unaligned_checkpoint: true, aborted: false },
    ...{ alignment: { buffered: 0, processed: 9, persisted: 70, duration: 450 } },
  });
  assert.equal(statistics.taskDetails(5, 'nothing'), undefined);
  assert.equal(statistics.details(99), undefined);
});

test('a savepoint, and what a job is stopped with, are told apart', () => {
  const statistics = new CheckpointStatisticsTracker();
  const types = (['savepoint', 'savepoint-suspend', 'savepoint-terminate'] as const).map(
    (kind, checkpointId) => {
      statistics.triggered({ checkpointId, timestampMs: 0, kind }, VERTICES);
      return statistics.details(checkpointId)!.checkpoint_type;
    },
  );
  assert.deepEqual(types, ['SAVEPOINT', 'SYNC_SAVEPOINT', 'SYNC_SAVEPOINT']);
  // Stopped without a directory: the last checkpoint of the job.
  statistics.triggered({ checkpointId: 3, timestampMs: 0, kind: 'savepoint-suspend' }, VERTICES, false);
  statistics.completed(3, END, 'file:/cp/chk-3', NOWHERE);
  statistics.completed(0, END, 'file:/sp/savepoint-1', NOWHERE);
  const { latest } = statistics.overview();
  assert.deepEqual([latest.completed?.id, latest.completed?.checkpoint_type], [3, 'CHECKPOINT']);
  assert.deepEqual([latest.savepoint?.id, latest.savepoint?.savepointFormat], [0, 'NATIVE']);
  assert.equal(statistics.summaryOf(3)?.kind, 'checkpoint');
});

test('a failed checkpoint keeps what was answered', () => {
  const statistics = new CheckpointStatisticsTracker();
  statistics.triggered({ checkpointId: 5, timestampMs: 1000, kind: 'checkpoint' }, VERTICES);
  acknowledge(statistics, [0, 0], 1010);
  const message = 'Checkpoint expired before completing.';
  statistics.failed(5, { atMs: 1077, afterMs: 77 }, 'expired', message, NOWHERE);
  const { latest, counts } = statistics.overview();
  assert.equal(latest.failed?.failure_message, 'Checkpoint expired before completing.');
  assert.equal(latest.failed?.failure_timestamp, 1077);
  assert.equal(latest.failed?.num_acknowledged_subtasks, 1);
  assert.deepEqual(counts, { restored: 0, total: 1, in_progress: 0, completed: 0, failed: 1 });
  assert.deepEqual(statistics.taskDetails(5, V1!)?.subtasks[0], {
    ...{ className: 'pending', index: 0, status: 'pending_or_failed' },
  });
  assert.equal(statistics.taskDetails(5, V0!)?.status, 'COMPLETED');
  assert.equal(statistics.taskDetails(5, V1!)?.status, 'FAILED');
  // What comes late changes nothing.
  acknowledge(statistics, [1, 0], 2000);
  assert.equal(statistics.completed(5, END, undefined, NOWHERE), undefined);
  assert.equal(statistics.details(5)?.num_acknowledged_subtasks, 1);
});

test('requests that were refused count as failed, and restores are remembered', () => {
  const statistics = new CheckpointStatisticsTracker();
  statistics.refused();
  const restored = { id: 4, restore_timestamp: 7, is_savepoint: true, external_path: 'file:/sp/savepoint-1' };
  statistics.restoredFrom({ ...restored, id: 3 });
  statistics.restoredFrom(restored);
  const { counts, latest, history } = statistics.overview();
  assert.deepEqual(counts, { restored: 2, total: 1, in_progress: 0, completed: 0, failed: 1 });
  assert.deepEqual(latest.restored, restored);
  assert.deepEqual(history, []);
});

test('the history has the newest so many, the newest first; details of the newest thousand are kept', () => {
  const statistics = new CheckpointStatisticsTracker(3);
  for (let checkpointId = 1; checkpointId <= 1005; checkpointId++) {
    statistics.triggered({ checkpointId, timestampMs: 0, kind: 'checkpoint' }, VERTICES);
    if (checkpointId !== 2) statistics.completed(checkpointId, END, undefined, NOWHERE);
  }
  const { history, counts } = statistics.overview();
  assert.deepEqual(
    history.map(({ id }) => id),
    [1005, 1004, 1003],
  );
  assert.deepEqual(counts, { restored: 0, total: 1005, in_progress: 1, completed: 1004, failed: 0 });
  const kept = [1, 2, 3, 6, 7, 1005].filter((id) => statistics.details(id) !== undefined);
  assert.deepEqual(kept, [2, 7, 1005], 'one that is under way is not forgotten');
  assert.deepEqual(new CheckpointStatisticsTracker(0).overview().history, []);
});

test('the metrics of checkpoints are those of the last that was completed', () => {
  const statistics = withOne({ persistedBytes: 70, processedBytes: 9, checkpointedBytes: 20 });
  assert.deepEqual([...new Set(Object.values(new CheckpointStatisticsTracker().metrics()))], [0, -1]);
  statistics.completed(5, END, undefined, NOWHERE);
  statistics.restoredFrom({ id: 4, restore_timestamp: 7, is_savepoint: false, external_path: null });
  assert.deepEqual(statistics.metrics(), {
    ...{ totalNumberOfCheckpoints: 1, numberOfInProgressCheckpoints: 0, numberOfCompletedCheckpoints: 1 },
    ...{ numberOfFailedCheckpoints: 0, lastCheckpointDuration: 510, lastCheckpointSize: 220 },
    ...{ lastCheckpointFullSize: 500, lastCheckpointProcessedData: 9, lastCheckpointPersistedData: 70 },
    ...{ lastCompletedCheckpointId: 5, lastCheckpointCompletedTimestamp: 1600 },
    lastCheckpointRestoreTimestamp: 7,
  });
});

test('a completed checkpoint in short', () => {
  const statistics = withOne();
  const summary = statistics.completed(5, END, 'file:/cp/chk-5', NOWHERE);
  assert.deepEqual(summary, {
    ...{ checkpointId: 5, kind: 'checkpoint', durationMs: 510, stateSizeBytes: 500, syncMs: 3, asyncMs: 4 },
    ...{ path: 'file:/cp/chk-5', explanation: summary?.explanation },
  });
  assert.match(summary!.explanation, /^Checkpoint 5 took 510 ms; the last to answer was "count" \(2\/2\)/);
  assert.deepEqual(statistics.summaryOf(5), summary);
  assert.deepEqual(statistics.summaryOf(), summary);
});
