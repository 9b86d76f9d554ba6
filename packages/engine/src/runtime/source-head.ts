/**
 * The head of a source task: a reader, its splits as operator state, timestamps and watermarks. Driven by the task.
 *
 * Invariants:
 * I1 What the snapshot holds are the reader's splits with positions after the last record it emitted before the barrier.
 * I2 The watermark never goes back and is only sent on when it advanced.
 */
import { MAX_WATERMARK, MIN_WATERMARK, MillraceError, NO_TIMESTAMP } from '../base/index.ts';
import { type ListState, ListStateDescriptor } from '../state/index.ts';
import { CodeBuilder } from './code-builder.ts';
import type { SourceSpec } from './job-vertex.ts';
import type { OperatorChain } from './operator-chain.ts';
import type { PollStatus, SourceOutput, SourceReader, SourceSplit } from './source.ts';
import type { WatermarkGenerator } from './watermark-strategy.ts';

/** Messages of a reader to the enumerator, which lives beside the JobManager. */
export interface EnumeratorLink {
  registerReader(): void;
  requestSplit(): void;
}

/** What generated code shares with the head: the greatest timestamp and the number of records so far. */
interface SourceProgress {
  maxTimestamp: number;
  records: number;
}

export class SourceHead {
  private readonly spec: SourceSpec;
  private readonly chain: OperatorChain;
  private readonly link: EnumeratorLink;
  private readonly progress: SourceProgress = { maxTimestamp: MIN_WATERMARK, records: 0 };
  private readonly generator: WatermarkGenerator | undefined;
  private reader!: SourceReader<unknown, SourceSplit>;
  private output!: SourceOutput<unknown>;
  private splits!: ListState<SourceSplit>;
  private registered = false;
  private earlyRequests = 0;
  private sentWatermark = MIN_WATERMARK;
  private recordsAtLastCheck = 0;
  private lastActivityMs: number | undefined;
  private idle = false;

  constructor(spec: SourceSpec, chain: OperatorChain, link: EnumeratorLink) {
    this.spec = spec;
    this.chain = chain;
    this.link = link;
    this.generator = spec.watermarks?.inline === undefined ? spec.watermarks?.createGenerator() : undefined;
  }

  get recordsIn(): number {
    return this.progress.records;
  }

  get watermark(): number {
    return this.sentWatermark;
  }

  sourceProgress(): ReturnType<NonNullable<SourceReader<unknown, SourceSplit>['progress']>> | undefined {
    return this.reader.progress?.();
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
      requestSplit: () => this.requestSplit(),
      wake: () => context.wake(),
      fail: (error) => context.fail(error),
    });
    this.output = this.compileOutput();
    await this.reader.start();
    const restored = this.splits.get();
    if (restored.length > 0) this.reader.addSplits(restored);
    this.link.registerReader();
    this.registered = true;
    for (; this.earlyRequests > 0; this.earlyRequests--) this.link.requestSplit();
  }

  addSplits(splits: readonly SourceSplit[]): void {
    this.guarded(() => this.reader.addSplits(splits));
  }

  noMoreSplits(): void {
    this.guarded(() => this.reader.noMoreSplits());
  }

  poll(maxRecords: number): PollStatus {
    return this.guarded(() => this.reader.poll(this.output, maxRecords));
  }

  /** Puts the reader's positions into operator state. */
  prepareSnapshot(checkpointId: number): void {
    this.splits.update(this.guarded(() => this.reader.snapshotState(checkpointId)));
  }

  /** Sends the watermark on if it advanced, and detects idleness. Called every auto-watermark interval. */
  emitWatermark(nowMs: number): void {
    const strategy = this.spec.watermarks;
    if (strategy === undefined || strategy.inline?.kind === 'none') return;
    this.detectIdleness(strategy.idleTimeoutMs, nowMs);
    let watermark: number;
    if (strategy.inline?.kind === 'bounded') {
      const max = this.progress.maxTimestamp;
      watermark = max === MIN_WATERMARK ? MIN_WATERMARK : max - strategy.inline.delayMs - 1;
    } else {
      watermark = this.generator!.onPeriodicEmit();
    }
    if (watermark > this.sentWatermark && watermark < MAX_WATERMARK) {
      this.sentWatermark = watermark;
      this.chain.processWatermark(watermark);
    }
  }

  async notifyCheckpointComplete(checkpointId: number): Promise<void> {
    await this.reader.notifyCheckpointComplete?.(checkpointId);
  }

  async close(): Promise<void> {
    await this.reader?.close();
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
  private requestSplit(): void {
    if (this.registered) this.link.requestSplit();
    else this.earlyRequests++;
  }

  private detectIdleness(timeoutMs: number | undefined, nowMs: number): void {
    if (timeoutMs === undefined) return;
    const active = this.progress.records !== this.recordsAtLastCheck || this.lastActivityMs === undefined;
    this.recordsAtLastCheck = this.progress.records;
    if (active) {
      this.lastActivityMs = nowMs;
      if (this.idle) this.chain.processWatermarkStatus(false);
      this.idle = false;
    } else if (!this.idle && nowMs - this.lastActivityMs! >= timeoutMs) {
      this.idle = true;
      this.chain.processWatermarkStatus(true);
    }
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
      const guard = code.bind('guard', (error: unknown) =>
        context.wrapUserError(error, 'timestamp assigner'),
      );
      text += `try { t = ${code.bind('assigner', assigner)}(v, t); } catch (e) { throw ${guard}(e); }`;
    }
    text += `if (!Number.isSafeInteger(t)) throw ${badTimestamp}(t, v);`;
    if (this.spec.watermarks?.inline?.kind === 'bounded')
      text += `if (t > ${progress}.maxTimestamp) ${progress}.maxTimestamp = t;`;
    if (this.generator !== undefined) {
      const guard = code.bind('guard', (error: unknown) =>
        context.wrapUserError(error, 'watermark generator'),
      );
      text += `try { ${code.bind('generator', this.generator)}.onEvent(v, t); } catch (e) { throw ${guard}(e); }`;
    }
    text += `${progress}.records++; ${chainOutput}.collect(v, t);`;
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
