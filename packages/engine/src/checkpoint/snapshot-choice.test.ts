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
