import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import type { MillraceError } from '../base/index.ts';
import { createManualPlatform } from '../testing/manual-platform.ts';
import { formatMetadata, parseMetadata } from './savepoint-metadata.ts';
import type { SnapshotManifest } from './snapshot-manifest.ts';

const platform = createManualPlatform();
const golden = goldenFile('manifest-1.metadata');
const golden2 = goldenFile('manifest-2.metadata');
const golden3 = goldenFile('manifest-3.metadata');

function goldenFile(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`./golden/${name}`, import.meta.url)));
}

/** What golden/manifest-1.metadata holds. */
const GOLDEN: SnapshotManifest = {
  checkpointId: 17,
  kind: 'checkpoint',
  timestampMs: 1_732_880_000_123,
  jobName: 'order totals',
  jobId: 'cca7bc1061d61cf15238e92312c2fc20',
  lineageId: '5f0c2a9be1d44c7e',
  planHash: 'f2ca1bb6c7e907d06dafe4687e579fce76b37e4e93b7605022da52e6ccc26fd2',
  millraceVersion: '0.1.0',
  operators: [
    {
      uid: 'orders',
      uidIsGenerated: false,
      name: 'Source: orders',
      kind: 'source',
      parallelism: 1,
      maxParallelism: 128,
      key: undefined,
      subtasks: [
        {
          keyed: [],
          operator: [
            {
              name: 'splits',
              mode: 'split',
              element: { kind: 'generic' },
              offsets: [0, 3],
              stream: { kind: 'inline', bytes: new Uint8Array([1, 2, 3, 4, 5]) },
            },
          ],
        },
      ],
      coordinator: new Uint8Array([9, 8, 7]),
    },
    {
      uid: 'running-total',
      uidIsGenerated: false,
      name: 'running total',
      kind: 'keyed-process',
      parallelism: 2,
      maxParallelism: 128,
      key: { kind: 'string' },
      subtasks: [
        {
          keyed: [
            {
              format: 'heap-1',
              keyGroups: { first: 0, last: 63 },
              maxParallelism: 128,
              states: [
                {
                  name: 'total',
                  kind: 'value',
                  key: { kind: 'string' },
                  namespace: { kind: 'void' },
                  value: { kind: 'pojo', name: 'Total', fields: [{ name: 'cents', type: { kind: 'long' } }] },
                  entries: 1000,
                  sizeBytes: 40_960,
                },
                {
                  name: 'seen',
                  kind: 'map',
                  key: { kind: 'string' },
                  namespace: { kind: 'void' },
                  value: { kind: 'boolean' },
                  mapKey: { kind: 'string' },
                  entries: 0,
                  sizeBytes: 0,
                },
              ],
              stream: { kind: 'file', path: '1-0-00c0ffee00c0ffee', offset: 0, lengthBytes: 41_216 },
            },
          ],
          operator: [],
        },
        { keyed: [], operator: [] },
      ],
      coordinator: undefined,
    },
  ],
  inFlight: [],
  files: [
    {
      path: '1-0-00c0ffee00c0ffee',
      sizeBytes: 41_216,
      sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    },
  ],
};

/** What golden/manifest-2.metadata holds: the same with data in flight. */
const GOLDEN_2: SnapshotManifest = {
  ...GOLDEN,
  inFlight: [
    {
      identity: { sourceUid: 'orders', sideTag: undefined, targetUid: 'running-total', input: 0, ordinal: 0 },
      partitioning: 'hash',
      type: { kind: 'generic' },
      key: { kind: 'string' },
      ...{ senders: 1, receivers: 2, maxParallelism: 128 },
      channels: [
        // What was left of an earlier run with more senders: two of one channel, in order.
        {
          ...{ sender: 3, receiver: 0, part: 'restored', watermarkMs: 5 },
          stream: { kind: 'inline', bytes: new Uint8Array([4, 1, 0, 0, 0, 0]) },
        },
        {
          ...{ sender: 3, receiver: 0, part: 'restored', watermarkMs: 7 },
          stream: { kind: 'inline', bytes: new Uint8Array([4, 1, 0, 0, 0, 1]) },
        },
        {
          ...{ sender: 0, receiver: 0, part: 'received', watermarkMs: Number.MIN_SAFE_INTEGER },
          stream: { kind: 'file', path: '1-0-00c0ffee00c0ffee', offset: 41_000, lengthBytes: 200 },
        },
        {
          ...{ sender: 0, receiver: 0, part: 'unsent', watermarkMs: undefined },
          stream: { kind: 'inline', bytes: new Uint8Array([4, 1, 0, 0, 0, 1]) },
        },
        {
          ...{ sender: 0, receiver: 1, part: 'received', watermarkMs: 1_732_880_000_000 },
          stream: { kind: 'inline', bytes: new Uint8Array(0) },
        },
      ],
    },
    {
      identity: { sourceUid: 'orders', sideTag: 'late', targetUid: 'running-total', input: 1, ordinal: 1 },
      partitioning: 'custom',
      type: { kind: 'pojo', name: 'Total', fields: [{ name: 'cents', type: { kind: 'long' } }] },
      key: undefined,
      ...{ senders: 1, receivers: 2, maxParallelism: 128 },
      channels: [
        {
          ...{ sender: 0, receiver: 1, part: 'unsent', watermarkMs: undefined },
          stream: { kind: 'file', path: '1-0-00c0ffee00c0ffee', offset: 41_200, lengthBytes: 16 },
        },
      ],
    },
  ],
};

/** What golden/manifest-3.metadata holds: files with a CRC-32, and one that has a SHA-256. */
const GOLDEN_3: SnapshotManifest = {
  ...GOLDEN_2,
  files: [
    { path: '1-0-00c0ffee00c0ffee', sizeBytes: 41_216, crc32: '352441c2' },
    {
      path: '1-1-0123456789abcdef',
      sizeBytes: 3,
      sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    },
  ],
};

/** The same document with something changed and hashed again: what a writer with a bug, or with bad intent, makes. */
function forged(change: (document: Record<string, never>) => void, original = golden): Uint8Array {
  const document = JSON.parse(Buffer.from(original).toString());
  delete document.sha256;
  change(document);
  const text = JSON.stringify(document, undefined, 2);
  const body = text.slice(0, text.lastIndexOf('\n}'));
  const hasher = platform.hasher();
  hasher.update(Buffer.from(body));
  return Buffer.from(`${body},\n  "sha256": "${hasher.digestHex()}"\n}\n`);
}

const parse = (bytes: Uint8Array): SnapshotManifest => parseMetadata(bytes, '/cp/chk-17/_metadata', platform);
const code = (expected: string) => (error: MillraceError) => error.code === expected;

test('the golden manifests of all versions are read, and written again byte for byte', () => {
  assert.deepEqual(parse(golden), GOLDEN);
  assert.equal(Buffer.from(formatMetadata(GOLDEN, platform)).toString(), Buffer.from(golden).toString());
  assert.deepEqual(parse(golden2), GOLDEN_2);
  assert.equal(Buffer.from(formatMetadata(GOLDEN_2, platform)).toString(), Buffer.from(golden2).toString());
  assert.deepEqual(parse(golden3), GOLDEN_3);
  assert.equal(Buffer.from(formatMetadata(GOLDEN_3, platform)).toString(), Buffer.from(golden3).toString());
});

test('the lowest version is written that can say it, and no other is read', () => {
  const versionOf = (manifest: SnapshotManifest): number =>
    JSON.parse(Buffer.from(formatMetadata(manifest, platform)).toString()).version;
  assert.equal(versionOf(GOLDEN), 1);
  assert.equal(versionOf(GOLDEN_2), 2);
  assert.equal(versionOf(GOLDEN_3), 3);
  const withoutInFlight = { ...GOLDEN_3, inFlight: [] };
  assert.equal(versionOf(withoutInFlight), 3);
  assert.deepEqual(parse(formatMetadata(withoutInFlight, platform)), withoutInFlight);
  const cases: [Uint8Array, (document: Record<string, unknown>) => void, RegExp][] = [
    [golden2, (d) => (d['version'] = 3), /version is 3, but this is version 2/],
    [golden3, (d) => (d['version'] = 2), /files\[0\]\.sha256 is missing/],
    [golden3, (d) => delete d['inFlight'], /inFlight is missing/],
    [
      golden3,
      (d) => ((d['files'] as Record<string, unknown>[])[0]!['crc32'] = '352441C2'),
      /is not a CRC-32/,
    ],
    [golden3, (d) => ((d['files'] as Record<string, unknown>[])[0]!['sha256'] = 'x'), /sha256/],
  ];
  for (const [original, change, message] of cases) {
    const bytes = forged(change as (document: Record<string, never>) => void, original);
    assert.throws(() => parse(bytes), message);
    assert.throws(() => parse(bytes), code('SNAPSHOT_CORRUPT'));
  }
});

test('a snapshot without data in flight is readable by whoever knows version 1', () => {
  const text = Buffer.from(formatMetadata({ ...GOLDEN_2, inFlight: [] }, platform)).toString();
  assert.match(text, /"version": 1,/);
  assert.equal(text, Buffer.from(golden).toString());
});

test('each violation of the format of data in flight is refused with its place', () => {
  type Edge = Record<string, unknown> & { channels: Record<string, unknown>[] };
  const cases: [(edge: Edge, document: Record<string, unknown>) => void, RegExp][] = [
    [(_, d) => (d['version'] = 1), /inFlight is not expected/],
    [(_, d) => (d['inFlight'] = []), /version is 2, but this is version 1/],
    [(_, d) => delete d['inFlight'], /inFlight is missing/],
    [(e, d) => (d['inFlight'] as Edge[]).push(e), /inFlight has an exchange twice/],
    [(e) => (e['source'] = 'nobody'), /belongs to the operator with uid nobody, which is not listed/],
    [(e) => (e['target'] = 'nobody'), /belongs to the operator with uid nobody, which is not listed/],
    [(e) => (e['sideTag'] = null), /inFlight\[0\]\.sideTag is not a string/],
    [(e) => (e['input'] = 2), /inFlight\[0\]\.input is 2/],
    [(e) => (e['ordinal'] = -1), /inFlight\[0\]\.ordinal is -1/],
    [(e) => (e['partitioning'] = 'odd'), /inFlight\[0\]\.partitioning is "odd"/],
    [(e) => (e['partitioning'] = 'custom'), /inFlight\[0\]\.key is not expected/],
    [(e) => delete e['key'], /inFlight\[0\]\.key is missing/],
    [(e) => (e['type'] = { kind: 'odd' }), /inFlight\[0\]\.type.*odd/],
    [(e) => (e['senders'] = 0), /inFlight\[0\]\.senders is 0/],
    [(e) => (e['maxParallelism'] = 1), /inFlight\[0\]\.maxParallelism is 1, not within 2 and/],
    [(e) => (e.channels = []), /inFlight\[0\]\.channels has nothing in flight/],
    [(e) => (e.channels[0]!['receiver'] = 2), /channels\[0\] has receiver 2 of 2/],
    [(e) => (e.channels[2]!['sender'] = 1), /channels\[2\] has sender 1 of 1/],
    [(e) => (e.channels[0]!['sender'] = -1), /channels\[0\]\.sender is -1/],
    [(e) => (e.channels[0]!['part'] = 'lost'), /channels\[0\]\.part is "lost"/],
    [(e) => delete e.channels[0]!['watermarkMs'], /channels\[0\]\.watermarkMs is missing/],
    [(e) => (e.channels[0]!['watermarkMs'] = 0.5), /channels\[0\]\.watermarkMs is not an integer/],
    [(e) => (e.channels[3]!['watermarkMs'] = 1), /channels\[3\]\.watermarkMs is not expected/],
    [(e) => e.channels.push(e.channels.at(-1)!), /inFlight\[0\]\.channels\[\d\] is not in its place/],
    [(e) => e.channels.reverse(), /inFlight\[0\]\.channels\[1\] is not in its place/],
    [
      (e) => Object.assign(e.channels[1]!, { part: 'received', sender: 0 }),
      /inFlight\[0\]\.channels\[2\] is not in its place/,
    ],
    [
      (e) => (e.channels[0]!['stream'] = { file: '../x', offset: 0, lengthBytes: 1 }),
      /channels\[0\]\.stream\.file cannot be used/,
    ],
    [
      (e) => (e.channels[2]!['stream'] = { file: 'x', offset: 0, lengthBytes: 1 }),
      /data in flight from orders, subtask 0, to running-total, subtask 0, refers to the file x/,
    ],
    [
      (e) => ((e.channels[2]!['stream'] as { lengthBytes: number }).lengthBytes = 217),
      /ends at byte 41217 of .*, which has 41216 bytes/,
    ],
  ];
  for (const [change, message] of cases) {
    const bytes = forged((document) => {
      change((document as unknown as { inFlight: Edge[] }).inFlight[0]!, document);
    }, golden2);
    assert.throws(() => parse(bytes), message);
    assert.throws(() => parse(bytes), code('SNAPSHOT_CORRUPT'));
  }
});

test('cut off anywhere it is refused', () => {
  for (let length = 0; length < golden.length; length += 7) {
    assert.throws(
      () => parse(golden.subarray(0, length)),
      /is damaged|is not the metadata/,
      `cut at ${length}`,
    );
  }
  assert.throws(() => parse(golden.subarray(0, 0)), /_metadata is damaged: it is empty/);
  assert.throws(() => parse(golden.subarray(0, golden.length - 1)), /its end is missing/);
});

test('any changed bit is found (property)', () => {
  fc.assert(
    fc.property(fc.nat(golden.length - 1), fc.nat(7), (at, bit) => {
      const changed = golden.slice();
      changed[at]! ^= 1 << bit;
      assert.throws(
        () => parse(changed),
        (error: MillraceError) => {
          return error.code === 'SNAPSHOT_CORRUPT' || error.code === 'SNAPSHOT_FORMAT_UNKNOWN';
        },
      );
    }),
    { numRuns: 2000 },
  );
});

test('a newer version is told apart from damage', () => {
  const newer = forged((document) => Object.assign(document, { version: 4, surprise: true }));
  assert.throws(() => parse(newer), /has version 4 of the snapshot format, this Millrace reads up to 3/);
  assert.throws(() => parse(newer), code('SNAPSHOT_FORMAT_NEWER'));
});

test('what is something else says what it is', () => {
  assert.throws(() => parse(Buffer.from('hello, this is no manifest')), code('SNAPSHOT_FORMAT_UNKNOWN'));
  assert.throws(
    () => parse(new Uint8Array([0x49, 0x60, 0x67, 0x2d, 0, 0, 0, 3])),
    /savepoint of Apache Flink/,
  );
});

test('each violation of the format is refused with its place', () => {
  const cases: [(document: never) => void, RegExp][] = [
    [(d: { surprise: number }) => (d.surprise = 1), /surprise is not expected/],
    [(d: { jobName: unknown }) => (d.jobName = 7), /jobName is not a string/],
    [(d: { checkpointId: number }) => (d.checkpointId = -1), /checkpointId is -1/],
    [(d: { kind: string }) => (d.kind = 'other'), /kind is "other", not one of checkpoint, savepoint/],
    [
      (d: { operators: { parallelism: number }[] }) => (d.operators[1]!.parallelism = 3),
      /operators\[1\]\.subtasks has 2 entries/,
    ],
    [
      (d: { operators: { maxParallelism: number }[] }) => (d.operators[1]!.maxParallelism = 1),
      /operators\[1\]\.maxParallelism is 1/,
    ],
    [
      (d: { operators: { key: object }[] }) => (d.operators[1]!.key = { kind: 'odd' }),
      /operators\[1\]\.key.*odd/,
    ],
    [
      (d: { operators: { coordinator: string }[] }) => (d.operators[0]!.coordinator = '?'),
      /coordinator is not base64/,
    ],
    [(d: { operators: { uid: string }[] }) => (d.operators[0]!.uid = 'running-total'), /a uid twice/],
    [
      (d: { files: { sizeBytes: number }[] }) => (d.files[0]!.sizeBytes = 41_215),
      /ends at byte 41216 of .*, which has 41215 bytes/,
    ],
    [
      (d: { files: { sha256: string }[] }) => (d.files[0]!.sha256 = 'x'),
      /files\[0\]\.sha256 is not a SHA-256/,
    ],
    [(d: { files: object[] }) => d.files.push(d.files[0]!), /is listed twice/],
    [(d: { files: object[] }) => (d.files = []), /which is not listed/],
  ];
  for (const [change, message] of cases) {
    const bytes = forged(change as (document: Record<string, never>) => void);
    assert.throws(() => parse(bytes), message);
    assert.throws(() => parse(bytes), code('SNAPSHOT_CORRUPT'));
  }
});

test('paths that lead out of the directory are refused', () => {
  for (const path of [
    '../x',
    '/etc/passwd',
    'a/../../x',
    'a//b',
    '..',
    '.',
    'a\\b',
    'c:x',
    'a\u0000b',
    '_metadata',
    '',
  ]) {
    const bytes = forged((document) => {
      (document as unknown as { files: { path: string }[] }).files[0]!.path = path;
    });
    assert.throws(() => parse(bytes), /files\[0\]\.path cannot be used/, path);
  }
});

test('text with any characters survives, surrogates and line ends included', () => {
  const jobName = 'zwölf "Bestellungen"\n\u2028\ud83d\ude00 } ,\n  "sha256": "';
  const manifest = { ...GOLDEN, jobName };
  assert.equal(parse(formatMetadata(manifest, platform)).jobName, jobName);
});
