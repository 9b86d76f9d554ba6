import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { after, test } from 'node:test';
import { hasCode, silentLogger } from '../../base/index.ts';
import { createNodePlatform } from '../../platform/node/index.ts';
import type { SinkContext } from '../../runtime/index.ts';
import { SimulatedSinkHost } from '../../testing/simulated-sink-host.ts';
import { sinkContract } from '../../testing/sink-contract.ts';
import { WritableSink } from './writable-sink.ts';

const platform = createNodePlatform({ logger: silentLogger });
const root = mkdtempSync(join(tmpdir(), 'writable-sink-'));
after(() => rmSync(root, { recursive: true }));

sinkContract<string>({
  name: 'a Writable in memory',
  platform: () => platform,
  input: Array.from({ length: 100 }, (_, i) => `record ${i}`),
  createTarget() {
    const lines: string[] = [];
    const open = () =>
      new Writable({
        highWaterMark: 20,
        write: (chunk, _encoding, done) => {
          lines.push(String(chunk).trimEnd());
          setImmediate(done);
        },
      });
    return { createSink: () => new WritableSink<string>(open), readVisible: async () => lines };
  },
});

/** A stream whose chunks the test takes. */
class ManualStream extends EventEmitter {
  readonly chunks: (string | Uint8Array)[] = [];
  readonly pending: ((error?: Error) => void)[] = [];
  log: string[] = [];
  isFull = false;

  write(chunk: string | Uint8Array, done: (error?: Error | null) => void): boolean {
    this.chunks.push(chunk);
    this.pending.push(done);
    return !this.isFull;
  }

  take(): void {
    this.pending.shift()!();
  }

  end(done: () => void): void {
    this.log.push('end');
    done();
  }

  destroy(): void {
    this.log.push('destroy');
  }
}

const failures: unknown[] = [];
const context: SinkContext = {
  platform,
  logger: silentLogger,
  sinkName: 'out',
  sinkUid: 'out',
  jobId: 'job',
  lineageId: 'lineage',
  subtaskIndex: 1,
  parallelism: 2,
  attemptNumber: 3,
  restoredCheckpointId: undefined,
  checkpointingEnabled: true,
  deliver() {},
  fail: (error) => void failures.push(error),
};

async function writerOf<T>(stream: ManualStream, options = {}) {
  failures.length = 0;
  return new WritableSink<T>(() => stream, options).createWriter(context);
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
};

test('a full stream makes the host wait until it has drained', async () => {
  const stream = new ManualStream();
  const writer = await writerOf<string>(stream);
  writer.write('a', 0);
  assert.equal(writer.busy!(), undefined);
  stream.isFull = true;
  writer.write('b', 0);
  let hasRoom = false;
  void writer.busy!()!.then(() => (hasRoom = true));
  await settle();
  assert.equal(hasRoom, false);
  stream.emit('drain');
  await settle();
  assert.equal(hasRoom, true);
  assert.equal(writer.busy!(), undefined);
  assert.deepEqual(stream.chunks, ['a\n', 'b\n']);
});

test('a snapshot waits until the stream has taken what came before it', async () => {
  const stream = new ManualStream();
  const writer = await writerOf<string>(stream);
  writer.write('a', 0);
  let isPrepared = false;
  void Promise.resolve(writer.prepareCommit(1, false)).then(() => (isPrepared = true));
  writer.write('b', 0);
  await settle();
  assert.equal(isPrepared, false);
  stream.take();
  await settle();
  assert.equal(isPrepared, true);
});

test('an error of the stream fails the task, the snapshot and every later record', async () => {
  const stream = new ManualStream();
  const writer = await writerOf<string>(stream);
  const failed = (error: unknown): boolean =>
    hasCode(error, 'SINK_WRITE_FAILED') && /sink "out": .*EPIPE/.test((error as Error).message);
  writer.write('a', 0);
  const prepared = assert.rejects(async () => writer.prepareCommit(1, false), failed);
  stream.emit('error', new Error('EPIPE'));
  await prepared;
  assert.ok(failed(failures[0]));
  assert.throws(() => writer.write('b', 0), failed);
  await assert.rejects(async () => writer.prepareCommit(2, false), failed);
  await writer.close();
  assert.deepEqual(stream.log, ['destroy']);
});

test('what fails when the stream ends fails the last checkpoint', async () => {
  const failing = new Writable({
    write: (_chunk, _encoding, done) => done(),
    final: (done) => done(new Error('no space left')),
  });
  failures.length = 0;
  const writer = await new WritableSink<string>(() => failing).createWriter(context);
  writer.write('a', 0);
  await writer.prepareCommit(1, false);
  await assert.rejects(
    async () => writer.prepareCommit(2, true),
    (error: Error) => hasCode(error, 'SINK_WRITE_FAILED') && /no space left/.test(error.message),
  );
  assert.equal(failures.length, 1);
  await writer.close();
});

test('a stream that is closed with something under way fails the task, though it says no error', async () => {
  const stream = new ManualStream();
  stream.isFull = true;
  const writer = await writerOf<string>(stream);
  writer.write('a', 0);
  const prepared = assert.rejects(async () => writer.prepareCommit(1, false), /closed before everything/);
  const busy = writer.busy!();
  stream.emit('close');
  await Promise.all([prepared, busy]);
  assert.ok(hasCode(failures[0], 'SINK_WRITE_FAILED'));
});

test('a stream that has taken everything is ended, one that has not is destroyed, one of others is left', async () => {
  const taken = new ManualStream();
  const first = await writerOf<string>(taken);
  first.write('a', 0);
  taken.take();
  await first.close();
  assert.deepEqual(taken.log, ['end']);
  const stuck = new ManualStream();
  stuck.isFull = true;
  const second = await writerOf<string>(stuck);
  second.write('a', 0);
  const busy = second.busy!();
  await second.close();
  await busy;
  assert.deepEqual(stuck.log, ['destroy']);
  const kept = new ManualStream();
  await (await writerOf<string>(kept, { end: false })).close();
  assert.deepEqual([kept.log, kept.listenerCount('error'), kept.listenerCount('drain')], [[], 0, 0]);
});

test('the standard output is written to and never ended', async () => {
  const sink = new WritableSink<string>(() => process.stdout);
  const writer = await sink.createWriter(context);
  writer.write('# a line of a sink', 0);
  await writer.prepareCommit(1, true);
  await writer.close();
  assert.equal(process.stdout.writableEnded, false);
});

test('each subtask opens a stream of its own; lines are in a file when the job has ended', async () => {
  const opened: unknown[] = [];
  const sink = new WritableSink<{ n: number }>(
    (where) => {
      opened.push(where);
      return createWriteStream(join(root, `${where.subtaskIndex}.txt`));
    },
    { encode: ({ n }) => `${n};` },
  );
  const host = await SimulatedSinkHost.start(sink, { platform, parallelism: 2 });
  await host.write([{ n: 1 }, { n: 2 }, { n: 3 }], 3);
  await host.finish(1);
  await host.close();
  assert.deepEqual(
    opened,
    [0, 1].map((subtaskIndex) => ({ subtaskIndex, parallelism: 2, attemptNumber: 0 })),
  );
  assert.deepEqual(
    [0, 1].map((i) => readFileSync(join(root, `${i}.txt`), 'utf8')),
    ['1;3;', '2;'],
  );
});

test('what is no stream, and records that are no text, are refused with what to do', async () => {
  const invalid = (error: unknown): boolean => hasCode(error, 'INVALID_ARGUMENT');
  assert.throws(() => new WritableSink(process.stdout as never), invalid);
  await assert.rejects(new WritableSink(() => ({}) as never).createWriter(context), invalid);
  assert.throws(() => new WritableSink(() => new ManualStream(), { encode: 'json' as never }), invalid);
  const unsupported = async (options: object, said: RegExp): Promise<void> => {
    const stream = new ManualStream();
    const writer = await writerOf<unknown>(stream, options);
    assert.throws(
      () => writer.write({ a: 1 }, 0),
      (error: Error) => hasCode(error, 'SINK_RECORD_UNSUPPORTED') && said.test(error.message),
    );
    assert.deepEqual(stream.chunks, []);
  };
  await unsupported({}, /sink "out": .*encode function/);
  await unsupported({ encode: () => undefined }, /sink "out": .*encode gave undefined, expected a string/);
  await unsupported({ encode: async () => 'x' }, /encode gave an instance of Promise/);
});
