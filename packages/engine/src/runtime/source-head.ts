/**
 * The head of a source task: a reader, its splits as operator state, timestamps and watermarks. Driven by the task.
 *
 * Invariants:
 * I1 What the snapshot holds are the reader's splits with positions after the last record it emitted before the barrier.
 * I2 With a limit no more than the subtask's share of it is emitted, over all attempts: the count is state.
 */
import { MillraceError, NO_TIMESTAMP } from '../base/index.ts';
import { type ListState, ListStateDescriptor } from '../state/index.ts';
import { Types } from '../types/index.ts';
import { CodeBuilder } from './code-builder.ts';
import type { SourceSpec } from './job-vertex.ts';
import type { OperatorChain } from './operator-chain.ts';
import type { PollStatus, ReaderProgress, SourceOutput, SourceReader, SourceSplit } from './source.ts';
import { type SourceProgress, SourceWatermarks } from './source-watermarks.ts';

const GENERATOR = 'watermark generator';

/** Messages of a reader to the enumerator, which lives beside the JobManager. */
export interface EnumeratorLink {
  registerReader(): void;
  requestSplit(): void;
  sendEvent(event: unknown): void;
  /** For the alignment of sources. */
  reportWatermark(watermarkMs: number): void;
}

export class SourceHead {
  private readonly spec: SourceSpec;
  private readonly chain: OperatorChain;
  private readonly link: EnumeratorLink;
  private readonly progress: SourceProgress;
  private readonly watermarks: SourceWatermarks;
  private reader!: SourceReader<unknown, SourceSplit>;
  private output!: SourceOutput<unknown>;
  private splits!: ListState<SourceSplit>;
  private registered = false;
  /** What the reader said before it was registered. */
  private early: (() => void)[] = [];
  /** What restored splits had left. */
  private restoredAmount = 0;
  private readonly maxRecords: number | undefined;
  /** I2: what may still be emitted, and what was. */
  private left = Number.POSITIVE_INFINITY;
  private emitted: ListState<number> | undefined;
  private emittedBefore = 0;

  /** `maxRecords` bounds what all subtasks of the source emit together. */
  constructor(spec: SourceSpec, chain: OperatorChain, link: EnumeratorLink, maxRecords?: number) {
    this.spec = spec;
    this.maxRecords = maxRecords;
    this.chain = chain;
    this.link = link;
    this.watermarks = new SourceWatermarks(spec.watermarks, {
      operatorName: () => chain.headContext.operatorName,
      processWatermark: (watermarkMs) => void chain.processWatermark(watermarkMs),
      processWatermarkStatus: (idle) => chain.processWatermarkStatus(idle),
      report: (watermarkMs) => link.reportWatermark(watermarkMs),
      wrap: (error) => chain.headContext.wrapUserError(error, GENERATOR),
    });
    this.progress = this.watermarks.progress;
  }

  get recordsIn(): number {
    return this.progress.records;
  }

  get watermark(): number {
    return this.watermarks.watermarkMs;
  }

  /**
   * What the reader has read, less what its restored splits had left: together with what the enumerator had given out
   * when the job was restored, the sum over all readers is what was read of the source, however often it was restored.
   */
  sourceProgress(): ReaderProgress | undefined {
    const progress = this.reader.progress?.();
    return progress === undefined ? undefined : { ...progress, done: progress.done - this.restoredAmount };
  }

  /** Creates the reader and gives it the restored splits. Nothing is emitted. */
  async open(): Promise<void> {
    const context = this.chain.headContext;
    this.splits = this.chain.headState.getListState(new ListStateDescriptor<SourceSplit>('splits'));
    this.reader = this.spec.source.createReader({
      platform: context.services.platform,
      logger: context.services.logger,
      sourceName: context.operatorName,
      metrics: context.metrics,
      subtaskIndex: context.subtaskIndex,
      parallelism: context.parallelism,
      attemptNumber: context.attemptNumber,
      requestSplit: () => this.tellEnumerator(() => this.link.requestSplit()),
      sendSourceEventToCoordinator: (event) => this.tellEnumerator(() => this.link.sendEvent(event)),
      wake: () => context.wake(),
      fail: (error) => context.fail(error),
    });
    this.output = this.compileOutput();
    this.restoreLimit(context.subtaskIndex, context.parallelism);
    await this.reader.start();
    const restored = this.splits.get();
    if (restored.length > 0) this.reader.addSplits(restored);
    this.restoredAmount = this.reader.progress?.().left ?? 0;
    this.link.registerReader();
    this.registered = true;
    for (const say of this.early.splice(0)) say();
  }

  addSplits(splits: readonly SourceSplit[]): void {
    this.guarded(() => this.reader.addSplits(splits));
  }

  noMoreSplits(): void {
    this.guarded(() => this.reader.noMoreSplits());
  }

  handleEvent(event: unknown): void {
    this.guarded(() => this.reader.handleSourceEvents?.(event));
  }

  /** As the reader's. While the source waits for others of its group it has nothing. */
  poll(maxRecords: number): PollStatus {
    if (this.left <= 0) return 'end';
    if (this.watermarks.isHeldBack) return 'nothing';
    const before = this.progress.records;
    const status = this.guarded(() => this.reader.poll(this.output, Math.min(maxRecords, this.left)));
    this.left -= this.progress.records - before;
    this.watermarks.afterBatch();
    return this.left <= 0 ? 'end' : status;
  }

  /** The others of the source's group have come so far. */
  alignWatermark(maxAllowedMs: number): void {
    this.watermarks.align(maxAllowedMs);
  }

  /** No more records come from here. */
  end(): void {
    this.watermarks.end();
  }

  /** Puts the reader's positions into operator state. */
  prepareSnapshot(checkpointId: number): void {
    this.splits.update(this.guarded(() => this.reader.snapshotState(checkpointId)));
    this.emitted?.update([this.emittedBefore + this.progress.records]);
  }

  /** Sends the watermark on if it advanced, and detects idleness. Called every auto-watermark interval. */
  emitWatermark(monotonicMs: number): void {
    this.watermarks.periodic(monotonicMs);
  }

  async notifyCheckpointComplete(checkpointId: number): Promise<void> {
    await this.reader.notifyCheckpointComplete?.(checkpointId);
  }

  async close(): Promise<void> {
    await this.reader?.close();
  }

  /** Each subtask has a share of what is left. What was emitted before, by all of them, is counted by the first. */
  private restoreLimit(subtask: number, parallelism: number): void {
    if (this.maxRecords === undefined) return;
    this.emitted = this.chain.headState.getUnionListState(
      new ListStateDescriptor<number>('records-emitted', Types.LONG),
    );
    const emitted = this.emitted.get().reduce((sum, count) => sum + count, 0);
    if (subtask === 0) this.emittedBefore = emitted;
    const left = Math.max(0, this.maxRecords - emitted);
    this.left = Math.floor(left / parallelism) + (subtask < left % parallelism ? 1 : 0);
  }

  /** Errors of the reader itself name the operator; those of operators behind it name theirs already. */
  private guarded<R>(call: () => R): R {
    try {
      return call();
    } catch (error) {
      throw this.chain.headContext.wrapUserError(error, 'reader of the source');
    }
  }

  /** The enumerator hears of the reader first. */
  private tellEnumerator(say: () => void): void {
    if (this.registered) say();
    else this.early.push(say);
  }

  /** The output that the reader emits to: timestamps, the greatest of them, then the chain, all in one function. */
  private compileOutput(): SourceOutput<unknown> {
    const code = new CodeBuilder();
    const name = this.chain.headContext.operatorName;
    const context = this.chain.headContext;
    const progress = code.bind('progress', this.progress);
    const badTimestamp = code.bind('badTimestamp', (found: unknown, value: unknown) =>
      timestampError(name, found, value),
    );
    const chainOutput = code.bind('chain', this.chain.sourceOutput);
    const assigner = this.spec.watermarks?.assigner;
    let text = `let t = timestamp === undefined ? ${NO_TIMESTAMP} : timestamp;`;
    if (assigner !== undefined) {
      const guard = code.bind('guard', (error: unknown, value: unknown, timestampMs: number) =>
        context.wrapUserError(error, 'timestamp assigner', { value, timestampMs }),
      );
      text += `try { t = ${code.bind('assigner', assigner)}(v, t); } catch (e) { throw ${guard}(e, v, t); }`;
    }
    text += `if (!Number.isSafeInteger(t)) throw ${badTimestamp}(t, v);`;
    if (this.spec.watermarks?.inline?.kind === 'bounded')
      text += `if (t > ${progress}.maxTimestamp) ${progress}.maxTimestamp = t;`;
    text += `${progress}.records++; ${chainOutput}.collect(v, t);`;
    const { generated } = this.watermarks;
    if (generated !== undefined) {
      // Behind the record: a watermark that it leads to must not overtake it.
      const guard = code.bind('guard', (error: unknown, value: unknown, timestampMs: number) =>
        context.wrapUserError(error, GENERATOR, { value, timestampMs }),
      );
      const generator = code.bind('generator', generated.generator);
      text += `try { ${generator}.onEvent(v, t, ${code.bind('watermarks', generated)}); } catch (e) { throw ${guard}(e, v, t); }`;
    }
    return code.build<SourceOutput<unknown>>(
      `source ${name}`,
      `return { collect(v, timestamp) { ${text} } };`,
    );
  }
}

function timestampError(operator: string, found: unknown, value: unknown): MillraceError {
  let excerpt: string;
  try {
    excerpt = JSON.stringify(value)?.slice(0, 200) ?? String(value);
  } catch {
    excerpt = String(value);
  }
  return new MillraceError(
    'TIMESTAMP_INVALID',
    `Source '${operator}' gave a record the timestamp ${String(found)}. ` +
      `A timestamp is a whole number of milliseconds since the epoch. The record: ${excerpt}`,
    { details: { operator } },
  );
}
