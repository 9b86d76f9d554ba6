/**
 * At a restore a source does not find all that it has positions of: a file is away for a while, the program reads another
 * directory, a file is shorter than its position. Nothing is silently dropped or read. (From apache/flink#3505,
 * apache/flink-connector-kafka#77, quixio/quix-streams#1114.)
 */
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type ExecutionOptions, FileSource, WatermarkStrategy } from '@millrace/engine';
import type { Sink } from '@millrace/engine/connector';
import { assertRefused } from '../refusal.ts';
import { checkpointAndCancel, environmentIn, temporaryFolder, until } from '../small-job.ts';

const FILES = 4;
const LINES = 5000;
/** Far more than a source emits at a time. */
const UNTIL = 6000;

const linesOf = (file: number): string[] => Array.from({ length: LINES }, (_, i) => `${file}/${i}`);

/** Takes about so many records, and waits then. */
function stoppingSink(taken: string[], until = Number.POSITIVE_INFINITY): Sink<string> {
  const never = new Promise<void>(() => {});
  return {
    guarantee: 'none',
    createWriter: () => ({
      write: (line) => void taken.push(line),
      busy: () => (taken.length < until ? undefined : never),
      prepareCommit: () => [],
      close() {},
    }),
  };
}

class Site {
  readonly folder: string;
  readonly input: string;

  constructor(t: TestContext) {
    this.folder = temporaryFolder(t);
    this.input = join(this.folder, 'in');
    mkdirSync(this.input);
    for (let file = 0; file < FILES; file++)
      writeFileSync(
        this.file(file),
        linesOf(file)
          .map((line) => `${line}\n`)
          .join(''),
      );
  }

  file(file: number): string {
    return join(this.input, `p${file}.txt`);
  }

  job(sink: Sink<string>, options: ExecutionOptions = {}, input = this.input, uid = 'lines') {
    const env = environmentIn(this.folder, options);
    env
      .fromSource(FileSource.forTextLines(input), WatermarkStrategy.noWatermarks(), 'lines')
      .uid(uid)
      .sinkTo(sink)
      .uid('sink');
    return env;
  }

  /** A checkpoint somewhere in the second file, and what was read before it. */
  async checkpoint(unaligned: boolean): Promise<{ readonly taken: string[]; readonly path: string }> {
    const taken: string[] = [];
    const client = await this.job(stoppingSink(taken, UNTIL), { checkpointing: { unaligned } }).executeAsync(
      'j',
    );
    await until(() => taken.length >= UNTIL, `${taken.length} lines came`);
    const path = await checkpointAndCancel(client);
    assert.ok(taken.length < 2 * LINES, 'the third file was begun');
    return { taken, path };
  }

  /** All that is read from there on. */
  async resume(path: string): Promise<string[]> {
    const taken: string[] = [];
    await this.job(stoppingSink(taken), { restore: { path } }).execute('j');
    return taken;
  }
}

const ALL = Array.from({ length: FILES }, (_, file) => linesOf(file)).flat();

for (const unaligned of [false, true]) {
  describe(`a source that was restored from ${unaligned ? 'an unaligned' : 'an aligned'} checkpoint`, () => {
    for (const [which, file] of [
      ['is being read', 1],
      ['was not begun', 3],
    ] as const) {
      it(`keeps the position of a file that ${which} and is away, and goes on when it is back`, async (t) => {
        const site = new Site(t);
        const { taken, path } = await site.checkpoint(unaligned);
        const away = join(site.folder, 'away');
        renameSync(site.file(file), away);
        await assertRefused(
          site.resume(path),
          'SOURCE_FILE_MISSING',
          new RegExp(site.file(file)),
          /Put it back/,
        );
        renameSync(away, site.file(file));
        assert.deepEqual([...taken, ...(await site.resume(path))], ALL);
      });
    }

    it('is refused when the program no longer reads the directory, unless it drops its positions', async (t) => {
      const site = new Site(t);
      const { path } = await site.checkpoint(unaligned);
      const other = join(site.folder, 'other');
      mkdirSync(other);
      writeFileSync(join(other, 'x.txt'), 'x\n');
      const taken: string[] = [];
      const restore = { restore: { path } };
      await assertRefused(
        site.job(stoppingSink(taken), restore, other).execute('j'),
        'SOURCE_STATE_MISMATCH',
        new RegExp(`${site.input} has saved positions`),
        new RegExp(`${other} has none`),
      );
      assert.deepEqual(taken, []);
      const dropping = { restore: { path, dropState: ['lines'] } };
      await site.job(stoppingSink(taken), dropping, other, 'other lines').execute('j');
      assert.deepEqual(taken, ['x']);
    });

    it('fails with both numbers when a file is shorter than its position', async (t) => {
      const site = new Site(t);
      const { path } = await site.checkpoint(unaligned);
      truncateSync(site.file(1), 100);
      await assertRefused(site.resume(path), 'SOURCE_FILE_CHANGED', /had 33890 bytes .* has 100 now/);
    });
  });
}
