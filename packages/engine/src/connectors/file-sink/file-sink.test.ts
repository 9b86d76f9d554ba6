import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { after, test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet/src/index.js';
import { hasCode, silentLogger } from '../../base/index.ts';
import type { FileSystem, Platform } from '../../platform/index.ts';
import { createNodePlatform } from '../../platform/node/index.ts';
import { createManualPlatform } from '../../testing/manual-platform.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { SimulatedSinkHost } from '../../testing/simulated-sink-host.ts';
import { SimulatedSourceHost } from '../../testing/simulated-source-host.ts';
import { sinkContract } from '../../testing/sink-contract.ts';
import { type Infer, Types } from '../../types/index.ts';
import { FileSource } from '../file/file-source.ts';
import type { BulkWriterFactory } from './bulk-writer.ts';
import { FileSink } from './file-sink.ts';
import { OutputFileConfig } from './output-file-config.ts';
import { DefaultRollingPolicy, OnCheckpointRollingPolicy } from './rolling-policy.ts';

const platform = createNodePlatform({ logger: silentLogger });
const root = mkdtempSync(join(tmpdir(), 'file-sink-'));
after(() => rmSync(root, { recursive: true }));

const orderType = Types.ROW({ id: Types.LONG, note: Types.STRING });
type Order = Infer<typeof orderType>;

const input: Order[] = Array.from({ length: 90 }, (_, i) => ({ id: i, note: `"ä", ${i}` }));
let directories = 0;
const freshPath = (): string => join(root, String(directories++));
/** Paths below a directory. */
const names = (path: string): string[] =>
  existsSync(path)
    ? readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(path, join(entry.parentPath, entry.name)))
        .sort()
    : [];
const finished = (path: string): string[] => names(path).filter((name) => basename(name).startsWith('part-'));
const visibleText = (path: string): string =>
  finished(path)
    .map((name) => readFileSync(join(path, name), 'utf8'))
    .join('');

function fileTarget<T>(
  create: (path: string) => FileSink<T>,
  read: (path: string) => unknown[] | Promise<unknown[]>,
) {
  const path = freshPath();
  return {
    createSink: () => create(path),
    readVisible: async () => read(path),
    openTransactions: async () => names(path).filter((name) => basename(name).startsWith('.')).length,
  };
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');
const jsonOf = (text: string): unknown[] => linesOf(text).map((line) => JSON.parse(line));

sinkContract<Order>({
  name: 'JSON lines files',
  platform: () => platform,
  input,
  seeds: 5,
  createTarget: () =>
    fileTarget(
      (path) => FileSink.forJsonLines<Order>(path),
      (path) => jsonOf(visibleText(path)),
    ),
});

/** Files in memory: the finished ones of a directory, with their names below it. */
const manual = createManualPlatform();
function manualTarget<T>(
  create: (path: string) => FileSink<T>,
  read: (bytes: Uint8Array) => unknown[] | Promise<unknown[]>,
) {
  const path = `/${directories++}`;
  const paths = (isHidden: boolean): string[] =>
    manual.files
      .allFiles()
      .filter((each) => each.startsWith(`${path}/`) && basename(each).startsWith('.') === isHidden);
  return {
    createSink: () => create(path),
    readVisible: async () =>
      (await Promise.all(paths(false).map((each) => read(manual.files.peek(each)!)))).flat(),
    openTransactions: async () => paths(true).length,
  };
}

sinkContract<Order>({
  name: 'CSV files with headers that roll by size',
  platform: () => manual,
  input,
  visible: ({ id, note }) => `${id},"${note.replaceAll('"', '""')}"`,
  createTarget: () =>
    manualTarget(
      (path) =>
        FileSink.forCsv<Order>(path, ['id', 'note']).withRollingPolicy(
          new OnCheckpointRollingPolicy({ maxPartSize: 60 }),
        ),
      (bytes) => linesOf(Buffer.from(bytes).toString()).filter((line) => line !== 'id,note'),
    ),
});
sinkContract<Order>({
  name: 'compressed files in buckets that go on over checkpoints',
  platform: () => manual,
  input,
  holdsBack: true,
  createTarget: () =>
    manualTarget(
      (path) =>
        FileSink.forJsonLines<Order>(path, { compression: 'zstd' })
          .withBucketAssigner((order) => `third=${order.id % 3}/all`)
          .withRollingPolicy(new DefaultRollingPolicy({ maxPartSize: 150 }))
          .withMaxOpenBuckets(2),
      (bytes) => jsonOf(zstdDecompressSync(bytes).toString()),
    ),
});
sinkContract<Order>({
  name: 'Parquet files in buckets',
  platform: () => manual,
  input,
  seeds: 10,
  createTarget: () =>
    manualTarget<Order>(
      (path) =>
        FileSink.forParquet(path, orderType, { compression: 'zstd' }).withBucketAssigner(
          (order) => `third=${order.id % 3}`,
        ),
      parquetRows,
    ),
});

/** By the library's own reader. */
async function parquetRows(bytes: Uint8Array): Promise<Record<string, unknown>[]> {
  const file = bytes.slice().buffer as ArrayBuffer;
  const rows = await parquetReadObjects({
    file,
    compressors: { ZSTD: (input) => zstdDecompressSync(input) },
  });
  return rows.map((row) => ({ ...row, id: Number(row['id']) }));
}

function start<T>(sink: FileSink<T>, over: object = {}): Promise<SimulatedSinkHost<T>> {
  return SimulatedSinkHost.start<T>(sink, { platform, parallelism: 1, ...over });
}

test('file names tell the branch, the subtask and the checkpoint before, and end with the suffix', async () => {
  const path = freshPath();
  const host = await start(
    FileSink.forRowFormat(path, (n: number) => `${n}`)
      .withOutputFileConfig(OutputFileConfig.builder().withPartSuffix('.log').build())
      .build(),
  );
  await host.write([1, 2], 1);
  assert.match(names(path)[0] ?? '.part', /^\.part/);
  await host.checkpoint(7);
  await host.write([1, 2], 2);
  await host.checkpoint(8);
  assert.match(
    names(path).join(' '),
    /^part-[0-9a-f]{12}-0-0-0-[0-9a-f]{8}\.log part-[0-9a-f]{12}-0-7-1-[0-9a-f]{8}\.log$/,
  );
  assert.equal(visibleText(path), '1\n2\n');
  await host.close();
});

test('files of other branches, other sinks and other people are left alone', async () => {
  const path = freshPath();
  const sink = FileSink.forJsonLines<number>(path);
  const other = await start(sink, { lineageId: 'another branch' });
  await other.write([1], 1);
  const pendingElsewhere = await other.prepare(1);
  for (const name of ['.part-mine', 'part-mine', '.part-0-0-0.inprogress.ff'])
    writeFileSync(join(path, name), 'x');
  const before = names(path);
  const host = await start(sink);
  await host.close();
  assert.deepEqual(names(path), before);
  await other.commitAll(pendingElsewhere.id);
  assert.match(visibleText(path), /1\n/);
  await other.close();
});

test('a branch that begins from the checkpoint of another never touches what the other wrote since', async () => {
  const path = freshPath();
  const sink = FileSink.forJsonLines<number>(path);
  const first = await start(sink);
  await first.write([1, 2, 3], 1);
  const checkpoint = await first.checkpoint(1);
  await first.write([1, 2, 3], 2);
  await first.prepare(2);
  const fork = await start(sink, { restored: checkpoint, lineageId: 'fork' });
  await fork.write([1, 2, 3], 3);
  await fork.checkpoint(2);
  await fork.close();
  await first.commitAll(2);
  await first.close();
  assert.equal(visibleText(path).split('\n').sort().join(' '), ' 1 2 2 3');
});

async function preparedThenKilled(path: string) {
  const host = await start(FileSink.forJsonLines<number>(path));
  await host.write([1, 2], 2);
  const checkpoint = await host.prepare(1);
  await host.kill();
  return checkpoint;
}

test('a file of a completed checkpoint that is gone or changed is an error that names it', async () => {
  for (const damage of ['gone', 'cut'] as const) {
    const path = freshPath();
    const restored = await preparedThenKilled(path);
    const file = join(path, names(path)[0]!);
    if (damage === 'gone') rmSync(file);
    else truncateSync(file, 2);
    await assert.rejects(start(FileSink.forJsonLines<number>(path), { restored }), (error: Error) => {
      assert.ok(hasCode(error, 'SINK_COMMIT_LOST'));
      assert.match(
        error.message,
        damage === 'gone' ? /neither the pending nor the finished file/ : /the file has 2 bytes/,
      );
      return error.message.includes(join(path, 'part-'));
    });
  }
});

test('a committable whose name leads out of the directory is refused', async () => {
  const path = freshPath();
  const restored = await preparedThenKilled(path);
  const committable = { ...(restored.committables[0] as object), finishedName: '../part-escaped' };
  await assert.rejects(
    start(FileSink.forJsonLines<number>(path), { restored: { ...restored, committables: [committable] } }),
    (error) => hasCode(error, 'SINK_COMMIT_LOST'),
  );
});

/** A platform whose files reject writes from now on. */
function fullDisk(after: { writes: number }): Platform {
  const failing = (files: FileSystem): FileSystem => ({
    ...(Object.fromEntries(
      [
        'open',
        'readAll',
        'list',
        'stat',
        'makeDirectory',
        'rename',
        'delete',
        'syncDirectory',
        'lockDirectory',
      ].map((name) => [
        name,
        (...args: never[]) => (files[name as 'rename'] as (...a: never[]) => unknown).apply(files, args),
      ]),
    ) as unknown as FileSystem),
    scheme: files.scheme,
    create: async (path) => {
      const file = await files.create(path);
      return {
        path,
        write: async (bytes) => {
          if (after.writes-- <= 0)
            throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
          await file.write(bytes);
        },
        sync: () => file.sync(),
        close: () => file.close(),
      };
    },
  });
  return {
    ...platform,
    fileSystem: (uri) => {
      const { files, path } = platform.fileSystem(uri);
      return { files: failing(files), path };
    },
  };
}

test('a full disk fails the task and its checkpoints with a clear message, and nothing becomes visible', async () => {
  const path = freshPath();
  const host = await start(FileSink.forJsonLines<string>(path), { platform: fullDisk({ writes: 1 }) });
  await host.write(['a'], 1);
  await host.checkpoint(1);
  await host.write(['a', 'b'], 2);
  await assert.rejects(host.prepare(2), (error: Error) => {
    assert.ok(hasCode(error, 'SINK_WRITE_FAILED'));
    assert.match(error.message, /sink "sink under test": cannot write .*ENOSPC.* No result is lost/);
    return true;
  });
  await assert.rejects(host.prepare(3), (error) => hasCode(error, 'SINK_WRITE_FAILED'));
  assert.equal(visibleText(path), '"a"\n');
  await host.kill();
});

test('a directory that cannot be made fails at the start', async () => {
  const path = freshPath();
  mkdirSync(path);
  writeFileSync(join(path, 'file'), '');
  await assert.rejects(start(FileSink.forJsonLines(join(path, 'file'))), (error) =>
    hasCode(error, 'SINK_WRITE_FAILED'),
  );
});

test('a writer that is closed with unfinished work leaves no file of it', async () => {
  const path = freshPath();
  const host = await start(FileSink.forJsonLines<string>(path));
  await host.write(['x'.repeat(600_000)], 1);
  await host.close();
  assert.deepEqual(names(path), []);
});

test('a writer that is closed while a checkpoint waits for its files closes them, and they go', async () => {
  const manual = createManualPlatform();
  const context = { logger: silentLogger, sinkName: 's', sinkUid: 's', jobId: 'j', lineageId: 'l' };
  const rest = { subtaskIndex: 0, parallelism: 1, attemptNumber: 0, restoredCheckpointId: undefined };
  const writer = await FileSink.forJsonLines<string>('/out').createWriter(
    { ...context, ...rest, platform: manual, checkpointingEnabled: true, deliver() {}, fail() {} },
    [],
  );
  writer.write('x'.repeat(600_000), 0);
  await manual.settle();
  writer.write('y'.repeat(600_000), 0);
  const prepared = assert.rejects(async () => writer.prepareCommit(1, false), { code: 'SINK_WRITE_FAILED' });
  await writer.close();
  await prepared;
  const count = (operation: string) =>
    manual.files.operations.filter((each) => each.startsWith(`${operation} /out/`)).length;
  assert.equal(count('create'), 1);
  assert.equal(count('close'), 1);
  assert.deepEqual(manual.files.allFiles(), []);
});

test('a checkpoint waits for what came before it only, however much is written meanwhile', async () => {
  const inner = createManualPlatform();
  const writes: PromiseWithResolvers<void>[] = [];
  const files: FileSystem = Object.create(inner.files, {
    create: {
      value: async (path: string) => {
        const file = await inner.files.create(path);
        const write = async (bytes: Uint8Array): Promise<void> => {
          const gate = Promise.withResolvers<void>();
          writes.push(gate);
          await gate.promise;
          await file.write(bytes);
        };
        return { path, write, sync: () => file.sync(), close: () => file.close() };
      },
    },
  });
  const gated: Platform = { ...inner, fileSystem: (uri) => ({ files, path: inner.fileSystem(uri).path }) };
  const context = { logger: silentLogger, sinkName: 's', sinkUid: 's', jobId: 'j', lineageId: 'l' };
  const rest = { subtaskIndex: 0, parallelism: 1, attemptNumber: 0, restoredCheckpointId: undefined };
  const writer = await FileSink.forJsonLines<string>('/out').createWriter(
    { ...context, ...rest, platform: gated, checkpointingEnabled: true, deliver() {}, fail() {} },
    [],
  );
  writer.write('before', 0);
  let isPrepared = false;
  void Promise.resolve(writer.prepareCommit(1, false)).then(() => (isPrepared = true));
  for (let i = 0; i < 3; i++) writer.write('after'.repeat(100_000), 0);
  await inner.settle();
  assert.equal(isPrepared, false);
  writes[0]!.resolve();
  await inner.settle();
  assert.equal(writes.length, 2, 'the next write is under way');
  assert.equal(isPrepared, true);
});

test('more than a few megabytes that are not written make the writer busy', async () => {
  const path = freshPath();
  const sink = FileSink.forRowFormat(path, (text: string) => text);
  const context = { platform, logger: silentLogger, sinkName: 's', sinkUid: 's', jobId: 'j', lineageId: 'l' };
  const rest = { subtaskIndex: 0, parallelism: 1, attemptNumber: 0, restoredCheckpointId: undefined };
  const writer = await sink.createWriter(
    { ...context, ...rest, checkpointingEnabled: true, deliver() {}, fail() {} },
    [],
  );
  const line = 'ü'.repeat(50_000);
  let lines = 0;
  while (writer.busy?.() === undefined) {
    writer.write(line, 0);
    lines += 1;
  }
  assert.ok(lines < 60, `${lines} lines`);
  await writer.busy?.();
  assert.equal(writer.busy?.(), undefined);
  const [committable] = await writer.prepareCommit(1, false);
  assert.equal(committable?.sizeBytes, lines * 100_001);
  assert.equal(readFileSync(join(path, committable!.pendingName), 'utf8'), `${line}\n`.repeat(lines));
  await writer.close();
});

test('files have the prefix and the suffix that were asked for, and else those of format and compression', async () => {
  const last = async (sink: FileSink<number>): Promise<string> => {
    const host = await start(sink);
    await host.write([1], 1);
    await host.finish(1);
    await host.close();
    return names(path).find((name) => !seen.has(name) && seen.add(name))!;
  };
  const path = freshPath();
  const seen = new Set<string>();
  const json = FileSink.forJsonLines<number>(path, { compression: 'gzip' });
  assert.match(await last(json), /^part-[0-9a-f-]+\.jsonl\.gz$/);
  assert.match(
    await last(json.withOutputFileConfig(new OutputFileConfig('orders'))),
    /^orders-.*\.jsonl\.gz$/,
  );
  const config = OutputFileConfig.builder().withPartPrefix('a-b').withPartSuffix('').build();
  assert.match(await last(json.withOutputFileConfig(config)), /^a-b-[0-9a-f-]+$/);
});

for (const compression of ['gzip', 'zstd'] as const) {
  test(`lines compressed with ${compression} are read back by our own source, small and large`, async () => {
    const path = freshPath();
    const texts = Array.from({ length: 300 }, (_, i) => `${i} `.repeat(i * 20).trimEnd());
    const host = await start(FileSink.forRowFormat<string>(path, (text) => text, { compression }));
    await host.write(texts, texts.length);
    await host.finish(1);
    await host.close();
    const source = FileSource.forTextLines(path);
    const reading = await SimulatedSourceHost.start<string>(source, platform, seededRandom(1), 1);
    while (!reading.ended) await reading.step(1000);
    await reading.close();
    assert.deepEqual(reading.emitted, texts);
  });
}

test('a bulk format of the user is loaded once a subtask, and its files end with the checkpoint', async () => {
  const log: string[] = [];
  const factory: BulkWriterFactory<number> = {
    async open() {
      log.push('open');
    },
    create(out) {
      assert.deepEqual(log[0], 'open');
      const kept: number[] = [];
      return {
        get bufferedBytes() {
          return kept.length * 8;
        },
        addElement: (value) => void kept.push(value),
        finish: () => out.write(Buffer.from(`[${kept.join()}]`)),
      };
    },
  };
  const path = freshPath();
  const sink = FileSink.forBulkFormat(path, factory, { suffix: '.list' }).withRollingPolicy(
    new OnCheckpointRollingPolicy({ maxPartSize: 16 }),
  );
  const host = await start(sink);
  await host.write([1, 2, 3, 4, 5], 4);
  await host.checkpoint(1);
  await host.write([1, 2, 3, 4, 5], 5);
  await host.finish(2);
  await host.close();
  assert.deepEqual(log, ['open']);
  assert.equal(visibleText(path), '[1,2,3][4][5]');
  assert.ok(names(path).every((name) => name.endsWith('.list')));
});

test('wrong options are refused', () => {
  const invalid = (error: unknown): boolean => hasCode(error, 'INVALID_ARGUMENT');
  assert.throws(() => FileSink.forJsonLines(''), invalid);
  assert.throws(() => new OutputFileConfig('part', '/../x'), invalid);
  assert.throws(() => new OutputFileConfig('.part'), invalid);
  assert.throws(() => new OnCheckpointRollingPolicy({ maxPartSize: 0 }), invalid);
  assert.throws(() => DefaultRollingPolicy.builder().withRolloverInterval(0).build(), invalid);
  assert.throws(() => FileSink.forJsonLines('x', { compression: 'brotli' as never }), invalid);
  assert.throws(() => FileSink.forJsonLines('x').withMaxOpenBuckets(0), invalid);
  assert.throws(() => FileSink.forCsv<Order>('x', []), invalid);
  assert.throws(() => FileSink.forCsv<Order>('x', ['id'], { delimiter: '"' }), invalid);
});
