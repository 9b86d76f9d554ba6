/**
 * Several checkpoints are written at a time, and the disk answers in any order: a newer one completes before an older one,
 * which then comes late, or fails. What is retained stays whole, and when everything is at rest nothing else is left. (From
 * apache/flink#22669, #19331, without files that are shared.)
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createManualPlatform } from '../../src/testing/manual-platform.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { checkSnapshotFiles } from '../../src/testing/snapshot-files.ts';
import { Gate } from '../gated-source.ts';
import { slowDisk, stateWrites } from '../slow-disk.ts';
import { environmentOn, noting, until, untilQuiet, untilStatus } from '../small-job.ts';
import { countLetters, countsOf, letters, sorted } from '../totals-job.ts';

const VALUES = letters(100);
const RUNS = 50;
const STEPS = 25;
const CONCURRENT = 3;

/** Starts a job that takes checkpoints by hand, and whose state files wait to be written. */
async function start(retained: number) {
  const memory = createManualPlatform();
  const disk = slowDisk(memory, stateWrites());
  const env = environmentOn(disk.platform, {
    'execution.checkpointing.max-concurrent-checkpoints': CONCURRENT,
    'execution.checkpointing.num-retained': retained,
    'execution.checkpointing.tolerable-failed-checkpoints': 1000,
    'execution.checkpointing.data-inline-threshold': 0,
  });
  const gate = new Gate(0);
  let seen = 0;
  countLetters(env, VALUES, gate)
    .map(noting(() => seen++))
    .uid('seen')
    .print();
  const client = await env.executeAsync('letters');
  client.getJobExecutionResult().catch(() => {});
  await untilStatus(client, 'RUNNING');
  let pending = 0;
  /** Records that each completed checkpoint has seen, by its directory. */
  const records = new Map<string, number>();
  return {
    memory,
    disk,
    client,
    records,
    pending: () => pending,
    advance: async (count: number): Promise<void> => {
      gate.open(seen + count);
      const wanted = seen + count;
      await until(() => seen === wanted, `${seen} of ${wanted} records came through`);
    },
    trigger: async (): Promise<void> => {
      const at = seen;
      const before = disk.held().length;
      pending++;
      client
        .triggerCheckpoint()
        .then(
          ({ path }) => records.set(path!, at),
          () => {},
        )
        .finally(() => pending--);
      // Its barrier is through when its file is begun: what comes now comes after it.
      await until(() => disk.held().length > before, 'the checkpoint does not come to writing');
    },
  };
}

async function restored(job: Awaited<ReturnType<typeof start>>): Promise<void> {
  await job.client.cancel();
  const newest = Math.max(0, ...job.records.values());
  const env = environmentOn(job.memory, { 'execution.state-recovery.path': 'latest' });
  const results = await countLetters(env, VALUES)
    .map((counted) => counted)
    .uid('seen')
    .executeAndCollect('letters');
  assert.deepEqual(sorted(results), sorted(countsOf(VALUES).slice(newest)));
}

describe('of checkpoints that overlap', () => {
  for (const ending of ['late', 'failed'] as const) {
    it(`a newer one completes first, and stays whole when the older one comes ${ending === 'late' ? 'late' : 'to fail'}`, async () => {
      const job = await start(1);
      for (const count of [10, 10, 10]) {
        await job.advance(count);
        await job.trigger();
      }
      const [first, second, third] = job.disk.held() as [string, string, string];
      job.disk.release(first);
      await until(() => job.records.size === 1, 'the first does not complete');
      job.disk.release(third);
      await until(() => job.records.size === 2, 'the third does not complete');
      const newest = [...job.records].find(([, records]) => records === 30)![0];
      job.disk.release(second, ending === 'late' ? undefined : new Error('EIO'));
      await until(() => job.pending() === 0, 'the second is not answered');
      await untilQuiet(job.memory);
      const report = await checkSnapshotFiles(job.memory, '/checkpoints');
      assert.deepEqual(report, { snapshots: [newest], unreferenced: [], missing: [], damaged: [] });
      await restored(job);
    });
  }

  it('what is retained stays whole and nothing else is left, in many orders', async () => {
    let outOfOrder = 0;
    for (let seed = 1; seed <= RUNS; seed++) {
      const random = seededRandom(seed);
      const retained = 1 + random.below(3);
      const job = await start(retained);
      for (let step = 0; step < STEPS; step++) {
        const held = job.disk.held();
        const dice = random.below(4);
        if (dice === 0) await job.advance(1 + random.below(3));
        else if (dice < 3 && job.pending() < CONCURRENT) await job.trigger();
        else if (held.length > 0) {
          const chosen = random.below(held.length);
          if (chosen > 0) outOfOrder++;
          job.disk.release(held[chosen], random.oneIn(5) ? new Error('EIO') : undefined);
          await new Promise(setImmediate);
        }
      }
      job.disk.release();
      await until(() => job.pending() === 0, `seed ${seed}: a checkpoint is not answered`);
      await untilQuiet(job.memory);
      const { snapshots, ...problems } = await checkSnapshotFiles(job.memory, '/checkpoints');
      assert.deepEqual(problems, { unreferenced: [], missing: [], damaged: [] }, `seed ${seed}`);
      assert.ok(snapshots.length >= 1 && snapshots.length <= retained, `seed ${seed}: ${snapshots}`);
      await restored(job);
    }
    assert.ok(outOfOrder > RUNS, `only ${outOfOrder} times out of order`);
  });
});
