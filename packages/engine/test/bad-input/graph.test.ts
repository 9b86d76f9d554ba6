/** Jobs that cannot be built, or that are another job each time they are built. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { FileSink, StreamExecutionEnvironment } from '@millrace/engine';
import { assertRefused } from '../refusal.ts';
import { temporaryFolder } from '../small-job.ts';

describe('a job that cannot be built', () => {
  it('without a source is refused with the calls that add one', async () => {
    const env = StreamExecutionEnvironment.getExecutionEnvironment();
    await assertRefused(env.execute('nothing'), 'JOB_HAS_NO_SOURCE', /no source/, /fromSource/);
  });

  it('without a sink is refused, naming the operators that lead nowhere', async () => {
    const env = StreamExecutionEnvironment.getExecutionEnvironment();
    env
      .fromElements(1, 2)
      .map((value) => value + 1)
      .name('plus one');
    await assertRefused(env.execute('no sink'), 'JOB_HAS_NO_SINK', /"plus one"/, /sinkTo/);
  });

  it('with the same uid twice is refused, naming both operators', async (t) => {
    const folder = temporaryFolder(t);
    const env = StreamExecutionEnvironment.getExecutionEnvironment();
    const build = (): void => {
      env
        .fromElements(1, 2)
        .map((value) => value + 1)
        .name('first')
        .uid('same')
        .map((value) => value + 1)
        .name('second')
        .uid('same')
        .sinkTo(FileSink.forJsonLines(folder));
    };
    await assertRefused(build, 'UID_DUPLICATE', /"same"/, /"first"/, /"second"/);
  });
});

describe('a job that is another one in each thread', () => {
  const run = (what: string): string => {
    const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env;
    const job = join(import.meta.dirname, 'unstable-job.ts');
    const { stdout, stderr, status } = spawnSync(process.execPath, ['--conditions=millrace-source', job], {
      env: { ...env, UNSTABLE: what },
      encoding: 'utf8',
      timeout: 30_000,
    });
    assert.equal(status, 1, stderr);
    return stdout;
  };

  it('by a random uid is refused, naming the operator, both uids and the usual cause', () => {
    const told = run('uid');
    assert.match(told, /^PLAN_NOT_STABLE/);
    assert.match(told, /uid of map "count up"/);
    assert.match(told, /was "counter-[0-9.e-]+" at first, and "counter-[0-9.e-]+" in a worker thread/);
    assert.match(told, /random value/);
  });

  it('by a random name is refused, naming both names', () => {
    const told = run('name');
    assert.match(told, /^PLAN_NOT_STABLE/);
    assert.match(told, /name of map/);
    assert.match(told, /"counter-[0-9.e-]+"/);
  });

  it('by an operator more is refused', () => {
    const told = run('operator');
    assert.match(told, /^PLAN_NOT_STABLE/);
    assert.match(told, /operator/);
  });
});
