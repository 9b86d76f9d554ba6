import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  chooseSnapshot,
  newestFirst,
  type SnapshotCandidate,
  type SnapshotCondition,
} from './snapshot-choice.ts';

const DAMAGED: SnapshotCondition = { type: 'damaged', file: 'chk/x', problem: 'its hash differs' };

function candidate(checkpointId: number, rest: Partial<SnapshotCandidate> = {}): SnapshotCandidate {
  const timestampMs = checkpointId * 60_000;
  const directory = `/cp/${rest.jobId ?? 'j'}/chk-${checkpointId}`;
  return {
    directory,
    checkpointId,
    jobId: 'j',
    lineageId: 'l',
    timestampMs,
    condition: { type: 'intact' },
    ...rest,
  };
}

test('the newest complete one is used, incomplete ones are named and never used', () => {
  const choice = chooseSnapshot(
    [candidate(4), candidate(5), candidate(6, { condition: { type: 'incomplete' } })],
    'stop',
  );
  assert.equal(choice.type, 'use');
  assert.equal(choice.type === 'use' && choice.candidate.checkpointId, 5);
  assert.match(
    choice.type === 'use' ? choice.explanation.join('\n') : '',
    /chk-6: incomplete.*\n.*chk-5: used; .*newest intact of 2/,
  );
});

test('what is not checked yet is to be checked, newest first', () => {
  const unchecked = { condition: { type: 'unchecked' } } as const;
  const choice = chooseSnapshot([candidate(4, unchecked), candidate(5, unchecked)], 'stop');
  assert.equal(choice.type === 'check' && choice.candidate.checkpointId, 5);
});

test('a damaged newest one stops the start and names the file and the newest intact one', () => {
  const choice = chooseSnapshot([candidate(3), candidate(4), candidate(5, { condition: DAMAGED })], 'stop');
  assert.equal(choice.type, 'stop');
  if (choice.type !== 'stop') return;
  assert.equal(choice.error.code, 'SNAPSHOT_CORRUPT');
  assert.match(choice.error.message, /chk\/x: its hash differs.*newest intact one is \/cp\/j\/chk-4/);
});

test('before it stops the alternative is checked too', () => {
  const choice = chooseSnapshot(
    [candidate(4, { condition: { type: 'unchecked' } }), candidate(5, { condition: DAMAGED })],
    'stop',
  );
  assert.equal(choice.type === 'check' && choice.candidate.checkpointId, 4);
});

test('with fallback an older one is used, and it is said how much is replayed', () => {
  const choice = chooseSnapshot([candidate(3), candidate(5, { condition: DAMAGED })], 'fallback');
  assert.equal(choice.type === 'use' && choice.candidate.checkpointId, 3);
  assert.match(
    choice.type === 'use' ? choice.explanation.join('\n') : '',
    /120 s of input more are replayed.*duplicates/,
  );
});

test('if all are damaged it stops, also with fallback', () => {
  const choice = chooseSnapshot([candidate(5, { condition: DAMAGED })], 'fallback');
  assert.match(choice.type === 'stop' ? choice.error.message : '', /no intact one/);
});

test('with nothing found there is nothing to choose', () => {
  assert.equal(chooseSnapshot([], 'stop').type, 'none');
});

test('within a lineage the id decides although the wall clock went back', () => {
  const before = candidate(100, { jobId: 'a', timestampMs: 1_000_000 });
  const after = candidate(101, { jobId: 'b', timestampMs: 500_000 });
  assert.deepEqual(newestFirst([before, after]), [after, before]);
});

test('between lineages the time of the newest decides although a fresh start counts from zero', () => {
  const old = candidate(100, { jobId: 'a', lineageId: 'a', timestampMs: 1000 });
  const fresh = candidate(1, { jobId: 'b', lineageId: 'b', timestampMs: 2000 });
  assert.deepEqual(newestFirst([old, fresh]), [fresh, old]);
});

const STOPPED_WITH = { elsewhere: 'stopped-with', directory: '/sp/9' } as const;

test('a checkpoint is preferred to a newer savepoint only if that is asked for, and it is said what that means', () => {
  const found = [candidate(7), candidate(8), candidate(9, STOPPED_WITH)];
  const usual = chooseSnapshot(found, 'stop');
  assert.equal(usual.type === 'use' && usual.candidate.checkpointId, 9);
  assert.equal(usual.type === 'use' && usual.warning, undefined);
  const preferred = chooseSnapshot(found, 'stop', true);
  assert.ok(preferred.type === 'use');
  assert.equal(preferred.candidate.checkpointId, 8);
  assert.match(
    preferred.warning!,
    /\/cp\/j\/chk-8 is used because.*stopped with \/sp\/9.*done again.*twice.*lost/,
  );
});

test('a savepoint is used although checkpoints are preferred, if there is no checkpoint of its lineage that is whole', () => {
  const savepoint = candidate(9, STOPPED_WITH);
  const other = candidate(8, { lineageId: 'other', timestampMs: 0 });
  const damaged = candidate(7, { condition: DAMAGED });
  for (const found of [[savepoint], [savepoint, other], [savepoint, damaged]]) {
    const choice = chooseSnapshot(found, 'stop', true);
    assert.ok(choice.type === 'use');
    assert.equal(choice.candidate, savepoint);
    assert.equal(choice.warning, undefined);
  }
});

test('a savepoint that is gone does not stop a job that prefers checkpoints', () => {
  const gone = candidate(9, { ...STOPPED_WITH, condition: DAMAGED });
  assert.equal(chooseSnapshot([gone, candidate(8)], 'stop').type, 'stop');
  const choice = chooseSnapshot([gone, candidate(8)], 'stop', true);
  assert.equal(choice.type === 'use' && choice.candidate.checkpointId, 8);
});

test('a lineage that was begun last comes first, although its snapshot is an old one', () => {
  const begun = candidate(3, { lineageId: 'b', elsewhere: 'started-from', sinceMs: 100 * 60_000 });
  assert.deepEqual(newestFirst([candidate(9), begun]), [begun, candidate(9)]);
});

const claimedBy = (jobName: string, isGone = false): Partial<SnapshotCandidate> => ({
  condition: { type: 'claimed', by: { jobId: `id of ${jobName}`, jobName }, isGone },
});

test('what another job has claimed is never used: it stops the start, and it is said whose it is and what that means', () => {
  const choice = chooseSnapshot([candidate(9, claimedBy('other')), candidate(8)], 'stop');
  assert.ok(choice.type === 'stop');
  assert.equal(choice.error.code, 'SNAPSHOT_CLAIMED');
  assert.match(
    choice.error.message,
    /newest .*\/cp\/j\/chk-9, is no longer its own: job 'other' \(id of other\) has claimed it.* would show twice\. Start job 'other' from latest to go on; .* this one from \/cp\/j\/chk-8/,
  );
  assert.doesNotMatch(choice.error.message, /damage/);
  assert.match(choice.explanation.join('\n'), /chk-9: job 'other' .* has claimed it/);
});

test('what another job has claimed and deleted stops the start, too', () => {
  const choice = chooseSnapshot([candidate(8), candidate(9, claimedBy('other', true))], 'stop');
  assert.match(choice.type === 'stop' ? choice.error.message : '', /owns it, and has deleted it since\./);
});

test('with fallback an older one is used in place of a claimed one; without an older one nothing is', () => {
  const choice = chooseSnapshot([candidate(9, claimedBy('other')), candidate(8)], 'fallback');
  assert.ok(choice.type === 'use');
  assert.equal(choice.candidate.checkpointId, 8);
  assert.match(
    choice.explanation.join('\n'),
    /chk-9: job 'other'.*\n.*only complete one\n.*chk-9, which another job has claimed: at least 60 s .*duplicates/,
  );
  const none = chooseSnapshot([candidate(9, claimedBy('other'))], 'fallback');
  assert.match(
    none.type === 'stop' ? none.error.message : '',
    /begin anew, start this one without a snapshot/,
  );
});

test('a claimed one that is not the newest is only named', () => {
  const choice = chooseSnapshot([candidate(7, claimedBy('other')), candidate(8)], 'stop');
  assert.ok(choice.type === 'use');
  assert.equal(choice.candidate.checkpointId, 8);
  assert.match(choice.explanation.join('\n'), /chk-7: job 'other' .* has claimed it/);
});

test('what an execution of the job itself has claimed is behind it, whatever the clocks did', () => {
  const successor = candidate(3, { jobId: 'id of j', lineageId: 'm', timestampMs: 0 });
  const choice = chooseSnapshot([candidate(9, claimedBy('j')), successor], 'stop');
  assert.ok(choice.type === 'use');
  assert.equal(choice.candidate, successor);
  assert.match(choice.explanation.join('\n'), /chk-9: job 'j' .* has claimed it/);
});

test('a claimed savepoint does not stop a job that prefers checkpoints', () => {
  const claimed = candidate(9, { ...STOPPED_WITH, ...claimedBy('other') });
  assert.equal(chooseSnapshot([claimed, candidate(8)], 'stop').type, 'stop');
  const choice = chooseSnapshot([claimed, candidate(8)], 'stop', true);
  assert.equal(choice.type === 'use' && choice.candidate.checkpointId, 8);
});
