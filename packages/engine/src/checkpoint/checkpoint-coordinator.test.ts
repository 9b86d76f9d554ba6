import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualCheckpoints } from '../testing/manual-checkpoints.ts';

test('intervals, pauses, failures and alarms follow the script of the field, whatever the wall clock does', () => {
  const job = new ManualCheckpoints().start();
  job.to(1100).complete();
  job.wallMs -= 3_600_000;
  job.to(2500);
  job.ask('sp', 'savepoint');
  assert.ok(job.log.includes('2500 trigger 3 savepoint'), 'it need not wait for checkpoint 2');
  job.complete(3);
  assert.ok(job.has('answer sp 3'));
  job.to(3800).complete(2);
  job.wallMs += 7_200_000;
  job.to(4350);
  assert.deepEqual(job.starts.slice(3), [4300], 'end 3800 + min pause 500');
  job.decline();
  job.to(5300);
  assert.equal(job.starts.at(-1), 5300);
  job.decline();
  assert.equal(job.has('failJob'), false);
  job.to(6300);
  job.decline();
  assert.ok(job.log.includes('6300 failJob'), 'the third failure in a row');
  assert.equal(job.log.filter((line) => line.endsWith('alarm')).length, 0);
  job.to(6800);
  assert.ok(job.log.includes('6800 alarm'), 'no success for three intervals after 3800');
});

test('without a savepoint in between the starts are 1000, 2000, 4300', () => {
  const job = new ManualCheckpoints().start();
  job.to(1100).complete();
  job.to(3800).complete();
  job.to(4300);
  assert.deepEqual(job.starts, [1000, 2000, 4300]);
});

test('the pause is kept after a failed checkpoint too', () => {
  const job = new ManualCheckpoints({ minPauseMs: 900 }).start();
  job.to(1700).decline();
  job.to(10_000);
  assert.deepEqual(job.starts.slice(0, 2), [1000, 2600]);
});

test('a success sets the count of failures to zero', () => {
  const job = new ManualCheckpoints({ tolerableFailures: 1, minPauseMs: 0 }).start();
  job.to(1000).decline();
  job.to(2000).complete();
  job.to(3000).decline();
  assert.equal(job.has('failJob'), false);
  job.to(4000).decline();
  assert.ok(job.has('failJob'));
});

test('failures to trigger, to store and to answer in time count, those of savepoints and of tasks do not', () => {
  const job = new ManualCheckpoints({ tolerableFailures: 2, minPauseMs: 0 }).start();
  job.triggersAtOnce = false;
  job.to(1000).send({ type: 'triggerFailed', checkpointId: 1, message: 'no directory' });
  job.triggersAtOnce = true;
  job.to(2000);
  job.acknowledgeAll(2);
  job.storeFailed('absent', 2);
  job.ask(1, 'savepoint');
  job.decline();
  assert.ok(job.has('answer 1 snapshot-failed'));
  assert.equal(job.has('failJob'), false);
  job.to(3000).to(8000);
  assert.ok(job.has('notifyAborted 4 expired'));
  assert.ok(job.log.includes('8000 failJob'));
});

test('checkpoint 0 is the one that is asked for before the first record', () => {
  const job = new ManualCheckpoints().start();
  job.ask('initial');
  job.complete();
  assert.ok(job.has('answer initial 0'));
  job.to(1000);
  assert.equal(job.newest, 1);
});

test('a task failure aborts what is in flight and the periodic trigger goes on after the restart', () => {
  const job = new ManualCheckpoints().start();
  job.to(1500).send({ type: 'taskFailed', message: 'boom' });
  assert.deepEqual(job.log.slice(-3), [
    '1500 notifyAborted 1 task-failed',
    '1500 discardFiles 1',
    '1500 readyToRestore undefined',
  ]);
  job.to(9000);
  job.attempt = 1;
  job.start();
  job.to(10_000);
  assert.deepEqual(job.starts, [1000, 10_000]);
  job.acknowledge(2, 0, 0);
  job.acknowledge(2, 1, 1);
  assert.equal(job.has('store 2'), false, 'an acknowledgement of the dead attempt does not count');
  job.acknowledge(2, 0, 1);
  assert.ok(job.has('store 2'));
});

test('a request that waits outlives a restart, one that was under way is answered', () => {
  const job = new ManualCheckpoints().start();
  job.to(1000).complete();
  job.ask('a');
  job.ask('b');
  job.send({ type: 'taskFailed', message: 'boom' });
  assert.ok(job.has('answer a task-failed'));
  job.ask('c', 'savepoint');
  assert.ok(job.has('answer c not-running'));
  job.attempt = 1;
  job.start();
  assert.equal(job.newest, 3);
  job.complete();
  assert.ok(job.has('answer b 3'));
});

test('while a checkpoint is being stored a restore waits, and then uses it', () => {
  const job = new ManualCheckpoints().start();
  job.to(1000);
  job.acknowledgeAll(1);
  job.send({ type: 'taskFailed', message: 'boom' });
  assert.equal(
    job.log.some((line) => line.includes('readyToRestore')),
    false,
  );
  assert.equal(
    job.log.some((line) => line.includes('notifyAborted')),
    false,
  );
  job.stored(1);
  assert.ok(job.has('notifyComplete 1'), 'tasks that go on hear of it');
  assert.ok(job.has('readyToRestore 1'));
});

test('if nobody knows whether a checkpoint was stored, its files are removed before a restore', () => {
  const job = new ManualCheckpoints().start();
  job.to(1000);
  job.acknowledgeAll(1);
  job.storeFailed('unknown', 1);
  job.send({ type: 'taskFailed', message: 'boom' });
  assert.equal(
    job.log.some((line) => line.includes('readyToRestore')),
    false,
  );
  job.send({ type: 'discarded', checkpointId: 1 });
  assert.ok(job.has('readyToRestore undefined'));
});

test('what arrives late for an aborted checkpoint is removed, for a completed one nothing is', () => {
  const job = new ManualCheckpoints().start();
  job.to(1000).complete();
  job.to(2000).decline();
  job.log.length = 0;
  job.acknowledge(2, 0);
  job.acknowledge(1, 0);
  job.acknowledge(77, 0);
  assert.deepEqual(job.log, ['2000 discardFiles 2']);
});

test('only so many completed checkpoints are retained, and savepoints are never subsumed', () => {
  const job = new ManualCheckpoints({ minPauseMs: 0 }).start();
  job.to(1000).complete();
  job.ask(1, 'savepoint');
  job.complete();
  job.to(2000).complete();
  job.to(3000).complete();
  job.to(4000).complete();
  const subsumed = job.log.filter((line) => line.includes('subsume'));
  assert.deepEqual(subsumed, ['3000 subsume 1', '4000 subsume 3']);
  assert.deepEqual(job.coordinator.retainedCheckpointIds, [4, 5]);
  assert.equal(job.has('notifyComplete 2'), false, 'a savepoint on the way commits nothing');
});

test('ids go on after the restored checkpoint, which counts among the retained if it is ours', () => {
  const job = new ManualCheckpoints();
  job.send({ type: 'restored', checkpointId: 41, isRetained: true });
  job.start().to(1000).complete();
  assert.ok(job.has('trigger 42 checkpoint'));
  job.to(2000).complete();
  assert.ok(job.has('subsume 41'));
});

test('a savepoint that stops the job commits, ends the periodic ones, and is what a failure afterwards restores', () => {
  const job = new ManualCheckpoints().start();
  job.ask('stop', 'savepoint-suspend');
  job.complete();
  assert.ok(job.has('notifyComplete 0') && job.has('answer stop 0'));
  job.to(60_000);
  assert.equal(job.starts.length, 1);
  job.ask('late');
  assert.ok(job.has('answer late stopping'));
  job.send({ type: 'taskFailed', message: 'boom' });
  assert.ok(job.has('readyToRestore 0'));
});

test('the final checkpoint begins at once, is tried again after a failure, and is the last', () => {
  const job = new ManualCheckpoints().start();
  job.to(1100);
  job.send({ type: 'finalCheckpoint', requestId: 'end' });
  job.complete();
  assert.equal(job.newest, 2, 'right after the one in flight, without the pause');
  job.decline();
  job.to(2100);
  assert.equal(job.newest, 3);
  job.complete();
  assert.ok(job.has('answer end 3') && job.has('notifyComplete 3'));
  job.to(60_000);
  assert.equal(job.starts.length, 3);
  assert.equal(job.has('alarm'), false);
});

test('a shutdown answers everybody', () => {
  const job = new ManualCheckpoints().start();
  job.to(1000);
  job.ask('a');
  job.send({ type: 'finalCheckpoint', requestId: 'end' });
  job.send({ type: 'shutdown', message: 'cancelled' });
  assert.ok(
    job.has('notifyAborted 1 shutdown') && job.has('answer a shutdown') && job.has('answer end shutdown'),
  );
  job.ask('b');
  assert.ok(job.has('answer b shutdown'));
});

test('too many waiting requests are refused', () => {
  const job = new ManualCheckpoints().start();
  for (let i = 0; i < 1002; i++) job.ask(i);
  assert.ok(job.has('answer 1001 too-many-requests'));
  assert.equal(job.log.filter((line) => line.includes('answer')).length, 1);
});

test('without an interval only what is asked for is taken', () => {
  const job = new ManualCheckpoints({ intervalMs: undefined }).start();
  job.to(1e9);
  assert.deepEqual(job.log, []);
});

test('a pause longer than the interval becomes the interval', () => {
  const job = new ManualCheckpoints({ intervalMs: 100, minPauseMs: 2000 }).start();
  job.to(2000).complete();
  job.to(4000);
  assert.deepEqual(job.starts, [2000, 4000]);
});
