/**
 * setPreferCheckpointForRecovery: a job that was stopped with a savepoint goes on from it, unless checkpoints are preferred;
 * then from its newest checkpoint, with a warning, because what came between is done again.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JobClient } from '@millrace/engine';
import { createManualPlatform, type ManualPlatform } from '../src/testing/manual-platform.ts';
import { TransactionLog } from '../src/testing/transaction-log-sink.ts';
import { Gate } from './gated-source.ts';
import { environmentOn, until } from './small-job.ts';
import { type Counted, countLetters, countsOf, letters, sorted } from './totals-job.ts';

const VALUES = letters(60);

interface Running {
  readonly client: JobClient;
  readonly gate: Gate;
  /** What was committed in the order of its commits. */
  readonly log: TransactionLog<Counted>;
}

async function start(
  platform: ManualPlatform,
  prefers: boolean,
  log: TransactionLog<Counted>,
  settings: Readonly<Record<string, unknown>> = {},
  limit = 0,
): Promise<Running> {
  const env = environmentOn(platform, settings);
  env.getCheckpointConfig().setPreferCheckpointForRecovery(prefers);
  const gate = new Gate(limit);
  countLetters(env, VALUES, gate).sinkTo(log.sink()).uid('log');
  const client = await env.executeAsync('letters');
  client.getJobExecutionResult().catch(() => {});
  await client.untilRunning();
  return { client, gate, log };
}

const written = ({ transactions }: TransactionLog<Counted>): number =>
  [...transactions.values()].reduce(
    (sum, { values, state }) => sum + (state === 'aborted' ? 0 : values.length),
    0,
  );

/** A checkpoint after 20 records, 10 more records. */
async function runThirty(job: Running): Promise<string> {
  job.gate.open(20);
  await until(() => written(job.log) === 20, 'the first records do not come through');
  const { path } = await job.client.triggerCheckpoint();
  job.gate.open(30);
  await until(() => written(job.log) === 30, 'the next records do not come through');
  return path!;
}

const said = (platform: ManualPlatform, level: string): string =>
  platform.logged
    .filter((line) => line.level === level)
    .map(({ message }) => message)
    .join('\n');

const LATEST = { 'execution.state-recovery.path': 'latest' };

describe('a job that was stopped with a savepoint', () => {
  it('goes on from it by latest', async () => {
    const platform = createManualPlatform();
    const log = new TransactionLog<Counted>();
    const job = await start(platform, false, log);
    await runThirty(job);
    const savepoint = await job.client.stopWithSavepoint('/savepoints');
    const again = await start(platform, false, log, LATEST, Number.POSITIVE_INFINITY);
    await again.client.getJobExecutionResult();
    assert.match(said(platform, 'info'), new RegExp(`${savepoint}: used`));
    assert.deepEqual(sorted(log.committed()), sorted(countsOf(VALUES)));
  });

  it('goes on from its newest checkpoint by latest if that is preferred, shows twice what came between, and says so', async () => {
    const platform = createManualPlatform();
    const log = new TransactionLog<Counted>();
    const job = await start(platform, true, log);
    const checkpoint = await runThirty(job);
    const savepoint = await job.client.stopWithSavepoint('/savepoints');
    const again = await start(platform, true, log, LATEST, 40);
    await until(() => written(log) === 50, 'the records do not come again');
    const { path } = await again.client.triggerCheckpoint();
    const idOf = (name: string): number => Number(/chk-(\d+)$/.exec(name)![1]);
    assert.ok(idOf(path!) > idOf(checkpoint) + 1, `${path}: the number of the savepoint is used twice`);
    again.gate.open();
    await again.client.getJobExecutionResult();
    assert.match(
      said(platform, 'warn'),
      new RegExp(
        `${checkpoint} is used because checkpoints are preferred.*${savepoint}.*sinks may show it twice.*lost`,
      ),
    );
    const twice = countsOf(VALUES).slice(20, 30);
    assert.deepEqual(sorted(log.committed()), sorted([...countsOf(VALUES), ...twice]));
  });

  it('goes on from it even if checkpoints are preferred, when there is none', async () => {
    const platform = createManualPlatform();
    const log = new TransactionLog<Counted>();
    const job = await start(platform, false, log);
    await runThirty(job);
    await job.client.stopWithSavepoint('/savepoints');
    const again = await start(platform, true, log, LATEST, Number.POSITIVE_INFINITY);
    await again.client.getJobExecutionResult();
    assert.deepEqual(sorted(log.committed()), sorted(countsOf(VALUES)));
  });
});

describe('a job that fails after the savepoint that was to stop it', () => {
  const failAfterSavepoint = async (prefers: boolean) => {
    const platform = createManualPlatform();
    const log = new TransactionLog<Counted>();
    const job = await start(platform, prefers, log, {
      'restart-strategy.type': 'fixed-delay',
      'restart-strategy.fixed-delay.attempts': 1,
      'restart-strategy.fixed-delay.delay': 0,
    });
    const checkpoint = await runThirty(job);
    let commits = 0;
    log.interfere = (call) => {
      // The second half of the commit of the savepoint: it is complete, and shown.
      if (call.startsWith('commit') && commits++ === 0) {
        const [id] = log.undecided();
        log.transactions.get(id!)!.state = 'committed';
        throw new Error('the store was lost after it had committed');
      }
    };
    await assert.rejects(job.client.stopWithSavepoint('/savepoints'), { code: 'STOP_FAILED' });
    await until(() => {
      platform.advance(1);
      return job.client.getJobStatus() === 'RUNNING';
    }, 'it does not restart');
    job.gate.open();
    await job.client.getJobExecutionResult();
    return { platform, log, checkpoint };
  };

  it('restarts from it', async () => {
    const { log } = await failAfterSavepoint(false);
    assert.deepEqual(sorted(log.committed()), sorted(countsOf(VALUES)));
  });

  it('restarts from its newest checkpoint if that is preferred, and says so', async () => {
    const { log, platform, checkpoint } = await failAfterSavepoint(true);
    const twice = countsOf(VALUES).slice(20, 30);
    assert.deepEqual(sorted(log.committed()), sorted([...countsOf(VALUES), ...twice]));
    assert.match(
      said(platform, 'warn'),
      new RegExp(`${checkpoint} is used because checkpoints are preferred`),
    );
  });
});
