/**
 * Two bounded sources of different length, two writers. The first is at its end, and a checkpoint has its last results, when
 * the job fails; after the restart the other one ends as well. All results are committed once, and nothing is left open.
 * (From apache/paimon#9236 and Flink's notes on final checkpoints.)
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RestartStrategies, StreamExecutionEnvironment, Types, WatermarkStrategy } from '@millrace/engine';
import { Gate, GatedSource } from '../gated-source.ts';
import { environmentIn, temporaryFolder, until, untilStatus } from '../small-job.ts';
import { TransactionalSink, TransactionStore } from '../transactional-sink.ts';

const SHORT = Array.from({ length: 10 }, (_, i) => i);
const LONG = Array.from({ length: 40 }, (_, i) => 1000 + i);
const byNumber = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

class Failure {
  wanted = false;

  /** Fails once when it is wanted. */
  readonly pass = (value: number): number => {
    if (!this.wanted) return value;
    this.wanted = false;
    throw new Error('a failure on purpose');
  };
}

function build(
  env: StreamExecutionEnvironment,
  store: TransactionStore<number>,
  gate: Gate,
  failure: Failure,
): void {
  env
    .fromSource(new GatedSource([SHORT, LONG], gate), WatermarkStrategy.noWatermarks(), 'numbers', Types.INT)
    .uid('numbers')
    .map(failure.pass, Types.INT)
    .uid('failure')
    .sinkTo(new TransactionalSink(store))
    .uid('sink');
}

for (const unaligned of [false, true]) {
  describe(`a bounded job with ${unaligned ? 'unaligned' : 'aligned'} checkpoints`, () => {
    const settings = { parallelism: 2, checkpointing: { unaligned } };

    it('whose second writer is late commits the results of both, after a failure between the ends', async (t) => {
      const store = new TransactionStore<number>();
      const gate = new Gate(20);
      const failure = new Failure();
      const env = environmentIn(temporaryFolder(t), {
        ...settings,
        restartStrategy: RestartStrategies.fixedDelayRestart(1, 0),
      });
      build(env, store, gate, failure);
      const client = await env.executeAsync('ends');
      await untilStatus(client, 'RUNNING');
      await until(
        () => [...store.transactions.values()].flatMap(({ values }) => values).length === 30,
        'records are missing',
      );
      await client.triggerCheckpoint();
      failure.wanted = true;
      gate.open();
      const { restarts } = await client.getJobExecutionResult();
      assert.equal(restarts, 1);
      assert.equal(client.getJobStatus(), 'FINISHED');
      assert.deepEqual(byNumber(store.committed()), byNumber([...SHORT, ...LONG]));
      assert.deepEqual(store.open(), []);
    });

    it('commits what came after the last periodic checkpoint by a checkpoint at its end', async (t) => {
      const store = new TransactionStore<number>();
      const env = environmentIn(temporaryFolder(t), settings);
      build(env, store, new Gate(Number.POSITIVE_INFINITY), new Failure());
      const { completedCheckpoints } = await env.execute('ends');
      assert.equal(completedCheckpoints, 2, 'the one before the first record and the one after the last');
      assert.deepEqual(byNumber(store.committed()), byNumber([...SHORT, ...LONG]));
      assert.deepEqual(store.open(), []);
    });

    it('that fails during its last checkpoint is started again and ends with everything once', async (t) => {
      const store = new TransactionStore<number>();
      let prepared = 0;
      store.interfere = (call) => {
        if (call === 'prepare' && prepared++ === 1) throw new Error('a failure in the last checkpoint');
      };
      const env = environmentIn(temporaryFolder(t), {
        ...settings,
        restartStrategy: RestartStrategies.fixedDelayRestart(1, 0),
      });
      build(env, store, new Gate(Number.POSITIVE_INFINITY), new Failure());
      const { restarts } = await env.execute('ends');
      assert.equal(restarts, 1);
      assert.deepEqual(byNumber(store.committed()), byNumber([...SHORT, ...LONG]));
      assert.deepEqual(store.open(), []);
    });
  });
}

it('a bounded job commits at its end without checkpoints too', async () => {
  const store = new TransactionStore<number>();
  const env = StreamExecutionEnvironment.getExecutionEnvironment({ host: 'inline', parallelism: 2 });
  build(env, store, new Gate(Number.POSITIVE_INFINITY), new Failure());
  await env.execute('ends');
  assert.deepEqual(byNumber(store.committed()), byNumber([...SHORT, ...LONG]));
  assert.deepEqual(store.open(), []);
});
