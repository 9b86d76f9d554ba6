/** A job that is started from its latest checkpoint while it runs, or twice at the same moment: one of them runs. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it, type TestContext } from 'node:test';
import type { JobClient } from '@millrace/engine';
import { hasCode, type MillraceError } from '../src/base/index.ts';
import { createManualPlatform, type ManualPlatform } from '../src/testing/manual-platform.ts';
import { Gate } from './gated-source.ts';
import { checkpointsIn, environmentOn, noting, temporaryFolder, untilQuiet } from './small-job.ts';
import { countLetters, letters } from './totals-job.ts';

const LATEST = { 'execution.state-recovery.path': 'latest' };

type Settings = Readonly<Record<string, unknown>>;

interface Start {
  readonly platform: ManualPlatform;
  readonly settings?: Settings;
  readonly name?: string;
  readonly gate?: Gate;
  readonly seen?: string[];
}

/** Counts letters; waits at its gate. */
async function start({ platform, settings = LATEST, name = 'letters', gate = new Gate(0), seen }: Start) {
  const env = environmentOn(platform, settings);
  countLetters(env, letters(20), gate)
    .map(noting(({ key, count }) => seen?.push(`${key}${count}`)))
    .uid('seen')
    .print();
  const client = await env.executeAsync(name);
  client.getJobExecutionResult().catch(() => {});
  return client;
}

const ended = (client: JobClient): Promise<unknown> => client.getJobExecutionResult().catch(() => {});

function runsAlready(error: unknown): boolean {
  assert.ok(hasCode(error, 'CHECKPOINT_DIRECTORY_IN_USE'), String(error));
  assert.match(String(error), /Job 'letters' is running already, with its checkpoints in \/checkpoints: /);
  return true;
}

describe('a job that is started from latest', () => {
  it('by several at the same moment, when there is no checkpoint yet, runs once', async () => {
    const platform = createManualPlatform();
    const seen: string[] = [];
    const starts = await Promise.allSettled(
      [1, 2, 3].map(() => start({ platform, seen, gate: new Gate(20) })),
    );
    const running = starts.filter((each) => each.status === 'fulfilled');
    assert.equal(running.length, 1);
    for (const each of starts) assert.ok(each.status === 'fulfilled' || runsAlready(each.reason));
    await running[0]!.value.getJobExecutionResult();
    assert.equal(seen.length, 20);
    assert.equal(new Set(seen).size, 20);
  });

  it('is refused while it runs, whatever files it replaces, and goes on when it has ended', async () => {
    const platform = createManualPlatform();
    const gate = new Gate(10);
    const seen: string[] = [];
    const client = await start({ platform, gate, seen });
    await client.untilRunning();
    for (let round = 0; round < 3; round++) {
      const [second] = await Promise.allSettled([start({ platform }), client.triggerCheckpoint()]);
      assert.ok(second.status === 'rejected' && runsAlready(second.reason));
    }
    await client.stop();
    await ended(client);
    const next = await start({ platform, gate: new Gate(20), seen });
    await next.getJobExecutionResult();
    assert.deepEqual([seen.length, new Set(seen).size], [20, 20]);
  });

  it('is refused while one runs that was started without asking for the latest', async () => {
    const platform = createManualPlatform();
    const client = await start({ platform, settings: {} });
    await assert.rejects(start({ platform }), runsAlready);
    await client.cancel();
    await ended(client);
    await (await start({ platform })).cancel();
  });

  it('keeps nobody from starting another job, or this one anew', async () => {
    const platform = createManualPlatform();
    const clients = [
      await start({ platform }),
      await start({ platform, name: 'other' }),
      await start({ platform, settings: {} }),
    ];
    for (const client of clients) {
      await client.untilRunning();
      await client.cancel();
    }
  });

  it('and cannot run keeps nobody from starting it again', async () => {
    const platform = createManualPlatform();
    const client = await start({ platform });
    await client.untilRunning();
    await client.stop();
    await ended(client);
    const changed = environmentOn(platform, LATEST);
    changed.fromCollection([1]).uid('quite another job').print();
    await assert.rejects(changed.executeAsync('letters'), { code: 'RESTORE_MISMATCH' });
    await (await start({ platform, gate: new Gate(20) })).getJobExecutionResult();
    await untilQuiet(platform);
  });

  it('and whose newest checkpoint another job has claimed is told whose it is', async () => {
    const platform = createManualPlatform();
    const client = await start({ platform });
    await client.untilRunning();
    const { path } = await client.triggerCheckpoint();
    await client.cancel();
    await ended(client);
    const settings = {
      'execution.state-recovery.path': path,
      'execution.state-recovery.claim-mode': 'CLAIM',
    };
    const claimant = await start({ platform, settings, name: 'renamed' });
    await claimant.untilRunning();
    const told = (error: MillraceError): boolean => {
      assert.equal(error.code, 'SNAPSHOT_CLAIMED');
      assert.match(
        error.message,
        /job 'renamed' .* has claimed it.*Start job 'renamed' from latest to go on/,
      );
      return true;
    };
    await assert.rejects(start({ platform }), told);
    await claimant.triggerCheckpoint();
    await untilQuiet(platform);
    await assert.rejects(start({ platform }), told);
    await claimant.cancel();
  });
});

describe('a job that two processes start from latest', () => {
  const script = join(import.meta.dirname, 'started-twice-job.ts');

  async function launch(t: TestContext, directory: string) {
    const child = spawn(process.execPath, ['--conditions=millrace-source', script, directory], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    t.after(() => child.kill('SIGKILL'));
    const [line] = await once(createInterface(child.stdout), 'line');
    return { child, line: String(line) };
  }

  it('at the same moment runs in one of them, which the other names; after a kill it runs again', async (t) => {
    const directory = checkpointsIn(temporaryFolder(t));
    for (let round = 0; round < 2; round++) {
      const processes = await Promise.all([launch(t, directory), launch(t, directory)]);
      const running = processes.filter(({ line }) => line === 'running');
      const refused = processes.filter(({ line }) => line !== 'running');
      assert.equal(running.length, 1, refused.map(({ line }) => line).join('\n'));
      const [{ child }] = running as [(typeof running)[0]];
      assert.match(
        refused[0]!.line,
        new RegExp(
          `^MillraceError: Job 'letters' is running already, .* is used by process ${child.pid} on `,
        ),
      );
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    }
  });
});
