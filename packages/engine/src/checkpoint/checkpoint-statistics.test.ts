import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SubtaskCheckpointMetrics } from './acknowledgement.ts';
import { CheckpointStatisticsTracker } from './checkpoint-statistics.ts';
import { QuantileSummary } from './quantile-summary.ts';

const VERTICES = [
  { id: 'v0', name: 'src -> map', vertexIndex: 0, parallelism: 1 },
  { id: 'v1', name: 'count', vertexIndex: 1, parallelism: 2 },
];

function metrics(rest: Partial<SubtaskCheckpointMetrics>): SubtaskCheckpointMetrics {
  return {
    ...{
      startDelayMs: 1,
      alignmentMs: 2,
      syncMs: 3,
      asyncMs: 4,
      stateSizeBytes: 100,
      checkpointedBytes: 100,
    },
    ...{ processedBytes: 0, persistedBytes: 0 },
    ...rest,
  };
}

function tracker(): CheckpointStatisticsTracker {
  const statistics = new CheckpointStatisticsTracker();
  statistics.triggered({ checkpointId: 5, timestampMs: 1000, kind: 'checkpoint' }, VERTICES);
  const answer = (
    vertexIndex: number,
    subtaskIndex: number,
    wallMs: number,
    rest: Partial<SubtaskCheckpointMetrics>,
  ) =>
    statistics.acknowledged(
      {
        ...{ checkpointId: 5, attemptNumber: 0, operators: [], files: [], metrics: metrics(rest) },
        ...{ vertexIndex, subtaskIndex },
      },
      wallMs,
    );
  answer(0, 0, 1010, {});
  answer(1, 1, 1500, { alignmentMs: 450, lastChannel: 'src -> map (1/1)', stateSizeBytes: 300 });
  answer(1, 0, 1020, {});
  return statistics;
}

test('a completed checkpoint is reported with the names of the REST API', () => {
  const statistics = tracker();
  statistics.completed(5, 'file:/cp/chk-5');
  const overview = statistics.overview();
  assert.deepEqual(overview.counts, { restored: 0, total: 1, in_progress: 0, completed: 1, failed: 0 });
  assert.deepEqual(overview.latest.completed, {
    ...{ className: 'completed', id: 5, status: 'COMPLETED', is_savepoint: false, savepointFormat: null },
    ...{
      checkpoint_type: 'CHECKPOINT',
      trigger_timestamp: 1000,
      latest_ack_timestamp: 1500,
      checkpointed_size: 300,
    },
    ...{
      state_size: 500,
      end_to_end_duration: 500,
      alignment_buffered: 0,
      processed_data: 0,
      persisted_data: 0,
    },
    ...{
      num_acknowledged_subtasks: 3,
      num_subtasks: 3,
      external_path: 'file:/cp/chk-5',
      discarded: false,
      tasks: {},
    },
  });
  assert.equal(overview.summary.state_size.avg, 500);
  const details = statistics.details(5);
  assert.deepEqual(Object.keys(details?.tasks ?? {}), ['v0', 'v1']);
  const subtasks = statistics.subtaskDetails(5, 'v1');
  assert.equal(subtasks?.summary.alignment.duration.max, 450);
  assert.deepEqual(subtasks?.subtasks[1], {
    ...{
      className: 'completed',
      index: 1,
      status: 'completed',
      ack_timestamp: 1500,
      end_to_end_duration: 500,
    },
    ...{ checkpointed_size: 100, state_size: 300, checkpoint: { sync: 3, async: 4 } },
    ...{ alignment: { buffered: 0, processed: 0, persisted: 0, duration: 450 }, start_delay: 1 },
    ...{ unaligned_checkpoint: false, aborted: false },
  });
});

test('it is said which subtask was slow, in which phase, and whose barrier came last', () => {
  assert.equal(
    tracker().explain(5),
    'Checkpoint 5 took 500 ms; the last to answer was "count" (2/2), where the alignment took 450 ms ' +
      '(one channel is behind the others, last src -> map (1/1)); 300 bytes of state.',
  );
});

test('a checkpoint that failed says who did not answer', () => {
  const statistics = new CheckpointStatisticsTracker();
  statistics.triggered({ checkpointId: 1, timestampMs: 0, kind: 'savepoint' }, VERTICES);
  statistics.failed(1, 'Checkpoint expired before completing.', 77);
  const { latest, counts } = statistics.overview();
  assert.equal(latest.failed?.failure_message, 'Checkpoint expired before completing.');
  assert.equal(latest.failed?.failure_timestamp, 77);
  assert.equal(counts.failed, 1);
  assert.match(statistics.explain(1) ?? '', /"src -> map" \(1\/1\), "count" \(1\/2\), "count" \(2\/2\)/);
  assert.deepEqual(statistics.subtaskDetails(1, 'v1')?.subtasks[0], {
    ...{ className: 'pending', index: 0, status: 'pending_or_failed' },
  });
});

test('the history has the newest ten, and unknown ones are unknown', () => {
  const statistics = new CheckpointStatisticsTracker();
  for (let id = 1; id <= 30; id++)
    statistics.triggered({ checkpointId: id, timestampMs: 0, kind: 'checkpoint' }, VERTICES);
  assert.deepEqual(
    statistics.overview().history.map(({ id }) => id),
    [30, 29, 28, 27, 26, 25, 24, 23, 22, 21],
  );
  assert.equal(statistics.details(99), undefined);
  assert.equal(statistics.subtaskDetails(1, 'nothing'), undefined);
});

test('quantiles are interpolated, and without values they are the text NaN', () => {
  const summary = new QuantileSummary();
  assert.equal(summary.summary().p50, 'NaN');
  for (let value = 1; value <= 100; value++) summary.add(value);
  const { min, max, avg, p50, p90 } = summary.summary();
  assert.deepEqual([min, max, avg, p50, p90], [1, 100, 50, 50.5, 90.9]);
});
