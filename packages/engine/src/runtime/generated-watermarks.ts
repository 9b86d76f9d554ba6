/**
 * Runs a user's watermark generator: takes what it emits and returns, and keeps the highest watermark and the idleness that
 * follow from it. Used by source heads and by the operator that makes watermarks within a stream, which send them on.
 */
import { MAX_WATERMARK, MIN_WATERMARK, MillraceError } from '../base/index.ts';
import type { WatermarkGenerator, WatermarkOutput } from './watermark-strategy.ts';

export class GeneratedWatermarks implements WatermarkOutput {
  /** What `onEvent` is called on. */
  readonly generator: WatermarkGenerator;
  /** The highest so far; MIN_WATERMARK for none. */
  watermarkMs = MIN_WATERMARK;
  isIdle = false;
  private readonly operatorName: () => string;

  constructor(generator: WatermarkGenerator, operatorName: () => string) {
    this.generator = generator;
    this.operatorName = operatorName;
  }

  /**
   * Throws TIMESTAMP_INVALID for what is no whole number; negative infinity stands for none. The end of time comes with the
   * end of the input, so the highest watermark that a generator can emit is the one before it.
   */
  emitWatermark(watermarkMs: number): void {
    this.isIdle = false;
    if (Number.isSafeInteger(watermarkMs))
      this.watermarkMs = Math.max(this.watermarkMs, Math.min(watermarkMs, MAX_WATERMARK - 1));
    else if (watermarkMs !== Number.NEGATIVE_INFINITY) throw this.invalid(watermarkMs);
  }

  markIdle(): void {
    this.isIdle = true;
  }

  markActive(): void {
    this.isIdle = false;
  }

  /** Asks the generator. Throws what it throws. */
  ask(): void {
    const wasIdle = this.isIdle;
    const returned = this.generator.onPeriodicEmit(this);
    if (returned === undefined) return;
    this.emitWatermark(returned);
    // A returned watermark is an answer, not a sign of life.
    this.isIdle ||= wasIdle;
  }

  private invalid(found: unknown): MillraceError {
    const operator = this.operatorName();
    const hint = typeof found === 'bigint' || typeof found === 'string' ? ' Convert it to a number.' : '';
    const message =
      `The watermark generator of operator '${operator}' must give a whole number of milliseconds since 1970 ` +
      `(within Number.MAX_SAFE_INTEGER), found ${String(found)}.${hint}`;
    return new MillraceError('TIMESTAMP_INVALID', message, { details: { operator } });
  }
}
