/** Asynchronous functions in whole jobs: against a real HTTP server, across a checkpoint with calls in flight, cancelled. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { CollectSink, type DataStream, Types } from '@millrace/engine';
import { Gate } from './gated-source.ts';
import { checkpointAndCancel, environmentIn, temporaryFolder, until, untilStatus } from './small-job.ts';
import { gatedLetters } from './totals-job.ts';

const CAPACITY = 8;

/** Answers `/price/<id>` with JSON after a moment, and `/price/hang-…` never. */
class PriceServer {
  readonly asked: string[] = [];
  open = 0;
  openMax = 0;
  given: string[] = [];
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      const id = request.url!.split('/').at(-1)!;
      this.asked.push(id);
      this.openMax = Math.max(this.openMax, ++this.open);
      response.on('close', () => {
        this.open--;
        if (!response.writableFinished) this.given.push(id);
      });
      if (id.startsWith('hang')) return;
      setTimeout(() => response.end(JSON.stringify({ id, price: id.length })), this.asked.length % 5);
    });
  }

  async listen(t: TestContext): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      this.server.closeAllConnections();
      this.server.close();
    });
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/price`;
  }
}

interface Price {
  readonly id: string;
  readonly price: number;
}

describe('a job that asks a server', () => {
  it('gets an answer for each record, in order, with no more requests at a time than its capacity', async (t) => {
    const server = new PriceServer();
    const url = await server.listen(t);
    const ids = Array.from({ length: 200 }, (_, i) => `item-${i}`);
    const prices = await environmentIn(temporaryFolder(t))
      .fromCollection(ids, Types.STRING)
      .mapAsync(
        async (id, { signal }): Promise<Price> => (await fetch(`${url}/${id}`, { signal })).json() as never,
        {
          capacity: CAPACITY,
          timeout: '30 s',
        },
      )
      .executeAndCollect();
    assert.deepEqual(
      prices,
      ids.map((id) => ({ id, price: id.length })),
    );
    assert.equal(server.asked.length, ids.length);
    assert.ok(server.openMax > 1 && server.openMax <= CAPACITY, `${server.openMax} at a time`);
  });

  it('gives requests up that take too long, and goes on with what it has in their place', async (t) => {
    const server = new PriceServer();
    const url = await server.listen(t);
    const prices = await environmentIn(temporaryFolder(t))
      .fromElements('a', 'hang-1', 'b', 'hang-2')
      .mapAsync(
        async (id, { signal }): Promise<Price> => (await fetch(`${url}/${id}`, { signal })).json() as never,
        {
          timeout: 100,
          onTimeout: (id) => ({ id, price: 0 }),
        },
      )
      .executeAndCollect();
    assert.deepEqual(prices, [
      { id: 'a', price: 1 },
      { id: 'hang-1', price: 0 },
      { id: 'b', price: 1 },
      { id: 'hang-2', price: 0 },
    ]);
    await until(() => server.given.length === 2, 'the requests are still open');
  });

  it('gives its requests up when it is cancelled', async (t) => {
    const server = new PriceServer();
    const url = await server.listen(t);
    const env = environmentIn(temporaryFolder(t));
    env
      .fromElements('hang-1', 'hang-2')
      .mapAsync(async (id, { signal }) => (await fetch(`${url}/${id}`, { signal })).text())
      .print();
    const client = await env.executeAsync();
    client.getJobExecutionResult().catch(() => {});
    await until(() => server.open === 2, 'the requests were not made');
    await client.cancel();
    await until(() => server.open === 0, 'the requests are still open');
  });
});

describe('a job with calls in flight', () => {
  /** Letters go on when `released` says so. */
  function lookUp(letters: DataStream<string>, made: string[], released: Promise<void>): DataStream<string> {
    return letters
      .mapAsync(
        async (letter) => {
          made.push(letter);
          if (letter !== 'a') await released;
          return letter.toUpperCase();
        },
        { capacity: 2, type: Types.STRING },
      )
      .uid('look-up');
  }

  it('takes checkpoints meanwhile, and calls again after a restore what was not answered', async (t) => {
    const folder = temporaryFolder(t);
    const values = ['a', 'b', 'c', 'd', 'e'];
    const first: string[] = [];
    const env = environmentIn(folder);
    lookUp(gatedLetters(env, values, new Gate(4)), first, new Promise(() => {}))
      .sinkTo(new CollectSink('out'))
      .uid('out');
    const client = await env.executeAsync();
    await untilStatus(client, 'RUNNING');
    await until(() => first.length === 3, `called: ${first}`);
    const path = await checkpointAndCancel(client);
    assert.deepEqual(first, ['a', 'b', 'c'], 'd waits');

    const second: string[] = [];
    const restored = environmentIn(temporaryFolder(t), { restore: { path, dropState: ['out'] } });
    const stream = lookUp(gatedLetters(restored, values, new Gate(5)), second, Promise.resolve());
    const results = await stream.executeAndCollect();
    assert.deepEqual(results, ['B', 'C', 'D', 'E'], 'A was emitted before');
    assert.deepEqual(second, ['b', 'c', 'd', 'e']);
  });
});
