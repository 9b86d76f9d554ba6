import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MillraceError } from '../base/index.ts';
import type { OperatorSubtaskState } from '../state/index.ts';
import type { TypeDescription } from '../types/index.ts';
import { assertRestorable, checkRestore, type RestoreOptions } from './restore-check.ts';
import { droppedStateLines, type OperatorToRestore, restoreReportText } from './restore-report.ts';
import { EMPTY_STATE, type OperatorSnapshot, type SnapshotManifest } from './snapshot-manifest.ts';

const STRING: TypeDescription = { kind: 'string' };
const VOID: TypeDescription = { kind: 'void' };
const STRICT: RestoreOptions = { allowNonRestoredState: false, dropStateOf: [] };

function counts(keys: number, sizeBytes: number, key: TypeDescription = STRING): OperatorSubtaskState {
  const state = {
    name: 'count',
    kind: 'value',
    key,
    namespace: VOID,
    value: { kind: 'long' },
    entries: keys,
    sizeBytes,
  };
  const stream = { kind: 'inline', bytes: new Uint8Array(sizeBytes) } as const;
  const keyGroups = { first: 0, last: 127 };
  return {
    keyed: [{ format: 'heap-1', keyGroups, maxParallelism: 128, states: [state as never], stream }],
    operator: [],
  };
}

type Named = Partial<OperatorSnapshot> & { uid: string };

function saved({ uid, ...rest }: Named): OperatorSnapshot {
  return {
    ...{ uid, uidIsGenerated: false, name: uid, kind: 'keyed-process', parallelism: 1, maxParallelism: 128 },
    ...{ key: STRING, subtasks: [counts(50, 420)], coordinator: undefined },
    ...rest,
  };
}

function target({ uid, ...rest }: Partial<OperatorToRestore> & { uid: string }): OperatorToRestore {
  return {
    ...{
      uid,
      uidIsGenerated: false,
      name: uid,
      kind: 'keyed-process',
      parallelism: 1,
      maxParallelism: 128,
      key: STRING,
    },
    ...rest,
  };
}

function snapshot(...operators: OperatorSnapshot[]): SnapshotManifest {
  return {
    ...{ checkpointId: 1, kind: 'savepoint', timestampMs: 0, jobName: 'job', jobId: 'j', lineageId: 'l' },
    ...{ planHash: 'p', millraceVersion: '0', operators, files: [] },
  };
}

const source = { kind: 'source', key: undefined, subtasks: [EMPTY_STATE] };

test('an operator inserted upstream of generated uids is refused, side by side, with the likely home named', () => {
  const manifest = snapshot(
    saved({ uid: 'aaa1', uidIsGenerated: true, name: 'src', ...source, coordinator: new Uint8Array(8) }),
    saved({
      uid: 'bbb1',
      uidIsGenerated: true,
      name: 'map',
      kind: 'map',
      key: undefined,
      subtasks: [EMPTY_STATE],
    }),
    saved({ uid: 'ccc1', uidIsGenerated: true, name: 'count' }),
  );
  const job = [
    target({ uid: 'aaa1', uidIsGenerated: true, name: 'src', kind: 'source', key: undefined }),
    target({ uid: 'ddd2', uidIsGenerated: true, name: 'filter', kind: 'filter', key: undefined }),
    target({ uid: 'bbb2', uidIsGenerated: true, name: 'map', kind: 'map', key: undefined }),
    target({ uid: 'ccc2', uidIsGenerated: true, name: 'count' }),
  ];
  const report = checkRestore(manifest, job, STRICT);
  assert.throws(
    () => assertRestorable(report, 'file:/sp'),
    (error: MillraceError) => {
      assert.equal(error.code, 'RESTORE_MISMATCH');
      assert.deepEqual(error.details['refused'], [{ uid: 'ccc1', name: 'count' }]);
      assert.match(
        error.message,
        /^The snapshot file:\/sp does not fit the job: the state of 1 operator cannot be restored/,
      );
      assert.match(
        error.message,
        /"count" \(generated uid "ccc1"\), 50 keys, 420 bytes: no operator of the new job has its uid/,
      );
      assert.match(error.message, /Its states: count \(value, 50 entries\)\./);
      assert.match(
        error.message,
        /probably belongs to "count" .* generated and has changed: give that operator \.uid\("ccc1"\)/,
      );
      assert.match(error.message, /filter \[filter\] uid=ddd2 +starts empty/);
      return true;
    },
  );
});

test('with uids on both sides the state is restored', () => {
  const report = checkRestore(snapshot(saved({ uid: 'c' })), [target({ uid: 'c', name: 'renamed' })], STRICT);
  assert.ok(report.isAccepted);
  assert.equal(report.matches[0]?.outcome.type, 'restored');
  assertRestorable(report, 'x');
});

test('the state of one operator is dropped by name while a mistake elsewhere is still refused', () => {
  const manifest = snapshot(saved({ uid: 'c1' }), saved({ uid: 'c2', subtasks: [counts(7, 99)] }));
  const wrong = checkRestore(manifest, [target({ uid: 'c1x' })], { ...STRICT, dropStateOf: ['c2'] });
  assert.equal(wrong.isAccepted, false);
  const text = restoreReportText(wrong, 'sp');
  assert.match(text, /"c1" \(uid "c1"\), 50 keys, 420 bytes: no operator/);
  assert.match(text, /probably belongs to "c1x" of the new job, which has the uid "c1x"/);
  assert.match(text, /Dropped: the state of "c2" \(uid "c2"\), 7 keys, 99 bytes\./);
  const right = checkRestore(manifest, [target({ uid: 'c1' })], { ...STRICT, dropStateOf: ['c2'] });
  assert.ok(right.isAccepted);
  assert.deepEqual(droppedStateLines(right), ['dropped the state of "c2" (uid "c2"): 7 keys, 99 bytes']);
  const all = checkRestore(manifest, [target({ uid: 'c1' })], { ...STRICT, allowNonRestoredState: true });
  assert.deepEqual(droppedStateLines(all), droppedStateLines(right));
});

test('permission to drop what has no home does not permit to drop what does not fit', () => {
  const options = { ...STRICT, allowNonRestoredState: true };
  const report = checkRestore(snapshot(saved({ uid: 'c' })), [target({ uid: 'c', kind: 'window' })], options);
  assert.equal(report.isAccepted, false);
  assert.match(restoreReportText(report, 'sp'), /it was a keyed-process, now it is a window/);
});

test('a name to drop that the snapshot does not have is refused', () => {
  const report = checkRestore(snapshot(saved({ uid: 'c' })), [target({ uid: 'c' })], {
    ...STRICT,
    dropStateOf: ['d'],
  });
  assert.throws(
    () => assertRestorable(report, 'sp'),
    /"d" was to be dropped, but the snapshot has no operator with that uid/,
  );
});

test('another key type, and no key any more, are refused with both types', () => {
  const manifest = snapshot(saved({ uid: 'c' }));
  const other = checkRestore(manifest, [target({ uid: 'c', key: { kind: 'long' } })], STRICT);
  assert.match(restoreReportText(other, 'sp'), /its keys were string, now they are long/i);
  const none = checkRestore(manifest, [target({ uid: 'c', key: undefined })], STRICT);
  assert.match(restoreReportText(none, 'sp'), /now it is not keyed/);
});

test('a state of another kind is refused if the job says its states beforehand', () => {
  const job = [target({ uid: 'c', states: [{ name: 'count', kind: 'map' }] })];
  const report = checkRestore(snapshot(saved({ uid: 'c' })), job, STRICT);
  assert.match(restoreReportText(report, 'sp'), /its state "count" was of kind value, now map/);
});

test('another max parallelism is allowed, a parallelism above it is not', () => {
  const manifest = snapshot(saved({ uid: 'c' }));
  assert.ok(checkRestore(manifest, [target({ uid: 'c', maxParallelism: 64 })], STRICT).isAccepted);
  const report = checkRestore(manifest, [target({ uid: 'c', parallelism: 200 })], STRICT);
  assert.match(restoreReportText(report, 'sp'), /parallelism 200 exceeds its max parallelism 128/);
});

test('operators without state match anything and may vanish', () => {
  const stateless = { kind: 'map', key: undefined, subtasks: [EMPTY_STATE] };
  const report = checkRestore(
    snapshot(
      saved({ uid: 'm', ...stateless }),
      saved({ uid: 'gone', ...stateless }),
      saved({ uid: 'e', subtasks: [counts(0, 4)] }),
    ),
    [target({ uid: 'm', kind: 'flat-map' })],
    STRICT,
  );
  assert.ok(report.isAccepted);
});

test('a misspelt uid is found among those of the same kind', () => {
  const job = [
    target({ uid: 'totals', kind: 'sink' }),
    target({ uid: 'runing-total' }),
    target({ uid: 'other' }),
  ];
  const report = checkRestore(snapshot(saved({ uid: 'running-total', name: 'a' })), job, STRICT);
  assert.match(restoreReportText(report, 'sp'), /"runing-total"/);
});
