/**
 * A sink takes its records a hundred times slower than the source gives them, in processes of their own, with real files.
 * Checkpoints whose barriers wait their turn time out again and again, and the job goes on; with a budget each is complete
 * while the sink has most of its work before it, and weighs no more than the rings hold. Killed with SIGKILL and restored at
 * parallelism 1 to 4, also before the restored records were processed, the job gives each record once and in order.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { type ChildEnd, finish, runCrashJob } from './crash/child-job.ts';
import type { JobNews } from './crash/crash-job-frame.ts';
import { differences, finishedByFolder, incompleteCheckpoints } from './crash/judge.ts';
import { numbered } from './numbered-records.ts';
import type { SlowSinkSettings } from './slow-sink-job.ts';

const RECORDS = 20_000;
const EXPECTED = new Map([
  [
    'records',
    numbered(RECORDS)
      .flat()
      .map((record) => JSON.stringify(record))
      .sort(),
  ],
]);
const SEGMENT_BYTES = 2048;
const SEGMENTS = 8;
/** The rings hold thousands of records: in its turn a barrier would come after many seconds. */
const SLOW_EACH_MS = 5;
const BUDGET_MS = 500;

type Life = Pick<SlowSinkSettings, 'host' | 'parallelism'> & Partial<SlowSinkSettings>;

class Site {
  readonly directory = mkdtempSync(join(tmpdir(), 'millrace-slow-sink-'));

  constructor(t: TestContext) {
    t.after(() => rmSync(this.directory, { recursive: true, force: true }));
  }

  run(life: Life): Promise<ChildEnd> {
    const settings: SlowSinkSettings = {
      module: '../slow-sink-job.ts',
      directory: this.directory,
      records: RECORDS,
      slowRecords: 0,
      slowEachMs: SLOW_EACH_MS,
      checkpointIntervalMs: 100,
      checkpointTimeoutMs: 60_000,
      segmentBytes: SEGMENT_BYTES,
      segmentsPerChannel: SEGMENTS,
      ...life,
    };
    return runCrashJob(settings);
  }

  /** What readers see. */
  results(): ReadonlyMap<string, readonly string[]> {
    return finishedByFolder(join(this.directory, 'out'));
  }

  judge(end: ChildEnd): void {
    assert.ok(finish(end) !== undefined, `${JSON.stringify(end.news)}\n${end.errors}`);
    assert.deepEqual(differences(EXPECTED, this.results()), []);
  }

  checkpointDirectories(): string[] {
    const checkpoints = join(this.directory, 'checkpoints');
    return readdirSync(checkpoints).flatMap((job) => readdirSync(join(checkpoints, job)));
  }

  /** The checkpoints of which each subtask was told that they were given up. */
  abortedIn(subtask: number): Set<number> {
    const notes = join(this.directory, 'aborted', String(subtask));
    if (!existsSync(notes)) return new Set();
    return new Set(readFileSync(notes, 'utf8').trimEnd().split('\n').map(Number));
  }
}

type CheckpointNews = Extract<JobNews, { type: 'checkpoint' }>;

/** Without the one before the first record. */
function checkpointsOf({ news }: ChildEnd): CheckpointNews[] {
  return news.filter((said): said is CheckpointNews => said.type === 'checkpoint' && said.id > 0);
}

/** What the rings of all channels hold. */
function ringBytes(parallelism: number): number {
  return 2 * parallelism ** 2 * SEGMENT_BYTES * SEGMENTS;
}

it('aligned checkpoints before a slow sink time out again and again, and the job goes on', async (t) => {
  const site = new Site(t);
  const timeout = { checkpointTimeoutMs: 100, slowRecords: 600 };
  const end = await site.run({ host: 'workers', parallelism: 2, ...timeout });
  site.judge(end);
  assert.equal(finish(end)!.restarts, 0);
  const failed = checkpointsOf(end).filter(({ failure }) => failure !== undefined);
  t.diagnostic(`${failed.length} of ${checkpointsOf(end).length} timed out`);
  assert.ok(failed.length >= 5, JSON.stringify(end.news));
  for (const { failure } of failed) assert.match(failure!, /expired/);
  for (const subtask of [0, 1]) {
    const told = site.abortedIn(subtask);
    for (const { id } of failed)
      assert.ok(told.has(id), `subtask ${subtask} was not told of checkpoint ${id}`);
  }
  assert.deepEqual(incompleteCheckpoints(join(site.directory, 'checkpoints')), []);
});

for (const parallelism of [1, 2, 3, 4]) {
  it(`with a budget each is complete, and after kills the output is exact at parallelism ${parallelism}`, async (t) => {
    const site = new Site(t);
    const slow = { slowRecords: RECORDS, alignedTimeoutMs: BUDGET_MS };
    const first = await site.run({ host: 'workers', parallelism: 2, ...slow, killAfterCheckpoints: 2 });
    const second = await site.run({ host: 'inline', parallelism, ...slow, killAfterCheckpoints: 1 });
    for (const [life, bytesMax] of [
      [first, ringBytes(2)],
      // Of what was restored most is still there.
      [second, ringBytes(2) + ringBytes(parallelism)],
    ] as const) {
      assert.equal(life.exitCode, null, `not killed: ${JSON.stringify(life.news)}\n${life.errors}`);
      const checkpoints = checkpointsOf(life);
      assert.ok(checkpoints.length > 0);
      for (const { id, failure, durationMs, inFlightBytes } of checkpoints) {
        t.diagnostic(`checkpoint ${id}: ${durationMs} ms, ${inFlightBytes} bytes in flight of ${bytesMax}`);
        assert.equal(failure, undefined);
        assert.ok(inFlightBytes <= bytesMax, `${inFlightBytes} bytes in flight`);
      }
    }
    // The first comes before the rings are full.
    assert.ok(checkpointsOf(first).at(-1)!.inFlightBytes > ringBytes(2) / 8, 'little was overtaken');
    const shown = site.results().get('records')?.length ?? 0;
    assert.ok(shown < RECORDS / 2, `the sink has only ${RECORDS - shown} records before it`);
    site.judge(await site.run({ host: 'inline', parallelism, alignedTimeoutMs: 0 }));
  });
}
