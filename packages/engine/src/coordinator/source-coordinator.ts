/**
 * Runs the split enumerator of one source vertex beside the JobManager: serialises its calls, carries splits to readers.
 *
 * Invariants:
 * I1 Calls of the enumerator do not overlap: each waits for the promise of the one before.
 * I2 `snapshot` is only taken while no call is running, in the same synchronous turn in which the trigger messages are
 *    sent: a split is then either in the enumerator's snapshot or was sent to its reader before the trigger.
 * I3 What crosses to readers and snapshots is a copy: an enumerator may hand out what it goes on changing.
 */
import { MillraceError } from '../base/index.ts';
import type { Platform } from '../platform/index.ts';
import type { JobVertex, SourceSplit, SplitEnumerator, TaskKey, ToSlot } from '../runtime/index.ts';
import { createSerializer, encodeToBytes } from '../types/index.ts';

export interface SourceCoordinatorOptions {
  readonly vertex: JobVertex;
  readonly platform: Platform;
  /** undefined: a fresh start. */
  readonly restored: { readonly state: unknown } | undefined;
  send(task: TaskKey, message: ToSlot): void;
  /** The source works off a backlog from now on, or no longer. */
  backlog(isProcessing: boolean): void;
  fail(error: unknown): void;
}

export class SourceCoordinator {
  readonly vertex: JobVertex;
  private readonly options: SourceCoordinatorOptions;
  private readonly enumerator: SplitEnumerator<unknown>;
  private queue: Promise<void> = Promise.resolve();
  private readonly serializer = createSerializer<unknown>(undefined, 'state of a split enumerator');
  private readonly readers = new Set<number>();
  private pendingCalls = 0;
  private assignedBefore = 0;
  private isProcessingBacklog = false;
  private closed = false;

  constructor(options: SourceCoordinatorOptions) {
    this.options = options;
    this.vertex = options.vertex;
    const { source } = this.vertex.source!;
    const context = {
      platform: options.platform,
      logger: options.platform.logger,
      sourceName: this.vertex.operators[0]!.name,
      parallelism: this.vertex.parallelism,
      assignSplit: (split: SourceSplit, subtask: number) => {
        const task = this.reader(subtask);
        options.send(task, { type: 'assign-splits', task, splits: [structuredClone(split)] });
      },
      signalNoMoreSplits: (subtask: number) => {
        const task = this.reader(subtask);
        options.send(task, { type: 'no-more-splits', task });
      },
      sendEventToSourceReader: (subtask: number, event: unknown) => {
        const task = this.reader(subtask);
        options.send(task, { type: 'enumerator-event', task, event: structuredClone(event) });
      },
      setIsProcessingBacklog: (isProcessing: boolean) => this.reportBacklog(isProcessing),
      fail: (error: unknown) => options.fail(error),
    };
    this.enumerator =
      options.restored === undefined
        ? source.createEnumerator(context)
        : source.restoreEnumerator(context, options.restored.state);
  }

  /** Resolves start positions. */
  async start(): Promise<void> {
    this.call(() => this.enumerator.start());
    await this.queue;
    this.assignedBefore = this.enumerator.amountAssigned?.() ?? 0;
  }

  addReader(subtask: number): void {
    this.readers.add(subtask);
    this.call(() => this.enumerator.addReader(subtask));
  }

  handleSplitRequest(subtask: number): void {
    this.call(() => this.enumerator.handleSplitRequest(subtask));
  }

  handleReaderEvent(subtask: number, event: unknown): void {
    const copy = structuredClone(event);
    this.call(() => this.enumerator.handleSourceEvent?.(subtask, copy));
  }

  /** What readers were given before this attempt; their progress counts from there. */
  get amountAssignedBefore(): number {
    return this.assignedBefore;
  }

  get isIdle(): boolean {
    return this.pendingCalls === 0;
  }

  /** Resolves when the calls made so far are done. */
  settled(): Promise<void> {
    return this.queue;
  }

  /** The enumerator's state as it is now. */
  snapshot(): Uint8Array {
    return encodeToBytes(this.serializer, this.enumerator.snapshotState());
  }

  async close(): Promise<void> {
    if (this.closed) return;
    // The source of the next attempt says for itself what it works off.
    this.reportBacklog(false);
    this.closed = true;
    await this.queue;
    await this.enumerator.close();
  }

  private reportBacklog(isProcessing: boolean): void {
    if (this.closed || isProcessing === this.isProcessingBacklog) return;
    this.isProcessingBacklog = isProcessing;
    this.options.backlog(isProcessing);
  }

  /** A split that is given to a reader that is not there would be in nobody's snapshot. */
  private reader(subtask: number): TaskKey {
    if (!this.readers.has(subtask)) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `The enumerator of source '${this.vertex.operators[0]!.name}' spoke to reader ${subtask}, which has not registered. ` +
          'Give splits to a reader in addReader or later.',
      );
    }
    return { vertex: this.vertex.index, subtask };
  }

  private call(action: () => void | Promise<void>): void {
    this.pendingCalls++;
    this.queue = this.queue
      .then(() => (this.closed ? undefined : action()))
      .catch((error: unknown) => {
        if (!this.closed) this.options.fail(error);
      })
      .finally(() => {
        this.pendingCalls--;
      });
  }
}
