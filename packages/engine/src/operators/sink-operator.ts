/**
 * Runs a sink: its writer for each record, and its committer after checkpoints (Flink's SinkWriterOperator and
 * CommitterOperator in one, so that nothing travels between them).
 *
 *     barrier n          snapshotState(n): the writer switches (prepareCommit), its state goes to operator state;
 *                        when the writer's promise resolves, the committables of n and all that wait from before are
 *                        contributed to snapshot n
 *     n completed        the committables of all checkpoints up to n are committed, in order, once
 *     n aborted          nothing: its committables wait for the next one
 *     restore            open: committables of the snapshot are committed again, then leftovers aborted, then the writer
 *                        is made
 *     end of input       the host's final checkpoint does the rest; in a job without periodic ones `finish` commits
 *
 * Invariant I1: what the writer handed out is either committed or in every later snapshot (committable-log.ts). If the
 * writer fails to hand out, the task fails: its records would be in neither.
 */
import type {
  Committer,
  OneInputOperator,
  OperatorStateContribution,
  Sink,
  SinkContext,
  SinkWriter,
} from '../runtime/index.ts';
import { type ListState, ListStateDescriptor } from '../state/index.ts';
import type { TypeInformation } from '../types/index.ts';
import { type CommittableEntry, CommittableLog } from './committable-log.ts';
import { AbstractStreamOperator } from './operator-defaults.ts';
import { specialise } from './specialise.ts';

const COMMITTABLES = 'committables';
const WRITER_STATE = 'writer-state';

const WRITE = 'write function of the sink';

interface WriteEnv<In> {
  readonly writer: { write(value: In, timestampMs: number): unknown };
  readonly wrap: (error: unknown) => Error;
  readonly refuse: (result: unknown) => void;
}

const makeWrite = <In>({ writer, wrap, refuse }: WriteEnv<In>) => {
  return (value: In, timestampMs: number): void => {
    let result: unknown;
    try {
      result = writer.write(value, timestampMs);
    } catch (error) {
      throw wrap(error);
    }
    if (result !== undefined) refuse(result);
  };
};

export class SinkOperator<In, CommT, StateT>
  extends AbstractStreamOperator<never>
  implements OneInputOperator<In, never>
{
  private readonly sink: Sink<In, CommT, StateT>;
  private readonly log = new CommittableLog<CommT>();
  private writer: SinkWriter<In, CommT, StateT> | undefined;
  private committer: Committer<CommT> | undefined;
  private writerState!: ListState<StateT>;
  /** The last call of prepareCommit, and all before it. */
  private prepared: Promise<void> = Promise.resolve();
  private commits: Promise<void> = Promise.resolve();
  private lastCheckpointId = 0;
  private isFinished = false;
  private process!: (value: In, timestampMs: number) => void;

  constructor(sink: Sink<In, CommT, StateT>) {
    super();
    this.sink = sink;
  }

  override async open(): Promise<void> {
    const { operatorState, metrics } = this.context;
    const restored = operatorState.getListState(
      new ListStateDescriptor<CommT>(COMMITTABLES, this.sink.committableType),
    );
    this.writerState = operatorState.getListState(
      new ListStateDescriptor<StateT>(WRITER_STATE, this.sink.writerStateType),
    );
    const context = this.sinkContext();
    try {
      this.committer = this.sink.createCommitter?.(context);
      const committables = restored.get();
      if (this.committer !== undefined && committables.length > 0)
        await this.committer.commit(committables, undefined);
      restored.clear();
      await this.committer?.abortLeftovers?.();
      this.writer = await this.sink.createWriter(context, this.writerState.get());
    } catch (error) {
      throw this.context.wrapUserError(error, 'start of the sink');
    }
    metrics.gauge('pendingCommittables', () => this.log.size);
    this.compile('sink');
  }

  processElement(value: In, timestampMs: number): void {
    this.process(value, timestampMs);
  }

  override processWatermark(watermarkMs: number): void {
    super.processWatermark(watermarkMs);
    this.writer!.writeWatermark?.(watermarkMs);
  }

  compile(unique: string): (value: In, timestampMs: number) => void {
    this.process = specialise(
      makeWrite<In>,
      unique,
    )({
      writer: this.writer!,
      wrap: this.wrapper(WRITE),
      refuse: this.promiseRefuser(WRITE),
    });
    return this.process;
  }

  busy(): Promise<void> | undefined {
    return this.writer!.busy?.();
  }

  snapshotState(checkpointId: number): Promise<readonly OperatorStateContribution[]> {
    const filled = this.prepareCommit(checkpointId);
    try {
      this.writerState.update(this.writer!.snapshotState?.(checkpointId) ?? []);
    } catch (error) {
      throw this.context.wrapUserError(error, 'snapshotState function of the sink');
    }
    const waiting = this.log.waiting();
    return filled.then(() => [this.contributionOf(waiting)]);
  }

  notifyCheckpointComplete(checkpointId: number): Promise<void> {
    return this.commit(this.log.take(checkpointId));
  }

  /** Without periodic checkpoints nobody will say that one completed; there may have been some by hand. */
  async finish(): Promise<void> {
    this.isFinished = true;
    const { checkpointingEnabled, restoredCheckpointId } = this.context.services;
    if (checkpointingEnabled) return;
    const checkpointId = Math.max(restoredCheckpointId ?? 0, this.lastCheckpointId) + 1;
    await this.prepareCommit(checkpointId);
    await this.commit(this.log.take(checkpointId));
  }

  /** Waits for a commit that runs, so that it does not meet the same commit of the next attempt. */
  async close(): Promise<void> {
    const { writer, committer } = this;
    this.writer = undefined;
    this.committer = undefined;
    try {
      await writer?.close();
    } finally {
      await this.commits.catch(() => {});
      await committer?.close();
    }
  }

  /**
   * The writer switches to something new before this returns. Resolves when its committables, and those of all earlier
   * checkpoints, are known. A failure fails the task as well (I1).
   */
  private prepareCommit(checkpointId: number): Promise<void> {
    this.lastCheckpointId = checkpointId;
    const before = this.prepared;
    let committables: readonly CommT[] | Promise<readonly CommT[]>;
    try {
      committables = this.writer!.prepareCommit(checkpointId, this.isFinished);
    } catch (error) {
      throw this.context.wrapUserError(error, 'prepareCommit function of the sink');
    }
    const entry = this.log.open(checkpointId);
    this.prepared = this.fill(entry, committables, before);
    // `fill` has failed the task already; whoever waits for the promise is told too.
    this.prepared.catch(() => {});
    return this.prepared;
  }

  private async fill(
    entry: CommittableEntry<CommT>,
    committables: readonly CommT[] | Promise<readonly CommT[]>,
    before: Promise<void>,
  ): Promise<void> {
    try {
      const known = await committables;
      await before;
      entry.committables = known;
    } catch (error) {
      const wrapped = this.context.wrapUserError(error, 'prepareCommit function of the sink');
      this.context.fail(wrapped);
      throw wrapped;
    }
  }

  private contributionOf(entries: readonly CommittableEntry<CommT>[]): OperatorStateContribution {
    const values =
      this.sink.createCommitter === undefined ? [] : entries.flatMap((entry) => entry.committables ?? []);
    const type = this.sink.committableType as TypeInformation<unknown> | undefined;
    return { name: COMMITTABLES, mode: 'split', type, values };
  }

  /** One commit at a time, in the order of the calls. */
  private commit(entries: readonly CommittableEntry<CommT>[]): Promise<void> {
    this.commits = this.commits.then(async () => {
      for (const entry of entries) {
        const { committables, checkpointId } = entry;
        try {
          if (committables!.length > 0) await this.committer?.commit(committables!, checkpointId);
        } catch (error) {
          throw this.context.wrapUserError(error, 'commit function of the sink');
        }
        this.log.remove(entry);
      }
    });
    return this.commits;
  }

  private sinkContext(): SinkContext {
    const { context } = this;
    const { platform, logger, jobId, lineageId, restoredCheckpointId, checkpointingEnabled } =
      context.services;
    return {
      platform,
      logger,
      sinkName: context.operatorName,
      sinkUid: context.operatorUid,
      jobId,
      lineageId,
      subtaskIndex: context.subtaskIndex,
      parallelism: context.parallelism,
      attemptNumber: context.attemptNumber,
      restoredCheckpointId,
      checkpointingEnabled,
      deliver: (channelId, values) => context.services.deliver(channelId, values),
      fail: (error) => context.fail(error),
    };
  }
}
