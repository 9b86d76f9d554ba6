/**
 * The job fails after its sink prepared and before the checkpoint completes, after it completed and before the commit, and
 * between the commits of two subtasks. Readers must see each result once; what belongs to no checkpoint is aborted, also of
 * subtasks that are no more; a transaction that the database gave up is an error. (From apache/flink#5030, #17019,
 * apache/flink-connector-kafka#314.)
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ExecutionOptions, StreamExecutionEnvironment } from '@millrace/engine';
import { RestartStrategies, Types, WatermarkStrategy } from '@millrace/engine';
import { Gate, GatedSource } from '../gated-source.ts';
import { assertRefused } from '../refusal.ts';
import { environmentIn, temporaryFolder, until, untilStatus } from '../small-job.ts';
import { type Interference, TransactionalSink, TransactionStore } from '../transactional-sink.ts';

const PARTITIONS = [Array.from({ length: 30 }, (_, i) => i), Array.from({ length: 30 }, (_, i) => 1000 + i)];
const ALL = PARTITIONS.flat();

class Crash extends Error {}

/** Two sources, two writers. */
function build(env: StreamExecutionEnvironment, store: TransactionStore<number>, gate: Gate): void {
  env
    .fromSource(new GatedSource(PARTITIONS, gate), WatermarkStrategy.noWatermarks(), 'numbers', Types.INT)
    .uid('numbers')
    .sinkTo(new TransactionalSink(store))
    .uid('sink');
}

const byNumber = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

/** Fails the first time that `isMoment` holds. */
function once(
  isMoment: (...call: Parameters<Interference>) => boolean,
): Interference & { happened: () => boolean } {
  let happened = false;
  const interfere: Interference = (...call) => {
    if (happened || !isMoment(...call)) return;
    happened = true;
    throw new Crash(`a crash at ${call.join(' ')}`);
  };
  return Object.assign(interfere, { happened: () => happened });
}

/** `done`: writers that have prepared, or transactions that were committed, before the call and with it. */
type IsMoment = (call: string, subtask: number, done: number) => boolean;

const MOMENTS: readonly (readonly [string, IsMoment])[] = [
  ['before a writer has prepared', (call, subtask) => call === 'prepare' && subtask === 0],
  ['after one writer prepared and before the other', (call, subtask) => call === 'prepare' && subtask === 1],
  [
    'after both writers prepared and before the checkpoint is complete',
    (call, _, done) => call === 'prepared' && done === 2,
  ],
  ['after the checkpoint completed and before any commit', (call) => call === 'commit'],
  ['between the commits of two subtasks', (call, _, done) => call === 'commit' && done === 1],
  ['after both commits', (call, _, done) => call === 'committed' && done === 2],
];

const MODES: readonly (readonly [string, ExecutionOptions])[] = [
  ['aligned checkpoints', {}],
  ['unaligned checkpoints', { checkpointing: { unaligned: true } }],
];
const IN_MEMORY: ExecutionOptions = { configuration: { 'execution.checkpointing.storage': 'jobmanager' } };

/** What fails the job at the moment, from now on. */
function crashAt(store: TransactionStore<number>, isMoment: IsMoment) {
  const done: Record<string, number> = { prepared: 0, committed: 0 };
  const crash = once((call, subtask) =>
    isMoment(call, subtask, done[call.startsWith('prepare') ? 'prepared' : 'committed']!),
  );
  store.interfere = (call, subtask, id) => {
    if (call in done) done[call]!++;
    crash(call, subtask, id);
  };
  return crash;
}

for (const [mode, options] of MODES) {
  describe(`a job with ${mode} that fails around a commit`, () => {
    for (const [what, isMoment] of MOMENTS) {
      for (const [where, storage] of [
        ['a file', {}],
        ['memory', IN_MEMORY],
      ] as const) {
        it(`${what} and restarts in place from ${where} shows each result once`, async (t) => {
          const store = new TransactionStore<number>();
          const gate = new Gate(10);
          const env = environmentIn(temporaryFolder(t), {
            parallelism: 2,
            restartStrategy: RestartStrategies.fixedDelayRestart(3, 0),
            ...options,
            ...storage,
          });
          build(env, store, gate);
          const client = await env.executeAsync('commits');
          await untilStatus(client, 'RUNNING');
          await until(() => store.open().length === 2, 'the writers have nothing');
          const crash = crashAt(store, isMoment);
          await client.triggerCheckpoint().catch(() => {});
          await until(crash.happened, 'nothing failed');
          gate.open();
          const { restarts } = await client.getJobExecutionResult();
          assert.equal(restarts, 1);
          assert.deepEqual(byNumber(store.committed()), byNumber(ALL));
          assert.deepEqual(store.open(), []);
        });
      }
      for (const parallelism of [2, 1, 3]) {
        it(`${what} and is started again with ${parallelism} writers shows each result once`, async (t) => {
          const folder = temporaryFolder(t);
          const store = new TransactionStore<number>();
          const start = (more: ExecutionOptions, gate: Gate) => {
            const env = environmentIn(folder, { maxParallelism: 8, ...options, ...more });
            build(env, store, gate);
            return env.executeAsync('commits');
          };
          const first = await start({ parallelism: 2 }, new Gate(10));
          const end = first.getJobExecutionResult();
          end.catch(() => {});
          await untilStatus(first, 'RUNNING');
          await until(() => store.open().length === 2, 'the writers have nothing');
          const crash = crashAt(store, isMoment);
          await first.triggerCheckpoint().catch(() => {});
          await assert.rejects(end);
          assert.ok(crash.happened());
          const second = await start(
            { parallelism, restore: { path: 'latest' } },
            new Gate(Number.POSITIVE_INFINITY),
          );
          await second.getJobExecutionResult();
          assert.deepEqual(byNumber(store.committed()), byNumber(ALL));
          assert.deepEqual(store.open(), []);
        });
      }
    }

    it('commits again what was committed, when the same checkpoint is restored twice, and shows it once', async (t) => {
      const folder = temporaryFolder(t);
      const store = new TransactionStore<number>();
      const start = (path: string | undefined, gate: Gate) => {
        const env = environmentIn(folder, { parallelism: 2, restore: { path }, ...options });
        build(env, store, gate);
        return env.executeAsync('commits');
      };
      const first = await start(undefined, new Gate(10));
      await untilStatus(first, 'RUNNING');
      await until(() => store.open().length === 2, 'the writers have nothing');
      await first.triggerCheckpoint();
      first.getJobExecutionResult().catch(() => {});
      await first.cancel();
      const commitsBefore = store.log.filter((line) => line.startsWith('commit')).length;
      for (let again = 0; again < 2; again++) {
        const env = await start('latest', new Gate(10));
        await untilStatus(env, 'RUNNING');
        env.getJobExecutionResult().catch(() => {});
        await env.cancel();
      }
      assert.ok(
        store.log.filter((line) => line.startsWith('commit')).length > commitsBefore,
        'nothing was committed again',
      );
      await (await start('latest', new Gate(Number.POSITIVE_INFINITY))).getJobExecutionResult();
      assert.deepEqual(byNumber(store.committed()), byNumber(ALL));
    });

    it('is told when a transaction of a completed checkpoint was given up meanwhile', async (t) => {
      const folder = temporaryFolder(t);
      const store = new TransactionStore<number>();
      const start = (path: string | undefined) => {
        const env = environmentIn(folder, { parallelism: 2, restore: { path }, ...options });
        build(env, store, new Gate(10));
        return env.executeAsync('commits');
      };
      const first = await start(undefined);
      const end = first.getJobExecutionResult();
      end.catch(() => {});
      await untilStatus(first, 'RUNNING');
      await until(() => store.open().length === 2, 'the writers have nothing');
      store.interfere = once((call) => call === 'commit');
      await first.triggerCheckpoint().catch(() => {});
      await assert.rejects(end);
      store.timeOut();
      const second = await start('latest');
      await assertRefused(
        second.getJobExecutionResult(),
        'USER_FUNCTION_FAILED',
        /sink/i,
        /is gone \(timed out\?\)/,
        /lost/,
      );
    });
  });
}
