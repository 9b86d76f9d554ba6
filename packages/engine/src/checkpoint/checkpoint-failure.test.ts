/** How checkpoints fail: with which text, and which failures in a row fail the job. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualCheckpoints } from '../testing/manual-checkpoints.ts';
import { CHECKPOINT_FAILURES, type CheckpointFailure } from './checkpoint-failure.ts';

const intolerant = (more = {}): ManualCheckpoints =>
  new ManualCheckpoints({ minPauseMs: 0, tolerableFailures: 0, maxConcurrent: 2, ...more }).start();

/** For each kind of failure a way to make the newest checkpoint fail of it. */
const WAYS: Partial<Record<CheckpointFailure, (job: ManualCheckpoints) => void>> = {
  expired: (job) => void job.to(job.nowMs + 5000),
  'store-failed': (job) => {
    job.acknowledgeAll();
    job.storeFailed('absent');
  },
  'snapshot-failed': (job) => job.decline(),
  'not-ready': (job) => job.decline(job.newest, 'not-ready'),
  closing: (job) => job.decline(job.newest, 'closing'),
  'newer-barrier': (job) => job.decline(job.newest, 'newer-barrier'),
  'cancellation-barrier': (job) => job.decline(job.newest, 'cancellation-barrier'),
  'end-of-input': (job) => job.decline(job.newest, 'end-of-input'),
  'task-failed': (job) => void job.send({ type: 'taskFailed', message: 'boom' }),
  'region-failover': (job) =>
    void job.send({ type: 'taskFailed', message: 'boom', failure: 'region-failover' }),
  shutdown: (job) => void job.send({ type: 'shutdown', message: 'The job is CANCELED.' }),
  subsumed: (job) => {
    const older = job.newest;
    job.ask('newer');
    job.complete(older + 1);
  },
};

const COUNTED = ['expired', 'store-failed', 'snapshot-failed'];

describe('a checkpoint that fails', () => {
  for (const [failure, fail] of Object.entries(WAYS)) {
    const counts = COUNTED.includes(failure);
    it(`(${failure}) says why in Flink's words, and ${counts ? 'counts' : 'does not count'}`, () => {
      const job = intolerant().to(1000);
      fail(job);
      const line = job.log.find((each) => each.includes('notifyAborted 1'));
      assert.ok(line?.endsWith(`notifyAborted 1 ${failure}`), line);
      const { text } = CHECKPOINT_FAILURES[failure as CheckpointFailure];
      assert.ok(job.messages[0]!.endsWith(` Failure reason: ${text}`), job.messages[0]);
      assert.equal(job.has('failJob'), counts);
    });

    it(`(${failure}) does not count if it is a savepoint`, () => {
      if (failure === 'subsumed') return; // It never is.
      const job = intolerant({ intervalMs: undefined });
      job.ask('sp', 'savepoint');
      fail(job);
      assert.ok(job.has(`notifyAborted 0 ${failure}`) && job.has(`answer sp ${failure}`));
      assert.equal(job.has('failJob'), false);
    });
  }

  it('because it could not be triggered counts, too', () => {
    const job = intolerant();
    job.triggersAtOnce = false;
    job.to(1000).send({ type: 'triggerFailed', checkpointId: 1, message: 'No directory.' });
    assert.ok(job.has('notifyAborted 1 trigger-failed') && job.has('failJob'));
    assert.match(job.messages[0]!, /^No directory\. Failure reason: .* IO-problem detected\.$/);
  });

  it('because it could not be triggered in time says that', () => {
    const job = intolerant();
    job.triggersAtOnce = false;
    job.to(6000);
    assert.match(job.messages[0]!, /could not be triggered within 5000 ms/);
  });

  it('because tasks did not answer in time names them', () => {
    const job = intolerant().to(1000);
    job.acknowledge(1, 0);
    job.to(6000);
    assert.match(job.messages[0]!, /^1 of 2 subtasks did not answer within 5000 ms: 0\.1/);
  });

  it('because it took too long has not, if the last answer is here before the clock is looked at', () => {
    const job = intolerant().to(1000);
    job.acknowledge(1, 0);
    job.nowMs = 7000;
    job.acknowledge(1, 1);
    job.stored(1);
    assert.ok(job.has('notifyComplete 1'));
  });

  it('is declined by a task of an earlier attempt in vain', () => {
    const job = intolerant().to(1000);
    job.restart();
    job.to(2000).decline(2, 'snapshot-failed', 0);
    assert.equal(job.has('notifyAborted 2 snapshot-failed'), false);
  });
});

describe('failures in a row', () => {
  const tolerant = (more = {}): ManualCheckpoints => intolerant({ tolerableFailures: 1, ...more });

  it('are counted from the last success, which a savepoint is, too', () => {
    const job = tolerant().to(1000);
    job.decline();
    job.ask('sp', 'savepoint');
    job.complete();
    job.to(2000).decline();
    assert.equal(job.has('failJob'), false);
    job.to(3000).decline();
    assert.ok(job.has('failJob'));
  });

  it('do not include one that is older than the last success', () => {
    const job = tolerant();
    job.to(1000);
    job.ask('newer', 'savepoint');
    job.complete(2);
    job.decline(1);
    job.to(2000).decline();
    assert.equal(job.has('failJob'), false);
  });

  it('are not interrupted by the success of one that is older than them, if a newer one completed since', () => {
    const job = tolerant({ maxConcurrent: 3 });
    job.ask('old', 'savepoint');
    job.ask('new', 'savepoint');
    job.complete(1);
    job.to(1000).decline();
    job.complete(0);
    job.to(2000).decline();
    assert.ok(job.has('failJob'));
  });

  it('are counted anew after the job has failed of them', () => {
    const job = tolerant().to(1000);
    job.decline();
    job.to(2000).decline();
    job.restart();
    job.to(3000).decline();
    assert.equal(job.log.filter((line) => line.endsWith('failJob')).length, 1);
    job.to(4000).decline();
    assert.equal(job.log.filter((line) => line.endsWith('failJob')).length, 2);
  });
});
