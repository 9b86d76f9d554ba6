import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { hasCode, silentLogger } from '../../base/index.ts';
import { createNodePlatform } from '../../platform/node/index.ts';
import type { Source } from '../../runtime/index.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { SimulatedSourceHost } from '../../testing/simulated-source-host.ts';
import { sourceContract } from '../../testing/source-contract.ts';
import { Types } from '../../types/index.ts';
import { FileSource } from './file-source.ts';

const platform = createNodePlatform({ logger: silentLogger });
const root = mkdtempSync(join(tmpdir(), 'file-source-'));
after(() => rmSync(root, { recursive: true }));

let directories = 0;

/** A directory with these files. */
function directoryOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const directory = join(root, String(directories++));
  mkdirSync(directory);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
  return directory;
}

async function readAll<T>(source: Source<T>, parallelism = 1): Promise<T[]> {
  const host = await SimulatedSourceHost.start(source, platform, seededRandom(1), parallelism);
  try {
    while (!host.ended) await host.step(100);
    return host.emitted;
  } finally {
    await host.close();
  }
}

const lines = Array.from({ length: 60 }, (_, i) => `line ${i} ${'é€😀'.repeat(i % 7)}`);
const textFiles = directoryOf({
  'a.txt': lines.slice(0, 20).join('\n'),
  'b/c.txt': `${lines.slice(20, 40).join('\r\n')}\r\n`,
  'b/empty.txt': '',
  'z.txt': `\uFEFF${lines.slice(40).join('\n')}\n`,
  '.hidden': 'no',
  _SUCCESS: 'no',
});
for (const splitSizeBytes of [7, 64, 1_000_000]) {
  sourceContract({
    name: `text lines in ranges of ${splitSizeBytes} bytes`,
    create: () => FileSource.forTextLines(textFiles, { splitSizeBytes }),
    platform: () => platform,
    expected: lines,
    seeds: 8,
  });
}

const orders = Array.from({ length: 40 }, (_, i) => ({
  id: i,
  note: i % 3 === 0 ? `a "quoted", ${i}` : `plain ${i}`,
}));
const jsonFiles = directoryOf({
  'o.jsonl': `${orders.map((order) => JSON.stringify(order)).join('\n')}\n\n`,
});
sourceContract({
  name: 'JSON lines with a type',
  create: () =>
    FileSource.forJsonLines(jsonFiles, Types.ROW({ id: Types.LONG, note: Types.STRING }), {
      splitSizeBytes: 100,
    }),
  platform: () => platform,
  expected: orders,
  seeds: 8,
});

const csvText = `id,note\n${orders.map(({ id, note }) => `${id},"${note.replaceAll('"', '""')}"`).join('\n')}`;
const csvFiles = directoryOf({ '1.csv': csvText, '2.csv': 'note,id\nlast,40\n' });
sourceContract({
  name: 'CSV with header in ranges',
  create: () =>
    FileSource.forCsv(csvFiles, {
      type: Types.ROW({ id: Types.INT, note: Types.STRING }),
      splitSizeBytes: 90,
    }),
  platform: () => platform,
  expected: [...orders, { id: 40, note: 'last' }],
  seeds: 8,
});

const poems = Array.from({ length: 12 }, (_, i) => ({ title: `t${i}`, text: `first ${i}\n\nthird "${i}"` }));
const multilineCsv = directoryOf({
  'p.csv': `title,text\n${poems.map(({ title, text }) => `${title},"${text.replaceAll('"', '""')}"`).join('\n')}\n`,
});
sourceContract({
  name: 'CSV with line breaks in quotes',
  create: () => FileSource.forCsv(multilineCsv, { multiline: true }),
  platform: () => platform,
  expected: poems,
  seeds: 8,
});

test('a malformed line fails with file, line, what was expected and an excerpt', async () => {
  const directory = directoryOf({ 'x.jsonl': '{"id":1}\n\n{"id":2,}\n' });
  await assert.rejects(readAll(FileSource.forJsonLines(directory)), (error: Error) => {
    assert.ok(hasCode(error, 'SOURCE_RECORD_MALFORMED'));
    assert.match(
      error.message,
      /source "source under test": .*x\.jsonl line 3: expected a JSON value, found .*Record: "\{\\"id\\":2,\}"/,
    );
    return true;
  });
});

test('a field of the wrong type fails naming it', async () => {
  const type = Types.ROW({ id: Types.LONG, n: Types.OPTIONAL(Types.DOUBLE) });
  const json = directoryOf({ 'x.jsonl': '{"id":1}\n{"id":2,"n":"many"}\n' });
  await assert.rejects(
    readAll(FileSource.forJsonLines(json, type)),
    /x\.jsonl line 2: expected a number in "n", found "many"/,
  );
  const csv = directoryOf({ 'x.csv': 'id,n\n1,\n2,many\n' });
  await assert.rejects(
    readAll(FileSource.forCsv(csv, { type })),
    /x\.csv line 3: expected a number in "n", found "many"/,
  );
});

test('malformed lines are skipped if the user says so', async () => {
  const directory = directoryOf({
    'x.csv': Buffer.concat([Buffer.from('a,b\n1,2\n3\n"x\n'), Buffer.from([0xff, 0x0a]), Buffer.from('5,6')]),
  });
  const source = FileSource.forCsv(directory, { onMalformed: 'skip' });
  assert.deepEqual(await readAll(source), [
    { a: '1', b: '2' },
    { a: '5', b: '6' },
  ]);
});

test('a header without a declared column fails naming the columns', async () => {
  const directory = directoryOf({ 'x.csv': 'id,name\n1,x\n' });
  const source = FileSource.forCsv(directory, { type: Types.ROW({ id: Types.LONG, price: Types.DOUBLE }) });
  await assert.rejects(
    readAll(source),
    /x\.csv line 1: expected a header with the column "price", found the columns id, name\. .*correct the fields of the type/,
  );
});

test('CSV without header has the columns of its type, in order', async () => {
  const directory = directoryOf({ 'x.csv': '1;true;2024-02-01;x\n-2;FALSE;1700000000000;\n' });
  const type = Types.ROW({
    n: Types.INT,
    ok: Types.BOOLEAN,
    on: Types.DATE,
    text: Types.NULLABLE(Types.STRING),
  });
  assert.deepEqual(await readAll(FileSource.forCsv(directory, { header: false, type, delimiter: ';' })), [
    { n: 1, ok: true, on: new Date('2024-02-01T00:00:00Z'), text: 'x' },
    { n: -2, ok: false, on: new Date(1_700_000_000_000), text: null },
  ]);
});

test('a quote that is not closed is reported, with and without multiline', async () => {
  const directory = directoryOf({ 'x.csv': 'a,b\n1,"2\n3,4\n' });
  await assert.rejects(
    readAll(FileSource.forCsv(directory)),
    /line 2: expected a closing quote \(for line breaks/,
  );
  await assert.rejects(
    readAll(FileSource.forCsv(directory, { multiline: true })),
    /expected a closing quote, found the end/,
  );
});

test('a quote inside a field that has none around it is a character like others, also with multiline', async () => {
  const directory = directoryOf({ 'x.csv': 'a,b\n1,5" pipe\n2,"6"" \npipe"\n3,x"\n"4","y"\n' });
  assert.deepEqual(await readAll(FileSource.forCsv(directory, { multiline: true })), [
    { a: '1', b: '5" pipe' },
    { a: '2', b: '6" \npipe' },
    { a: '3', b: 'x"' },
    { a: '4', b: 'y' },
  ]);
});

test('a quote that is closed nowhere costs each line once', { timeout: 20_000 }, async () => {
  const directory = directoryOf({ 'x.csv': `a,b\n1,"${'some text here, more\n'.repeat(150_000)}` });
  await assert.rejects(
    readAll(FileSource.forCsv(directory, { multiline: true })),
    /x\.csv line 2: expected a closing quote/,
  );
  await assert.rejects(
    readAll(FileSource.forCsv(directory, { multiline: true, maxLineBytes: 1_000_000 })),
    /x\.csv line 2: expected a record of at most 1000000 bytes, found a longer one \(is a quote not closed\?\)/,
  );
});

test('choices that there are not are refused', () => {
  const said = (source: () => unknown, message: RegExp): void =>
    assert.throws(
      source,
      (error: Error) => hasCode(error, 'INVALID_ARGUMENT') && message.test(error.message),
    );
  const ignore = 'ignore' as 'skip';
  said(
    () => FileSource.forCsv('/x', { onMalformed: ignore }),
    /onMalformed is ignore, expected fail or skip/,
  );
  said(() => FileSource.forTextLines('/x', { onMissingFile: ignore }), /onMissingFile is ignore/);
  said(() => FileSource.forParquet('/x', { onMissingFile: ignore }), /onMissingFile is ignore/);
  said(
    () => FileSource.forCsv('/x', { delimiter: null as never }),
    /delimiter is "null", expected one character/,
  );
});

test('a line longer than maxLineBytes fails with the option to change', async () => {
  const directory = directoryOf({ 'x.txt': `short\n${'x'.repeat(5000)}\n` });
  const source = FileSource.forTextLines(directory, { maxLineBytes: 1000 });
  await assert.rejects(
    readAll(source),
    /x\.txt line 2: expected a line of at most 1000 bytes \(option maxLineBytes\)/,
  );
});

test('lines longer than a piece that is read at once are whole', async () => {
  const long = 'ü'.repeat(900_000);
  const directory = directoryOf({ 'x.txt': `a\n${long}\nb\n` });
  assert.deepEqual(await readAll(FileSource.forTextLines(directory), 3), ['a', long, 'b']);
});

async function checkpointAfter(source: Source<string>, records: number) {
  const host = await SimulatedSourceHost.start(source, platform, seededRandom(3), 1);
  while (host.emitted.length < records) await host.step(1);
  host.triggerCheckpoint();
  while (host.completed === undefined) await host.step(1);
  await host.close();
  return host.completed;
}

async function resume<T>(
  source: Source<T>,
  checkpoint: Awaited<ReturnType<typeof checkpointAfter>>,
): Promise<unknown[]> {
  const host = await SimulatedSourceHost.start(
    source as Source<unknown>,
    platform,
    seededRandom(4),
    1,
    checkpoint,
  );
  try {
    while (!host.ended) await host.step(10);
    return host.emitted;
  } finally {
    await host.close();
  }
}

test('a file that disappeared since it was listed is an error that names it, or left out if the user says so', async () => {
  const directory = directoryOf({ '1.txt': 'a\nb\n', '2.txt': 'c\n', '3.txt': 'd\n' });
  const source = FileSource.forTextLines(directory);
  const checkpoint = await checkpointAfter(source, 1);
  rmSync(join(directory, '2.txt'));
  await assert.rejects(resume(source, checkpoint), (error: Error) => {
    assert.ok(hasCode(error, 'SOURCE_FILE_MISSING'));
    assert.match(error.message, /2\.txt is gone .* Put it back .* onMissingFile: 'skip'/);
    return true;
  });
  const skipping = FileSource.forTextLines(directory, { onMissingFile: 'skip' });
  assert.deepEqual(await resume(skipping, checkpoint), ['a', 'b', 'd']);
});

test('files and lines that appear after the listing are not read, also after a restore', async () => {
  const directory = directoryOf({ '1.txt': 'a\nb\n', '2.txt': 'c\n' });
  const source = FileSource.forTextLines(directory);
  const checkpoint = await checkpointAfter(source, 1);
  writeFileSync(join(directory, '3.txt'), 'new\n');
  appendFileSync(join(directory, '2.txt'), 'more\n');
  assert.deepEqual(await resume(source, checkpoint), ['a', 'b', 'c']);
});

test('a file that got shorter is an error with both sizes', async () => {
  const directory = directoryOf({ '1.txt': 'a\nb\nc\n' });
  const source = FileSource.forTextLines(directory);
  const checkpoint = await checkpointAfter(source, 1);
  truncateSync(join(directory, '1.txt'), 3);
  await assert.rejects(resume(source, checkpoint), (error: Error) => {
    assert.ok(hasCode(error, 'SOURCE_FILE_CHANGED'));
    return /had 6 bytes .* has 3 now/.test(error.message);
  });
});

test('positions are refused by a source of other paths, which are named', async () => {
  const directory = directoryOf({ '1.txt': 'a\nb\n' });
  const other = directoryOf({ '2.txt': 'c\n' });
  const checkpoint = await checkpointAfter(FileSource.forTextLines(directory), 1);
  for (const [paths, names] of [
    [other, [directory, other]],
    [[directory, other], [other]],
  ] as const) {
    await assert.rejects(resume(FileSource.forTextLines(paths), checkpoint), (error: Error) => {
      assert.ok(hasCode(error, 'SOURCE_STATE_MISMATCH'));
      for (const name of names) assert.ok(error.message.includes(`${name} has `), error.message);
      return true;
    });
  }
  assert.deepEqual(await resume(FileSource.forTextLines(`file://${directory}/`), checkpoint), ['a', 'b']);
});

test('a position in a text file is refused by a source of another format', async () => {
  const directory = directoryOf({ '1.txt': 'a\nb\n' });
  const checkpoint = await checkpointAfter(FileSource.forTextLines(directory), 1);
  await assert.rejects(resume(FileSource.forParquet(directory), checkpoint), (error) =>
    hasCode(error, 'SOURCE_STATE_MISMATCH'),
  );
});

test('a path where nothing is, is an error that names it', async () => {
  const path = join(root, 'nowhere');
  await assert.rejects(readAll(FileSource.forTextLines(path)), (error: Error) => {
    return hasCode(error, 'SOURCE_FILE_MISSING') && error.message.includes(path);
  });
});

test('a file given twice, and by its directory, is read once', async () => {
  const directory = directoryOf({ '1.txt': 'a\n' });
  assert.deepEqual(await readAll(FileSource.forTextLines([directory, join(directory, '1.txt')])), ['a']);
});

test('progress counts the bytes passed of all bytes', async () => {
  const directory = directoryOf({ '1.txt': 'aa\nbb\n', '2.txt': 'cc\n' });
  const source = FileSource.forTextLines(directory);
  const reader = source.createReader({
    platform,
    logger: silentLogger,
    sourceName: 's',
    subtaskIndex: 0,
    parallelism: 1,
    attemptNumber: 0,
    requestSplit() {},
    sendSourceEventToCoordinator() {},
    wake: () => woken.resolve(),
    fail: (error) => woken.reject(error),
  });
  let woken = Promise.withResolvers<void>();
  const split = {
    kind: 'bytes' as const,
    splitId: 'x',
    path: join(directory, '1.txt'),
    fileSizeBytes: 6,
    start: 0,
    end: 6,
  };
  reader.addSplits([{ ...split, position: undefined, linesBefore: 0, totalBytes: 9 }]);
  woken = Promise.withResolvers<void>();
  await reader.start();
  await woken.promise;
  while (reader.poll({ collect() {} }, 1) !== 'more') {}
  assert.deepEqual(reader.progress?.(), { done: 3, left: 3, total: 9, unit: 'bytes' });
  await reader.close();
});

test('wrong options are refused', () => {
  const invalid = (error: unknown): boolean => hasCode(error, 'INVALID_ARGUMENT');
  assert.throws(() => FileSource.forTextLines([]), invalid);
  assert.throws(() => FileSource.forTextLines('x', { splitSizeBytes: 0 }), invalid);
  assert.throws(() => FileSource.forCsv('x', { header: false }), invalid);
  assert.throws(() => FileSource.forCsv('x', { delimiter: 'ab' }), invalid);
  assert.throws(() => FileSource.forCsv('x', { delimiter: '"' }), invalid);
  assert.throws(() => FileSource.forCsv('x', { type: Types.ROW({ a: Types.LIST(Types.INT) }) }), invalid);
});
