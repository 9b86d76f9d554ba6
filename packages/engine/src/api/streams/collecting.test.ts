import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { hasCode } from '../../base/index.ts';
import type { ResultBatch } from '../../connectors/index.ts';
import type { JobClient } from '../job-executor.ts';
import { RestartStrategies } from '../restart-strategies.ts';
import { StreamExecutionEnvironment } from '../stream-execution-environment.ts';
import { CollectedStream } from './collecting.ts';

const environment = (): StreamExecutionEnvironment =>
  StreamExecutionEnvironment.getExecutionEnvironment({
    host: 'inline',
    restartStrategy: RestartStrategies.noRestart(),
  });

/** A job that the test ends. */
class ManualClient {
  readonly end = Promise.withResolvers<void>();
  cancelled = 0;

  asClient(): JobClient {
    const client: Pick<JobClient, 'getJobExecutionResult' | 'cancel'> = {
      getJobExecutionResult: () => this.end.promise as Promise<never>,
      cancel: async () => {
        this.cancelled++;
        this.end.reject(new Error('cancelled'));
      },
    };
    return client as JobClient;
  }
}

function collecting() {
  const client = new ManualClient();
  const results = new CollectedStream<number>();
  results.follow(Promise.resolve(client.asClient()));
  let batches = 0;
  const deliver = (...values: number[]): void => {
    const batch: ResultBatch<number> = { key: `${batches++}`, uncommittedAttempt: undefined, values };
    results.accept([batch]);
  };
  return { client, results, deliver };
}

/** What --expose-gc gives, without the option. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

describe('executeAndCollect', () => {
  it('refuses a limit that is no count', async () => {
    for (const limit of [0, -1, 1.5, Number.NaN]) {
      await assert.rejects(environment().fromSequence(1, 3).executeAndCollect(limit), (error) =>
        hasCode(error, 'INVALID_ARGUMENT'),
      );
    }
    assert.deepEqual(await environment().fromSequence(1, 3).executeAndCollect(2), [1, 2]);
  });
});

describe('collectAsync', () => {
  it('gives the records of several streams while the job runs, and ends with it', async () => {
    const env = environment();
    const small = env.fromSequence(1, 3);
    const doubled = small.map((value) => value * 2).collectAsync();
    const plain = small.collectAsync();
    const client = await env.executeAsync();
    const seen: number[] = [];
    for await (const value of plain) seen.push(value);
    for await (const value of doubled) seen.push(value);
    await client.getJobExecutionResult();
    assert.deepEqual(seen, [1, 2, 3, 2, 4, 6]);
    assert.deepEqual(await plain.next(), { done: true, value: undefined });
  });

  it('gives records as they come, before the end', async () => {
    const { client, results, deliver } = collecting();
    const first = results.next();
    deliver(1, 2);
    assert.deepEqual(await first, { done: false, value: 1 });
    assert.deepEqual(await results.next(), { done: false, value: 2 });
    const end = results.next();
    client.end.resolve();
    assert.deepEqual(await end, { done: true, value: undefined });
  });

  it('gives what came before a failure, then throws it', async () => {
    const { client, results, deliver } = collecting();
    deliver(1);
    client.end.reject(new Error('broken'));
    await Promise.resolve();
    assert.deepEqual(await results.next(), { done: false, value: 1 });
    await assert.rejects(results.next(), /broken/);
    assert.deepEqual(await results.next(), { done: true, value: undefined });
  });

  it('cancels the job when the loop is left', async () => {
    const { client, results, deliver } = collecting();
    deliver(1, 2, 3);
    for await (const value of results) {
      assert.equal(value, 1);
      break;
    }
    assert.equal(client.cancelled, 1);
    assert.deepEqual(await results.next(), { done: true, value: undefined });
  });

  it('forgets what waits of a job without checkpoints that began again', async () => {
    const { client, results } = collecting();
    const batch = (attempt: number, ...values: number[]): ResultBatch<number>[] => [
      { key: `${attempt}/${values}`, uncommittedAttempt: attempt, values },
    ];
    results.accept(batch(0, 1, 2));
    assert.deepEqual(await results.next(), { done: false, value: 1 });
    results.accept(batch(1, 1));
    results.accept(batch(0, 3));
    client.end.resolve();
    const rest: number[] = [];
    for await (const value of results) rest.push(value);
    assert.deepEqual(rest, [1]);
  });

  it('does not keep more than a million records that nobody asks for', async () => {
    const { client, results, deliver } = collecting();
    for (let i = 0; i < 11; i++) deliver(...Array.from({ length: 100_000 }, () => i));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(client.cancelled, 1);
    await assert.rejects(
      async () => {
        for await (const _ of results);
      },
      (error) => hasCode(error, 'SINK_WRITE_FAILED'),
    );
  });

  it('holds no record that was given out, although there are always some that wait', async () => {
    const results = new CollectedStream<object>();
    results.follow(Promise.resolve(new ManualClient().asClient()));
    const given: WeakRef<object>[] = [];
    for (let round = 0; round < 30; round++) {
      const values = Array.from({ length: 1000 }, () => ({}));
      results.accept([{ key: `${round}`, uncommittedAttempt: undefined, values }]);
      // One always waits.
      for (let i = round === 0 ? 1 : 0; i < 1000; i++) given.push(new WeakRef((await results.next()).value!));
      await new Promise((resolve) => setImmediate(resolve));
    }
    collectGarbage();
    const held = given.filter((reference) => reference.deref() !== undefined).length;
    assert.ok(held < 5000, `${held} of ${given.length} are still held`);
    assert.deepEqual(await results.next(), { done: false, value: {} });
  });

  it('says so when the job was not started', async () => {
    const results = environment().fromSequence(1, 3).collectAsync();
    await assert.rejects(results.next(), (error) => hasCode(error, 'INVALID_ARGUMENT'));
  });
});
