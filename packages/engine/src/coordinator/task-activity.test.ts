import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CollectSink } from '../connectors/index.ts';
import type { TaskMetrics } from '../runtime/index.ts';
import { planJob } from '../testing/manual-job.ts';
import { createManualPlatform } from '../testing/manual-platform.ts';
import { TaskActivity } from './task-activity.ts';

/** A source of one subtask, an operator of four, a sink of two. */
const { graph } = planJob((env) => {
  env.disableOperatorChaining();
  env
    .fromSequence(1, 10)
    .setParallelism(1)
    .keyBy((n) => n % 3)
    .reduce((a, b) => a + b)
    .setParallelism(4)
    .rescale()
    .sinkTo(new CollectSink('nobody'))
    .setParallelism(2);
});

function metrics(vertex: number, subtask: number, rest: Partial<TaskMetrics>): TaskMetrics {
  return {
    ...{ task: { vertex, subtask }, numRecordsIn: 0, numRecordsOut: 0, numBytesOut: 0 },
    ...{
      currentInputWatermark: 0,
      busyTimeMs: 0,
      backPressuredTimeMs: 0,
      stateEntries: 0,
      stateSizeBytes: 0,
    },
    ...{ sourceProgress: undefined, operators: {} },
    ...rest,
  };
}

it('what a task did is what it reported since the trigger', () => {
  const { clock, ...platform } = createManualPlatform();
  let reports: TaskMetrics[] = [];
  const activity = new TaskActivity({ graph, clock, isAligned: true, slotCount: 4, metrics: () => reports });
  const at = () => clock.monotonicMs();
  platform.advance(1000);
  reports = [metrics(0, 0, { busyTimeMs: 900, reportedMs: at() })];
  platform.advance(200);
  activity.begin(5);
  const of = (vertexIndex: number) => activity.surroundingsOf(5).activityOf({ vertexIndex, subtaskIndex: 0 });
  assert.deepEqual(of(0), { busyRatio: undefined, backPressuredRatio: undefined, silentMs: 200 });
  assert.equal(of(1), undefined, 'it has reported nothing');
  platform.advance(800);
  reports = [
    metrics(0, 0, { busyTimeMs: 1150, backPressuredTimeMs: 750, reportedMs: at() }),
    metrics(1, 0, { busyTimeMs: 400, reportedMs: at() }),
  ];
  platform.advance(100);
  assert.deepEqual(of(0), { busyRatio: 0.25, backPressuredRatio: 0.75, silentMs: 100 });
  assert.deepEqual(of(1), { busyRatio: 0.5, backPressuredRatio: 0, silentMs: 100 });
  assert.equal(activity.elapsedMs(5), 900);
  activity.end(5);
  assert.equal(of(0), undefined);
  assert.equal(activity.elapsedMs(5), 0);
});

it('who is in front of whom, behind whom, and in the same thread is what the plan says', () => {
  const { clock } = createManualPlatform();
  const activity = new TaskActivity({ graph, clock, isAligned: true, slotCount: 2, metrics: () => [] });
  const { sendersOf, receiversOf, sameThreadAs } = activity.surroundingsOf(1);
  const shown = (refs: readonly { vertexIndex: number; subtaskIndex: number }[]) =>
    refs.map(({ vertexIndex, subtaskIndex }) => `${vertexIndex}.${subtaskIndex}`);
  assert.deepEqual(shown(sendersOf({ vertexIndex: 0, subtaskIndex: 0 })), []);
  assert.deepEqual(shown(receiversOf({ vertexIndex: 0, subtaskIndex: 0 })), ['1.0', '1.1', '1.2', '1.3']);
  assert.deepEqual(shown(sendersOf({ vertexIndex: 2, subtaskIndex: 1 })), ['1.2', '1.3']);
  assert.deepEqual(shown(receiversOf({ vertexIndex: 1, subtaskIndex: 1 })), ['2.0']);
  assert.deepEqual(shown(sameThreadAs({ vertexIndex: 1, subtaskIndex: 2 })), ['0.0', '1.0', '2.0']);
});
