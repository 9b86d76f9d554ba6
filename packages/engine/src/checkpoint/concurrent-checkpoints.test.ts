/** Several checkpoints and savepoints under way at a time: what begins, what waits, what a completed one does to others. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualCheckpoints } from '../testing/manual-checkpoints.ts';

const concurrent = (maxConcurrent: number, more = {}): ManualCheckpoints =>
  new ManualCheckpoints({ minPauseMs: 0, timeoutMs: 100_000, maxConcurrent, ...more }).start();

const idsOf = (job: ManualCheckpoints, action: string): number[] =>
  job.log.filter((line) => line.split(' ')[1] === action).map((line) => Number(line.split(' ')[2]));

describe('periodic checkpoints', () => {
  it('are as many at a time as allowed; one that is due begins when another ends, well or not', () => {
    const job = concurrent(2);
    job.to(3300);
    assert.deepEqual(job.starts, [1000, 2000]);
    job.decline(1);
    assert.deepEqual(job.starts, [1000, 2000, 3300]);
    job.to(3400).complete(2);
    job.to(4300);
    assert.deepEqual(job.starts, [1000, 2000, 3300, 4300], 'an interval after the one that was late');
  });

  it('do not overlap if there is a pause between them, however many are allowed', () => {
    const job = concurrent(4, { minPauseMs: 300 });
    job.to(2800).complete();
    job.to(6000);
    assert.deepEqual(job.starts, [1000, 3100]);
  });

  it('wait for the end of a savepoint if only one is allowed, and for their pause after it', () => {
    const job = concurrent(1, { minPauseMs: 200 });
    job.to(900).ask('sp', 'savepoint');
    job.to(1500).complete();
    job.to(1700);
    assert.deepEqual(job.starts, [900, 1700]);
  });

  it('begin one after the other: no trigger before the one before was carried out', () => {
    const job = concurrent(3);
    job.triggersAtOnce = false;
    job.to(1000).ask('sp', 'savepoint');
    job.to(2500);
    assert.deepEqual(job.starts, [1000]);
    job.send({ type: 'triggered', checkpointId: 1 });
    assert.deepEqual(job.begun.at(-1), { id: 2, atMs: 2500, kind: 'savepoint' });
    job.send({ type: 'triggerFailed', checkpointId: 2, message: 'no such directory' });
    assert.ok(job.has('answer sp trigger-failed'));
    assert.deepEqual(job.begun.at(-1), { id: 3, atMs: 2500, kind: 'checkpoint' });
  });
});

describe('a checkpoint by hand', () => {
  it('waits until one of those under way ends, and goes before a periodic one that is due', () => {
    const job = concurrent(2);
    job.to(2500).ask('hand');
    job.to(3200);
    assert.equal(job.newest, 2);
    job.complete(1);
    job.complete(3);
    assert.ok(job.has('answer hand 3'));
  });

  it('does not wait for the pause', () => {
    const job = concurrent(1, { minPauseMs: 800 });
    job.to(1100).complete();
    job.ask('hand');
    assert.deepEqual(job.begun.at(-1), { id: 2, atMs: 1100, kind: 'checkpoint' });
  });

  it('is taken although there are no periodic ones', () => {
    const job = concurrent(1, { intervalMs: undefined });
    job.ask('hand');
    job.complete();
    assert.ok(job.has('notifyComplete 0') && job.has('answer hand 0'));
  });
});

describe('a savepoint', () => {
  it('begins at once, whatever is under way and whatever the pause', () => {
    const job = concurrent(1, { minPauseMs: 800 });
    job.to(1000).ask('a', 'savepoint');
    job.ask('b', 'savepoint');
    assert.deepEqual(job.starts, [1000, 1000, 1000]);
    job.complete(3);
    job.complete(2);
    job.complete(1);
    assert.ok(job.has('answer a 2') && job.has('answer b 3'));
    assert.deepEqual(idsOf(job, 'notifyAborted'), []);
  });

  it('waits for the one in flight if checkpoints are unaligned, and holds the next one back', () => {
    const job = concurrent(1, { alignedTimeoutMs: 0 });
    job.to(1100).ask('sp', 'savepoint');
    assert.equal(job.newest, 1);
    job.acknowledgeAll(1);
    assert.equal(job.newest, 2, 'all tasks have passed the barrier: storing is in nobody’s way');
    job.stored(1);
    job.to(5000);
    assert.equal(job.newest, 2);
    job.complete(2);
    assert.equal(job.newest, 3);
  });

  it('is one of 16 at most; more wait', () => {
    const job = concurrent(1);
    for (let i = 0; i < 20; i++) job.ask(i, 'savepoint');
    assert.equal(job.begun.length, 16);
    for (let id = 0; id < 20; id++) job.complete(id);
    assert.equal(job.log.filter((line) => line.includes('answer')).length, 20);
  });

  it('is neither subsumed by a newer checkpoint, nor does it subsume an older one', () => {
    const job = concurrent(2);
    job.to(1000).ask('sp', 'savepoint');
    job.complete(2);
    job.ask('other', 'savepoint');
    job.complete(1);
    job.to(2000).complete(4);
    assert.deepEqual(idsOf(job, 'notifyAborted'), []);
    job.complete(3);
    assert.ok(job.has('answer other 3'));
    assert.deepEqual(idsOf(job, 'notifyComplete'), [1, 4]);
  });

  it('that is being stored when tasks fail is given up, as what its sinks prepared is aborted by the restart', () => {
    const job = concurrent(1);
    job.ask('sp', 'savepoint');
    job.acknowledgeAll();
    job.send({ type: 'taskFailed', message: 'boom' });
    assert.ok(job.has('readyToRestore undefined'));
    assert.ok(job.has('answer sp task-failed') && job.has('discardFiles 0'));
    job.attempt = 1;
    job.start();
    job.stored(0);
    assert.ok(!job.has('answer sp 0'));
  });
});

describe('a stop', () => {
  it('begins at once, and nothing begins beside it', () => {
    const job = concurrent(4);
    job.to(1000).ask('stop', 'savepoint-suspend');
    job.ask('hand');
    job.ask('sp', 'savepoint');
    job.to(8000);
    assert.deepEqual(job.starts, [1000, 1000]);
    job.complete(2);
    assert.ok(job.has('notifyAborted 1 subsumed') && job.has('answer stop 2'));
    assert.ok(job.has('answer hand stopping') && job.has('answer sp stopping'));
  });

  it('that fails lets those begin that waited', () => {
    const job = concurrent(4);
    job.ask('stop', 'savepoint-suspend');
    job.ask('sp', 'savepoint');
    job.decline(0);
    assert.ok(job.has('answer stop snapshot-failed') && job.has('trigger 1 savepoint'));
  });
});

describe('the final checkpoint', () => {
  it('waits for savepoints, and subsumes the checkpoints before it', () => {
    const job = concurrent(2);
    job.to(1000).ask('sp', 'savepoint');
    job.send({ type: 'finalCheckpoint', requestId: 'end' });
    assert.equal(job.newest, 2);
    job.complete(2);
    assert.equal(job.newest, 3);
    job.complete(3);
    assert.ok(job.has('notifyAborted 1 subsumed') && job.has('answer end 3'));
  });
});

describe('a completed checkpoint', () => {
  it('subsumes the older ones, whose files go, and the older requests', () => {
    const job = concurrent(3);
    job.ask('old');
    job.to(1000).complete(1);
    assert.deepEqual(job.log.slice(-4), [
      '1000 notifyComplete 1',
      '1000 notifyAborted 0 subsumed',
      '1000 discardFiles 0',
      '1000 answer old subsumed',
    ]);
    job.acknowledge(0, 0);
    assert.equal(idsOf(job, 'discardFiles').length, 2, 'what arrives late for it is removed, too');
  });

  it('keeps the retained ones in order, whatever the order of the acknowledgements', () => {
    const job = concurrent(3);
    job.to(3000);
    job.acknowledgeAll(2);
    job.acknowledgeAll(3);
    job.acknowledgeAll(1);
    job.stored(2);
    job.stored(3);
    assert.deepEqual(idsOf(job, 'notifyComplete'), [2, 3]);
    assert.deepEqual(job.coordinator.retainedCheckpointIds, [2, 3]);
    assert.ok(job.has('notifyAborted 1 subsumed'));
  });
});

describe('storing', () => {
  it('goes one checkpoint after the other, oldest first, and the next goes on if one fails', () => {
    const job = concurrent(3);
    job.to(3000);
    job.acknowledgeAll(1);
    job.acknowledgeAll(3);
    job.acknowledgeAll(2);
    assert.deepEqual(idsOf(job, 'store'), [1]);
    job.storeFailed('absent', 1);
    assert.deepEqual(idsOf(job, 'store'), [1, 2]);
    job.stored(2);
    assert.deepEqual(idsOf(job, 'store'), [1, 2, 3]);
  });

  it('of a savepoint goes beside it', () => {
    const job = concurrent(1);
    job.to(1000).ask('sp', 'savepoint');
    job.acknowledgeAll(1);
    job.acknowledgeAll(2);
    assert.deepEqual(idsOf(job, 'store'), [1, 2]);
  });

  it('that a failure meets is waited for; what waits for it is given up', () => {
    const job = concurrent(3);
    job.to(2000);
    job.acknowledgeAll(1);
    job.acknowledgeAll(2);
    job.send({ type: 'taskFailed', message: 'boom', failure: 'region-failover' });
    assert.ok(job.has('discardFiles 2'));
    assert.deepEqual(idsOf(job, 'readyToRestore'), []);
    job.stored(1);
    assert.ok(job.has('notifyComplete 1') && job.has('readyToRestore 1'));
  });

  it('that ends in doubt does not hold up a restart once a newer one is complete', () => {
    const job = concurrent(3);
    job.to(2000);
    job.acknowledgeAll(1);
    job.acknowledgeAll(2);
    job.storeFailed('unknown', 1);
    job.stored(2);
    job.send({ type: 'taskFailed', message: 'boom' });
    assert.ok(job.has('readyToRestore 2'));
  });

  it('that takes too long lets those expire that wait for it, and says so', () => {
    const job = concurrent(2, { timeoutMs: 5000 });
    job.to(2000);
    job.acknowledgeAll(1);
    job.acknowledgeAll(2);
    job.to(7000);
    assert.ok(job.has('notifyAborted 2 expired'));
    assert.match(job.messages.at(-1)!, /one before it was still being stored after 5000 ms/);
    job.stored(1);
    assert.ok(!job.has('notifyComplete 1'));
  });

  it('that does not end is given up after a time-out of its own, and the next one is stored', () => {
    const job = concurrent(2, { timeoutMs: 5000, intervalMs: 4000 });
    job.to(8900);
    job.acknowledgeAll(1);
    job.acknowledgeAll(2);
    job.to(13_000);
    job.acknowledgeAll(3);
    assert.deepEqual(idsOf(job, 'store'), [1]);
    job.to(13_900);
    assert.ok(job.has('notifyAborted 1 expired') && job.has('discardFiles 1'));
    assert.match(job.messages.at(-1)!, /Its storage did not answer within 5000 ms/);
    assert.deepEqual(idsOf(job, 'store'), [1, 3]);
    job.stored(1);
    assert.ok(!job.has('notifyComplete 1'), 'it is too late');
    job.stored(3);
    assert.ok(job.has('notifyComplete 3'));
  });

  it('that does not end holds a restart up until it is given up and its files are gone', () => {
    for (const kind of ['checkpoint', 'savepoint-suspend'] as const) {
      const job = concurrent(1, { intervalMs: undefined, timeoutMs: 5000 });
      job.ask('it', kind, undefined);
      job.acknowledgeAll(0);
      job.send({ type: 'taskFailed', message: 'boom' });
      job.to(4999);
      assert.deepEqual(idsOf(job, 'notifyAborted'), []);
      job.to(5000);
      assert.ok(job.has('answer it expired'));
      assert.deepEqual(idsOf(job, 'readyToRestore'), []);
      job.send({ type: 'discarded', checkpointId: 0 });
      assert.ok(job.has('readyToRestore undefined'));
    }
  });

  it('of a savepoint that does not end concerns neither restarts nor checkpoints', () => {
    const job = concurrent(2, { timeoutMs: 5000 });
    job.ask('sp', 'savepoint');
    job.acknowledgeAll(0);
    job.to(1000);
    job.complete(1);
    job.to(5000);
    assert.ok(job.has('answer sp expired'));
    job.send({ type: 'taskFailed', message: 'boom' });
    assert.ok(job.has('readyToRestore 1'));
  });
});

describe("a savepoint's directory", () => {
  it('is made first, and checkpoints go on meanwhile, with lower ids', () => {
    const job = concurrent(1);
    job.ask('sp', 'savepoint', '/slow');
    assert.ok(job.has('makePlace sp /slow'));
    job.to(1000).complete();
    job.to(2000).complete();
    job.send({ type: 'placed', requestId: 'sp' });
    assert.deepEqual(job.begun.at(-1), { id: 3, atMs: 2000, kind: 'savepoint' });
    job.complete();
    assert.ok(job.has('answer sp 3'));
  });

  it('that cannot be made fails the savepoint alone', () => {
    const job = concurrent(1, { tolerableFailures: 0 });
    job.ask('sp', 'savepoint', '/hangs');
    job.send({ type: 'placeFailed', requestId: 'sp', failure: 'expired', message: 'no answer.' });
    job.send({ type: 'placed', requestId: 'sp' });
    assert.ok(job.has('answer sp expired'));
    job.to(1000);
    assert.deepEqual(job.begun, [{ id: 1, atMs: 1000, kind: 'checkpoint' }]);
    assert.ok(!job.has('failJob'));
  });

  it('is waited for by the final checkpoint, and not made use of once the job is over', () => {
    const job = concurrent(1, { intervalMs: undefined });
    job.ask('sp', 'savepoint', '/slow');
    job.ask('never', 'savepoint', '/hangs');
    job.send({ type: 'finalCheckpoint', requestId: 'final' });
    assert.deepEqual(job.begun, []);
    job.send({ type: 'placed', requestId: 'sp' });
    job.complete(0);
    assert.equal(job.newest, 0);
    job.send({ type: 'shutdown', message: 'end' });
    assert.ok(job.has('answer never shutdown') && job.has('answer final shutdown'));
    job.send({ type: 'placed', requestId: 'never' });
    assert.equal(job.newest, 0);
  });

  it('may still be made when tasks fail and start again; a stop is over then', () => {
    const job = concurrent(1, { intervalMs: undefined });
    job.ask('sp', 'savepoint', '/slow');
    job.ask('stop', 'savepoint-suspend', '/slow');
    job.restart();
    assert.ok(job.has('answer stop task-failed'));
    job.send({ type: 'placed', requestId: 'stop' });
    assert.deepEqual(job.begun, []);
    job.send({ type: 'placed', requestId: 'sp' });
    assert.deepEqual(
      job.begun.map(({ kind }) => kind),
      ['savepoint'],
    );
  });
});

describe('what a job was to stop with', () => {
  const goesOnAfter = (targetDirectory: string | undefined): ManualCheckpoints => {
    const job = concurrent(1, { retainedCount: 1 });
    job.to(1000).complete();
    job.ask('stop', 'savepoint-suspend', targetDirectory);
    if (targetDirectory !== undefined) job.send({ type: 'placed', requestId: 'stop' });
    job.complete(2);
    job.restart();
    return job;
  };

  it('is one of its checkpoints if it has no other place: it goes when the job goes on and has a newer one', () => {
    const job = goesOnAfter(undefined);
    assert.ok(job.has('subsume 1') && job.has('readyToRestore 2'));
    assert.deepEqual(job.coordinator.retainedCheckpointIds, [2]);
    job.to(2000).complete();
    assert.deepEqual(idsOf(job, 'subsume'), [1, 2]);
  });

  it("is its user's in a directory of his, and stays", () => {
    const job = goesOnAfter('/savepoints');
    assert.ok(job.has('readyToRestore 2'));
    assert.deepEqual(job.coordinator.retainedCheckpointIds, [1]);
    job.to(2000).complete();
    assert.deepEqual(idsOf(job, 'subsume'), [1]);
  });
});
