/**
 * Reads the sources of a hybrid source, one after the other, each by its own reader.
 *
 * Called by the task that runs the source. Which source is read says the enumerator; until it has, and while the reader
 * of that source starts, what comes for it waits in `#backlog`.
 *
 * I1  Each split that this reader has is either in the backlog or with the current reader.
 * I2  A reader that has come to its end is not polled again; it says nothing from then on.
 */
import { assert } from '../../base/index.ts';
import type {
  PollStatus,
  ReaderContext,
  ReaderProgress,
  SourceOutput,
  SourceReader,
  SourceSplit,
} from '../../runtime/index.ts';
import type { HybridSplit, ResolveSource, ToHybridEnumerator, ToHybridReader } from './hybrid-messages.ts';

/** A source being read. */
interface Phase<T> {
  readonly sourceIndex: number;
  readonly reader: SourceReader<T, SourceSplit>;
  state: 'starting' | 'reading' | 'ended' | 'left';
  /** The first checkpoint that it took part in: earlier ones are none of its business. */
  firstCheckpointId: number | undefined;
}

type Waiting =
  | { readonly type: 'splits'; readonly splits: readonly HybridSplit[] }
  | { readonly type: 'no-more-splits' }
  | { readonly type: 'event'; readonly event: unknown };

export class HybridReader<T> implements SourceReader<T, HybridSplit> {
  readonly #context: ReaderContext;
  readonly #sourceCount: number;
  readonly #resolve: ResolveSource<T>;
  #phase: Phase<T> | undefined;
  #backlog: Waiting[] = [];
  #closing: Promise<void> = Promise.resolve();

  constructor(context: ReaderContext, sourceCount: number, resolve: ResolveSource<T>) {
    this.#context = context;
    this.#sourceCount = sourceCount;
    this.#resolve = resolve;
  }

  /** The reader of a source is made when the enumerator begins it, which is after this. */
  start(): void {}

  addSplits(splits: readonly HybridSplit[]): void {
    this.#take({ type: 'splits', splits });
  }

  noMoreSplits(): void {
    this.#take({ type: 'no-more-splits' });
  }

  handleSourceEvents(event: unknown): void {
    const message = event as ToHybridReader;
    if (message.type === 'begin') this.#begin(message.sourceIndex, message.previousState);
    else this.#take(message);
  }

  poll(output: SourceOutput<T>, maxRecords: number): PollStatus {
    const phase = this.#phase;
    if (phase?.state !== 'reading') return 'nothing';
    const status = phase.reader.poll(output, maxRecords);
    if (status !== 'end' || phase.sourceIndex === this.#sourceCount - 1) return status;
    phase.state = 'ended';
    this.#tell({ type: 'finished', sourceIndex: phase.sourceIndex });
    return 'nothing';
  }

  snapshotState(checkpointId: number): HybridSplit[] {
    const waiting = this.#backlog.flatMap((message) => (message.type === 'splits' ? message.splits : []));
    const phase = this.#phase;
    if (phase === undefined || phase.state === 'starting') return waiting;
    phase.firstCheckpointId ??= checkpointId;
    const { sourceIndex } = phase;
    const held = phase.reader.snapshotState(checkpointId).map((split) => ({
      splitId: `${sourceIndex}-${split.splitId}`,
      sourceIndex,
      split,
    }));
    return [...held, ...waiting];
  }

  notifyCheckpointComplete(checkpointId: number): void | Promise<void> {
    const { firstCheckpointId, reader } = this.#phase ?? {};
    if (firstCheckpointId === undefined || checkpointId < firstCheckpointId) return;
    return reader?.notifyCheckpointComplete?.(checkpointId);
  }

  /** Of the source that is being read. */
  progress(): ReaderProgress {
    const { done, unit } = this.#phase?.reader.progress?.() ?? { done: 0, unit: 'records' };
    return { done, total: undefined, unit };
  }

  async close(): Promise<void> {
    this.#leave();
    await this.#closing;
  }

  #begin(sourceIndex: number, previousState: unknown): void {
    this.#leave();
    const source = this.#resolve(sourceIndex, previousState);
    let phase: Phase<T> | undefined;
    const maySpeak = (): boolean =>
      phase === undefined || phase.state === 'starting' || phase.state === 'reading';
    const reader = source.createReader(this.#contextOf(maySpeak));
    phase = { sourceIndex, reader, state: 'starting', firstCheckpointId: undefined };
    this.#phase = phase;
    this.#start(phase).catch((error: unknown) => {
      if (maySpeak()) this.#context.fail(error);
    });
  }

  async #start(phase: Phase<T>): Promise<void> {
    await phase.reader.start();
    if (this.#phase !== phase) return;
    phase.state = 'reading';
    for (const message of this.#backlog.splice(0)) this.#take(message);
    this.#context.wake();
  }

  /** Closes the current reader, beside the calls. */
  #leave(): void {
    const phase = this.#phase;
    if (phase === undefined) return;
    this.#phase = undefined;
    phase.state = 'left';
    const close = async (): Promise<void> => phase.reader.close();
    this.#closing = Promise.all([this.#closing, close()]).then(() => {});
    // Reported by `close`.
    this.#closing.catch(() => {});
  }

  #take(message: Waiting): void {
    const phase = this.#phase;
    if (phase === undefined || phase.state === 'starting') {
      this.#backlog.push(message);
      return;
    }
    if (message.type === 'no-more-splits') phase.reader.noMoreSplits();
    else if (message.type === 'event') phase.reader.handleSourceEvents?.(message.event);
    else {
      const foreign = message.splits.find(({ sourceIndex }) => sourceIndex !== phase.sourceIndex);
      assert(foreign === undefined, `a split of source ${foreign?.sourceIndex} came to another`);
      phase.reader.addSplits(message.splits.map(({ split }) => split));
    }
    this.#context.wake();
  }

  #tell(message: ToHybridEnumerator): void {
    this.#context.sendSourceEventToCoordinator(message);
  }

  /** I2. */
  #contextOf(maySpeak: () => boolean): ReaderContext {
    const context = this.#context;
    return {
      ...context,
      requestSplit: () => {
        if (maySpeak()) context.requestSplit();
      },
      sendSourceEventToCoordinator: (event) => {
        if (maySpeak()) this.#tell({ type: 'event', event });
      },
      fail: (error) => {
        if (maySpeak()) context.fail(error);
      },
    };
  }
}
