/**
 * The watermarks of a source's reader: when they are sent, when the reader is idle, and when it must wait for others.
 *
 * Invariants:
 * I1 The watermark never goes back and is only sent on when it advanced.
 * I2 A reader that is held back by alignment is not idle, whatever its generator says.
 *
 * (org.apache.flink.streaming.api.operators.SourceOperator, its part about watermarks.)
 */
import { MAX_WATERMARK, MIN_WATERMARK } from '../base/index.ts';
import { GeneratedWatermarks } from './generated-watermarks.ts';
import type { WatermarkStrategySpec } from './watermark-strategy.ts';

/** What generated code shares with the head: the greatest timestamp and the number of records so far. */
export interface SourceProgress {
  maxTimestamp: number;
  records: number;
}

/** Where they go. */
export interface SourceWatermarkTarget {
  operatorName(): string;
  processWatermark(watermarkMs: number): void;
  processWatermarkStatus(idle: boolean): void;
  /** To the coordinator, for alignment; MAX_WATERMARK: this reader is not to be waited for. */
  report(watermarkMs: number): void;
  wrap(error: unknown): Error;
}

export class SourceWatermarks {
  readonly progress: SourceProgress = { maxTimestamp: MIN_WATERMARK, records: 0 };
  /** undefined: inlined, or there is none. */
  readonly generated: GeneratedWatermarks | undefined;
  private readonly strategy: WatermarkStrategySpec | undefined;
  private readonly target: SourceWatermarkTarget;
  private sentMs = MIN_WATERMARK;
  private isIdle = false;
  private recordsAtLastCheck = 0;
  private lastActivityMs: number | undefined;
  private reportedMs: number | undefined;
  private maxAllowedMs = MAX_WATERMARK;

  constructor(strategy: WatermarkStrategySpec | undefined, target: SourceWatermarkTarget) {
    this.strategy = strategy;
    this.target = target;
    if (strategy !== undefined && strategy.inline === undefined)
      this.generated = new GeneratedWatermarks(strategy.createGenerator(), () => target.operatorName());
  }

  /** The last one that was sent. */
  get watermarkMs(): number {
    return this.sentMs;
  }

  /** True while the reader is too far ahead of others of its group: it must not read. */
  get isHeldBack(): boolean {
    return this.maxAllowedMs < MAX_WATERMARK && this.current() > this.maxAllowedMs;
  }

  /** The others of the group have come so far. */
  align(maxAllowedMs: number): void {
    this.maxAllowedMs = maxAllowedMs;
  }

  /** After each batch: what the generator decided at its records. */
  afterBatch(): void {
    if (this.generated !== undefined) this.send(this.generated.watermarkMs, this.generated.isIdle);
  }

  /** Every auto-watermark interval. `nowMs` is monotonic. */
  periodic(nowMs: number): void {
    const { strategy } = this;
    if (strategy === undefined) return;
    if (strategy.inline?.kind !== 'none') {
      try {
        this.generated?.ask();
      } catch (error) {
        throw this.target.wrap(error);
      }
      this.send(this.current(), this.detectIdleness(strategy.idleTimeoutMs, nowMs));
    }
    if (strategy.alignment !== undefined) this.report(this.isIdle ? MAX_WATERMARK : this.current());
  }

  /** The reader has no more records. */
  end(): void {
    if (this.strategy?.alignment !== undefined) this.report(MAX_WATERMARK);
  }

  private current(): number {
    if (this.generated !== undefined) return this.generated.watermarkMs;
    const { inline } = this.strategy ?? {};
    const max = this.progress.maxTimestamp;
    return inline?.kind === 'bounded' && max !== MIN_WATERMARK ? max - inline.delayMs - 1 : MIN_WATERMARK;
  }

  private send(watermarkMs: number, isIdle: boolean): void {
    if (this.isIdle && !isIdle) this.setIdle(false);
    if (watermarkMs > this.sentMs) {
      this.sentMs = watermarkMs;
      this.target.processWatermark(watermarkMs);
    }
    if (!this.isIdle && isIdle) this.setIdle(true);
  }

  private setIdle(isIdle: boolean): void {
    this.isIdle = isIdle;
    this.target.processWatermarkStatus(isIdle);
  }

  private detectIdleness(timeoutMs: number | undefined, nowMs: number): boolean {
    const { records } = this.progress;
    const isActive = records !== this.recordsAtLastCheck || this.lastActivityMs === undefined;
    this.recordsAtLastCheck = records;
    // I2
    if (isActive || this.isHeldBack) this.lastActivityMs = nowMs;
    if (this.isHeldBack) return false;
    if (this.generated?.isIdle === true) return true;
    return timeoutMs !== undefined && nowMs - this.lastActivityMs! >= timeoutMs;
  }

  private report(watermarkMs: number): void {
    if (watermarkMs === this.reportedMs || watermarkMs === MIN_WATERMARK) return;
    this.reportedMs = watermarkMs;
    this.target.report(watermarkMs);
  }
}
