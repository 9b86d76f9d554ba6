/** Files of sources that are malformed, change or disappear: an error that names file and line, and nothing lost. */
import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  FileSink,
  FileSource,
  type StreamExecutionEnvironment,
  type TextFileOptions,
  Types,
  WatermarkStrategy,
} from '@millrace/engine';
import { assertRefused } from '../refusal.ts';
import { environmentIn, temporaryFolder } from '../small-job.ts';

const rowType = Types.ROW({ id: Types.INT });
type Row = { id: number };

function rowsOf(env: StreamExecutionEnvironment, path: string, options: TextFileOptions<Row> = {}) {
  return env
    .fromSource(FileSource.forJsonLines(path, rowType, options), WatermarkStrategy.noWatermarks(), 'rows')
    .uid('rows');
}

const line = (id: number | string): string => `{"id":${id}}\n`;

describe('a file that cannot be read as what it was declared to be', () => {
  it('fails the job at its line, naming file, line, field and what to do', async (t) => {
    const folder = temporaryFolder(t);
    const path = join(folder, 'rows.jsonl');
    writeFileSync(path, line(1) + line(2) + line('"three"') + line(4));
    const job = rowsOf(environmentIn(folder), path).executeAndCollect('rows');
    await assertRefused(
      job,
      'SOURCE_RECORD_MALFORMED',
      /rows\.jsonl line 3/,
      /"rows"/,
      /id/,
      /three/,
      /onMalformed: 'skip'/,
    );
  });

  it('is read without its malformed lines if they may be skipped', async (t) => {
    const folder = temporaryFolder(t);
    const path = join(folder, 'rows.jsonl');
    writeFileSync(path, line(1) + '{"id":2\n' + line('"three"') + line(4));
    const rows = await rowsOf(environmentIn(folder), path, { onMalformed: 'skip' }).executeAndCollect('rows');
    assert.deepEqual(rows, [{ id: 1 }, { id: 4 }]);
  });

  it('names the line of CSV too', async (t) => {
    const folder = temporaryFolder(t);
    const path = join(folder, 'rows.csv');
    writeFileSync(path, 'id\n1\n2\nx\n');
    const source = FileSource.forCsv(path, { type: rowType });
    const stream = environmentIn(folder).fromSource(source, WatermarkStrategy.noWatermarks(), 'csv rows');
    await assertRefused(
      stream.executeAndCollect('rows'),
      'SOURCE_RECORD_MALFORMED',
      /rows\.csv line 4/,
      /"csv rows"/,
      /\bid\b/,
    );
  });

  it('names the file of Parquet that is none', async (t) => {
    const folder = temporaryFolder(t);
    const path = join(folder, 'rows.parquet');
    writeFileSync(path, 'no parquet at all');
    const stream = environmentIn(folder).fromSource(
      FileSource.forParquet(path),
      WatermarkStrategy.noWatermarks(),
      'parquet rows',
    );
    await assertRefused(
      stream.executeAndCollect('rows'),
      'SOURCE_RECORD_MALFORMED',
      /rows\.parquet/,
      /"parquet rows"/,
    );
  });

  it('loses nothing: once repaired, the job goes on from its checkpoint and each record counts once', async (t) => {
    const folder = temporaryFolder(t);
    const path = join(folder, 'rows.jsonl');
    const good = Array.from({ length: 200 }, (_, i) => line(i)).join('');
    writeFileSync(path, `${good}${line('"bad"')}`);
    const out = join(folder, 'out');
    const start = (latest: boolean) => {
      const restore = latest ? { path: 'latest' } : {};
      const env = environmentIn(folder, { restore });
      rowsOf(env, path).sinkTo(FileSink.forJsonLines(out)).uid('out');
      return env.execute('rows');
    };
    await assertRefused(start(false), 'SOURCE_RECORD_MALFORMED', /line 201/);
    writeFileSync(path, `${good}${line('200  ')}`);
    await start(true);
    const ids = readdirSync(out)
      .filter((name) => !name.startsWith('.'))
      .flatMap((name) => readFileSync(join(out, name), 'utf8').trimEnd().split('\n'))
      .map((text) => (JSON.parse(text) as Row).id)
      .sort((a, b) => a - b);
    assert.deepEqual(
      ids,
      Array.from({ length: 201 }, (_, i) => i),
    );
  });
});

describe('a file that is not what it was', () => {
  it('is an error if it is not there when the job starts', async (t) => {
    const folder = temporaryFolder(t);
    const stream = rowsOf(environmentIn(folder), join(folder, 'missing.jsonl'));
    await assertRefused(stream.executeAndCollect('rows'), 'SOURCE_FILE_MISSING', /missing\.jsonl/, /"rows"/);
  });

  const removeSecondFile = (t: Parameters<typeof temporaryFolder>[0], onMissingFile: 'fail' | 'skip') => {
    const folder = temporaryFolder(t);
    const files = join(folder, 'a.jsonl');
    const second = join(folder, 'b.jsonl');
    writeFileSync(files, line(1) + line(2));
    writeFileSync(second, line(3));
    const env = environmentIn(folder);
    return rowsOf(env, files, { onMissingFile })
      .union(rowsOf2(env, [files, second], onMissingFile, () => rmSync(second, { force: true })))
      .executeAndCollect('rows');
  };

  function rowsOf2(
    env: StreamExecutionEnvironment,
    paths: string[],
    onMissingFile: 'fail' | 'skip',
    onFirst: () => void,
  ) {
    return env
      .fromSource(
        FileSource.forJsonLines(paths, rowType, { onMissingFile }),
        WatermarkStrategy.noWatermarks(),
        'two files',
      )
      .uid('two files')
      .map((row) => {
        onFirst();
        return row;
      }, rowType);
  }

  it('fails the job if it disappears before it was read, naming it and the option', async (t) => {
    await assertRefused(
      removeSecondFile(t, 'fail'),
      'SOURCE_FILE_MISSING',
      /b\.jsonl/,
      /"two files"/,
      /onMissingFile: 'skip'/,
    );
  });

  it('is left out if it disappears and may be missing', async (t) => {
    const rows = await removeSecondFile(t, 'skip');
    assert.deepEqual(rows.map(({ id }) => id).sort(), [1, 1, 2, 2]);
  });

  it('fails the job if it is shorter than it was at the checkpoint, naming both sizes', async (t) => {
    const folder = temporaryFolder(t);
    const path = join(folder, 'rows.jsonl');
    writeFileSync(path, line(1) + line('"bad"'));
    const start = (path_: string | undefined) => {
      const env = environmentIn(folder, { restore: { path: path_ } });
      rowsOf(env, path).print();
      return env.execute('rows');
    };
    await assertRefused(start(undefined), 'SOURCE_RECORD_MALFORMED');
    const sizeBytes = readFileSync(path).length;
    writeFileSync(path, line(1));
    const sizes = [new RegExp(`\\b${sizeBytes}\\b`), new RegExp(`\\b${line(1).length}\\b`)];
    await assertRefused(start('latest'), 'SOURCE_FILE_CHANGED', /rows\.jsonl/, ...sizes);
    appendFileSync(path, line(20_000));
    await start('latest');
  });
});
