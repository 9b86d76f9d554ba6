/**
 * A slot: what one thread runs of a job. Builds its tasks from the job's graph and the deployment, runs the task loop,
 * and exchanges messages with the JobManager. The same class serves the main thread (inline host) and worker threads.
 *
 * Invariants:
 * I1 Messages are handled in order; what a message starts asynchronously never overtakes a later snapshot.
 * I2 After `failed` was sent the slot only answers `cancel`.
 * I3 Once it closes, nothing is begun any more; `closed` is its last word, and every task was closed by then.
 */
import { serializeError } from '../base/index.ts';
import {
  type CheckpointingMode,
  type CheckpointLocation,
  type CheckpointStreams,
  createCheckpointStreams,
  type StateStream,
} from '../checkpoint/index.ts';
import { type Barrier, Doorbell, RecordBatch } from '../exchange/index.ts';
import type { Platform, TimerHandle } from '../platform/index.ts';
import type { OperatorSubtaskState } from '../state/index.ts';
import { ChannelWiring, type SharedChannels } from './channel-wiring.ts';
import type { JobGraph, JobVertex } from './job-vertex.ts';
import type { OperatorServices } from './operator.ts';
import { type ChainHost, OperatorChain } from './operator-chain.ts';
import { openRestoredState } from './restored-state.ts';
import type { FromSlot, TaskKey, ToSlot } from './slot-messages.ts';
import { SourceHead } from './source-head.ts';
import { Task } from './task.ts';
import { TaskCheckpoint } from './task-checkpoint.ts';
import { TaskLoop } from './task-loop.ts';

/** How often the JobManager hears numbers. */
const METRICS_INTERVAL_MS = 500;

/** State of one subtask to begin with, by uid of its operators. */
export interface SubtaskRestore {
  readonly task: TaskKey;
  readonly operators: readonly { readonly uid: string; readonly state: OperatorSubtaskState }[];
}

/** Everything a slot needs beyond the graph. Structured-clonable. */
export interface SlotDeployment {
  readonly jobId: string;
  readonly lineageId: string;
  readonly attemptNumber: number;
  readonly restoredCheckpointId: number | undefined;
  readonly slotIndex: number;
  readonly slotCount: number;
  readonly channels: SharedChannels;
  readonly restore: readonly SubtaskRestore[];
  /** The directory that file handles in `restore` are relative to; undefined: all state is inline. */
  readonly restoreDirectory: string | undefined;
  readonly mode: CheckpointingMode;
  readonly checkpointingEnabled: boolean;
  readonly asyncSnapshots: boolean;
  readonly autoWatermarkIntervalMs: number;
  readonly bufferTimeoutMs: number;
  /** Each source ends after so many records; undefined: it does not. */
  readonly maxRecords?: number;
}

/** Which slot runs a subtask. */
export function slotOf(subtaskIndex: number, slotCount: number): number {
  return subtaskIndex % slotCount;
}

export class Slot {
  private readonly graph: JobGraph;
  private readonly deployment: SlotDeployment;
  private readonly platform: Platform;
  private readonly send: (message: FromSlot) => void;
  private readonly tasks = new Map<string, Task>();
  private readonly loop: TaskLoop;
  private readonly streams: CheckpointStreams;
  private readonly locations = new Map<number, CheckpointLocation | 'aborted'>();
  private readonly waiting = new Map<number, (() => void)[]>();
  private metricsTimer: TimerHandle | undefined;
  private completing: Promise<void> = Promise.resolve();
  private opening: Promise<void> | undefined;
  private running: Promise<void> | undefined;
  private failed = false;
  private closed = false;

  constructor(
    graph: JobGraph,
    deployment: SlotDeployment,
    platform: Platform,
    send: (message: FromSlot) => void,
  ) {
    this.graph = graph;
    this.deployment = deployment;
    this.platform = platform;
    this.send = send;
    this.streams = createCheckpointStreams(platform);
    const doorbell = new Doorbell(deployment.channels.doorbells, deployment.slotIndex, platform.parking);
    const wiring = new ChannelWiring(graph, deployment.channels, platform);
    const batch = new RecordBatch();
    for (const vertex of graph.vertices) {
      for (let subtask = 0; subtask < vertex.parallelism; subtask++) {
        if (slotOf(subtask, deployment.slotCount) === deployment.slotIndex)
          this.createTask(vertex, subtask, wiring, batch);
      }
    }
    this.loop = new TaskLoop([...this.tasks.values()], platform, doorbell, deployment.bufferTimeoutMs);
  }

  /** Restores and opens all tasks, then runs the loop until closed. Resolves when the slot is open (or has failed). */
  open(): Promise<void> {
    this.opening = this.openTasks();
    return this.opening;
  }

  private async openTasks(): Promise<void> {
    for (const task of this.tasks.values()) {
      if (this.closed) return;
      try {
        await task.open(await this.restoredState(task.key));
      } catch (error) {
        this.fail(task.key, error);
        return;
      }
    }
    if (this.closed) return;
    this.running = this.loop.run().catch((error: unknown) => this.fail(undefined, error));
    this.send({ type: 'opened', planHash: this.graph.planHash });
    this.reportMetricsRegularly();
  }

  handle(message: ToSlot): void {
    // I2, I3
    if (this.closed || (this.failed && message.type !== 'cancel')) return;
    switch (message.type) {
      case 'start':
        for (const task of this.tasks.values()) task.start();
        break;
      case 'trigger':
        this.trigger(message.location, {
          checkpointId: message.checkpointId,
          timestampMs: message.timestampMs,
          kind: message.kind,
        });
        break;
      case 'complete':
        this.complete(message.checkpointId);
        break;
      case 'aborted':
        this.settleLocation(message.checkpointId, 'aborted');
        for (const task of this.tasks.values()) task.abortCheckpoint(message.checkpointId);
        break;
      case 'assign-splits':
        this.taskOf(message.task)?.addSplits(message.splits);
        break;
      case 'no-more-splits':
        this.taskOf(message.task)?.noMoreSplits();
        break;
      case 'enumerator-event':
        this.taskOf(message.task)?.enumeratorEvent(message.event);
        break;
      case 'align-watermark':
        for (const task of this.tasks.values())
          if (task.key.vertex === message.vertex) task.alignWatermark(message.maxAllowedMs);
        break;
      case 'drain':
        for (const task of this.tasks.values()) task.drain();
        break;
      case 'finish':
        void this.finish(message.commit);
        break;
      case 'cancel':
        void this.close();
        break;
    }
    this.loop.wake();
  }

  private reportMetricsRegularly(): void {
    this.metricsTimer = this.platform.timers.after(METRICS_INTERVAL_MS, () => {
      if (this.closed || this.failed) return;
      this.sendMetrics();
      this.reportMetricsRegularly();
    });
  }

  private sendMetrics(): void {
    this.send({ type: 'metrics', tasks: [...this.tasks.values()].map((task) => task.metrics()) });
  }

  private taskOf(key: TaskKey): Task | undefined {
    return this.tasks.get(`${key.vertex}.${key.subtask}`);
  }

  private trigger(location: CheckpointLocation, barrier: Barrier): void {
    this.settleLocation(barrier.checkpointId, location);
    for (const task of this.tasks.values()) task.trigger(barrier);
  }

  private settleLocation(checkpointId: number, location: CheckpointLocation | 'aborted'): void {
    this.locations.set(checkpointId, location);
    // Barriers of old checkpoints do not come any more: keep what is recent only.
    for (const id of this.locations.keys()) if (id < checkpointId - 100) this.locations.delete(id);
    for (const resolve of this.waiting.get(checkpointId) ?? []) resolve();
    this.waiting.delete(checkpointId);
  }

  /** A barrier may come through a channel before the trigger message was read: wait for the latter. */
  private async openStream(checkpointId: number, name: string, operatorName: string): Promise<StateStream> {
    if (!this.locations.has(checkpointId)) {
      await new Promise<void>((resolve) => {
        this.waiting.set(checkpointId, [...(this.waiting.get(checkpointId) ?? []), resolve]);
      });
    }
    const location = this.locations.get(checkpointId);
    if (location === undefined || location === 'aborted')
      throw new Error(`checkpoint ${checkpointId} was aborted`);
    return this.streams.createStream(location, name, operatorName);
  }

  /** Commits of one checkpoint end before those of the next begin. */
  private complete(checkpointId: number): void {
    this.completing = this.completing
      .then(() =>
        Promise.all([...this.tasks.values()].map((task) => task.notifyCheckpointComplete(checkpointId))),
      )
      .then(() => this.send({ type: 'completed', checkpointId }))
      .catch((error: unknown) => this.fail(undefined, error));
  }

  private async finish(commit: boolean): Promise<void> {
    try {
      if (commit) for (const task of this.tasks.values()) await task.commitWithoutCheckpoint();
      await this.close();
    } catch (error) {
      this.fail(undefined, error);
    }
  }

  /** Closes all tasks, in any state. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.metricsTimer?.cancel();
    if (!this.failed) this.sendMetrics();
    this.loop.stop();
    // Operators that are being opened now are opened to the end, so that they can be closed.
    await this.opening;
    await this.running;
    await this.completing;
    let first: unknown;
    for (const task of this.tasks.values()) {
      try {
        await task.close();
      } catch (error) {
        first ??= error;
      }
    }
    if (first !== undefined && !this.failed)
      this.send({ type: 'failed', task: undefined, error: serializeError(first) });
    this.send({ type: 'closed' });
  }

  private fail(task: TaskKey | undefined, error: unknown): void {
    if (this.failed || this.closed) return;
    this.failed = true;
    this.send({ type: 'failed', task, error: serializeError(error) });
  }

  private restoredState(key: TaskKey) {
    const { restore, restoreDirectory } = this.deployment;
    const operators = restore.find(
      (entry) => entry.task.vertex === key.vertex && entry.task.subtask === key.subtask,
    );
    return openRestoredState(this.platform, restoreDirectory, operators?.operators ?? []);
  }

  private services(): OperatorServices {
    const { jobId, lineageId, restoredCheckpointId, checkpointingEnabled } = this.deployment;
    return {
      platform: this.platform,
      logger: this.platform.logger,
      jobId,
      lineageId,
      restoredCheckpointId,
      globalJobParameters: this.graph.globalJobParameters ?? {},
      checkpointingEnabled,
      deliver: (channelId, values) => this.send({ type: 'deliver', channelId, values }),
    };
  }

  private createTask(vertex: JobVertex, subtask: number, wiring: ChannelWiring, batch: RecordBatch): void {
    const { deployment, platform } = this;
    const key: TaskKey = { vertex: vertex.index, subtask };
    const name = `${vertex.index}.${subtask}`;
    const host: ChainHost = {
      jobName: this.graph.jobName,
      subtaskIndex: subtask,
      attemptNumber: deployment.attemptNumber,
      services: this.services(),
      processingTimeMs: () => this.loop.processingTimeMs,
      wake: () => this.loop.wake(),
      fail: (error) => this.fail(key, error),
    };
    const exits = wiring.writersOf(vertex, subtask);
    const inputs = wiring.gateOf(vertex, subtask);
    const chain = new OperatorChain(vertex, exits, host);
    const source =
      vertex.source === undefined
        ? undefined
        : new SourceHead(
            vertex.source,
            chain,
            {
              registerReader: () => this.send({ type: 'register-reader', task: key }),
              requestSplit: () => this.send({ type: 'request-split', task: key }),
              reportWatermark: (watermarkMs) =>
                this.send({ type: 'report-watermark', task: key, watermarkMs }),
              sendEvent: (event) => this.send({ type: 'reader-event', task: key, event }),
            },
            deployment.maxRecords,
          );
    const checkpoint = new TaskCheckpoint({
      key,
      attemptNumber: deployment.attemptNumber,
      clock: platform.clock,
      async: deployment.asyncSnapshots,
      openStream: (checkpointId) => this.openStream(checkpointId, `${vertex.index}-${subtask}`, vertex.name),
      acknowledge: (acknowledgement) => this.send({ type: 'acknowledge', acknowledgement }),
      decline: (decline) => this.send({ type: 'decline', decline }),
      wake: () => this.loop.wake(),
    });
    this.tasks.set(
      name,
      new Task({
        key,
        vertex,
        chain,
        source,
        gate: inputs?.gate,
        channelInputs: inputs?.channelInputs ?? [],
        writers: exits.map((exit) => exit.writer),
        checkpoint,
        batch,
        mode: deployment.mode,
        autoWatermarkIntervalMs: deployment.autoWatermarkIntervalMs,
        events: {
          endOfData: (task) => this.send({ type: 'end-of-data', task }),
          failed: (task, error) => this.fail(task, error),
          wake: () => this.loop.wake(),
        },
      }),
    );
  }
}
