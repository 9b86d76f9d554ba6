/** Jobs that fail while nobody looks: what is said of them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { hasCode, RestartStrategies, WatermarkStrategy } from '@millrace/engine';
import { createManualPlatform } from '../src/testing/manual-platform.ts';
import { Gate, GatedSource } from './gated-source.ts';
import { environmentOn, until } from './small-job.ts';

const failing = () => {
  const platform = createManualPlatform();
  const env = environmentOn(platform);
  env
    .fromCollection([1, 2])
    .map((n) => {
      if (n === 2) throw new Error('boom');
      return n;
    })
    .sinkTo({ guarantee: 'none', createWriter: () => ({ write() {}, prepareCommit: () => [], close() {} }) });
  return { platform, env };
};

it('a job whose result nobody asks for says in the log what it failed of, and to whoever asks it later', async () => {
  const { platform, env } = failing();
  const client = await env.executeAsync('quiet');
  await until(() => client.getJobStatus() === 'FAILED', 'the job did not fail');
  await until(() => platform.logged.some(({ level }) => level === 'error'), 'nothing was logged');
  const { message } = platform.logged.find(({ level }) => level === 'error')!;
  assert.match(
    message,
    /Job 'quiet' failed: The map function of operator 'Map' \(subtask 0\) threw Error: boom/,
  );
  for (const asked of [client.stop(), client.triggerCheckpoint(), client.untilRunning()])
    await assert.rejects(
      asked,
      (error) => hasCode(error, 'JOB_NOT_RUNNING') && /FAILED: The map.*boom/.test(String(error)),
    );
});

it('a job whose result is awaited does not say it twice', async () => {
  const { platform, env } = failing();
  await assert.rejects(env.execute('awaited'), /boom/);
  assert.deepEqual(
    platform.logged.filter(({ level }) => level === 'error'),
    [],
  );
});

it('a restart is logged with the place in the program where the error came from', async () => {
  const platform = createManualPlatform();
  const env = environmentOn(platform);
  env.setRestartStrategy(RestartStrategies.fixedDelayRestart(1, 0));
  const gate = new Gate(10);
  env
    .fromSource(new GatedSource([[1, 2, 3]], gate), WatermarkStrategy.noWatermarks(), 'numbers')
    .map((n) => {
      if (n === 2) throw new Error('boom');
      return n;
    })
    .sinkTo({ guarantee: 'none', createWriter: () => ({ write() {}, prepareCommit: () => [], close() {} }) });
  const client = await env.executeAsync('restarted');
  client.getJobExecutionResult().catch(() => {});
  await until(() => {
    platform.advance(10);
    return client.getJobStatus() === 'FAILED';
  }, 'the job did not fail');
  const warning = platform.logged.find(({ message }) => /starts again/.test(message))!;
  assert.match(
    warning.message,
    /threw Error: boom\. It was processing the record 2\. \(at file:.*failed-job\.test\.ts:\d+:\d+\)$/,
  );
});

it('a source that nothing reads is refused', async () => {
  const env = environmentOn(createManualPlatform());
  env.fromCollection([1]);
  env.fromCollection([2]).print();
  await assert.rejects(env.execute(), /nothing reads source "Collection Source": leave it out/);
});
