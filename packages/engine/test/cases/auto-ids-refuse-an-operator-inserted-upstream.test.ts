/**
 * State is found by generated ids as long as nothing changes upstream. When an operator is inserted, the state has no home:
 * the job must not start with empty counts. (From apache/paimon#4424.)
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type StreamExecutionEnvironment, Types, WatermarkStrategy } from '@millrace/engine';
import { Gate, GatedSource } from '../gated-source.ts';
import { assertRefused } from '../refusal.ts';
import { checkpointAndCancel, environmentIn, temporaryFolder } from '../small-job.ts';
import { Count, countsOf, letters, sorted } from '../totals-job.ts';

const VALUES = letters(100);

interface Variant {
  readonly withFilter: boolean;
  readonly withUids: boolean;
  readonly onRecord?: () => void;
}

/** source → (filter →) map → count. */
function job(env: StreamExecutionEnvironment, gate: Gate, { withFilter, withUids, onRecord }: Variant) {
  const source = env
    .fromSource(new GatedSource([VALUES], gate), WatermarkStrategy.noWatermarks(), 'letters', Types.STRING)
    .setParallelism(1);
  if (withUids) source.uid('letters');
  const all = withFilter ? source.filter(() => true) : source;
  const same = all.map((letter) => {
    onRecord?.();
    return letter;
  }, Types.STRING);
  const counted = same
    .keyBy((letter) => letter, Types.STRING)
    .process(Count)
    .name('count per letter');
  return withUids ? counted.uid('count') : counted;
}

describe('an operator inserted upstream', () => {
  async function savepointOf(folder: string, withUids: boolean): Promise<string> {
    const env = environmentIn(folder);
    job(env, new Gate(50), { withFilter: false, withUids }).print();
    return checkpointAndCancel(await env.executeAsync('letters'));
  }

  it('is refused with generated ids, before any record, with a report of what was saved and what is new', async (t) => {
    const folder = temporaryFolder(t);
    const path = await savepointOf(folder, false);
    const env = environmentIn(folder, { restore: { path } });
    let records = 0;
    job(env, new Gate(100), { withFilter: true, withUids: false, onRecord: () => records++ }).print();
    const error = await assertRefused(
      env.execute('letters'),
      'RESTORE_MISMATCH',
      /"count per letter" \(generated uid "keyed-process-[0-9a-f]+"\)/,
      /10 keys, \d+ bytes/,
      /Its states: .*count \(value, 10 entries\)/,
      /probably belongs to "count per letter" of the new job/,
      /give that operator \.uid\("keyed-process-[0-9a-f]+"\)/,
    );
    assert.match(error.message, /Filter/, 'new operators are listed');
    assert.equal(records, 0);
  });

  it('is fine with uids on both sides: the counts go on', async (t) => {
    const folder = temporaryFolder(t);
    const path = await savepointOf(folder, true);
    const env = environmentIn(folder, { restore: { path } });
    const results = await job(env, new Gate(100), { withFilter: true, withUids: true }).executeAndCollect(
      'letters',
    );
    assert.deepEqual(sorted(results), sorted(countsOf(VALUES).slice(50)));
  });

  it('may be forced by the uid that the report names', async (t) => {
    const folder = temporaryFolder(t);
    const path = await savepointOf(folder, false);
    const refusing = environmentIn(folder, { restore: { path } });
    job(refusing, new Gate(100), { withFilter: true, withUids: false }).print();
    const { message } = await assertRefused(refusing.execute('letters'), 'RESTORE_MISMATCH');
    const uid = /\.uid\("(keyed-process-[0-9a-f]+)"\)/.exec(message)?.[1];
    const env = environmentIn(folder, { restore: { path } });
    const results = await job(env, new Gate(100), { withFilter: true, withUids: false })
      .uid(uid!)
      .executeAndCollect('letters');
    assert.deepEqual(sorted(results), sorted(countsOf(VALUES).slice(50)));
  });
});
