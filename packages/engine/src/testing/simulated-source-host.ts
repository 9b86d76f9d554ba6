/**
 * A host of a source for tests: one enumerator, some readers, the messages between them, checkpoints and restores, all in
 * an order chosen by a seed.
 *
 * Used by the contract of sources. Messages to a reader and barriers travel on one ordered path, as the contract says;
 * everything that crosses a border is cloned, so that what is not plain data fails here.
 *
 * I1  A checkpoint is complete when each reader has passed its barrier; it holds what was emitted before, too.
 */
import assert from 'node:assert/strict';
import type { Platform } from '../platform/index.ts';
import type { PollStatus, Source, SourceReader, SourceSplit, SplitEnumerator } from '../runtime/index.ts';
import type { SeededRandom } from './seeded-random.ts';

type ReaderMessage =
  | { readonly split: SourceSplit }
  | { readonly noMoreSplits: true }
  | { readonly event: unknown }
  | { readonly barrier: number };

/** What a reader said to the enumerator: a request for a split, or an event. */
interface EnumeratorMessage {
  readonly subtaskIndex: number;
  readonly event?: unknown;
}

/** Everything needed to go on, and what had been emitted by then. */
export interface SourceCheckpoint<T> {
  readonly enumerator: unknown;
  readonly splits: readonly SourceSplit[];
  readonly emitted: readonly T[];
}

interface SimulatedReader<T> {
  readonly reader: SourceReader<T, SourceSplit>;
  readonly inbox: ReaderMessage[];
  readonly emitted: T[];
  status: PollStatus;
}

interface PendingCheckpoint<T> {
  readonly id: number;
  readonly enumerator: unknown;
  readonly parts: Map<number, { readonly splits: readonly SourceSplit[]; readonly emitted: readonly T[] }>;
}

/** Runs a source in a test as the engine does: enumerator, readers, checkpoints, restarts. */
export class SimulatedSourceHost<T> {
  readonly #random: SeededRandom;
  readonly #emittedBefore: readonly T[];
  readonly #enumerator: SplitEnumerator<unknown>;
  readonly #readers: SimulatedReader<T>[] = [];
  readonly #requests: EnumeratorMessage[] = [];
  #pending: PendingCheckpoint<T> | undefined;
  #checkpoints = 0;
  #failure: unknown;
  #wake: PromiseWithResolvers<void> = Promise.withResolvers();
  /** What the enumerator said last. */
  isProcessingBacklog = false;
  /** The newest complete checkpoint. */
  completed: SourceCheckpoint<T> | undefined;

  private constructor(
    source: Source<T>,
    platform: Platform,
    random: SeededRandom,
    parallelism: number,
    restored: SourceCheckpoint<T> | undefined,
  ) {
    this.#random = random;
    this.#emittedBefore = restored?.emitted ?? [];
    this.completed = restored;
    const fail = (error: unknown): void => {
      this.#failure ??= error;
      this.#wake.resolve();
    };
    const world = { platform, logger: platform.logger, sourceName: 'source under test', parallelism, fail };
    const context = {
      ...world,
      assignSplit: (split: SourceSplit, subtask: number) => {
        this.#send(subtask, { split: structuredClone(split) });
      },
      signalNoMoreSplits: (subtask: number) => {
        this.#send(subtask, { noMoreSplits: true });
      },
      sendEventToSourceReader: (subtask: number, event: unknown) => {
        this.#send(subtask, { event: structuredClone(event) });
      },
      setIsProcessingBacklog: (isProcessingBacklog: boolean) => {
        this.isProcessingBacklog = isProcessingBacklog;
      },
    };
    this.#enumerator =
      restored === undefined
        ? source.createEnumerator(context)
        : source.restoreEnumerator(context, structuredClone(restored.enumerator));
    for (let subtaskIndex = 0; subtaskIndex < parallelism; subtaskIndex++) {
      const reader = source.createReader({
        ...world,
        subtaskIndex,
        attemptNumber: restored === undefined ? 0 : 1,
        requestSplit: () => this.#ask({ subtaskIndex }),
        sendSourceEventToCoordinator: (event) => this.#ask({ subtaskIndex, event: structuredClone(event) }),
        wake: () => {
          this.#readers[subtaskIndex]!.status = 'more';
          this.#wake.resolve();
        },
      });
      this.#readers.push({ reader, inbox: [], emitted: [], status: 'more' });
    }
  }

  /** A host that begins, or goes on from `restored` with its splits spread at random over the readers. */
  static async start<T>(
    source: Source<T>,
    platform: Platform,
    random: SeededRandom,
    parallelism: number,
    restored?: SourceCheckpoint<T>,
  ): Promise<SimulatedSourceHost<T>> {
    const host = new SimulatedSourceHost(source, platform, random, parallelism, restored);
    await host.#enumerator.start();
    host.#throwFailure();
    const splits = host.#readers.map(() => [] as SourceSplit[]);
    for (const split of restored?.splits ?? []) random.pick(splits).push(structuredClone(split));
    for (const [i, entry] of host.#readers.entries()) {
      const early = random.oneIn(2);
      if (early && splits[i]!.length > 0) entry.reader.addSplits(splits[i]!);
      const status = host.#poll(entry, 10);
      assert.equal(status, 'nothing', 'a reader that was not started answers "nothing"');
      assert.equal(entry.emitted.length, 0, 'a reader that was not started emits nothing');
      entry.status = 'more';
      await entry.reader.start();
      if (!early && splits[i]!.length > 0) entry.reader.addSplits(splits[i]!);
      await host.#enumerator.addReader(i);
    }
    return host;
  }

  /** True when all readers are at their end. */
  get ended(): boolean {
    return this.#readers.every(({ status }) => status === 'end');
  }

  /** True when nothing can happen now: readers and enumerator wait for I/O or time. */
  get isQuiet(): boolean {
    return (
      this.#failure === undefined &&
      this.#requests.length === 0 &&
      this.#readers.every(({ inbox, status }) => inbox.length === 0 && status !== 'more')
    );
  }

  /** All that was emitted: before the restore and since. */
  get emitted(): T[] {
    return [...this.#emittedBefore, ...this.#readers.flatMap(({ emitted }) => emitted)];
  }

  /** Sends barriers, unless a checkpoint is under way. */
  triggerCheckpoint(): void {
    if (this.#pending !== undefined) return;
    const id = ++this.#checkpoints;
    this.#pending = { id, enumerator: structuredClone(this.#enumerator.snapshotState()), parts: new Map() };
    for (const { inbox } of this.#readers) inbox.push({ barrier: id });
  }

  /** One thing happens, chosen at random of what can; waits for I/O if nothing can. */
  async step(maxRecords: number): Promise<void> {
    this.#throwFailure();
    const actions: (() => void | Promise<void>)[] = [];
    if (this.#requests.length > 0) actions.push(() => this.#deliverRequest());
    for (const [i, entry] of this.#readers.entries()) {
      if (entry.inbox.length > 0) actions.push(() => this.#receive(i, entry));
      if (entry.status === 'more') actions.push(() => void (entry.status = this.#poll(entry, maxRecords)));
    }
    if (actions.length === 0) {
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    } else await this.#random.pick(actions)();
    this.#throwFailure();
  }

  /** Ends enumerator and readers. */
  async close(): Promise<void> {
    for (const { reader } of this.#readers) await reader.close();
    await this.#enumerator.close();
  }

  #poll(entry: SimulatedReader<T>, maxRecords: number): PollStatus {
    const before = entry.emitted.length;
    const status = entry.reader.poll({ collect: (value) => void entry.emitted.push(value) }, maxRecords);
    const count = entry.emitted.length - before;
    assert.ok(count <= maxRecords, `poll emitted ${count} records, ${maxRecords} were asked for`);
    return status;
  }

  #send(subtask: number, message: ReaderMessage): void {
    this.#readers[subtask]!.inbox.push(message);
    this.#wake.resolve();
  }

  #ask(message: EnumeratorMessage): void {
    this.#requests.push(message);
    this.#wake.resolve();
  }

  #deliverRequest(): void | Promise<void> {
    const request = this.#requests.shift()!;
    return 'event' in request
      ? this.#enumerator.handleSourceEvent?.(request.subtaskIndex, request.event)
      : this.#enumerator.handleSplitRequest(request.subtaskIndex);
  }

  async #receive(subtask: number, entry: SimulatedReader<T>): Promise<void> {
    const message = entry.inbox.shift()!;
    if ('split' in message) entry.reader.addSplits([message.split]);
    else if ('noMoreSplits' in message) entry.reader.noMoreSplits();
    else if ('event' in message) entry.reader.handleSourceEvents?.(message.event);
    else await this.#passBarrier(subtask, entry);
    if (entry.status !== 'end') entry.status = 'more';
  }

  async #passBarrier(subtask: number, { reader, emitted }: SimulatedReader<T>): Promise<void> {
    const pending = this.#pending!;
    const splits = structuredClone(reader.snapshotState(pending.id));
    pending.parts.set(subtask, { splits, emitted: [...emitted] });
    if (pending.parts.size < this.#readers.length) return;
    const parts = [...pending.parts.values()];
    const allSplits = parts.flatMap((part) => part.splits);
    const ids = allSplits.map(({ splitId }) => splitId);
    assert.equal(new Set(ids).size, ids.length, `a split is in two readers: ${ids.join(', ')}`);
    this.completed = {
      enumerator: pending.enumerator,
      splits: allSplits,
      emitted: [...this.#emittedBefore, ...parts.flatMap((part) => part.emitted)],
    };
    this.#pending = undefined;
    for (const other of this.#readers) await other.reader.notifyCheckpointComplete?.(pending.id);
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}
