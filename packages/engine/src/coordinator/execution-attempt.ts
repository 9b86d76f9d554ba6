/**
 * One attempt to run a region of a job: its slots, its sources' enumerators, and what they report. A failure ends the
 * attempt as a whole; the JobMaster then makes the next one.
 *
 * Each region has slots of its own. With worker threads these are threads of its own, because a thread is what is lost
 * when it runs out of memory, and what is ended when a task does not close: neither may touch another region.
 *
 *     deploying ──all slots opened──► running ──all tasks at end of data──► ended ──finish──► closed
 *         └──────────────┴── failed ──┴────────────────────────────────────┘
 */
import { assert, MillraceError } from '../base/index.ts';
import type {
  CheckpointingMode,
  CheckpointKind,
  CheckpointLocation,
  TaskAcknowledgement,
  TaskDecline,
} from '../checkpoint/index.ts';
import type { RingLayout } from '../exchange/index.ts';
import type { Platform, TimerHandle } from '../platform/index.ts';
import {
  allocateChannels,
  type FromSlot,
  type JobGraph,
  type JobVertex,
  type SlotDeployment,
  type SubtaskRestore,
  slotOf,
  type TaskMetrics,
  type ToSlot,
} from '../runtime/index.ts';
import type { PipelinedRegion } from './pipelined-regions.ts';
import { type SlotHandle, type SlotHost, slotError, slotPlaces } from './slot-host.ts';
import { SourceCoordinator } from './source-coordinator.ts';
import { alignmentGroups, type WatermarkAlignmentGroup } from './watermark-alignment.ts';

/** What a new attempt begins with. */
export interface RestoredExecution {
  readonly checkpointId: number;
  /** Where file handles are relative to; undefined if all is inline. */
  readonly directory: string | undefined;
  readonly subtasks: readonly SubtaskRestore[];
  /** Enumerator states by uid of the source. */
  readonly enumerators: ReadonlyMap<string, unknown>;
}

export interface AttemptOptions {
  readonly graph: JobGraph;
  /** What of the graph is run. */
  readonly region: PipelinedRegion;
  readonly platform: Platform;
  readonly host: SlotHost;
  readonly jobId: string;
  readonly lineageId: string;
  readonly attemptNumber: number;
  readonly restored: RestoredExecution | undefined;
  readonly mode: CheckpointingMode;
  /** See CheckpointSettings. */
  readonly alignedTimeoutMs: number | undefined;
  readonly checkpointingEnabled: boolean;
  readonly asyncSnapshots: boolean;
  readonly autoWatermarkIntervalMs: number;
  readonly bufferTimeoutMs: number;
  /** Of channels; with many of them they are smaller. */
  readonly ringLayout?: RingLayout | undefined;
  /** How long tasks may take to close before their threads are ended. */
  readonly cancellationTimeoutMs: number;
  /** Each source ends after so many records; undefined: it does not. */
  readonly maxRecords: number | undefined;
  readonly events: AttemptEvents;
}

/** Nothing is reported after `failed` or `closed`, nor after `cancel` was called. */
export interface AttemptEvents {
  opened(): void;
  failed(error: Error): void;
  acknowledged(acknowledgement: TaskAcknowledgement): void;
  declined(decline: TaskDecline): void;
  /** All tasks have carried out what follows from the completion of the checkpoint. */
  completed(checkpointId: number): void;
  /** A source works off a backlog from now on, or no longer. Also reported while the attempt is closed. */
  backlog(sourceUid: string, isProcessing: boolean): void;
  /** All tasks have processed all data. */
  endOfData(): void;
  delivered(channelId: string, values: readonly unknown[]): void;
  /** After `finish`: all is closed. */
  closed(): void;
}

export class ExecutionAttempt {
  private readonly options: AttemptOptions;
  private readonly slotCount: number;
  private readonly slots: SlotHandle[] = [];
  private readonly sources = new Map<number, SourceCoordinator>();
  private readonly metricsBySlot: (readonly TaskMetrics[])[] = [];
  private readonly completedSlots = new Map<number, number>();
  private openedSlots = 0;
  private readonly closedSlots = new Set<number>();
  private endedTasks = 0;
  private readonly taskCount: number;
  private readonly alignment: readonly WatermarkAlignmentGroup[];
  private alignmentTimers: readonly TimerHandle[] = [];
  private over = false;
  private readonly ended = Promise.withResolvers<void>();
  private onClosed: (() => void) | undefined;

  constructor(options: AttemptOptions) {
    const { vertices } = options.region;
    this.options = options;
    this.slotCount = slotPlaces(options.host, options.region).length;
    this.alignment = alignmentGroups(vertices);
    this.taskCount = vertices.reduce((sum, vertex) => sum + vertex.parallelism, 0);
  }

  /** Starts enumerators and slots. `opened` or `failed` follows. */
  async deploy(): Promise<void> {
    try {
      for (const vertex of this.options.region.vertices) {
        if (vertex.source !== undefined && !this.over) await this.startSource(vertex);
      }
    } catch (error) {
      this.fail(error);
      return;
    }
    if (this.over) return;
    const { graph, region, host } = this.options;
    const channels = allocateChannels(graph, this.slotCount, this.options.ringLayout, region.edges);
    for (let slot = 0; slot < this.slotCount; slot++) {
      const handle = host.start(graph, this.deployment(slot, channels), {
        onMessage: (message) => this.receive(slot, message),
        onLost: (error) => {
          // A thread that has closed its tasks may go.
          if (this.closedSlots.has(slot)) return;
          this.slotClosed(slot);
          this.fail(error);
        },
      });
      this.slots.push(handle);
    }
  }

  start(): void {
    this.options.platform.expectLongRun();
    this.broadcast({ type: 'start' });
    this.alignmentTimers = this.alignment.map((group) => this.alignRegularly(group));
  }

  private alignRegularly(group: WatermarkAlignmentGroup): TimerHandle {
    let timer: TimerHandle;
    const next = (): void => {
      timer = this.options.platform.timers.after(group.updateIntervalMs, () => {
        if (this.over) return;
        const maxAllowedMs = group.nextLimit();
        if (maxAllowedMs !== undefined)
          for (const vertex of group.vertices)
            this.broadcast({ type: 'align-watermark', vertex, maxAllowedMs });
        next();
      });
    };
    next();
    return { cancel: () => timer.cancel() };
  }

  /**
   * Snapshots the enumerators and triggers the sources, in one synchronous turn. Resolves to the enumerators' states by
   * uid; rejects if one cannot be snapshotted. Does nothing if the checkpoint is no longer wanted by then.
   */
  async trigger(
    trigger: {
      readonly checkpointId: number;
      readonly timestampMs: number;
      readonly kind: CheckpointKind;
      readonly location: CheckpointLocation;
    },
    isWanted: () => boolean,
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    const sources = [...this.sources.values()];
    // An enumerator may be busy for ever: the end of the attempt ends the wait too.
    while (!this.over && sources.some((source) => !source.isIdle))
      await Promise.race([this.ended.promise, Promise.all(sources.map((source) => source.settled()))]);
    if (this.over || !isWanted()) return new Map();
    const states = new Map<string, Uint8Array>();
    for (const source of sources) states.set(source.vertex.operators[0]!.uid, source.snapshot());
    this.broadcast({ type: 'trigger', ...trigger });
    return states;
  }

  notifyComplete(checkpointId: number): void {
    this.completedSlots.set(checkpointId, 0);
    this.broadcast({ type: 'complete', checkpointId });
  }

  notifyAborted(checkpointId: number): void {
    this.broadcast({ type: 'aborted', checkpointId });
  }

  /** Sources end where they are, as if they had no more records. `endOfData` follows. */
  drain(): void {
    this.broadcast({ type: 'drain' });
  }

  /** The job is done. `commit`: sinks commit without a checkpoint. `closed` follows. */
  finish(commit: boolean): void {
    this.broadcast({ type: 'finish', commit });
  }

  metrics(): TaskMetrics[] {
    return this.metricsBySlot.flat().map((metrics) => this.sinceTheBeginning(metrics));
  }

  /** Readers count from the restore on; what their source had given out before is counted with the first of them. */
  private sinceTheBeginning(metrics: TaskMetrics): TaskMetrics {
    const { sourceProgress, task } = metrics;
    const before = task.subtask === 0 ? this.sources.get(task.vertex)?.amountAssignedBefore : undefined;
    if (sourceProgress === undefined || before === undefined || before === 0) return metrics;
    return { ...metrics, sourceProgress: { ...sourceProgress, done: sourceProgress.done + before } };
  }

  /** Closes tasks and enumerators; ends threads that do not close in time. Nothing is reported any more. */
  async cancel(): Promise<void> {
    this.end();
    const { platform, cancellationTimeoutMs } = this.options;
    const closed = Promise.all([
      this.closeSlots(),
      ...[...this.sources.values()].map((each) => this.closeSource(each)),
    ]);
    let timer: { cancel(): void } | undefined;
    const timedOut = new Promise<void>((resolve) => {
      timer = platform.timers.after(cancellationTimeoutMs, () => {
        const message = `tasks or enumerators did not close within ${cancellationTimeoutMs} ms; their threads are ended`;
        platform.logger.log('warn', message);
        resolve();
      });
    });
    await Promise.race([closed, timedOut]);
    timer?.cancel();
    await Promise.all(this.slots.map((slot) => slot.terminate()));
  }

  private closeSlots(): Promise<void> {
    return new Promise<void>((resolve) => {
      this.onClosed = resolve;
      if (this.closedSlots.size === this.slots.length) resolve();
      this.broadcast({ type: 'cancel' });
    });
  }

  /** Never rejects. */
  private async closeSource(source: SourceCoordinator): Promise<void> {
    try {
      await source.close();
    } catch (error) {
      const message = `could not close the enumerator of '${source.vertex.name}': ${String(error)}`;
      this.options.platform.logger.log('warn', message);
    }
  }

  private end(): void {
    this.over = true;
    for (const timer of this.alignmentTimers) timer.cancel();
    this.ended.resolve();
  }

  private async startSource(vertex: JobVertex): Promise<void> {
    const { platform, restored } = this.options;
    const uid = vertex.operators[0]!.uid;
    const source = new SourceCoordinator({
      vertex,
      platform,
      restored: restored?.enumerators.has(uid) ? { state: restored.enumerators.get(uid) } : undefined,
      send: (task, message) => this.slots[slotOf(task.subtask, this.slotCount)]?.post(message),
      backlog: (isProcessing) => this.options.events.backlog(uid, isProcessing),
      fail: (error) => this.fail(error),
    });
    this.sources.set(vertex.index, source);
    await source.start();
  }

  private deployment(slotIndex: number, channels: SlotDeployment['channels']): SlotDeployment {
    const { options } = this;
    const { region, restored } = options;
    const indices = new Set(region.vertices.map(({ index }) => index));
    return {
      jobId: options.jobId,
      lineageId: options.lineageId,
      attemptNumber: options.attemptNumber,
      restoredCheckpointId: restored?.checkpointId,
      slotIndex,
      slotCount: this.slotCount,
      region: region.index,
      vertices: [...indices],
      channels,
      restore: (restored?.subtasks ?? []).filter(
        ({ task }) => indices.has(task.vertex) && slotOf(task.subtask, this.slotCount) === slotIndex,
      ),
      restoreDirectory: restored?.directory,
      mode: options.mode,
      alignedTimeoutMs: options.alignedTimeoutMs,
      checkpointingEnabled: options.checkpointingEnabled,
      asyncSnapshots: options.asyncSnapshots,
      autoWatermarkIntervalMs: options.autoWatermarkIntervalMs,
      bufferTimeoutMs: options.bufferTimeoutMs,
      maxRecords: options.maxRecords,
    };
  }

  private receive(slot: number, message: FromSlot): void {
    if (message.type === 'metrics') {
      const reportedMs = this.options.platform.clock.monotonicMs();
      this.metricsBySlot[slot] = message.tasks.map((metrics) => ({ ...metrics, reportedMs }));
      return;
    }
    if (message.type === 'closed') {
      this.slotClosed(slot);
      if (this.over || this.closedSlots.size < this.slots.length) return;
      // An enumerator may still fail while other regions are closing: nothing depends on it any more.
      this.end();
      this.options.events.closed();
      return;
    }
    if (this.over) return;
    const { events } = this.options;
    switch (message.type) {
      case 'opened':
        assert(message.planHash === this.options.graph.planHash, `slot ${slot} runs another plan`);
        if (++this.openedSlots === this.slotCount) events.opened();
        return;
      case 'register-reader':
        this.sources.get(message.task.vertex)?.addReader(message.task.subtask);
        return;
      case 'request-split':
        this.sources.get(message.task.vertex)?.handleSplitRequest(message.task.subtask);
        return;
      case 'reader-event':
        this.sources.get(message.task.vertex)?.handleReaderEvent(message.task.subtask, message.event);
        return;
      case 'report-watermark':
        for (const group of this.alignment)
          if (group.vertices.includes(message.task.vertex)) group.report(message.task, message.watermarkMs);
        return;
      case 'acknowledge':
        events.acknowledged(message.acknowledgement);
        return;
      case 'decline':
        events.declined(message.decline);
        return;
      case 'completed':
        this.countCompleted(message.checkpointId);
        return;
      case 'end-of-data':
        if (++this.endedTasks === this.taskCount) events.endOfData();
        return;
      case 'failed':
        this.fail(slotError(message));
        return;
      case 'deliver':
        events.delivered(message.channelId, message.values);
        return;
    }
  }

  /** The slot has closed its tasks, or its thread is gone. */
  private slotClosed(slot: number): void {
    this.closedSlots.add(slot);
    if (this.closedSlots.size === this.slots.length) this.onClosed?.();
  }

  private countCompleted(checkpointId: number): void {
    const count = (this.completedSlots.get(checkpointId) ?? 0) + 1;
    this.completedSlots.set(checkpointId, count);
    if (count < this.slotCount) return;
    this.completedSlots.delete(checkpointId);
    this.options.events.completed(checkpointId);
  }

  private broadcast(message: ToSlot): void {
    for (const slot of this.slots) slot.post(message);
  }

  private fail(error: unknown): void {
    if (this.over) return;
    this.end();
    const wrapped = error instanceof Error ? error : new MillraceError('ASSERTION_FAILED', String(error));
    this.options.events.failed(wrapped);
  }
}
