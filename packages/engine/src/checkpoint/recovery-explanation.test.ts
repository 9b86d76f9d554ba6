import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explainRecovery, type Recovery, recoveryLine } from './recovery-explanation.ts';

const AT_MS = Date.parse('2026-03-04T05:06:07.000Z');

const RESTART: Recovery = {
  jobName: 'totals',
  cause: { type: 'failure', message: "The map function of operator 'Map' threw Error: no.", delayMs: 1000 },
  part: undefined,
  snapshot: {
    checkpointId: 12,
    isSavepoint: false,
    path: '/cp/1f/chk-12',
    timestampMs: AT_MS - 2300,
    stateSizeBytes: 1_200_000,
  },
  why: [],
  replayed: { count: 5120, isAtLeast: false },
  atMs: AT_MS,
  tookMs: 1040,
};

const START: Recovery = { ...RESTART, cause: { type: 'start' }, replayed: undefined, tookMs: 35 };

describe('a restart', () => {
  it('from the newest checkpoint', () => {
    assert.equal(
      explainRecovery(RESTART),
      "Job 'totals' failed: The map function of operator 'Map' threw Error: no. It went back to the newest that was " +
        'complete, checkpoint 12 (/cp/1f/chk-12) of 2026-03-04T05:06:04.700Z, 2.3 s before. Its sources emit 5,120 ' +
        'records again. It ran again after 1.04 s, of which the restart strategy waited 1 s, with 1.2 MB of state.',
    );
  });

  it('is told in the log without the failure, which was told there before', () => {
    assert.equal(
      recoveryLine(RESTART),
      "Job 'totals' runs again. It went back to the newest that was complete, checkpoint 12 (/cp/1f/chk-12) of " +
        '2026-03-04T05:06:04.700Z, 2.3 s before. Its sources emit 5,120 records again. It ran again after 1.04 s, of which ' +
        'the restart strategy waited 1 s, with 1.2 MB of state.',
    );
  });

  it('of a part of the job, whose thread was lost, from what was preferred', () => {
    const recovery: Recovery = {
      ...RESTART,
      cause: { type: 'failure', message: 'The thread is gone', delayMs: 0 },
      part: "the part of 'orders'",
      replayed: { count: 1, isAtLeast: true },
      why: ['a newer savepoint, 13, was passed over'],
      tookMs: undefined,
    };
    assert.equal(
      explainRecovery(recovery),
      "Of job 'totals', the part of 'orders' failed: The thread is gone. It went back to checkpoint 12 (/cp/1f/chk-12) of " +
        '2026-03-04T05:06:04.700Z, 2.3 s before. Its sources emit at least 1 record again. It does not run yet.\n' +
        '  a newer savepoint, 13, was passed over',
    );
  });

  it('from the beginning, and with nothing to do again', () => {
    const { snapshot: _, ...rest } = RESTART;
    assert.match(
      explainRecovery({ ...rest, snapshot: undefined, replayed: { count: 7, isAtLeast: false } }),
      /It went back to its beginning, as no checkpoint was complete\. Its sources emit 7 records again\. It ran again after 1\.04 s, of which the restart strategy waited 1 s\.$/,
    );
    assert.match(
      explainRecovery({ ...RESTART, replayed: { count: 0, isAtLeast: false } }),
      /Its sources had emitted nothing after that\./,
    );
    assert.match(
      explainRecovery({ ...RESTART, replayed: undefined }),
      /how many records that are is not known\./,
    );
  });
});

describe('a start', () => {
  it('from a snapshot, with the reasons', () => {
    const snapshot = { ...RESTART.snapshot!, timestampMs: AT_MS - 200_000, isSavepoint: true };
    assert.equal(
      explainRecovery({
        ...START,
        snapshot,
        why: ['it was given by its path', 'it stays as it is (NO_CLAIM)'],
      }),
      "Job 'totals' was started from savepoint 12 (/cp/1f/chk-12) of 2026-03-04T05:02:47.000Z, 3 min 20 s before. " +
        'Whatever its sources had emitted after that they emit again; how many records that are, nobody has counted. It ' +
        'ran after 35 ms, with 1.2 MB of state.\n' +
        '  it was given by its path\n' +
        '  it stays as it is (NO_CLAIM)',
    );
  });

  it('from the beginning', () => {
    assert.equal(
      explainRecovery({ ...START, snapshot: undefined, why: ['no complete checkpoint was found'] }),
      "Job 'totals' began at its beginning. It ran after 35 ms.\n  no complete checkpoint was found",
    );
  });
});
