import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode, silentLogger } from '../../base/index.ts';
import { createNodePlatform } from '../../platform/node/index.ts';
import { SimulatedSinkHost } from '../../testing/simulated-sink-host.ts';
import { sinkContract } from '../../testing/sink-contract.ts';
import { CollectSink, type ResultBatch } from './collect-sink.ts';
import { CollectedResults } from './collected-results.ts';
import { PrintSink } from './print-sink.ts';

const platform = createNodePlatform({ logger: silentLogger });

sinkContract<{ id: number }>({
  name: 'collected results',
  platform: () => platform,
  input: Array.from({ length: 100 }, (_, id) => ({ id })),
  createTarget() {
    const results = new CollectedResults<{ id: number }>();
    return {
      createSink: () => new CollectSink<{ id: number }>('c'),
      readVisible: async () => results.values,
      deliver: (channel, values) => {
        assert.equal(channel, 'c');
        results.accept(values as ResultBatch<{ id: number }>[]);
      },
    };
  },
});

test('without checkpoints results are delivered batch by batch, before the end', async () => {
  const results = new CollectedResults<number>();
  const host = await SimulatedSinkHost.start<number>(new CollectSink<number>('c'), {
    platform,
    parallelism: 1,
    checkpointingEnabled: false,
    deliver: (_, values) => void results.accept(values as ResultBatch<number>[]),
  });
  await host.write([1, 2, 3], 2);
  assert.deepEqual(results.values, [1, 2]);
  await host.close();
});

test('too many results between two checkpoints are an error that says what to do', async () => {
  const sink = new CollectSink<number>('c', { maxRecordsPerCheckpoint: 2 });
  const host = await SimulatedSinkHost.start<number>(sink, { platform, parallelism: 1 });
  await assert.rejects(host.write([1, 2, 3], 3), (error) => hasCode(error, 'SINK_WRITE_FAILED'));
});

test('lines are printed with the number of the subtask, if there are several, and the identifier', async () => {
  const lines: string[] = [];
  const printing = {
    ...platform,
    printLine: (line: string, to?: string) => void lines.push(to === 'stderr' ? `! ${line}` : line),
  };
  const records: unknown[] = ['text', { a: 1n, m: new Map([['k', [null, undefined]]]) }];
  for (const [identifier, parallelism] of [
    [undefined, 1],
    [undefined, 2],
    ['out', 1],
    ['out', 2],
  ] as const) {
    const sink = new PrintSink<unknown>({ identifier });
    const host = await SimulatedSinkHost.start<unknown>(sink, { platform: printing, parallelism });
    await host.write(records, 2);
    await host.checkpoint(1);
    await host.close();
  }
  const shown = '{"a":1n,"m":Map{"k": [null,undefined]}}';
  assert.deepEqual(lines, [
    'text',
    shown,
    '1> text',
    `2> ${shown}`,
    'out> text',
    `out> ${shown}`,
    'out:1> text',
    `out:2> ${shown}`,
  ]);
  const host = await SimulatedSinkHost.start<unknown>(new PrintSink({ stdErr: true }), {
    platform: printing,
    parallelism: 1,
  });
  await host.write(['text'], 1);
  assert.equal(lines.at(-1), '! text');
});
