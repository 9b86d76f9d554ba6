/** What the client of a job tells of its checkpoints and failures, with the shapes of Flink's REST API. */
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { GeneratorSource } from '../connectors/index.ts';
import { runUntil } from '../testing/manual-job.ts';
import { createManualPlatform } from '../testing/manual-platform.ts';
import { PacedSource } from '../testing/paced-source.ts';
import { Types } from '../types/index.ts';
import type { ExecutionOptions } from './execution-options.ts';
import type { JobClient } from './job-executor.ts';
import { LocalExecutor } from './local-executor.ts';
import { RestartStrategies } from './restart-strategies.ts';
import { StreamExecutionEnvironment } from './stream-execution-environment.ts';
import { WatermarkStrategy } from './watermark-strategy.ts';

let client: JobClient;

afterEach(() => client.cancel());

/** Numbers without end, summed. */
async function start(
  options: Parameters<typeof StreamExecutionEnvironment.getExecutionEnvironment>[0] = {},
  isBad: (n: number) => boolean = () => false,
): Promise<JobClient> {
  const env = StreamExecutionEnvironment.getExecutionEnvironment({ host: 'inline', ...options });
  env.setRestartStrategy(RestartStrategies.fixedDelayRestart(1, 0));
  env
    .fromSource(
      new GeneratorSource((n) => n, { recordsPerSecond: 1000 }),
      WatermarkStrategy.noWatermarks(),
      'numbers',
    )
    .uid('numbers')
    .keyBy((n) => n % 3)
    .reduce((a, b) => {
      if (isBad(b)) throw new Error(`cannot bear ${b}`);
      return a + b;
    })
    .uid('sums')
    .setParallelism(2)
    .addSink(() => {})
    .uid('sink')
    .setParallelism(2);
  client = await env.executeAsync('sums');
  return client;
}

it('checkpoints are told of as a whole, one by one, by task and by subtask, and in words', async () => {
  await start({ checkpointing: { interval: '1 h' } });
  const { checkpointId, explanation } = await client.triggerCheckpoint();
  const { counts, latest, history, summary } = client.getCheckpointStatistics();
  assert.deepEqual(counts, { restored: 0, total: 2, in_progress: 0, completed: 2, failed: 0 });
  assert.equal(latest.completed?.id, checkpointId);
  assert.deepEqual([history.length, history[0]?.id], [2, checkpointId]);
  assert.equal(typeof summary.end_to_end_duration.p99, 'number');

  await client.cancel();
  const details = client.getCheckpointDetails(checkpointId)!;
  const ids = new Set(client.metrics().tasks.map(({ vertexId }) => vertexId));
  for (const id of ids) assert.match(id, /^[0-9a-f]{32}$/);
  assert.deepEqual(new Set(Object.keys(details.tasks)), ids);
  const [source, sums] = Object.keys(details.tasks);
  assert.equal(client.getTaskCheckpointDetails(checkpointId, source!)?.subtasks.length, 1);
  assert.equal(client.getTaskCheckpointDetails(checkpointId, sums!)?.subtasks.length, 2);
  assert.equal(client.getCheckpointDetails(99), undefined);

  assert.ok(client.explainCheckpoint(checkpointId).startsWith(`${explanation}\n`));
  assert.equal(client.explainCheckpoint(), client.explainCheckpoint(checkpointId));
  assert.match(client.explainRecovery(), /^Job 'sums' began at its beginning\./);
});

it('the settings of checkpoints are told in the shape of the REST API', async () => {
  await start({
    checkpointing: { interval: '1 h', timeout: '5 s' },
    configuration: {
      'execution.checkpointing.externalized-checkpoint-retention': 'RETAIN_ON_CANCELLATION',
      'execution.checkpointing.unaligned.enabled': true,
      'execution.checkpointing.aligned-checkpoint-timeout': '500 ms',
    },
  });
  assert.deepEqual(client.getCheckpointConfig(), {
    ...{ mode: 'exactly_once', interval: 3_600_000, timeout: 5000, min_pause: 0, max_concurrent: 1 },
    externalization: { enabled: true, delete_on_cancellation: false },
    ...{ state_backend: 'HashMapStateBackend', checkpoint_storage: 'JobManagerCheckpointStorage' },
    ...{ unaligned_checkpoints: true, tolerable_failed_checkpoints: 0, aligned_checkpoint_timeout: 500 },
    ...{ checkpoints_after_tasks_finish: true, state_changelog_enabled: false, changelog_storage: '' },
    changelog_periodic_materialization_interval: 0,
  });
  await client.cancel();
  const without = await start({
    configuration: {
      'execution.checkpointing.externalized-checkpoint-retention': 'NO_EXTERNALIZED_CHECKPOINTS',
    },
  });
  const { interval, externalization } = without.getCheckpointConfig();
  assert.equal(interval, 2 ** 63);
  assert.deepEqual(externalization, { enabled: false, delete_on_cancellation: true });
  assert.match(without.explainCheckpoint(), /has taken no checkpoint so far/);
});

it('failures are told with task and place, and what the recovery did', async () => {
  await start({ checkpointing: { interval: '1 h' } }, (n) => n === 5);
  await assert.rejects(client.getJobExecutionResult(), /cannot bear 5/);
  const { exceptionHistory, 'root-exception': root } = client.getExceptions();
  assert.equal(exceptionHistory.entries.length, 2);
  assert.match(exceptionHistory.entries[0]!.taskName!, /^.*Reduce.* \([12]\/2\)$/);
  assert.match(root!, /USER_FUNCTION_FAILED|MillraceError.*cannot bear 5/s);
  const { latest } = client.getCheckpointStatistics();
  assert.deepEqual([latest.restored?.id, latest.restored?.external_path], [0, null]);
  assert.match(
    client.explainRecovery(),
    /checkpoint 0 \(in memory\) .* Its sources emit \d+ records again\./,
  );
});

it('the configuration says how much is remembered', async () => {
  await start(
    {
      checkpointing: { interval: '1 h' },
      configuration: { 'web.checkpoints.history': 1, 'web.exception-history-size': 1 },
    },
    (n) => n === 5,
  );
  await assert.rejects(client.getJobExecutionResult());
  assert.equal(client.getExceptions().exceptionHistory.entries.length, 1);
  assert.equal(client.getExceptions().truncated, true);
  assert.ok(client.getCheckpointStatistics().history.length <= 1);
});

it('a start from a snapshot says why it was started from there, and whose the snapshot is', async () => {
  const platform = createManualPlatform();
  const run = async (restore: ExecutionOptions['restore']): Promise<string> => {
    const env = new StreamExecutionEnvironment(new LocalExecutor(platform));
    env.configure({ host: 'inline', checkpointing: { interval: 10, dir: '/cp', savepointDir: '/sp' } });
    if (restore !== undefined) env.configure({ restore });
    env
      .fromSource(
        new PacedSource([[1, 2, 3]], { ends: false }),
        WatermarkStrategy.noWatermarks(),
        'numbers',
        Types.INT,
      )
      .uid('numbers')
      .addSink(() => {})
      .uid('sink');
    client = await env.executeAsync('numbers');
    await runUntil(platform, () => client.getCheckpointStatistics().counts.completed > 2);
    let path: string | undefined;
    void client.stopWithSavepoint().then((savepoint) => (path = savepoint));
    await runUntil(platform, () => path !== undefined);
    return path!;
  };
  const first = await run(undefined);
  const second = await run({ path: first });
  assert.match(
    client.explainRecovery(),
    /^Job 'numbers' was started from savepoint \d+ \(\/sp\/savepoint-.*\)(.*)\n {2}it was asked for by its path \(execution\.state-recovery\.path\)\n {2}it stays as it is: the job never deletes it \(NO_CLAIM\)$/,
  );
  const { restored } = client.getCheckpointStatistics().latest;
  assert.deepEqual([restored?.is_savepoint, restored?.external_path], [true, first]);
  assert.equal(client.getCheckpointStatistics().latest.savepoint?.external_path, second);
  await run({ path: second, claimMode: 'CLAIM' });
  assert.match(client.explainRecovery(), /\n {2}it belongs to the job from now on, .* \(CLAIM\)$/);
  await run({ path: 'latest' });
  assert.match(client.explainRecovery(), /\n {2}the latest was asked for\n {2}.*: used; /);
});
