import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { TaskAcknowledgement } from './acknowledgement.ts';
import { CheckpointCoordinator } from './checkpoint-coordinator.ts';
import type { CheckpointAction, CheckpointEvent } from './checkpoint-event.ts';
import type { CheckpointSettings } from './settings.ts';

const SETTINGS: CheckpointSettings = {
  intervalMs: 1000,
  mode: 'EXACTLY_ONCE',
  timeoutMs: 5000,
  minPauseMs: 500,
  maxConcurrent: 1,
  tolerableFailures: 2,
  retention: 'RETAIN_ON_CANCELLATION',
  retainedCount: 2,
  storage: { kind: 'jobmanager', maxStateSizeBytes: 1 },
  asyncSnapshots: true,
};

const METRICS = {
  ...{ startDelayMs: 0, alignmentMs: 0, syncMs: 0, asyncMs: 0 },
  ...{ stateSizeBytes: 0, checkpointedBytes: 0, processedBytes: 0, persistedBytes: 0 },
};

function ack(checkpointId: number, subtaskIndex: number, attemptNumber = 0): TaskAcknowledgement {
  return {
    checkpointId,
    vertexIndex: 0,
    subtaskIndex,
    attemptNumber,
    operators: [],
    files: [],
    metrics: METRICS,
  };
}

/** A coordinator with two tasks under a clock that the test moves; it follows `wakeAt` by itself. */
class Bench {
  readonly coordinator: CheckpointCoordinator;
  readonly log: string[] = [];
  readonly starts: number[] = [];
  nowMs = 0;
  wallMs = 1_000_000;
  attempt = 0;
  private wakeAtMs: number | undefined;
  pendingId = -1;

  constructor(settings: Partial<CheckpointSettings> = {}) {
    this.coordinator = new CheckpointCoordinator({ ...SETTINGS, ...settings });
  }

  send(event: CheckpointEvent): readonly CheckpointAction[] {
    const actions = this.coordinator.handle(event, { monotonicMs: this.nowMs, wallMs: this.wallMs });
    for (const action of actions) this.take(action);
    return actions;
  }

  private take(action: CheckpointAction): void {
    if (action.type === 'wakeAt') {
      this.wakeAtMs = action.monotonicMs;
      return;
    }
    if (action.type === 'trigger') {
      this.pendingId = action.barrier.checkpointId;
      this.starts.push(this.nowMs);
      this.log.push(`${this.nowMs} trigger ${this.pendingId} ${action.barrier.kind}`);
    } else if (action.type === 'answer') {
      const { answer } = action;
      const what = answer.type === 'completed' ? answer.checkpointId : answer.failure;
      this.log.push(`${this.nowMs} answer ${action.requestId} ${what}`);
    } else if ('checkpointId' in action) {
      this.log.push(`${this.nowMs} ${action.type} ${action.checkpointId}`);
    } else {
      this.log.push(`${this.nowMs} ${action.type}`);
    }
  }

  start(): this {
    const subtasks = [0, 1].map((subtaskIndex) => ({
      vertexIndex: 0,
      subtaskIndex,
      attemptNumber: this.attempt,
    }));
    this.send({ type: 'allTasksRunning', subtasks });
    return this;
  }

  /** Moves time to `ms`, ticking whenever the coordinator asked for it. */
  to(ms: number): this {
    while (this.wakeAtMs !== undefined && this.wakeAtMs <= ms) {
      this.nowMs = Math.max(this.nowMs, this.wakeAtMs);
      this.wakeAtMs = undefined;
      this.send({ type: 'tick' });
    }
    this.nowMs = ms;
    return this;
  }

  /** All tasks acknowledge the checkpoint in flight and its manifest is stored. */
  complete(): void {
    for (const subtask of [0, 1])
      this.send({ type: 'acknowledge', acknowledgement: ack(this.pendingId, subtask, this.attempt) });
    this.send({ type: 'stored', checkpointId: this.pendingId });
  }

  decline(): void {
    this.send({
      type: 'decline',
      decline: {
        ...{ checkpointId: this.pendingId, vertexIndex: 0, subtaskIndex: 1, attemptNumber: this.attempt },
        ...{ reason: 'snapshot-failed', message: 'the disk is full' },
      },
    });
  }

  has(line: string): boolean {
    return this.log.some((each) => each.endsWith(line));
  }
}

test('intervals, pauses, failures and alarms follow the script of the field, whatever the wall clock does', () => {
  const bench = new Bench().start();
  bench.to(1100).complete();
  bench.wallMs -= 3_600_000;
  bench.to(2500);
  bench.send({ type: 'triggerByHand', requestId: 'sp', kind: 'savepoint' });
  bench.to(3800).complete();
  assert.deepEqual(bench.starts, [1000, 2000, 3800]);
  assert.ok(bench.has('trigger 3 savepoint'), 'the savepoint begins as soon as checkpoint 2 is over');
  bench.complete();
  assert.ok(bench.has('answer sp 3'));
  bench.wallMs += 7_200_000;
  bench.to(4350);
  assert.deepEqual(bench.starts.slice(3), [4300], 'end 3800 + min pause 500');
  bench.decline();
  bench.to(5300);
  assert.equal(bench.starts.at(-1), 5300);
  bench.decline();
  assert.equal(bench.has('failJob'), false);
  bench.to(6300);
  bench.decline();
  assert.ok(bench.log.includes('6300 failJob'), 'the third failure in a row');
  assert.equal(bench.log.filter((line) => line.endsWith('alarm')).length, 0);
  bench.to(6800);
  assert.ok(bench.log.includes('6800 alarm'), 'no success for three intervals after 3800');
});

test('without a savepoint in between the starts are 1000, 2000, 4300', () => {
  const bench = new Bench().start();
  bench.to(1100).complete();
  bench.to(3800).complete();
  bench.to(4300);
  assert.deepEqual(bench.starts, [1000, 2000, 4300]);
});

test('the pause is kept after a failed checkpoint too', () => {
  const bench = new Bench({ minPauseMs: 900 }).start();
  bench.to(1700).decline();
  bench.to(10_000);
  assert.deepEqual(bench.starts.slice(0, 2), [1000, 2600]);
});

test('a success sets the count of failures to zero', () => {
  const bench = new Bench({ tolerableFailures: 1, minPauseMs: 0 }).start();
  bench.to(1000).decline();
  bench.to(2000).complete();
  bench.to(3000).decline();
  assert.equal(bench.has('failJob'), false);
  bench.to(4000).decline();
  assert.ok(bench.has('failJob'));
});

test('failures to trigger, to store and to answer in time count, those of savepoints and of tasks do not', () => {
  const bench = new Bench({ tolerableFailures: 2, minPauseMs: 0 }).start();
  bench.to(1000).send({ type: 'triggerFailed', checkpointId: 1, message: 'no directory' });
  bench.to(2000);
  for (const subtask of [0, 1]) bench.send({ type: 'acknowledge', acknowledgement: ack(2, subtask) });
  bench.send({ type: 'storeFailed', checkpointId: 2, message: 'disk', outcome: 'absent' });
  bench.send({ type: 'triggerByHand', requestId: 1, kind: 'savepoint' });
  bench.decline();
  assert.ok(bench.has('answer 1 snapshot-failed'));
  assert.equal(bench.has('failJob'), false);
  bench.to(3000).to(8000);
  assert.ok(bench.has('notifyAborted 4'), 'expired');
  assert.ok(bench.log.includes('8000 failJob'));
});

test('checkpoint 0 is the one that is asked for before the first record', () => {
  const bench = new Bench().start();
  bench.send({ type: 'triggerByHand', requestId: 'initial', kind: 'checkpoint' });
  bench.complete();
  assert.ok(bench.has('answer initial 0'));
  bench.to(1000);
  assert.equal(bench.pendingId, 1);
});

test('a task failure aborts what is in flight and the periodic trigger goes on after the restart', () => {
  const bench = new Bench().start();
  bench.to(1500).send({ type: 'taskFailed', message: 'boom' });
  assert.ok(
    bench.has('notifyAborted 1') && bench.has('discardFiles 1') && bench.has('readyToRestore undefined'),
  );
  bench.to(9000);
  bench.attempt = 1;
  bench.start();
  bench.to(10_000);
  assert.deepEqual(bench.starts, [1000, 10_000]);
  bench.send({ type: 'acknowledge', acknowledgement: ack(2, 0, 0) });
  bench.send({ type: 'acknowledge', acknowledgement: ack(2, 1, 1) });
  assert.equal(bench.has('store 2'), false, 'an acknowledgement of the dead attempt does not count');
  bench.send({ type: 'acknowledge', acknowledgement: ack(2, 0, 1) });
  assert.ok(bench.has('store 2'));
});

test('a savepoint that waits outlives a restart, one that was under way is answered', () => {
  const bench = new Bench().start();
  bench.to(1000);
  bench.send({ type: 'triggerByHand', requestId: 'a', kind: 'savepoint' });
  bench.send({ type: 'triggerByHand', requestId: 'b', kind: 'savepoint' });
  bench.complete();
  bench.send({ type: 'taskFailed', message: 'boom' });
  assert.ok(bench.has('answer a task-failed'));
  bench.send({ type: 'triggerByHand', requestId: 'c', kind: 'savepoint' });
  assert.ok(bench.has('answer c not-running'));
  bench.attempt = 1;
  bench.start();
  assert.equal(bench.pendingId, 3);
  bench.complete();
  assert.ok(bench.has('answer b 3'));
});

test('while a checkpoint is being stored a restore waits, and then uses it', () => {
  const bench = new Bench().start();
  bench.to(1000);
  for (const subtask of [0, 1]) bench.send({ type: 'acknowledge', acknowledgement: ack(1, subtask) });
  bench.send({ type: 'taskFailed', message: 'boom' });
  assert.equal(
    bench.log.some((line) => line.includes('readyToRestore')),
    false,
  );
  assert.equal(bench.has('notifyAborted 1'), false);
  bench.send({ type: 'stored', checkpointId: 1 });
  assert.ok(bench.has('readyToRestore 1'));
});

test('if nobody knows whether a checkpoint was stored, its files are removed before a restore', () => {
  const bench = new Bench().start();
  bench.to(1000);
  for (const subtask of [0, 1]) bench.send({ type: 'acknowledge', acknowledgement: ack(1, subtask) });
  bench.send({ type: 'storeFailed', checkpointId: 1, message: 'I/O error', outcome: 'unknown' });
  bench.send({ type: 'taskFailed', message: 'boom' });
  assert.equal(
    bench.log.some((line) => line.includes('readyToRestore')),
    false,
  );
  bench.send({ type: 'discarded', checkpointId: 1 });
  assert.ok(bench.has('readyToRestore undefined'));
});

test('what arrives late for an aborted checkpoint is removed, for a completed one nothing is', () => {
  const bench = new Bench().start();
  bench.to(1000).complete();
  bench.to(2000).decline();
  bench.log.length = 0;
  bench.send({ type: 'acknowledge', acknowledgement: ack(2, 0) });
  bench.send({ type: 'acknowledge', acknowledgement: ack(1, 0) });
  bench.send({ type: 'acknowledge', acknowledgement: ack(77, 0) });
  assert.deepEqual(bench.log, ['2000 discardFiles 2']);
});

test('only so many completed checkpoints are retained, and savepoints are never subsumed', () => {
  const bench = new Bench({ minPauseMs: 0 }).start();
  bench.to(1000).complete();
  bench.send({ type: 'triggerByHand', requestId: 1, kind: 'savepoint' });
  bench.complete();
  bench.to(2000).complete();
  bench.to(3000).complete();
  bench.to(4000).complete();
  const subsumed = bench.log.filter((line) => line.includes('subsume'));
  assert.deepEqual(subsumed, ['3000 subsume 1', '4000 subsume 3']);
  assert.deepEqual(bench.coordinator.retainedCheckpointIds, [4, 5]);
  assert.equal(bench.has('notifyComplete 2'), false, 'a savepoint on the way commits nothing');
});

test('ids go on after the restored checkpoint, which counts among the retained if it is ours', () => {
  const bench = new Bench();
  bench.send({ type: 'restored', checkpointId: 41, isRetained: true });
  bench.start().to(1000).complete();
  assert.ok(bench.has('trigger 42 checkpoint'));
  bench.to(2000).complete();
  assert.ok(bench.has('subsume 41'));
});

test('a savepoint that stops the job commits, ends the periodic ones, and is what a failure afterwards restores', () => {
  const bench = new Bench().start();
  bench.send({ type: 'triggerByHand', requestId: 'stop', kind: 'savepoint-suspend' });
  bench.complete();
  assert.ok(bench.has('notifyComplete 0') && bench.has('answer stop 0'));
  bench.to(60_000);
  assert.equal(bench.starts.length, 1);
  bench.send({ type: 'triggerByHand', requestId: 'late', kind: 'checkpoint' });
  assert.ok(bench.has('answer late stopping'));
  bench.send({ type: 'taskFailed', message: 'boom' });
  assert.ok(bench.has('readyToRestore 0'));
});

test('the final checkpoint begins at once, is tried again after a failure, and is the last', () => {
  const bench = new Bench().start();
  bench.to(1100);
  bench.send({ type: 'finalCheckpoint', requestId: 'end' });
  bench.complete();
  assert.equal(bench.pendingId, 2, 'right after the one in flight, without the pause');
  bench.decline();
  bench.to(2100);
  assert.equal(bench.pendingId, 3);
  bench.complete();
  assert.ok(bench.has('answer end 3') && bench.has('notifyComplete 3'));
  bench.to(60_000);
  assert.equal(bench.starts.length, 3);
  assert.equal(bench.has('alarm'), false);
});

test('a shutdown answers everybody', () => {
  const bench = new Bench().start();
  bench.to(1000);
  bench.send({ type: 'triggerByHand', requestId: 'a', kind: 'checkpoint' });
  bench.send({ type: 'finalCheckpoint', requestId: 'end' });
  bench.send({ type: 'shutdown', message: 'cancelled' });
  assert.ok(
    bench.has('answer a shutdown') && bench.has('answer end shutdown') && bench.has('notifyAborted 1'),
  );
  bench.send({ type: 'triggerByHand', requestId: 'b', kind: 'checkpoint' });
  assert.ok(bench.has('answer b shutdown'));
});

test('too many waiting requests are refused', () => {
  const bench = new Bench().start();
  for (let i = 0; i < 1002; i++) bench.send({ type: 'triggerByHand', requestId: i, kind: 'savepoint' });
  assert.ok(bench.has('answer 1001 too-many-requests'));
  assert.equal(bench.log.filter((line) => line.includes('answer')).length, 1);
});

test('without an interval only what is asked for is taken', () => {
  const bench = new Bench({ intervalMs: undefined }).start();
  bench.to(1e9);
  assert.deepEqual(bench.log, []);
});

test('a pause longer than the interval becomes the interval', () => {
  const bench = new Bench({ intervalMs: 100, minPauseMs: 2000 }).start();
  bench.to(2000).complete();
  bench.to(4000);
  assert.deepEqual(bench.starts, [2000, 4000]);
});

/** Random events in any order: ids rise, requests are answered once, nothing completed is discarded. */
test('whatever happens, each request is answered once and ids rise (property)', () => {
  const steps = fc.array(
    fc.oneof(
      fc.constantFrom(
        'wait',
        'complete',
        'decline',
        'fail',
        'store-fails',
        'store-unknown',
        'hand',
        'savepoint',
        'late',
      ),
      fc.constantFrom('wait', 'complete', 'complete', 'final'),
    ),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(steps, (script) => {
      const bench = new Bench({ tolerableFailures: 1000 }).start();
      const completed = new Set<number>();
      const discardable: number[] = [];
      let asked = 0;
      for (const step of script) {
        const before = bench.log.length;
        perform(bench, step, () => asked++);
        for (const line of bench.log.slice(before)) {
          const [, what, id] = line.split(' ');
          if (what === 'notifyComplete') completed.add(Number(id));
          if (what === 'discardFiles') assert.ok(!completed.has(Number(id)), `${line} after it completed`);
          if (what === 'discardFiles') discardable.push(Number(id));
        }
        for (const id of discardable.splice(0)) bench.send({ type: 'discarded', checkpointId: id });
      }
      bench.send({ type: 'shutdown', message: 'end' });
      bench.send({ type: 'stored', checkpointId: bench.pendingId });
      const ids = bench.log
        .filter((line) => line.includes('trigger'))
        .map((line) => Number(line.split(' ')[2]));
      assert.deepEqual(
        ids,
        [...new Set(ids)].sort((a, b) => a - b),
      );
      const answers = bench.log.filter((line) => line.includes('answer')).map((line) => line.split(' ')[2]);
      assert.equal(new Set(answers).size, answers.length);
      assert.equal(answers.length, asked);
    }),
    { numRuns: 300 },
  );
});

function perform(bench: Bench, step: string, nextRequest: () => number): void {
  const storing = (): void => {
    for (const subtask of [0, 1]) {
      bench.send({ type: 'acknowledge', acknowledgement: ack(bench.pendingId, subtask, bench.attempt) });
    }
  };
  switch (step) {
    case 'wait':
      bench.to(bench.nowMs + 700);
      return;
    case 'complete':
      return bench.complete();
    case 'decline':
      return bench.decline();
    case 'fail':
      bench.send({ type: 'taskFailed', message: 'boom' });
      bench.send({ type: 'stored', checkpointId: bench.pendingId });
      bench.attempt++;
      bench.start();
      return;
    case 'store-fails':
    case 'store-unknown':
      storing();
      bench.send({
        ...{ type: 'storeFailed', checkpointId: bench.pendingId, message: 'disk' },
        outcome: step === 'store-fails' ? 'absent' : 'unknown',
      });
      return;
    case 'hand':
      bench.send({ type: 'triggerByHand', requestId: nextRequest(), kind: 'checkpoint' });
      return;
    case 'savepoint':
      bench.send({ type: 'triggerByHand', requestId: nextRequest(), kind: 'savepoint' });
      return;
    case 'final':
      bench.send({ type: 'finalCheckpoint', requestId: nextRequest() });
      return;
    case 'late':
      bench.send({ type: 'acknowledge', acknowledgement: ack(Math.max(0, bench.pendingId - 1), 0, 0) });
      return;
  }
}
