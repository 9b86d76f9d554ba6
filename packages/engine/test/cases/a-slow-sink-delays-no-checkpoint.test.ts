/**
 * Two sources, one of them a hundred times faster, an operator by key, and a sink that takes 20 ms a record, in virtual
 * time. Barriers wait in the output of a source, in the input of the sink, or do not come by one channel at all. With a
 * budget of 500 ms each checkpoint is complete within two seconds and weighs what the queues hold; without one they time out
 * after ten seconds, and the job goes on. (From apache/flink#19723 and #15146.)
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Collector,
  type JobClient,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type RuntimeContext,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from '@millrace/engine';
import { openSnapshot } from '../../src/checkpoint/index.ts';
import { createManualPlatform, type ManualPlatform } from '../../src/testing/manual-platform.ts';
import { PacedSource } from '../../src/testing/paced-source.ts';
import { checkSnapshotFiles } from '../../src/testing/snapshot-files.ts';
import { Gate, GatedSource } from '../gated-source.ts';
import { NUMBERED, type Numbered, numbered } from '../numbered-records.ts';
import { assertRefused } from '../refusal.ts';
import { slowedSink } from '../slowed-sink.ts';
import { environmentOn, untilQuiet } from '../small-job.ts';
import { TransactionalSink, TransactionStore } from '../transactional-sink.ts';

const SLOW_MS = 20;
const PARALLELISM = 2;
/** About a thousand records in each channel. */
const RINGS = { 'millrace.exchange.segment-size': '4 kb', 'millrace.exchange.segments-per-channel': 8 };
const CHANNEL_BYTES = 8 * 4096;
const FAST = numbered(12_000);
const SLOW = numbered(40).map((partition) =>
  partition.map((record) => ({ ...record, key: `slow ${record.key}` })),
);
const ALIGNED = { 'execution.checkpointing.timeout': '10 s' };
const BUDGETED = {
  ...ALIGNED,
  'execution.checkpointing.unaligned.enabled': true,
  'execution.checkpointing.aligned-checkpoint-timeout': '500 ms',
};
const IN_MEMORY = { 'execution.checkpointing.storage': 'jobmanager' };

/**
 * Where the barriers wait: how many records each subtask of the fast source reads, and whether slow ones come. All 3,400 find
 * room before the sink, which needs 34 s for them.
 */
const PLACES = {
  'in the output of a source and in all queues after it': {
    fastRecords: Number.POSITIVE_INFINITY,
    slowComes: true,
  },
  'in the input of the sink, all before it idle': { fastRecords: 1700, slowComes: false },
  'on one channel only, for the other has nothing before its barrier': {
    fastRecords: Number.POSITIVE_INFINITY,
    slowComes: false,
  },
} as const;
type Place = (typeof PLACES)[keyof typeof PLACES];

/** A job in virtual time, in one run after the other. */
class SlowSinkJob {
  readonly platform: ManualPlatform = createManualPlatform();
  readonly store = new TransactionStore<Numbered>();
  /** By subtask: the checkpoints that it was told were given up. */
  readonly aborted = new Map<number, Set<number>>();
  sinkMs = SLOW_MS;
  failsNext = false;
  gate = new Gate(0);

  async start(
    { fastRecords, slowComes }: Place,
    values: Readonly<Record<string, unknown>>,
    parallelism = PARALLELISM,
  ): Promise<JobClient> {
    const env = environmentOn(this.platform, {
      'parallelism.default': parallelism,
      'pipeline.max-parallelism': 16,
      'execution.checkpointing.interval': '3 s',
      'execution.checkpointing.tolerable-failed-checkpoints': 1000,
      'restart-strategy.type': 'fixed-delay',
      'restart-strategy.fixed-delay.attempts': 1,
      'restart-strategy.fixed-delay.delay': 0,
      ...RINGS,
      ...values,
    });
    this.gate = new Gate(fastRecords);
    const watermarks = WatermarkStrategy.noWatermarks<Numbered>();
    const slowly = { recordsPerPoll: 1, pauseMs: 1000 };
    const fast = env.fromSource(new GatedSource(FAST, this.gate), watermarks, 'fast', NUMBERED).uid('fast');
    fast
      .union(
        env
          .fromSource(new PacedSource(slowComes ? SLOW : [], slowly), watermarks, 'slow', NUMBERED)
          .uid('slow'),
      )
      .keyBy(({ key }) => key, Types.STRING)
      .process(() => new InOrder(this), NUMBERED)
      .uid('in order')
      .rebalance()
      .sinkTo(slowedSink(new TransactionalSink(this.store), () => this.sinkMs))
      .uid('sink');
    const client = await env.executeAsync('slow sink');
    client.getJobExecutionResult().catch(() => {});
    return client;
  }

  /** In small steps, because other threads would go on meanwhile. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 20) await this.platform.advanceAndSettle(20);
  }

  async cancel(client: JobClient): Promise<void> {
    const cancelled = client.cancel();
    await this.pass(100);
    await cancelled;
    await untilQuiet(this.platform);
  }

  /** Goes on from the newest checkpoint, with a fast sink, and shows each record once. */
  async finish(
    { slowComes }: Place,
    values: Readonly<Record<string, unknown>>,
    parallelism: number,
  ): Promise<void> {
    this.sinkMs = 0;
    const latest = { ...values, 'execution.state-recovery.path': 'latest' };
    const everything = { fastRecords: Number.POSITIVE_INFINITY, slowComes } as Place;
    const client = await this.start(everything, latest, parallelism);
    await this.untilFinished(client, slowComes);
  }

  async untilFinished(client: JobClient, slowComes: boolean): Promise<void> {
    for (let turn = 0; client.getJobStatus() !== 'FINISHED'; turn++) {
      assert.ok(turn < 1000, `the job is ${client.getJobStatus()}`);
      await this.pass(1000);
    }
    const all = [...FAST.flat(), ...(slowComes ? SLOW.flat() : [])];
    assert.deepEqual(namesOf(this.store.committed()), namesOf(all));
    assert.deepEqual(this.store.open(), []);
  }
}

const namesOf = (records: readonly Numbered[]): string[] => records.map(({ key, n }) => `${key}${n}`).sort();

/** Lets each record pass once, and in order. */
class InOrder extends KeyedProcessFunction<string, Numbered, Numbered> {
  private readonly job: SlowSinkJob;
  private aborted = new Set<number>();
  private next!: ValueState<number>;

  constructor(job: SlowSinkJob) {
    super();
    this.job = job;
  }

  override open(context: RuntimeContext): void {
    this.next = context.getState(new ValueStateDescriptor('next', Types.LONG, 0));
    this.job.aborted.set(context.getIndexOfThisSubtask(), this.aborted);
  }

  override processElement(record: Numbered, _: KeyedProcessContext<string>, out: Collector<Numbered>): void {
    if (this.job.failsNext) {
      this.job.failsNext = false;
      throw new Error('a failure on purpose');
    }
    const next = this.next.value()!;
    if (record.n !== next) throw new Error(`${record.key}: ${record.n} came when ${next} was next`);
    this.next.update(next + 1);
    out.collect(record);
  }

  override notifyCheckpointAborted(checkpointId: number): void {
    this.aborted.add(checkpointId);
  }
}

/** Of all channels of the job: the two sources', and those into the sink. */
const RING_BYTES = 3 * PARALLELISM ** 2 * CHANNEL_BYTES;

for (const [where, place] of Object.entries(PLACES)) {
  describe(`barriers that wait ${where}`, () => {
    it('overtake when their time is over: each checkpoint is complete within two seconds', async () => {
      const job = new SlowSinkJob();
      const client = await job.start(place, BUDGETED);
      await job.pass(13_000);
      const { counts, history } = client.getCheckpointStatistics();
      assert.equal(counts.failed, 0);
      // The first was taken before any record.
      const checkpoints = history.filter(({ id, status }) => id > 0 && status === 'COMPLETED');
      assert.equal(checkpoints.length, 4);
      for (const { end_to_end_duration: durationMs, persisted_data: inFlightBytes } of checkpoints) {
        assert.ok(durationMs >= 500 && durationMs < 2000, `${durationMs} ms`);
        assert.ok(inFlightBytes > 0 && inFlightBytes <= RING_BYTES, `${inFlightBytes} bytes in flight`);
      }
      await job.cancel(client);
    });

    for (const parallelism of [1, 2, 3]) {
      it(`overtake, and what they overtook is restored at parallelism ${parallelism}`, async () => {
        const job = new SlowSinkJob();
        const client = await job.start(place, BUDGETED);
        await job.pass(7500);
        await job.cancel(client);
        await job.finish(place, BUDGETED, parallelism);
      });
    }

    it('overtake, and what they overtook is not restored if a bit of it has changed', async () => {
      const job = new SlowSinkJob();
      const client = await job.start(place, BUDGETED);
      await job.pass(7500);
      const newest = client.getCheckpointStatistics().latest.completed!.external_path!;
      await job.cancel(client);
      const { manifest } = await openSnapshot(job.platform, newest);
      const stream = manifest.inFlight
        .flatMap(({ channels }) => channels)
        .map((channel) => channel.stream)
        .find(({ kind }) => kind === 'file');
      assert.ok(stream?.kind === 'file');
      const file = `${newest}/${stream.path}`;
      job.platform.files.damage(job.platform.fileSystem(file).path, (bytes) => {
        bytes[stream.offset + stream.lengthBytes - 1]! ^= 1;
        return bytes;
      });
      const again = job.start(place, { ...BUDGETED, 'execution.state-recovery.path': 'latest' });
      await assertRefused(again, 'SNAPSHOT_CORRUPT', new RegExp(stream.path));
    });

    it('overtake, and what they overtook is restored from the memory of the job', async () => {
      const job = new SlowSinkJob();
      const client = await job.start(place, { ...BUDGETED, ...IN_MEMORY });
      await job.pass(7500);
      job.sinkMs = 0;
      job.failsNext = true;
      job.gate.open();
      await job.untilFinished(client, place.slowComes);
      assert.equal(client.metrics().job['numRestarts'], 1);
    });

    it('for ever time out: all are told, nothing is left of them, and the job goes on', async () => {
      const job = new SlowSinkJob();
      const client = await job.start(place, ALIGNED);
      await job.pass(45_000);
      const failed = client.getCheckpointStatistics().history.filter(({ status }) => status === 'FAILED');
      assert.ok(failed.length >= 2, `${failed.length} failed`);
      for (const { id, failure_message: message } of failed) {
        assert.match(message!, /expired/);
        assert.deepEqual(
          [...job.aborted].map(([, ids]) => ids.has(id)),
          [true, true],
          `who was told of checkpoint ${id}`,
        );
      }
      assert.equal(client.getJobStatus(), 'RUNNING');
      await job.cancel(client);
      const { snapshots, ...problems } = await checkSnapshotFiles(job.platform, '/checkpoints');
      assert.deepEqual(problems, { unreferenced: [], missing: [], damaged: [] });
      assert.equal(snapshots.length, 1);
      await job.finish(place, ALIGNED, PARALLELISM);
    });
  });
}
