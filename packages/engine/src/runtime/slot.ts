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
import { type Barrier, Doorbell, RecordBatch, type RestoredChannel } from '../exchange/index.ts';
import type { Platform, TimerHandle } from '../platform/index.ts';
import type { OperatorSubtaskState } from '../state/index.ts';
import { ChannelWiring, type SharedChannels } from './channel-wiring.ts';
import { CheckpointBudgets } from './checkpoint-budgets.ts';
import { elementOf } from './failed-element.ts';
import type { JobGraph, JobVertex } from './job-vertex.ts';
import type { OperatorServices } from './operator.ts';
import { type ChainHost, OperatorChain } from './operator-chain.ts';
import { type InFlightRestore, openRestoredInFlight } from './restored-in-flight.ts';
import { openRestoredState } from './restored-state.ts';
import type { FromSlot, TaskKey, ToSlot } from './slot-messages.ts';
import { type EnumeratorLink, SourceHead } from './source-head.ts';
import { Task } from './task.ts';
import { TaskCheckpoint } from './task-checkpoint.ts';
import { TaskLoop } from './task-loop.ts';

/** How often the JobManager hears numbers. */
const METRICS_INTERVAL_MS = 500;

/** What one subtask begins with: state by uid of its operators, and records in flight. */
export interface SubtaskRestore {
  readonly task: TaskKey;
  readonly operators: readonly { readonly uid: string; readonly state: OperatorSubtaskState }[];
  readonly inFlight: readonly InFlightRestore[];
}

/** Everything a slot needs beyond the graph. Structured-clonable. */
export interface SlotDeployment {
  readonly jobId: string;
  readonly lineageId: string;
  readonly attemptNumber: number;
  readonly restoredCheckpointId: number | undefined;
  readonly slotIndex: number;
  readonly slotCount: number;
  /** Which part of the job the slot belongs to, and the indices of the vertices that this consists of. */
  readonly region: number;
  readonly vertices: readonly number[];
  readonly channels: SharedChannels;
  readonly restore: readonly SubtaskRestore[];
  /** The directory that file handles in `restore` are relative to; undefined: all state is inline. */
  readonly restoreDirectory: string | undefined;
  readonly mode: CheckpointingMode;
  /** How long after its trigger barriers of a checkpoint wait their turn; undefined: they never overtake. */
  readonly alignedTimeoutMs?: number | undefined;
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
  private readonly wiring: ChannelWiring;
  private readonly batch = new RecordBatch();
  private readonly loop: TaskLoop;
  private readonly budgets: CheckpointBudgets;
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
    this.wiring = new ChannelWiring(graph, deployment.channels, platform);
    this.loop = new TaskLoop(platform, doorbell, deployment.bufferTimeoutMs);
    this.budgets = new CheckpointBudgets({
      clock: platform.clock,
      timers: platform.timers,
      alignedTimeoutMs: deployment.alignedTimeoutMs,
      spent: (checkpointId) => {
        for (const task of this.tasks.values()) task.budgetSpent(checkpointId);
        this.loop.wake();
      },
    });
  }

  /** Restores and opens all tasks, then runs the loop until closed. Resolves when the slot is open (or has failed). */
  open(): Promise<void> {
    this.opening = this.openTasks();
    return this.opening;
  }

  private async openTasks(): Promise<void> {
    if (!(await this.createTasks())) return;
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
    this.running = this.loop
      .run([...this.tasks.values()])
      .catch((error: unknown) => this.fail(undefined, error));
    this.send({ type: 'opened', planHash: this.graph.planHash });
    this.reportMetricsRegularly();
  }

  /** False: the slot has failed or closes. Channels exist before the first task is opened. */
  private async createTasks(): Promise<boolean> {
    const { vertices, slotCount, slotIndex } = this.deployment;
    for (const vertex of vertices.map((index) => this.graph.vertices[index]!)) {
      for (let subtask = 0; subtask < vertex.parallelism; subtask++) {
        if (slotOf(subtask, slotCount) !== slotIndex) continue;
        try {
          const restored = await this.restoredInFlight({ vertex: vertex.index, subtask });
          if (this.closed) return false;
          this.createTask(vertex, subtask, restored);
        } catch (error) {
          this.fail({ vertex: vertex.index, subtask }, error);
          return false;
        }
      }
    }
    return true;
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
        this.budgets.end(message.checkpointId);
        this.complete(message.checkpointId);
        break;
      case 'aborted':
        this.budgets.end(message.checkpointId);
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
    this.budgets.trigger(barrier);
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
    this.budgets.close();
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
    if (first !== undefined && !this.failed) this.sendFailure(undefined, first);
    this.send({ type: 'closed' });
  }

  private fail(task: TaskKey | undefined, error: unknown): void {
    if (this.failed || this.closed) return;
    this.failed = true;
    try {
      // How far its sources have come: that much is read again.
      this.sendMetrics();
    } catch {
      // Whatever cannot be counted now: the failure is told.
    }
    this.sendFailure(task, error);
  }

  private sendFailure(task: TaskKey | undefined, error: unknown): void {
    this.send({ type: 'failed', task, error: serializeError(error), element: elementOf(error) });
  }

  private restoredState(key: TaskKey) {
    const { platform, deployment } = this;
    return openRestoredState(platform, deployment.restoreDirectory, this.restoreOf(key)?.operators ?? []);
  }

  /** What is deeper in the chain goes first: it was sent before what the operators in front of it have still to process. */
  private async restoredInFlight(key: TaskKey): Promise<RestoredChannel[]> {
    const { platform, deployment, graph } = this;
    const pieces = this.restoreOf(key)?.inFlight ?? [];
    if (pieces.length === 0) return [];
    const channels = await openRestoredInFlight(platform, deployment.restoreDirectory, graph, key, pieces);
    return channels.sort((a, b) => b.operator - a.operator);
  }

  private restoreOf({ vertex, subtask }: TaskKey): SubtaskRestore | undefined {
    return this.deployment.restore.find(({ task }) => task.vertex === vertex && task.subtask === subtask);
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

  private createTask(vertex: JobVertex, subtask: number, restored: readonly RestoredChannel[]): void {
    const { deployment, wiring } = this;
    const key: TaskKey = { vertex: vertex.index, subtask };
    const name = `${vertex.index}.${subtask}`;
    const host: ChainHost = {
      jobName: this.graph.jobName,
      subtaskIndex: subtask,
      attemptNumber: deployment.attemptNumber,
      services: this.services(),
      processingTimeMs: () => this.loop.processingTimeMs,
      monotonicMs: () => this.loop.monotonicMs,
      wake: () => this.loop.wake(),
      fail: (error) => this.fail(key, error),
    };
    const outputs = wiring.outputsOf(vertex, subtask);
    const inputs = wiring.inputsOf(vertex, subtask, restored);
    const chain = new OperatorChain(vertex, outputs, host);
    this.tasks.set(
      name,
      new Task({
        key,
        vertex,
        chain,
        source: this.createSourceHead(vertex, key, chain),
        inputs,
        outputs,
        checkpoint: this.createCheckpoint(vertex, key),
        batch: this.batch,
        mode: deployment.mode,
        alignedTimeoutMs: deployment.alignedTimeoutMs,
        autoWatermarkIntervalMs: deployment.autoWatermarkIntervalMs,
        events: {
          endOfData: (task) => this.send({ type: 'end-of-data', task }),
          failed: (task, error) => this.fail(task, error),
          wake: () => this.loop.wake(),
        },
      }),
    );
  }

  private createSourceHead(vertex: JobVertex, task: TaskKey, chain: OperatorChain): SourceHead | undefined {
    if (vertex.source === undefined) return undefined;
    const link: EnumeratorLink = {
      registerReader: () => this.send({ type: 'register-reader', task }),
      requestSplit: () => this.send({ type: 'request-split', task }),
      reportWatermark: (watermarkMs) => this.send({ type: 'report-watermark', task, watermarkMs }),
      sendEvent: (event) => this.send({ type: 'reader-event', task, event }),
    };
    return new SourceHead(vertex.source, chain, link, this.deployment.maxRecords);
  }

  private createCheckpoint(vertex: JobVertex, key: TaskKey): TaskCheckpoint {
    const { attemptNumber, asyncSnapshots } = this.deployment;
    const name = `${key.vertex}-${key.subtask}`;
    return new TaskCheckpoint({
      key,
      attemptNumber,
      clock: this.platform.clock,
      async: asyncSnapshots,
      triggeredMs: (checkpointId) => this.budgets.triggeredMs(checkpointId),
      openStream: (checkpointId) => this.openStream(checkpointId, name, vertex.name),
      acknowledge: (acknowledgement) => this.send({ type: 'acknowledge', acknowledgement }),
      decline: (decline) => this.send({ type: 'decline', decline }),
      wake: () => this.loop.wake(),
    });
  }
}
