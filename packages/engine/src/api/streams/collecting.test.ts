import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
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

  it('says so when the job was not started', async () => {
    const results = environment().fromSequence(1, 3).collectAsync();
    await assert.rejects(results.next(), (error) => hasCode(error, 'INVALID_ARGUMENT'));
  });
});
