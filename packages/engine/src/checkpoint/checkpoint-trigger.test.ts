/** When periodic checkpoints are due while sources work off a backlog, or no longer do. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualCheckpoints } from '../testing/manual-checkpoints.ts';

/** Each checkpoint completes at once. */
class Prompt extends ManualCheckpoints {
  override to(ms: number): this {
    for (let at = this.nowMs; at < ms; at += 50) {
      super.to(Math.min(at + 50, ms));
      this.complete();
    }
    return this;
  }

  backlog(isProcessing: boolean, source = 'source'): this {
    this.send({ type: 'backlog', source, isProcessing });
    return this;
  }
}

const started = (intervalDuringBacklogMs: number | undefined, more = {}): Prompt =>
  new Prompt({ minPauseMs: 0, intervalDuringBacklogMs, ...more }).start();

describe('the interval during a backlog', () => {
  it('holds after the checkpoint that was due when the backlog began', () => {
    const job = started(3000).to(500).backlog(true).to(8000);
    assert.deepEqual(job.starts, [1000, 4000, 7000]);
  });

  it('ends with the backlog: the next checkpoint is an interval away at most', () => {
    const job = started(10_000).backlog(true).to(3500).backlog(false).to(6000);
    assert.deepEqual(job.starts, [1000, 4500, 5500]);
  });

  it('ends with the backlog without putting off what is due', () => {
    const job = started(3000).backlog(true).to(3500).backlog(false).to(5500);
    assert.deepEqual(job.starts, [1000, 4000, 5000]);
  });

  it('holds from the start on if the source says so before all tasks run', () => {
    const job = new Prompt({ minPauseMs: 0, intervalDuringBacklogMs: 3000 }).backlog(true);
    job.start();
    job.to(6500);
    assert.deepEqual(job.starts, [3000, 6000]);
  });

  it('holds as long as any source works off a backlog', () => {
    const job = started(3000).backlog(true, 'a').backlog(true, 'b').backlog(false, 'a').to(7500);
    job.backlog(false, 'b').to(9000);
    assert.deepEqual(job.starts, [1000, 4000, 7000, 8500]);
  });

  it('of 0 means none, from then on until an interval after the backlog, and no alarm', () => {
    const job = started(0).to(500).backlog(true).to(20_000);
    job.ask('hand');
    job.complete();
    job.backlog(false).to(22_500);
    assert.deepEqual(job.starts, [20_000, 21_000, 22_000]);
    assert.equal(job.has('alarm'), false);
  });

  it('is the normal one if none was set', () => {
    const job = started(undefined).backlog(true).to(3500);
    assert.deepEqual(job.starts, [1000, 2000, 3000]);
  });

  it('means nothing without periodic checkpoints', () => {
    const job = started(3000, { intervalMs: undefined }).backlog(true).to(10_000).backlog(false).to(20_000);
    assert.deepEqual(job.starts, []);
  });

  it('does not begin checkpoints while the job is restarting', () => {
    const job = started(0).backlog(true);
    job.send({ type: 'taskFailed', message: 'boom' });
    job.backlog(false).to(5000);
    assert.deepEqual(job.starts, []);
  });
});
