import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { hasCode } from '../../base/index.ts';
import { createManualPlatform, type ManualPlatform } from '../../testing/manual-platform.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { SimulatedSourceHost, type SourceCheckpoint } from '../../testing/simulated-source-host.ts';
import { FileSource, type MonitorOptions, type TextFileOptions } from './file-source.ts';

const DIRECTORY = '/in';
const LOOK_MS = 100;

/** A watched directory in memory, and the source that watches it, through any number of restores. */
class Site {
  readonly platform: ManualPlatform = createManualPlatform();
  readonly #source: FileSource<string, 'unbounded'>;
  readonly #random;
  #host: SimulatedSourceHost<string> | undefined;

  constructor(options: MonitorOptions & TextFileOptions<string> = {}, seed = 1) {
    this.#random = seededRandom(seed);
    this.#source = FileSource.forTextLines(DIRECTORY, options).monitorContinuously(LOOK_MS, options);
  }

  write(name: string, text: string): void {
    this.platform.files.put(`${DIRECTORY}/${name}`, Buffer.from(text));
  }

  append(name: string, text: string): void {
    const before = this.platform.files.peek(`${DIRECTORY}/${name}`) ?? new Uint8Array();
    this.platform.files.put(`${DIRECTORY}/${name}`, Buffer.concat([before, Buffer.from(text)]));
  }

  remove(name: string): void {
    this.platform.files.lose(`${DIRECTORY}/${name}`);
  }

  async rename(from: string, to: string): Promise<void> {
    await this.platform.files.rename(`${DIRECTORY}/${from}`, `${DIRECTORY}/${to}`);
  }

  /** Starts, or goes on from a checkpoint after a crash. */
  async start(parallelism = 1, checkpoint?: SourceCheckpoint<string>): Promise<void> {
    await this.platform.files.makeDirectory(DIRECTORY);
    await this.#host?.close();
    this.#host = await SimulatedSourceHost.start(
      this.#source,
      this.platform,
      this.#random,
      parallelism,
      checkpoint,
    );
  }

  /** Time passes, for a look and all that follows from it. */
  async pass(ms = LOOK_MS): Promise<void> {
    await this.platform.advanceAndSettle(ms);
    for (;;) {
      while (!this.#host!.isQuiet) await this.#host!.step(1 + this.#random.below(3));
      await this.platform.settle();
      if (this.#host!.isQuiet) return;
    }
  }

  /** A few steps of what can happen now. */
  async someSteps(): Promise<void> {
    await this.platform.settle();
    for (let i = this.#random.below(8); i > 0 && !this.#host!.isQuiet; i--) await this.#host!.step(1);
  }

  async checkpoint(): Promise<SourceCheckpoint<string>> {
    this.#host!.triggerCheckpoint();
    const before = this.#host!.completed;
    while (this.#host!.completed === before) await this.#host!.step(1);
    return this.#host!.completed!;
  }

  get emitted(): string[] {
    return this.#host!.emitted;
  }

  get warnings(): string[] {
    return this.platform.logged.filter(({ level }) => level === 'warn').map(({ message }) => message);
  }
}

async function started(
  options: MonitorOptions & TextFileOptions<string> = {},
  parallelism = 1,
): Promise<Site> {
  const site = new Site(options);
  await site.start(parallelism);
  return site;
}

describe('a watched directory', () => {
  test('gives the lines of each file that appears, once, by modification time', async () => {
    const site = await started();
    site.write('b', 'b1\nb2\n');
    site.platform.advance(1);
    site.write('a', 'a1\n');
    await site.pass();
    assert.deepEqual(site.emitted, ['b1', 'b2', 'a1']);
    site.write('c', 'c1');
    await site.pass();
    await site.pass();
    assert.deepEqual(site.emitted, ['b1', 'b2', 'a1', 'c1']);
  });

  test('that does not exist when the job begins is an error, and one that vanishes later is waited for', async () => {
    const site = new Site();
    await assert.rejects(
      SimulatedSourceHost.start(
        FileSource.forTextLines('/nowhere').monitorContinuously(1),
        site.platform,
        seededRandom(1),
        1,
      ),
      (error) => hasCode(error, 'SOURCE_FILE_MISSING'),
    );
    await site.start();
    site.write('a', 'a1\n');
    await site.pass();
    await site.platform.files.rename(DIRECTORY, '/unmounted');
    await site.pass(5 * LOOK_MS);
    await site.platform.files.rename('/unmounted', DIRECTORY);
    site.write('b', 'b1\n');
    await site.pass(2 * LOOK_MS);
    assert.deepEqual(site.emitted, ['a1', 'b1']);
  });

  test('leaves out hidden files, ignored suffixes and files that are too young', async () => {
    const site = await started({ ignoredSuffixes: ['.tmp', '~'], minAge: '1 s' });
    for (const name of ['.hidden', '_marker', 'x.tmp', 'y~', 'z']) site.write(name, `${name}\n`);
    await site.pass(950);
    assert.deepEqual(site.emitted, []);
    await site.pass();
    assert.deepEqual(site.emitted, ['z']);
    await site.rename('x.tmp', 'x');
    await site.pass();
    assert.deepEqual(site.emitted, ['z', 'x.tmp']);
    const all = await started({ includeHidden: true });
    for (const name of ['.hidden', '_marker']) all.write(name, `${name}\n`);
    await all.pass();
    assert.deepEqual(all.emitted, ['.hidden', '_marker']);
  });

  test('fails when a file grows after it was taken up, and says what to do', async () => {
    const site = await started();
    site.write('a', 'a1\n');
    await site.pass();
    site.append('a', 'a2\n');
    await assert.rejects(site.pass(), (error: Error) => {
      assert.ok(hasCode(error, 'SOURCE_FILE_CHANGED'));
      assert.match(error.message, /\/in\/a grew from 3 to 6 bytes.*onGrowth to 'tail'/);
      return true;
    });
  });

  test('goes on after a growth if the user says so, without what came', async () => {
    const site = await started({ onGrowth: 'warn' });
    site.write('a', 'a1\n');
    await site.pass();
    site.append('a', 'a2\n');
    await site.pass(3 * LOOK_MS);
    assert.deepEqual(site.emitted, ['a1']);
    assert.equal(site.warnings.length, 1);
    assert.match(site.warnings[0]!, /\/in\/a grew from 3 to 6 bytes: what came since is not read/);
  });

  test('looks again before it says that a file was replaced: it may have been rotated during the look', async () => {
    const site = await started({ onGrowth: 'tail' });
    site.write('log', 'a1\n');
    await site.pass();
    const { files } = site.platform;
    const list = files.list.bind(files);
    let isRotated = false;
    files.list = async (path) => {
      const entries = await list(path);
      if (!isRotated) {
        isRotated = true;
        await site.rename('log', 'log.1');
        site.write('log', 'b1\n');
      }
      return entries;
    };
    await site.pass(2 * LOOK_MS);
    assert.ok(isRotated);
    assert.deepEqual(site.emitted, ['a1', 'b1']);
  });

  test('reads what took the place of a file, if the user says so', async () => {
    const refusing = await started();
    refusing.write('a', 'a1\n');
    await refusing.pass();
    refusing.write('b.new', 'b1\nb2\n');
    await refusing.rename('b.new', 'a');
    await assert.rejects(refusing.pass(), /\/in\/a was replaced by another file.*onReplacement to 'read'/);

    const reading = await started({ onReplacement: 'read' });
    reading.write('a', 'a1\n');
    await reading.pass();
    reading.write('.new', 'b1\nb2\n');
    await reading.rename('.new', 'a');
    await reading.pass();
    assert.deepEqual(reading.emitted, ['a1', 'b1', 'b2']);
  });

  test('refuses the position of a source that read its files once', () => {
    const { platform } = new Site();
    const source = FileSource.forTextLines(DIRECTORY).monitorContinuously(1);
    const context = { platform, sourceName: 'files' } as never;
    assert.throws(
      () => source.restoreEnumerator(context, { pending: [] }),
      (error) => hasCode(error, 'SOURCE_STATE_MISMATCH'),
    );
  });
});

describe('a tailed file', () => {
  test('gives its lines when they are complete', async () => {
    const site = await started({ onGrowth: 'tail' });
    site.write('log', 'one\ntw');
    await site.pass();
    assert.deepEqual(site.emitted, ['one']);
    site.append('log', 'o');
    await site.pass();
    assert.deepEqual(site.emitted, ['one']);
    site.append('log', '\nthree\n');
    await site.pass();
    assert.deepEqual(site.emitted, ['one', 'two', 'three']);
  });

  test('is followed through a rotation', async () => {
    const site = await started({ onGrowth: 'tail' });
    site.write('log', '1\n2\n');
    await site.pass();
    site.append('log', '3\n');
    await site.rename('log', 'log.1');
    site.platform.advance(1);
    site.write('log', '4\n');
    await site.pass();
    site.append('log', '5\n');
    await site.pass();
    assert.deepEqual(site.emitted, ['1', '2', '3', '4', '5']);
  });

  test('that was cut is an error, or a new file if the user says so', async () => {
    const site = await started({ onGrowth: 'tail' });
    site.write('log', '1\n2\n');
    await site.pass();
    site.write('log', '3\n');
    await assert.rejects(site.pass(), (error) => hasCode(error, 'SOURCE_FILE_CHANGED'));
    const reading = await started({ onGrowth: 'tail', onReplacement: 'read' });
    reading.write('log', '1\n2\n');
    await reading.pass();
    reading.write('log', '3\n');
    await reading.pass();
    assert.deepEqual(reading.emitted, ['1', '2', '3']);
  });

  test('that was cut and has outgrown its position is noticed by the line break that is gone', async () => {
    const site = await started({ onGrowth: 'tail', onReplacement: 'read' });
    site.write('log', '1\n2\n');
    await site.pass();
    site.write('log', 'longer\nthan before\n');
    await site.pass();
    assert.deepEqual(site.emitted, ['1', '2', 'longer', 'than before']);
    const refusing = await started({ onGrowth: 'tail' });
    refusing.write('log', '1\n2\n');
    await refusing.pass();
    refusing.write('log', 'longer\nthan before\n');
    await assert.rejects(refusing.pass(), /was replaced by another file, or rewritten/);
  });

  test('without a line break in more than maxLineBytes is an error', async () => {
    const site = await started({ onGrowth: 'tail', maxLineBytes: 100_000 });
    site.write('log', 'x'.repeat(200_000));
    await assert.rejects(site.pass(), /no line break in its last 100000 bytes/);
  });

  test('of CSV has its header once, also for the lines that come later', async () => {
    const platform = createManualPlatform();
    await platform.files.makeDirectory(DIRECTORY);
    const source = FileSource.forCsv(DIRECTORY).monitorContinuously(LOOK_MS, { onGrowth: 'tail' });
    const host = await SimulatedSourceHost.start(source, platform, seededRandom(1), 1);
    for (const text of ['a,b\n', 'a,b\n1,2\n', 'a,b\n1,2\n3,4\n']) {
      platform.files.put(`${DIRECTORY}/t.csv`, Buffer.from(text));
      await platform.advanceAndSettle(LOOK_MS);
      for (let i = 0; i < 5; i++) {
        while (!host.isQuiet) await host.step(10);
        await platform.settle();
      }
    }
    assert.deepEqual(host.emitted, [
      { a: '1', b: '2' },
      { a: '3', b: '4' },
    ]);
    await host.close();
  });

  test('of a format that needs whole files is refused', () => {
    const tail = { onGrowth: 'tail' } as const;
    const invalid = (error: unknown): boolean => hasCode(error, 'INVALID_ARGUMENT');
    assert.throws(() => FileSource.forParquet('/x').monitorContinuously(1, tail), invalid);
    assert.throws(() => FileSource.forCsv('/x', { multiline: true }).monitorContinuously(1, tail), invalid);
    assert.throws(
      () => FileSource.forTextLines('/x', { compression: 'gzip' }).monitorContinuously(1, tail),
      invalid,
    );
    assert.throws(() => FileSource.forParquet('/x', { maxRows: 3 }).monitorContinuously(1), invalid);
    assert.throws(() => FileSource.forTextLines('/x').monitorContinuously(0), invalid);
    assert.throws(() => FileSource.forTextLines('/x').monitorContinuously('soon'), invalid);
    assert.throws(
      () => FileSource.forTextLines('/x').monitorContinuously(1, { order: 'size' as never }),
      invalid,
    );
  });
});

test('whatever appears, grows, is rotated and vanishes, and whenever it is restored, each line comes once', async () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.constant('append' as const) },
    { weight: 2, arbitrary: fc.constant('create' as const) },
    { weight: 1, arbitrary: fc.constant('rotate' as const) },
    { weight: 2, arbitrary: fc.constant('pass' as const) },
    { weight: 3, arbitrary: fc.constant('look' as const) },
    { weight: 3, arbitrary: fc.constant('steps' as const) },
    { weight: 3, arbitrary: fc.constant('checkpoint' as const) },
    { weight: 2, arbitrary: fc.constant('crash' as const) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }),
      fc.nat(1000),
      async (steps, seed) => {
        const site = new Site({ onGrowth: 'tail', splitSizeBytes: 7 }, seed + 1);
        await site.start(2);
        let written = 0;
        let rotations = 0;
        let checkpoint: SourceCheckpoint<string> | undefined = await site.checkpoint();
        for (const each of steps) {
          site.platform.advance(1);
          if (each === 'append') site.append('log', `line ${written++}\n`);
          else if (each === 'create') site.write(`file-${written}`, `line ${written++}\n`);
          else if (each === 'rotate' && site.platform.files.peek(`${DIRECTORY}/log`) !== undefined)
            await site.rename('log', `log.${rotations++}`);
          else if (each === 'pass') await site.pass();
          else if (each === 'look') await site.platform.advanceAndSettle(LOOK_MS);
          else if (each === 'steps') await site.someSteps();
          else if (each === 'checkpoint') checkpoint = await site.checkpoint();
          else if (each === 'crash') await site.start(1 + (seed % 3), checkpoint);
        }
        await site.pass();
        await site.pass();
        const expected = Array.from({ length: written }, (_, i) => `line ${i}`);
        assert.deepEqual([...site.emitted].sort(), [...expected].sort());
      },
    ),
    { numRuns: 60 },
  );
});
