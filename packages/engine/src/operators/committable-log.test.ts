import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CommittableLog } from './committable-log.ts';

function filled(log: CommittableLog<string>, checkpointId: number): void {
  log.open(checkpointId).committables = [`c${checkpointId}`];
}

describe('the log of committables', () => {
  it('gives those of all checkpoints up to the completed one, in order, once', () => {
    const log = new CommittableLog<string>();
    for (const checkpointId of [1, 2, 3]) filled(log, checkpointId);
    deepStrictEqual(
      log.take(2).map((entry) => entry.checkpointId),
      [1, 2],
    );
    deepStrictEqual(log.take(2), []);
    deepStrictEqual(
      log.take(3).map((entry) => entry.checkpointId),
      [3],
    );
  });

  it('keeps those of an aborted checkpoint for the next snapshot', () => {
    const log = new CommittableLog<string>();
    filled(log, 1);
    filled(log, 2);
    deepStrictEqual(
      log.waiting().map((entry) => entry.checkpointId),
      [1, 2],
    );
  });

  it('has those that are being committed in a snapshot until their commit is done', () => {
    const log = new CommittableLog<string>();
    filled(log, 1);
    const [entry] = log.take(1);
    strictEqual(log.waiting().length, 1);
    log.remove(entry!);
    strictEqual(log.waiting().length, 0);
  });

  it('asserts that a checkpoint completes only after its committables are known, and that ids ascend', () => {
    const log = new CommittableLog<string>();
    log.open(2);
    throws(() => log.take(2), /before its committables were known/);
    throws(() => log.open(2), /after a later one/);
  });
});
