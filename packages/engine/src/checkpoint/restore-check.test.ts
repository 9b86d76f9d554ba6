import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MillraceError } from '../base/index.ts';
import type { OperatorSubtaskState } from '../state/index.ts';
import type { TypeDescription } from '../types/index.ts';
import type { EdgeDescription, EdgeSnapshot } from './in-flight-data.ts';
import { assertRestorable, checkRestore, type RestoreOptions } from './restore-check.ts';
import {
  droppedStateLines,
  type OperatorToRestore,
  type RestoreReport,
  restoreReportText,
} from './restore-report.ts';
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
    ...{ planHash: 'p', millraceVersion: '0', operators, inFlight: [], files: [] },
  };
}

function check(
  manifest: SnapshotManifest,
  operators: readonly OperatorToRestore[],
  options: RestoreOptions,
  edges: readonly EdgeDescription[] = [],
): RestoreReport {
  return checkRestore(manifest, { operators, edges }, options);
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
  const report = check(manifest, job, STRICT);
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
  const report = check(snapshot(saved({ uid: 'c' })), [target({ uid: 'c', name: 'renamed' })], STRICT);
  assert.ok(report.isAccepted);
  assert.equal(report.matches[0]?.outcome.type, 'restored');
  assertRestorable(report, 'x');
});

test('the state of one operator is dropped by name while a mistake elsewhere is still refused', () => {
  const manifest = snapshot(saved({ uid: 'c1' }), saved({ uid: 'c2', subtasks: [counts(7, 99)] }));
  const wrong = check(manifest, [target({ uid: 'c1x' })], { ...STRICT, dropStateOf: ['c2'] });
  assert.equal(wrong.isAccepted, false);
  const text = restoreReportText(wrong, 'sp');
  assert.match(text, /"c1" \(uid "c1"\), 50 keys, 420 bytes: no operator/);
  assert.match(text, /probably belongs to "c1x" of the new job, which has the uid "c1x"/);
  assert.match(text, /Dropped: the state of "c2" \(uid "c2"\), 7 keys, 99 bytes\./);
  const right = check(manifest, [target({ uid: 'c1' })], { ...STRICT, dropStateOf: ['c2'] });
  assert.ok(right.isAccepted);
  assert.deepEqual(droppedStateLines(right), ['dropped the state of "c2" (uid "c2"): 7 keys, 99 bytes']);
  const all = check(manifest, [target({ uid: 'c1' })], { ...STRICT, allowNonRestoredState: true });
  assert.deepEqual(droppedStateLines(all), droppedStateLines(right));
});

test('permission to drop what has no home does not permit to drop what does not fit', () => {
  const options = { ...STRICT, allowNonRestoredState: true };
  const report = check(snapshot(saved({ uid: 'c' })), [target({ uid: 'c', kind: 'window' })], options);
  assert.equal(report.isAccepted, false);
  assert.match(restoreReportText(report, 'sp'), /it was a keyed-process, now it is a window/);
});

test('a name to drop that the snapshot does not have is refused', () => {
  const report = check(snapshot(saved({ uid: 'c' })), [target({ uid: 'c' })], {
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
  const other = check(manifest, [target({ uid: 'c', key: { kind: 'long' } })], STRICT);
  assert.match(restoreReportText(other, 'sp'), /its keys were string, now they are long/i);
  const none = check(manifest, [target({ uid: 'c', key: undefined })], STRICT);
  assert.match(restoreReportText(none, 'sp'), /now it is not keyed/);
});

test('a state of another kind is refused if the job says its states beforehand', () => {
  const job = [target({ uid: 'c', states: [{ name: 'count', kind: 'map' }] })];
  const report = check(snapshot(saved({ uid: 'c' })), job, STRICT);
  assert.match(restoreReportText(report, 'sp'), /its state "count" was of kind value, now map/);
});

test('another max parallelism is allowed, a parallelism above it is not', () => {
  const manifest = snapshot(saved({ uid: 'c' }));
  assert.ok(check(manifest, [target({ uid: 'c', maxParallelism: 64 })], STRICT).isAccepted);
  const report = check(manifest, [target({ uid: 'c', parallelism: 200 })], STRICT);
  assert.match(restoreReportText(report, 'sp'), /parallelism 200 exceeds its max parallelism 128/);
});

test('operators without state match anything and may vanish', () => {
  const stateless = { kind: 'map', key: undefined, subtasks: [EMPTY_STATE] };
  const report = check(
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
  const report = check(snapshot(saved({ uid: 'running-total', name: 'a' })), job, STRICT);
  assert.match(restoreReportText(report, 'sp'), /"runing-total"/);
});

/** From `orders` to `totals`, by hash. */
const EDGE: EdgeDescription = {
  identity: { sourceUid: 'orders', sideTag: undefined, targetUid: 'totals', input: 0, ordinal: 0 },
  partitioning: 'hash',
  type: { kind: 'pojo', name: 'Order', fields: [{ name: 'id', type: STRING }] },
  key: STRING,
  ...{ senders: 2, receivers: 2, maxParallelism: 128 },
};
const JOB = [target({ uid: 'orders', ...source }), target({ uid: 'totals', parallelism: 2 })];
const FLYING = snapshot(
  saved({ uid: 'orders', ...source, name: 'Source: orders' }),
  saved({ uid: 'totals', name: 'running total' }),
);

function flying(edge: Partial<EdgeSnapshot> = {}, sizeBytes = 1234): SnapshotManifest {
  const stream = { kind: 'inline', bytes: new Uint8Array(sizeBytes) } as const;
  const channels = [{ sender: 0, receiver: 1, part: 'unsent', watermarkMs: undefined, stream } as const];
  return { ...FLYING, inFlight: [{ ...EDGE, channels, ...edge }] };
}

test('data in flight is restored on an edge with the same ends, whatever its partitioning and parallelism', () => {
  const changed = { ...EDGE, partitioning: 'rebalance', key: undefined, receivers: 3, senders: 1 } as const;
  for (const edge of [EDGE, changed]) {
    const report = check(flying(), JOB, STRICT, [edge]);
    assert.equal(report.inFlight[0]?.outcome.type, 'restored');
    assert.deepEqual(droppedStateLines(report), []);
    assertRestorable(report, 'x');
  }
});

test('data in flight of an edge that is gone is refused: between whom, how much, and what to do', () => {
  const elsewhere = { ...EDGE, identity: { ...EDGE.identity, input: 1 } } as const;
  for (const edges of [[], [elsewhere]]) {
    const report = check(flying(), JOB, STRICT, edges);
    assert.throws(
      () => assertRestorable(report, 'file:/chk-3'),
      (error: MillraceError) => {
        assert.equal(error.code, 'RESTORE_MISMATCH');
        assert.deepEqual(error.details['refusedInFlight'], [
          { sourceName: 'Source: orders', targetName: 'running total', sizeBytes: 1234 },
        ]);
        assert.match(
          error.message,
          /^The snapshot .* does not fit the job: data in flight of 1 exchange cannot/,
        );
        assert.match(
          error.message,
          /Data in flight from "Source: orders" to "running total", 1234 bytes: the new job has no such stream/,
        );
        assert.match(error.message, /take a savepoint .* start from that: savepoints hold no data in flight/);
        assert.match(error.message, /restore\.allowNonRestoredState/);
        return true;
      },
    );
  }
});

test('state and data in flight that do not fit are refused together', () => {
  const text = restoreReportText(check(flying(), [JOB[0]!], STRICT), 'x');
  assert.match(text, /the state of 1 operator and data in flight of 1 exchange cannot be restored/);
});

test('data in flight is refused if its records are of another type, named or by its fields', () => {
  const other = check(flying(), JOB, STRICT, [{ ...EDGE, type: STRING }]);
  assert.match(restoreReportText(other, 'x'), /its records were POJO\(Order\), now they are STRING/);
  const type: TypeDescription = {
    kind: 'pojo',
    name: 'Order',
    fields: [{ name: 'id', type: { kind: 'long' } }],
  };
  const fields = check(flying(), JOB, STRICT, [{ ...EDGE, type }]);
  assert.match(restoreReportText(fields, 'x'), /the type of its records, POJO\(Order\), has changed/);
});

test('data in flight does not enter an exchange that sends each record to all', () => {
  const report = check(flying(), JOB, STRICT, [{ ...EDGE, partitioning: 'broadcast' }]);
  assert.match(restoreReportText(report, 'x'), /it was hash, now it is broadcast/);
});

test('data in flight is dropped by permission, or with an operator at its ends, and that is said', () => {
  const manifest = flying({ identity: { ...EDGE.identity, sideTag: 'late' } });
  const line =
    'dropped data in flight from side output "late" of "Source: orders" to "running total", 1234 bytes: ' +
    'these records are not processed';
  const allowed = check(manifest, JOB, { ...STRICT, allowNonRestoredState: true });
  assert.deepEqual(droppedStateLines(allowed), [line]);
  const byName = check(manifest, JOB, { ...STRICT, dropStateOf: ['totals'] });
  assert.deepEqual(droppedStateLines(byName).slice(1), [line]);
  for (const report of [allowed, byName]) assertRestorable(report, 'x');
  assert.match(restoreReportText(allowed, 'x'), /Dropped: data in flight from side output "late"/);
});

test('the data in flight of one checkpoint is ignored on demand, that of others is not', () => {
  const ignored = check(flying(), JOB, { ...STRICT, ignoredInFlightOf: 1 }, [EDGE]);
  assert.equal(ignored.inFlight[0]?.outcome.type, 'dropped');
  assert.match(droppedStateLines(ignored)[0]!, /without-channel-state\.checkpoint-id demands/);
  assertRestorable(ignored, 'x');
  const other = check(flying(), JOB, { ...STRICT, ignoredInFlightOf: 2 }, [EDGE]);
  assert.equal(other.inFlight[0]?.outcome.type, 'restored');
});
