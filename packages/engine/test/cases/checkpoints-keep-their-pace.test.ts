/**
 * When checkpoints begin: interval, pause, failures, requests by hand, failovers and jumps of the wall clock, in a whole job
 * in virtual time. (From apache/flink#6346, #9128, FLINK-18856, FLINK-26049.) All rules: checkpoint/checkpoint-coordinator.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PacedJob, type Script } from '../paced-job.ts';
import { assertRefused } from '../refusal.ts';

const HOUR_MS = 3_600_000;

for (const unaligned of [false, true]) {
  const startJob = (script: Script = {}): Promise<PacedJob> =>
    new PacedJob().start({
      ...script,
      settings: { 'execution.checkpointing.unaligned.enabled': unaligned, ...script.settings },
    });

  describe(unaligned ? 'unaligned' : 'aligned', () => {
    describe('periodic checkpoints', () => {
      it('begin after the interval, and after the pause if one was late', async () => {
        const job = await startJob({ durations: { 1: 100, 2: 1800 } });
        await job.pass(5000);
        assert.deepEqual(job.starts, [
          [0, 0],
          [1, 1000],
          [2, 2000],
          [3, 4300],
        ]);
        await job.end();
      });

      it('begin after the pause also if the one before failed', async () => {
        const job = await startJob({ durations: { 1: 20_000 } });
        await job.pass(7000);
        assert.deepEqual(job.starts, [
          [0, 0],
          [1, 1000],
          [2, 6500],
        ]);
        assert.equal(job.client.metrics().job['numberOfFailedCheckpoints'], 1);
        await job.end();
      });

      it('do not notice that the wall clock jumps', async () => {
        const job = await startJob({ durations: { 1: 100, 2: 1800 } });
        const { platform } = job;
        await job.pass(1500);
        platform.setWallMs(platform.clock.wallMs() - HOUR_MS);
        await job.pass(1500);
        platform.setWallMs(platform.clock.wallMs() + 2 * HOUR_MS);
        await job.pass(2000);
        assert.deepEqual(
          job.starts.map(([, ms]) => ms),
          [0, 1000, 2000, 4300],
        );
        await job.end();
      });

      it('that fail one after the other fail the job at the third; one that succeeds in between counts them anew', async () => {
        const job = await startJob();
        const { files } = job.platform;
        await job.pass(1400);
        files.limitBytes(1);
        await job.pass(2000);
        files.clearFaults();
        await job.pass(1000);
        files.limitBytes(1);
        await job.pass(2000);
        assert.equal(job.client.getJobStatus(), 'RUNNING');
        assert.equal(job.client.metrics().job['numberOfFailedCheckpoints'], 4);
        await job.pass(1000);
        assert.equal(job.client.metrics().job['numRestarts'], 1);
        files.clearFaults();
        await job.end();
      });

      it('go on after a failover', async () => {
        const job = await startJob({ failsAt: 2 });
        await job.pass(2100);
        const afterFailure = job.starts.length;
        assert.equal(job.client.metrics().job['numRestarts'], 1);
        await job.pass(3000);
        assert.ok(job.starts.length >= afterFailure + 2, JSON.stringify(job.starts));
        const ids = job.starts.map(([id]) => id);
        assert.deepEqual(ids, [...new Set(ids)], 'an id is never used again');
        await job.end();
      });

      it('raise an alarm when none has completed for three intervals', async () => {
        const job = await startJob({ durations: { 1: 4500 } });
        await job.pass(5000);
        const alarms = job.platform.logged.filter(({ message }) =>
          message.includes('no checkpoint has completed'),
        );
        assert.equal(alarms.length, 1);
        assert.equal(alarms[0]!.level, 'warn');
        await job.end();
      });
    });

    describe('a savepoint', () => {
      it('that is asked for while a checkpoint is under way is neither lost nor in the way of those after it', async () => {
        const job = await startJob({ durations: { 2: 1800 } });
        await job.pass(2500);
        const asked = job.client.triggerSavepoint('/savepoints');
        await job.pass(4000);
        assert.match(await asked, /^\/savepoints\/savepoint-/);
        assert.ok(job.starts.length >= 6, JSON.stringify(job.starts));
        assert.equal(job.client.metrics().job['numberOfFailedCheckpoints'], 0);
        await job.end();
      });
    });

    describe('a checkpoint by hand', () => {
      it('that is asked for while another one runs is neither lost nor in its way', async () => {
        const job = await startJob({ durations: { 2: 1800 } });
        await job.pass(2500);
        const asked = job.client.triggerCheckpoint();
        await job.pass(2000);
        const { checkpointId } = await asked;
        assert.equal(checkpointId, 3);
        assert.equal(job.client.metrics().job['numberOfFailedCheckpoints'], 0);
        await job.end();
      });

      it('that takes too long is given up, and the job goes on', async () => {
        const job = await startJob({ durations: { 1: 20_000 } });
        const asked = job.client.triggerCheckpoint();
        const refused = assertRefused(asked, 'CHECKPOINT_FAILED', /expired|timeout|timed out|5000|5 s/i);
        await job.pass(7000);
        await refused;
        assert.equal(job.client.getJobStatus(), 'RUNNING');
        assert.ok(
          job.starts.some(([id]) => id > 1),
          'later checkpoints are taken',
        );
        await job.end();
      });
    });
  });
}
