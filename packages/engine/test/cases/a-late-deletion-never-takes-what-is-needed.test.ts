/**
 * Deleting an old checkpoint takes long, or fails, and meanwhile the job restarts, its process is killed, the next checkpoint
 * comes: nothing that is needed is ever lost by it, and no checkpoint waits for it. (From apache/flink#4410,
 * ArroyoSystems/arroyo#1086.)
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Platform } from '../../src/platform/index.ts';
import { createManualPlatform, type ManualPlatform } from '../../src/testing/manual-platform.ts';
import { mortalPlatform } from '../../src/testing/mortal-platform.ts';
import { checkSnapshotFiles } from '../../src/testing/snapshot-files.ts';
import { Gate } from '../gated-source.ts';
import { deletes, slowDisk } from '../slow-disk.ts';
import { environmentOn, until, untilGone } from '../small-job.ts';
import { type Counted, countLetters, countsOf, letters, sorted } from '../totals-job.ts';

const VALUES = letters(60);
const LATEST = { 'execution.state-recovery.path': 'latest' };

async function start(platform: Platform, settings: Readonly<Record<string, unknown>> = {}, alreadyRead = 0) {
  const env = environmentOn(platform, { 'execution.checkpointing.data-inline-threshold': 0, ...settings });
  const gate = new Gate(alreadyRead);
  const results: Counted[] = [];
  let failsNext = false;
  countLetters(env, VALUES, gate)
    .map((counted) => {
      if (failsNext) {
        failsNext = false;
        throw new Error('once');
      }
      results.push(counted);
      return counted;
    })
    .uid('seen')
    .print();
  const client = await env.executeAsync('letters');
  client.getJobExecutionResult().catch(() => {});
  await client.untilRunning();
  return {
    client,
    results,
    gate,
    failNext: () => (failsNext = true),
    checkpointAt: async (records: number): Promise<string> => {
      gate.open(records);
      await until(
        () => results.length >= records - alreadyRead,
        `not all of ${records} records came through`,
      );
      return (await client.triggerCheckpoint()).path!;
    },
  };
}

async function assertWhole(platform: ManualPlatform, snapshots: readonly string[]): Promise<void> {
  const report = await checkSnapshotFiles(platform, '/checkpoints');
  assert.deepEqual(report, { snapshots, unreferenced: [], missing: [], damaged: [] });
}

describe('a deletion that takes long', () => {
  it('does not hold up the next checkpoints, nor take them with it after a restart of the job', async () => {
    const memory = createManualPlatform();
    const disk = slowDisk(memory, deletes(/chk-[1-9]/));
    const job = await start(disk.platform, {
      'restart-strategy.type': 'fixed-delay',
      'restart-strategy.fixed-delay.delay': 0,
    });
    const first = await job.checkpointAt(10);
    const second = await job.checkpointAt(20);
    await until(() => disk.held().length > 0, `nothing deletes ${first}`);
    job.failNext();
    job.gate.open(30);
    await until(() => {
      memory.advance(1);
      return job.results.length === 30;
    }, 'the job does not go on');
    const third = await job.checkpointAt(30);
    disk.release();
    for (const gone of [first, second]) await untilGone(memory, gone);
    await assertWhole(memory, [third]);
    assert.deepEqual(sorted(job.results), sorted(countsOf(VALUES).slice(0, 30)));
    await job.client.cancel();
    const again = await start(memory, LATEST, 30);
    await again.checkpointAt(50);
    assert.deepEqual(sorted(again.results), sorted(countsOf(VALUES).slice(30, 50)));
    await again.client.cancel();
  });

  it('and is cut off with its process at any step is made up for by the next one', async () => {
    const isDeletion = (name: string): boolean => /^(delete|syncDirectory) .*chk-1/.test(name);
    for (const steps of [0, 1, 2, 3]) {
      const memory = createManualPlatform({ seed: steps });
      const process = mortalPlatform(memory);
      const job = await start(process);
      await job.checkpointAt(10);
      const done = process.operations.length;
      const second = await job.checkpointAt(20);
      await until(
        () => process.operations.slice(done).filter(isDeletion).length >= steps,
        `no ${steps} steps of deleting`,
      );
      process.kill();
      memory.files.crash({ keep: 'some' });
      const again = await start(memory, LATEST, 20);
      const newest = await again.checkpointAt(40);
      await untilGone(memory, second);
      await assertWhole(memory, [newest]);
      assert.deepEqual(sorted(again.results), sorted(countsOf(VALUES).slice(20, 40)));
      await again.client.cancel();
    }
  });
});

describe('a deletion that fails', () => {
  it('is tried again, holds up no checkpoint and fails no job', async () => {
    const memory = createManualPlatform();
    let refused = 0;
    const failing: Platform = {
      ...memory,
      fileSystem: (uri) => {
        const { files, path } = memory.fileSystem(uri);
        const refusing = new Proxy(files, {
          get(target, name) {
            const member: unknown = Reflect.get(target, name);
            if (name !== 'delete') return typeof member === 'function' ? member.bind(target) : member;
            return async (at: string) => {
              if (/chk-[12]$/.test(at) && refused < 6) {
                refused++;
                throw new Error(`EBUSY: ${at}`);
              }
              return target.delete(at);
            };
          },
        });
        return { files: refusing, path };
      },
    };
    const job = await start(failing);
    const paths: string[] = [];
    for (const records of [10, 20, 30, 40, 50]) paths.push(await job.checkpointAt(records));
    for (const gone of paths.slice(0, -1)) await untilGone(memory, gone);
    assert.equal(refused, 6);
    await assertWhole(memory, paths.slice(-1));
    const warnings = memory.logged.filter(({ message }) => message.includes('not deleted yet'));
    assert.equal(warnings.length, 2, 'one for each');
    await job.client.cancel();
  });
});
