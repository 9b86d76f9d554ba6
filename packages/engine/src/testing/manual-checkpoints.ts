/**
 * The checkpoint coordinator of two tasks under a clock that the test moves. Keeps a log of what it wants done; follows
 * `wakeAt` by itself, and says at once that a trigger was carried out unless told otherwise.
 */
import {
  type CheckpointAction,
  CheckpointCoordinator,
  type CheckpointEvent,
  type CheckpointKind,
  type CheckpointSettings,
  type DeclineReason,
  type TaskAcknowledgement,
} from '../checkpoint/index.ts';

const SETTINGS: CheckpointSettings = {
  intervalMs: 1000,
  mode: 'EXACTLY_ONCE',
  timeoutMs: 5000,
  minPauseMs: 500,
  maxConcurrent: 1,
  tolerableFailures: 2,
  retention: 'RETAIN_ON_CANCELLATION',
  retainedCount: 2,
  storage: { kind: 'jobmanager', maxStateSizeBytes: 1 },
  asyncSnapshots: true,
};

const METRICS = {
  ...{ startDelayMs: 0, alignmentMs: 0, syncMs: 0, asyncMs: 0 },
  ...{ stateSizeBytes: 0, checkpointedBytes: 0, processedBytes: 0, persistedBytes: 0 },
};

const SUBTASKS = [0, 1];

export class ManualCheckpoints {
  readonly coordinator: CheckpointCoordinator;
  /** `<ms> <action> <checkpoint or request> <more>` */
  readonly log: string[] = [];
  /** Of aborted checkpoints, for people. */
  readonly messages: string[] = [];
  /** What was begun: ids with time and kind, oldest first. */
  readonly begun: { readonly id: number; readonly atMs: number; readonly kind: CheckpointKind }[] = [];
  nowMs = 0;
  wallMs = 1_000_000;
  /** Of both tasks. */
  attempt = 0;
  triggersAtOnce = true;
  private wakeAtMs: number | undefined;

  constructor(settings: Partial<CheckpointSettings> = {}) {
    this.coordinator = new CheckpointCoordinator({ ...SETTINGS, ...settings });
  }

  /** The newest that was begun; -1: none. */
  get newest(): number {
    return this.begun.at(-1)?.id ?? -1;
  }

  get starts(): number[] {
    return this.begun.map(({ atMs }) => atMs);
  }

  send(event: CheckpointEvent): readonly CheckpointAction[] {
    const actions = this.coordinator.handle(event, { monotonicMs: this.nowMs, wallMs: this.wallMs });
    for (const action of actions) this.note(action);
    for (const action of actions) {
      if (action.type === 'trigger' && this.triggersAtOnce)
        this.send({ type: 'triggered', checkpointId: action.barrier.checkpointId });
    }
    return actions;
  }

  private note(action: CheckpointAction): void {
    const write = (...words: unknown[]): void =>
      void this.log.push([this.nowMs, ...words].map(String).join(' '));
    switch (action.type) {
      case 'wakeAt':
        this.wakeAtMs = action.monotonicMs;
        return;
      case 'trigger': {
        const { checkpointId, kind } = action.barrier;
        this.begun.push({ id: checkpointId, atMs: this.nowMs, kind });
        return write('trigger', checkpointId, kind);
      }
      case 'answer': {
        const { answer } = action;
        return write(
          'answer',
          action.requestId,
          answer.type === 'completed' ? answer.checkpointId : answer.failure,
        );
      }
      case 'notifyAborted':
        this.messages.push(action.message);
        return write('notifyAborted', action.checkpointId, action.failure);
      case 'makePlace':
        return write('makePlace', action.requestId, action.targetDirectory);
      default:
        return write(action.type, ...('checkpointId' in action ? [action.checkpointId] : []));
    }
  }

  /** Both tasks run. */
  start(): this {
    const subtasks = SUBTASKS.map((subtaskIndex) => ({
      vertexIndex: 0,
      subtaskIndex,
      attemptNumber: this.attempt,
    }));
    this.send({ type: 'allTasksRunning', subtasks });
    return this;
  }

  /** A task fails and both are started again, as soon as it is known from where. */
  restart(): void {
    this.send({ type: 'taskFailed', message: 'boom' });
    this.attempt++;
    this.start();
  }

  /** Moves time to `ms`, ticking whenever the coordinator asked for it. */
  to(ms: number): this {
    while (this.wakeAtMs !== undefined && this.wakeAtMs <= ms) {
      this.nowMs = Math.max(this.nowMs, this.wakeAtMs);
      this.wakeAtMs = undefined;
      this.send({ type: 'tick' });
    }
    this.nowMs = ms;
    return this;
  }

  ask(requestId: number | string, kind: CheckpointKind = 'checkpoint', targetDirectory?: string): void {
    this.send({ type: 'triggerByHand', requestId, kind, targetDirectory });
  }

  acknowledge(checkpointId: number, subtaskIndex: number, attemptNumber = this.attempt): void {
    const acknowledgement: TaskAcknowledgement = {
      ...{ checkpointId, vertexIndex: 0, subtaskIndex, attemptNumber },
      ...{ operators: [], files: [], metrics: METRICS },
    };
    this.send({ type: 'acknowledge', acknowledgement });
  }

  /** Both tasks acknowledge it. */
  acknowledgeAll(checkpointId = this.newest): void {
    for (const subtaskIndex of SUBTASKS) this.acknowledge(checkpointId, subtaskIndex);
  }

  stored(checkpointId = this.newest): void {
    this.send({ type: 'stored', checkpointId });
  }

  /** Both tasks acknowledge it and its manifest is stored. */
  complete(checkpointId = this.newest): void {
    this.acknowledgeAll(checkpointId);
    this.stored(checkpointId);
  }

  decline(
    checkpointId = this.newest,
    reason: DeclineReason = 'snapshot-failed',
    attemptNumber = this.attempt,
  ): void {
    const decline = { checkpointId, vertexIndex: 0, subtaskIndex: 1, attemptNumber, reason };
    this.send({ type: 'decline', decline: { ...decline, message: 'the disk is full' } });
  }

  storeFailed(outcome: 'absent' | 'unknown', checkpointId = this.newest): void {
    this.send({ type: 'storeFailed', checkpointId, message: 'disk', outcome });
  }

  /** Whether the log has an entry that ends like that. */
  has(line: string): boolean {
    return this.log.some((each) => each.endsWith(line));
  }
}
