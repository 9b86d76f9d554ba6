/**
 * Runs the enumerators of the sources of a hybrid source, one after the other.
 *
 * Called by the host of the source; knows nothing of the sources but the contract.
 *
 * I1  Splits in readers are all of the current source: it is left only when each reader has finished it.
 * I2  An enumerator that was left says nothing any more.
 * I3  All sources but the last are a backlog, whatever they say; the last one says for itself.
 */
import { MillraceError } from '../../base/index.ts';
import type { EnumeratorContext, SourceSplit, SplitEnumerator } from '../../runtime/index.ts';
import type {
  HybridEnumeratorState,
  HybridSplit,
  ResolveSource,
  ToHybridEnumerator,
  ToHybridReader,
} from './hybrid-messages.ts';

export class HybridEnumerator implements SplitEnumerator<HybridEnumeratorState> {
  readonly #context: EnumeratorContext<HybridSplit>;
  readonly #sourceCount: number;
  readonly #resolve: ResolveSource<unknown>;
  readonly #readers = new Set<number>();
  readonly #finished = new Set<number>();
  #index: number;
  #previousState: unknown;
  #inner: SplitEnumerator<unknown>;

  /** Throws SOURCE_STATE_MISMATCH if the source that was restored is no longer there. */
  constructor(
    context: EnumeratorContext<HybridSplit>,
    sourceCount: number,
    resolve: ResolveSource<unknown>,
    restored: HybridEnumeratorState | undefined,
  ) {
    this.#context = context;
    this.#sourceCount = sourceCount;
    this.#resolve = resolve;
    this.#index = restored?.sourceIndex ?? 0;
    this.#previousState = restored?.previousState;
    if (this.#index >= sourceCount) {
      throw new MillraceError(
        'SOURCE_STATE_MISMATCH',
        `source "${context.sourceName}": the saved position is in source ${this.#index + 1} of a hybrid source, which now ` +
          `has ${sourceCount}. Restore with the sources it had, or give the changed source a new uid.`,
        { details: { source: context.sourceName, savedSource: this.#index + 1, sources: sourceCount } },
      );
    }
    const source = resolve(this.#index, this.#previousState);
    const inner = this.#contextOf(this.#index);
    this.#inner =
      restored === undefined
        ? source.createEnumerator(inner)
        : source.restoreEnumerator(inner, restored.current);
  }

  start(): void | Promise<void> {
    this.#context.setIsProcessingBacklog(!this.#isLast(this.#index));
    return this.#inner.start();
  }

  addReader(subtaskIndex: number): void | Promise<void> {
    this.#readers.add(subtaskIndex);
    this.#begin(subtaskIndex);
    return this.#inner.addReader(subtaskIndex);
  }

  handleSplitRequest(subtaskIndex: number): void | Promise<void> {
    return this.#inner.handleSplitRequest(subtaskIndex);
  }

  handleSourceEvent(subtaskIndex: number, event: unknown): void | Promise<void> {
    const message = event as ToHybridEnumerator;
    if (message.type === 'event') return this.#inner.handleSourceEvent?.(subtaskIndex, message.event);
    this.#finished.add(subtaskIndex);
    return this.#finished.size === this.#context.parallelism ? this.#beginNext() : undefined;
  }

  snapshotState(): HybridEnumeratorState {
    return {
      sourceIndex: this.#index,
      previousState: this.#previousState,
      current: this.#inner.snapshotState(),
    };
  }

  close(): void | Promise<void> {
    return this.#inner.close();
  }

  async #beginNext(): Promise<void> {
    const { sourceName, logger } = this.#context;
    this.#previousState = structuredClone(this.#inner.snapshotState());
    await this.#inner.close();
    this.#index += 1;
    this.#finished.clear();
    this.#context.setIsProcessingBacklog(!this.#isLast(this.#index));
    logger.log('info', `source "${sourceName}": begins source ${this.#index + 1} of ${this.#sourceCount}`);
    const source = this.#resolve(this.#index, this.#previousState);
    this.#inner = source.createEnumerator(this.#contextOf(this.#index));
    await this.#inner.start();
    for (const subtask of this.#readers) {
      this.#begin(subtask);
      await this.#inner.addReader(subtask);
    }
  }

  #isLast(index: number): boolean {
    return index === this.#sourceCount - 1;
  }

  #begin(subtaskIndex: number): void {
    this.#tell(subtaskIndex, {
      type: 'begin',
      sourceIndex: this.#index,
      previousState: this.#previousState,
    });
  }

  #tell(subtaskIndex: number, message: ToHybridReader): void {
    this.#context.sendEventToSourceReader(subtaskIndex, message);
  }

  /** What the enumerator of one source says, marked as of that source. */
  #contextOf(index: number): EnumeratorContext<SourceSplit> {
    const context = this.#context;
    const isCurrent = (): boolean => this.#index === index;
    return {
      platform: context.platform,
      logger: context.logger,
      sourceName: context.sourceName,
      parallelism: context.parallelism,
      assignSplit: (split, subtask) => {
        if (!isCurrent()) return;
        context.assignSplit({ splitId: `${index}-${split.splitId}`, sourceIndex: index, split }, subtask);
      },
      signalNoMoreSplits: (subtask) => {
        if (!isCurrent()) return;
        if (this.#isLast(index)) context.signalNoMoreSplits(subtask);
        else this.#tell(subtask, { type: 'no-more-splits' });
      },
      sendEventToSourceReader: (subtask, event) => {
        if (isCurrent()) this.#tell(subtask, { type: 'event', event });
      },
      setIsProcessingBacklog: (isProcessingBacklog) => {
        if (isCurrent() && this.#isLast(index)) context.setIsProcessingBacklog(isProcessingBacklog);
      },
      fail: (error) => {
        if (isCurrent()) context.fail(error);
      },
    };
  }
}
