/** Snapshots that are damaged, from elsewhere, or do not fit the job. Torn ones at the moment of a crash: cases/. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Types } from '@millrace/engine';
import { Gate } from '../gated-source.ts';
import { assertRefused } from '../refusal.ts';
import { checkpointAndCancel, environmentIn, noting, temporaryFolder } from '../small-job.ts';
import { Count, countLetters, countsOf, gatedLetters, letters, sorted } from '../totals-job.ts';

const VALUES = letters(60);

/** A checkpoint in the middle; its state is in a file. */
async function snapshotOf(t: TestContext): Promise<{ folder: string; path: string }> {
  const folder = temporaryFolder(t);
  const env = environmentIn(folder, {
    configuration: { 'execution.checkpointing.data-inline-threshold': 0 },
  });
  countLetters(env, VALUES, new Gate(30))
    .map((counted) => counted)
    .uid('handed on')
    .print();
  return { folder, path: await checkpointAndCancel(await env.executeAsync('letters')) };
}

function restoreFrom(folder: string, path: string) {
  return countLetters(environmentIn(folder, { restore: { path } }), VALUES)
    .map((counted) => counted)
    .uid('handed on')
    .executeAndCollect('letters');
}

function stateFile(path: string): string {
  const name = readdirSync(path).find((file) => !file.startsWith('_') && !file.startsWith('.'));
  assert.ok(name !== undefined, `no state file in ${readdirSync(path)}`);
  return join(path, name);
}

describe('a snapshot', () => {
  it('that is intact is used, also after it was moved', async (t) => {
    const { folder, path } = await snapshotOf(t);
    const moved = join(folder, 'moved');
    cpSync(path, moved, { recursive: true });
    rmSync(path, { recursive: true });
    assert.deepEqual(sorted(await restoreFrom(folder, moved)), sorted(countsOf(VALUES).slice(30)));
  });

  it('stays where it is when a job that was started from it by its path has finished', async (t) => {
    const { folder, path } = await snapshotOf(t);
    const files = readdirSync(path);
    for (let again = 0; again < 2; again++) {
      assert.deepEqual(sorted(await restoreFrom(folder, path)), sorted(countsOf(VALUES).slice(30)));
      assert.deepEqual(readdirSync(path), files);
    }
  });

  const damages: readonly (readonly [string, (path: string) => void, RegExp])[] = [
    ['whose _metadata is empty', (path) => truncateSync(join(path, '_metadata'), 0), /_metadata/],
    [
      'whose _metadata is torn',
      (path) => truncateSync(join(path, '_metadata'), readFileSync(join(path, '_metadata')).length - 10),
      /_metadata/,
    ],
    ['whose _metadata was changed', (path) => flipBit(join(path, '_metadata'), 200), /_metadata/],
    [
      'whose state file is torn',
      (path) => truncateSync(stateFile(path), readFileSync(stateFile(path)).length - 10),
      /bytes/,
    ],
    ['whose state file was changed', (path) => flipBit(stateFile(path), 8), /sha|hash|changed|content/i],
    ['that misses a state file', (path) => rmSync(stateFile(path)), /missing|not there|gone/i],
  ];
  for (const [what, damage, problem] of damages) {
    it(`${what} is refused, naming the file`, async (t) => {
      const { folder, path } = await snapshotOf(t);
      damage(path);
      await assertRefused(restoreFrom(folder, path), 'SNAPSHOT_CORRUPT', new RegExp(path), problem);
    });
  }

  it('of a newer format is refused, naming both versions', async (t) => {
    const { folder, path } = await snapshotOf(t);
    const metadata = join(path, '_metadata');
    const text = readFileSync(metadata, 'utf8').replace(/"version": \d/, '"version": 99');
    const body = text.slice(0, text.lastIndexOf(',\n  "sha256"'));
    const hash = createHash('sha256').update(body).digest('hex');
    writeFileSync(metadata, `${body},\n  "sha256": "${hash}"\n}\n`);
    await assertRefused(restoreFrom(folder, path), 'SNAPSHOT_FORMAT_NEWER', /_metadata/, /99/, /\b3\b/);
  });

  it('that is none is refused', async (t) => {
    const folder = temporaryFolder(t);
    await assertRefused(restoreFrom(folder, join(folder, 'nothing')), 'SNAPSHOT_NOT_FOUND', /nothing/);
    mkdirSync(join(folder, 'other'));
    writeFileSync(join(folder, 'other', '_metadata'), 'something else');
    await assertRefused(restoreFrom(folder, join(folder, 'other')), 'SNAPSHOT_FORMAT_UNKNOWN', /other/);
  });

  it('of another job is refused with both lists of operators, before a record is read', async (t) => {
    const { folder, path } = await snapshotOf(t);
    const env = environmentIn(folder, { restore: { path } });
    let records = 0;
    env
      .fromSequence(1, 10)
      .uid('numbers')
      .name('numbers')
      .map(noting(() => records++))
      .print();
    const operators = [/letters/, /count/, /numbers/];
    await assertRefused(env.execute('numbers'), 'RESTORE_MISMATCH', ...operators, /Nothing was read/);
    assert.equal(records, 0);
  });

  it('whose operator is now of another kind is refused, naming both kinds', async (t) => {
    const { folder, path } = await snapshotOf(t);
    const env = environmentIn(folder, { restore: { path } });
    gatedLetters(env, VALUES, new Gate(60))
      .keyBy((letter) => letter, Types.STRING)
      .reduce((a) => a)
      .uid('count')
      .name('first letters')
      .print();
    await assertRefused(env.execute('letters'), 'RESTORE_MISMATCH', /"count"/, /keyed-process/, /reduce/);
  });

  it('whose operator is now keyed by another type is refused, naming both types', async (t) => {
    const { folder, path } = await snapshotOf(t);
    const env = environmentIn(folder, { restore: { path } });
    gatedLetters(env, VALUES, new Gate(60))
      .keyBy((letter) => letter.charCodeAt(0), Types.INT)
      .process(Count as never)
      .uid('count')
      .print();
    await assertRefused(env.execute('letters'), 'RESTORE_MISMATCH', /"count"/, /STRING/i, /INT/i);
  });
});

function flipBit(path: string, position: number): void {
  const bytes = readFileSync(path);
  bytes[position]! ^= 1;
  writeFileSync(path, bytes);
}
