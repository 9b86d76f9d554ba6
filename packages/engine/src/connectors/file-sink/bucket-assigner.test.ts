import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hasCode } from '../../base/index.ts';
import { createManualPlatform } from '../../testing/manual-platform.ts';
import { SimulatedSinkHost } from '../../testing/simulated-sink-host.ts';
import { BasePathBucketAssigner, type BucketAssignment, bucketIdObjection } from './bucket-assigner.ts';
import { DateTimeBucketAssigner } from './date-time-bucket-assigner.ts';
import { FileSink } from './file-sink.ts';

async function jobWith(assigner: BucketAssignment<string>, openBucketsMax = 128) {
  const platform = createManualPlatform({ wallMs: Date.UTC(2024, 5, 1, 22, 30) });
  const sink = FileSink.forRowFormat<string>('/out', (text) => text)
    .withBucketAssigner(assigner)
    .withMaxOpenBuckets(openBucketsMax);
  const host = await SimulatedSinkHost.start<string>(sink, { platform, parallelism: 1 });
  const files = (): string[] =>
    platform.files
      .allFiles()
      .map((path) => {
        const bucket = path.slice('/out'.length, path.lastIndexOf('/'));
        return `${bucket}: ${Buffer.from(platform.files.peek(path)!).toString().trimEnd().replaceAll('\n', ' ')}`;
      })
      .sort();
  return { platform, host, files };
}

test('records go to the folders that a function names, which are there once something is finished', async () => {
  const { platform, host, files } = await jobWith((text) =>
    text === 'root' ? '' : `kind=${text[0]}/len=${text.length}`,
  );
  const input = ['aa', 'root', 'ab', 'b'];
  await host.write(input, 4);
  await host.prepare(1);
  assert.deepEqual(
    new Set(files().map((file) => file.split(':')[0])),
    new Set(['']),
    'all pending in one folder',
  );
  await host.commitAll(1);
  assert.deepEqual(files(), ['/kind=a/len=2: aa ab', '/kind=b/len=1: b', ': root']);
  assert.ok(platform.files.operations.includes('syncDirectory /out/kind=a/len=2'));
  await host.close();
});

test('bucket ids that lead elsewhere, are hidden or no paths are refused with the record in hand', async () => {
  const bad = [
    '..',
    '../x',
    'a/../b',
    '/abs',
    'a//b',
    'a/',
    '.hidden',
    'a/.b',
    'a\\b',
    'c:',
    'a\0',
    'x\n',
    '\ud800',
  ];
  for (const id of [...bad, 'x'.repeat(256), Array(17).fill('d').join('/'), 7 as never, undefined as never]) {
    assert.notEqual(bucketIdObjection(id), undefined, String(id));
  }
  for (const id of ['', 'a', 'a/b', 'dt=2024-06-01', 'ü', '_x', 'a.b'])
    assert.equal(bucketIdObjection(id), undefined);
  const { host } = await jobWith(() => '../escaped');
  await assert.rejects(host.write(['x'], 1), (error: Error) => {
    assert.ok(hasCode(error, 'RESULT_NOT_ALLOWED'));
    return /sink "sink under test": the bucket assigner gave "\.\.\/escaped"/.test(error.message);
  });
});

test('no accepted bucket id leads out of the directory', () => {
  const part = fc.oneof(fc.constantFrom('.', '..', '/', 'a', '\\', '\0'), fc.string({ maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const id = parts.join('');
      if (bucketIdObjection(id) !== undefined || id === '') return;
      const { pathname } = new URL(`file:///sink/${id.split('/').map(encodeURIComponent).join('/')}/file`);
      assert.equal(decodeURIComponent(pathname), `/sink/${id}/file`);
    }),
  );
});

test('a record for one bucket more than may be open ends the file that got none for longest', async () => {
  const { host, files } = await jobWith((text) => text[0]!, 2);
  const input = ['a1', 'b1', 'a2', 'c1', 'a3', 'b2'];
  await host.write(input, input.length);
  await host.checkpoint(1);
  assert.deepEqual(files(), ['/a: a1 a2 a3', '/b: b1', '/b: b2', '/c: c1']);
  await host.close();
});

test('more files between two checkpoints than can be counted on are an error that says what to do', async () => {
  const { host } = await jobWith((text) => text, 1);
  const input = Array.from({ length: 10_002 }, (_, i) => `${i}`);
  await assert.rejects(host.write(input, input.length), (error: Error) => {
    assert.ok(hasCode(error, 'SINK_WRITE_FAILED'));
    return /more than 10000 files since the last checkpoint/.test(error.message);
  });
});

const at = (timeMs: number) => ({
  currentProcessingTime: () => timeMs,
  currentWatermark: () => 0,
  timestamp: () => undefined,
});

test('the time of processing names the bucket, in UTC unless a zone is given', async () => {
  const { platform, host, files } = await jobWith(new DateTimeBucketAssigner());
  await host.write(['x', 'y'], 1);
  await host.checkpoint(1);
  platform.advance(3_600_000);
  await host.checkpoint(2);
  await host.write(['x', 'y'], 2);
  await host.checkpoint(3);
  assert.deepEqual(files(), ['/2024-06-01--22: x', '/2024-06-01--23: y']);
  await host.close();
  const evening = at(Date.UTC(2024, 5, 1, 23, 5, 6));
  const id = (...parameters: ConstructorParameters<typeof DateTimeBucketAssigner>): string =>
    new DateTimeBucketAssigner(...parameters).getBucketId(undefined, evening);
  assert.equal(id('yyyy/MM/dd', 'Asia/Shanghai'), '2024/06/02');
  assert.equal(id("'dt='yyyyMMdd/'o''clock'=H", '+02:00'), "dt=20240602/o'clock=1");
  assert.equal(id('yy-M-d_HH-mm-ss', 'America/New_York'), '24-6-1_19-05-06');
  assert.equal(
    id(undefined, undefined, () => 0),
    '1970-01-01--00',
  );
});

test('a bucket by the time of the record is that of its date, whatever came before', () => {
  const assigner = new DateTimeBucketAssigner<{ at: number }>(
    'yyyy-MM-dd/HH-mm-ss',
    'UTC',
    (record) => record.at,
  );
  fc.assert(
    fc.property(
      fc.date({ min: new Date('1900-01-01'), max: new Date('2200-01-01'), noInvalidDate: true }),
      (date) => {
        const iso = date.toISOString();
        const expected = `${iso.slice(0, 10)}/${iso.slice(11, 19).replaceAll(':', '-')}`;
        assert.equal(assigner.getBucketId({ at: date.getTime() }, at(0)), expected);
      },
    ),
  );
  assert.throws(
    () => assigner.getBucketId({ at: Number.NaN }, at(0)),
    (error) => hasCode(error, 'TIMESTAMP_INVALID'),
  );
});

test('patterns and zones that are none are refused', () => {
  for (const [pattern, zone, message] of [
    ['yyyy-QQ', 'UTC', /"QQ" is not known/],
    ["yyyy'x", 'UTC', /a quote is not closed/],
    ['yyyy', 'Mars', /"Mars" is no time zone/],
    ['/yyyy', 'UTC', /begins or ends with a slash/],
    ['HH:mm', 'UTC', /characters that are not for names/],
  ] as const) {
    assert.throws(() => new DateTimeBucketAssigner(pattern, zone), message);
  }
  assert.throws(() => FileSink.forJsonLines('x').withBucketAssigner({} as never), /getBucketId/);
  assert.equal(new BasePathBucketAssigner().getBucketId(), '');
});
