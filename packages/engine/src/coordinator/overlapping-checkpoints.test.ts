/** Several checkpoints under way, and storage or tasks that answer in any order: the driver alone, and whole executions. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type {
  CheckpointAnswer,
  CheckpointLocation,
  CheckpointSettings,
  CheckpointStorage,
  CompletedSnapshot,
  SnapshotManifest,
  SnapshotPlace,
} from '../checkpoint/index.ts';
import { planJob, runToEnd, startManualJob } from '../testing/manual-job.ts';
import { createManualPlatform, type ManualPlatform } from '../testing/manual-platform.ts';
import { PacedSource } from '../testing/paced-source.ts';
import { SimulatedSlots } from '../testing/simulated-slots.ts';
import { TransactionLog } from '../testing/transaction-log-sink.ts';
import { Types } from '../types/index.ts';
import { CheckpointDriver } from './checkpoint-driver.ts';

const SETTINGS: CheckpointSettings = {
  intervalMs: undefined,
  mode: 'EXACTLY_ONCE',
  timeoutMs: 1000,
  minPauseMs: 0,
  maxConcurrent: 3,
  tolerableFailures: 0,
  retention: 'DELETE_ON_CANCELLATION',
  retainedCount: 1,
  storage: { kind: 'jobmanager', maxStateSizeBytes: 1000 },
  asyncSnapshots: true,
};

/** Storage whose calls the test can hold. */
class HeldStorage implements CheckpointStorage {
  readonly name = 'held';
  readonly calls: string[] = [];
  private readonly holds = new Map<string, PromiseWithResolvers<void>>();

  /** The call is not answered before the returned function was called. */
  hold(call: string): () => void {
    const held = Promise.withResolvers<void>();
    this.holds.set(call, held);
    return held.resolve;
  }

  private async call(call: string): Promise<void> {
    this.calls.push(call);
    await this.holds.get(call)?.promise;
  }

  async open(): Promise<void> {}

  async begin(checkpointId: number): Promise<CheckpointLocation> {
    await this.call(`begin ${checkpointId}`);
    return { kind: 'memory', checkpointId, maxStateSizeBytes: 1000 };
  }

  async beginSavepoint(targetDirectory: string): Promise<SnapshotPlace> {
    await this.call(`begin in ${targetDirectory}`);
    return {
      kind: 'directory',
      directory: `${targetDirectory}/savepoint`,
      inlineThresholdBytes: 0,
      checksum: 'sha256',
    };
  }

  async complete(
    { checkpointId }: CheckpointLocation,
    manifest: SnapshotManifest,
  ): Promise<CompletedSnapshot> {
    await this.call(`complete ${checkpointId}`);
    return { checkpointId, kind: manifest.kind, directory: undefined, manifest, metadataBytes: 0 };
  }

  async discard(place: CheckpointLocation | SnapshotPlace): Promise<boolean> {
    await this.call(`discard ${'checkpointId' in place ? place.checkpointId : place.directory}`);
    return true;
  }

  async delete({ checkpointId }: CompletedSnapshot): Promise<boolean> {
    await this.call(`delete ${checkpointId}`);
    return true;
  }

  async retryDeletes(): Promise<void> {}

  async adopt(): Promise<void> {}

  async listCompleted(): Promise<CompletedSnapshot[]> {
    return [];
  }

  async close(): Promise<void> {}
}

describe('the checkpoint driver, with several checkpoints under way,', () => {
  let platform: ManualPlatform;
  let storage: HeldStorage;
  let checkpoints: CheckpointDriver;
  let told: string[];
  let failures: string[];

  beforeEach(() => {
    platform = createManualPlatform();
    storage = new HeldStorage();
    told = [];
    failures = [];
    checkpoints = new CheckpointDriver({
      platform,
      settings: SETTINGS,
      storage,
      identity: {
        ...{ jobName: 'job', jobId: 'id', lineageId: 'lineage', planHash: 'plan', millraceVersion: '0' },
        ...{ operators: [], edges: [] },
      },
      tasks: {
        isOpen: true,
        trigger: async ({ checkpointId }) => {
          told.push(`trigger ${checkpointId}`);
          return new Map();
        },
        notifyComplete: (id) => void told.push(`complete ${id}`),
        notifyAborted: (id) => void told.push(`aborted ${id}`),
      },
      failJob: (error) => void failures.push(error.message),
      statistics: {
        checkpointTriggered() {},
        checkpointAcknowledged() {},
        checkpointDeclined() {},
        checkpointCompleted() {},
        checkpointFailed() {},
        checkpointRefused() {},
        checkpointDiscarded() {},
      },
    });
    run();
  });

  afterEach(() => assert.deepEqual(failures, []));

  const run = (): void =>
    checkpoints.allTasksRunning([{ vertexIndex: 0, subtaskIndex: 0, attemptNumber: 0 }]);

  const acknowledge = (checkpointId: number): void =>
    checkpoints.acknowledge({
      ...{ checkpointId, vertexIndex: 0, subtaskIndex: 0, attemptNumber: 0, operators: [], files: [] },
      metrics: {
        ...{ startDelayMs: 0, alignmentMs: 0, syncMs: 0, asyncMs: 0 },
        ...{ stateSizeBytes: 0, checkpointedBytes: 0, processedBytes: 0, persistedBytes: 0 },
      },
    });

  const failureOf = async (answer: Promise<CheckpointAnswer>): Promise<string> => {
    const given = await answer;
    return given.type === 'failed' ? given.failure : 'completed';
  };

  it('triggers them in the order of their ids, however long their places take', async () => {
    const release = storage.hold('begin 0');
    void checkpoints.request('checkpoint');
    void checkpoints.request('savepoint', '/savepoints');
    await platform.settle();
    assert.deepEqual(told, []);
    release();
    await platform.settle();
    assert.deepEqual(told, ['trigger 0', 'trigger 1']);
  });

  it('goes on without one whose place is not there in time, and triggers it no more', async () => {
    failures.length = 0;
    const release = storage.hold('begin 0');
    const first = checkpoints.request('checkpoint');
    void checkpoints.request('checkpoint');
    await platform.advanceAndSettle(1000);
    assert.equal(await failureOf(first), 'expired');
    assert.deepEqual(told, ['aborted 0', 'trigger 1']);
    release();
    await platform.settle();
    assert.ok(storage.calls.includes('discard 0'), 'the place that came late is removed');
    assert.match(failures.splice(0).join(), /tolerable/);
  });

  it('go on while the directory of a savepoint is made; one that does not come in time fails it alone', async () => {
    const release = storage.hold('begin in /hangs');
    const savepoint = checkpoints.request('savepoint', '/hangs');
    const checkpoint = checkpoints.request('checkpoint');
    await platform.settle();
    acknowledge(0);
    assert.equal(await failureOf(checkpoint), 'completed');
    await platform.advanceAndSettle(1000);
    const answer = await savepoint;
    assert.ok(answer.type === 'failed' && answer.failure === 'expired' && answer.checkpointId === undefined);
    assert.match(answer.message, /^\/hangs did not answer within 1000 ms/);
    const another = await checkpoints.request('savepoint', '/hangs');
    assert.ok(another.type === 'failed');
    assert.match(another.message, /is not asked again/);
    const elsewhere = checkpoints.request('savepoint', '/savepoints');
    await platform.settle();
    acknowledge(1);
    assert.equal(await failureOf(elsewhere), 'completed');
    release();
    await platform.settle();
    assert.ok(storage.calls.includes('discard /hangs/savepoint'), 'what comes late is removed');
    void checkpoints.request('savepoint', '/hangs');
    await platform.settle();
    assert.deepEqual(told, ['trigger 0', 'complete 0', 'trigger 1', 'trigger 2']);
  });

  it('remove the directory of a savepoint that is not to begin any more', async () => {
    const releases = [storage.hold('begin 0'), storage.hold('begin in /slow')];
    void checkpoints.request('checkpoint');
    const waiting = checkpoints.request('savepoint-suspend', '/savepoints');
    const placing = checkpoints.request('savepoint', '/slow');
    await platform.settle();
    const ended = checkpoints.shutdown('the end');
    assert.equal(await failureOf(waiting), 'shutdown');
    assert.equal(await failureOf(placing), 'shutdown');
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    await platform.settle();
    assert.ok(!isOver, 'the directory is waited for');
    for (const release of releases) release();
    await ended;
    const removed = storage.calls.filter((call) => call.startsWith('discard'));
    assert.deepEqual(removed.sort(), [
      'discard /savepoints/savepoint',
      'discard /slow/savepoint',
      'discard 0',
    ]);
  });

  it('are stored on when the storage does not answer for one, whose files are removed', async () => {
    failures.length = 0;
    const release = storage.hold('complete 0');
    const first = checkpoints.request('checkpoint');
    await platform.settle();
    acknowledge(0);
    await platform.advanceAndSettle(500);
    const restore = checkpoints.taskFailed('boom');
    await platform.advanceAndSettle(500);
    assert.equal(await failureOf(first), 'expired');
    assert.equal(await restore, undefined);
    assert.ok(storage.calls.includes('discard 0'));
    failures.length = 0;
    run();
    const second = checkpoints.request('checkpoint');
    await platform.settle();
    acknowledge(1);
    assert.equal(await failureOf(second), 'completed');
    release();
    await platform.settle();
    assert.deepEqual(
      checkpoints.retained().map(({ checkpointId }) => checkpointId),
      [1],
    );
    assert.deepEqual(told, ['trigger 0', 'aborted 0', 'trigger 1', 'complete 1']);
  });

  it('do not keep a job from its end although one is never stored', async () => {
    storage.hold('complete 0');
    void checkpoints.request('checkpoint');
    await platform.settle();
    acknowledge(0);
    await platform.settle();
    const ended = checkpoints.shutdown('the end');
    await platform.advanceAndSettle(1000);
    await ended;
    assert.ok(storage.calls.includes('discard 0'));
    failures.length = 0;
  });

  it('removes those that a newer one overtook, and keeps them neither for restarts nor in memory', async () => {
    const older = checkpoints.request('checkpoint');
    const newer = checkpoints.request('checkpoint');
    await platform.settle();
    acknowledge(1);
    await platform.settle();
    assert.equal(await failureOf(newer), 'completed');
    assert.equal(await failureOf(older), 'subsumed');
    assert.deepEqual(told.slice(2), ['complete 1', 'aborted 0']);
    assert.deepEqual(storage.calls.slice(-2), ['complete 1', 'discard 0']);
    acknowledge(0);
    await platform.settle();
    assert.deepEqual(storage.calls.slice(-1), ['discard 0'], 'once is enough');
    assert.deepEqual(
      checkpoints.retained().map(({ checkpointId }) => checkpointId),
      [1],
    );
  });

  it('tells the tasks that go on of one that was being stored when others failed', async () => {
    const release = storage.hold('complete 0');
    void checkpoints.request('checkpoint');
    await platform.settle();
    acknowledge(0);
    await platform.settle();
    const first = checkpoints.taskFailed('boom', 'region-failover');
    const second = checkpoints.taskFailed('boom again', 'region-failover');
    release();
    assert.equal((await first)?.checkpointId, 0);
    assert.equal((await second)?.checkpointId, 0, 'each region hears what it restores');
    assert.deepEqual(told, ['trigger 0', 'complete 0']);
  });

  it('does not keep the savepoints of its users', async () => {
    const savepoint = checkpoints.request('savepoint', '/savepoints');
    await platform.settle();
    acknowledge(0);
    assert.equal(await failureOf(savepoint), 'completed');
    assert.equal(checkpoints.snapshotOf(0), undefined);
    assert.equal(await checkpoints.taskFailed('boom'), undefined);
  });
});

describe('a job with several checkpoints under way', () => {
  const VALUES = Array.from({ length: 60 }, (_, i) => i);

  for (const lost of [0, 2]) {
    it(`goes on without checkpoint ${lost}, of which an acknowledgement is lost, once a newer one is complete`, async () => {
      const platform = createManualPlatform();
      const slots = new SimulatedSlots(platform, 2);
      const log = new TransactionLog<string>();
      const plan = planJob((env) => {
        env.configure({
          parallelism: 2,
          checkpointing: {
            interval: 10,
            timeout: 5000,
            maxConcurrent: 2,
            numRetained: 100,
            dir: '/checkpoints',
          },
        });
        env
          .fromSource(
            new PacedSource([VALUES], { recordsPerPoll: 2, pauseMs: 4 }),
            { toSpec: () => undefined } as never,
            'numbers',
            Types.INT,
          )
          .map(String)
          .sinkTo(log.sink());
      });
      slots.drops = ({ message, slot }) =>
        message.type === 'acknowledge' && slot === 1 && message.acknowledgement.checkpointId === lost;
      const job = await startManualJob(plan, platform, { slots, restart: { kind: 'none' } });
      const report = await runToEnd(platform, job);
      assert.equal(report.status, 'FINISHED', report.error?.stack);
      assert.deepEqual(
        log.committed().sort(),
        VALUES.map(String).sort(),
        'what it held is committed with the newer one',
      );
      const aborted = slots.sent.flatMap(({ message, slot }) =>
        message.type === 'aborted' && slot === 0 ? message.checkpointId : [],
      );
      assert.deepEqual(aborted, [lost]);
    });
  }
});
