/**
 * Gives records timestamps and the stream watermarks (Flink's TimestampsAndWatermarksOperator).
 *
 * Each record: the assigner's timestamp, then on to the next operator, then the generator sees it. Periodically, by
 * monotonic time as the host says: the generator's watermark goes out if it is higher than the last one, and the stream
 * is declared idle if no record came for the idle time-out. Watermarks and idleness that come from above are ignored, but
 * for the last watermark: this operator is where they begin.
 *
 * Nothing here is state: after a restore the watermark builds up again from the records.
 */
import { MAX_WATERMARK, MIN_WATERMARK, MillraceError, NO_TIMESTAMP } from '../base/index.ts';
import {
  GeneratedWatermarks,
  type OneInputOperator,
  type Output,
  type TimestampAssigner,
  type WatermarkGenerator,
  type WatermarkOutput,
  type WatermarkStrategySpec,
} from '../runtime/index.ts';
import { AbstractStreamOperator } from './operator-defaults.ts';
import { specialise } from './specialise.ts';
import { describe } from './user-result.ts';

/** Flink's default of `pipeline.auto-watermark-interval`. */
const DEFAULT_INTERVAL_MS = 200;

const ASSIGNER = 'timestamp assigner';
const GENERATOR = 'watermark generator';

interface AssignEnv<T> {
  readonly assigner: TimestampAssigner<T> | undefined;
  /** undefined: the highest timestamp is all that is needed. */
  readonly generator: WatermarkGenerator<T> | undefined;
  readonly generated: WatermarkOutput;
  /** After a record: what the generator decided at it. */
  readonly afterEvent: () => void;
  readonly progress: Progress;
  readonly output: Output<T>;
  readonly noTimestamp: number;
  readonly maxWatermark: number;
  readonly becomeActive: () => void;
  readonly invalid: (found: unknown, value: T) => Error;
  readonly wrapAssigner: (error: unknown) => Error;
  readonly wrapGenerator: (error: unknown) => Error;
}

interface Progress {
  /** Highest timestamp seen; NO_TIMESTAMP for none. */
  maxTimestampMs: number;
  isIdle: boolean;
  /** Records since the last periodic call. */
  hasRecords: boolean;
}

const makeAssign = <T>(env: AssignEnv<T>) => {
  const { assigner, generator, generated, afterEvent, progress, output, noTimestamp, maxWatermark } = env;
  return (value: T, previousMs: number): void => {
    let timestampMs = previousMs;
    if (assigner !== undefined) {
      try {
        timestampMs = assigner(value, previousMs);
      } catch (error) {
        throw env.wrapAssigner(error);
      }
      if (!Number.isSafeInteger(timestampMs) || timestampMs === noTimestamp || timestampMs === maxWatermark) {
        throw env.invalid(timestampMs, value);
      }
    }
    progress.hasRecords = true;
    if (progress.isIdle) env.becomeActive();
    output.collect(value, timestampMs);
    if (timestampMs > progress.maxTimestampMs) progress.maxTimestampMs = timestampMs;
    if (generator !== undefined) {
      try {
        generator.onEvent(value, timestampMs, generated);
      } catch (error) {
        throw env.wrapGenerator(error);
      }
      afterEvent();
    }
  };
};

export class TimestampsAndWatermarksOperator<T>
  extends AbstractStreamOperator<T>
  implements OneInputOperator<T, T>
{
  private readonly strategy: WatermarkStrategySpec<T>;
  private readonly intervalMs: number;
  private readonly progress: Progress = { maxTimestampMs: NO_TIMESTAMP, isIdle: false, hasRecords: false };
  private generated: GeneratedWatermarks | undefined;
  private watermarkMs = MIN_WATERMARK;
  /** undefined: before the first period, which may begin long before the job has opened. */
  private lastActiveMs: number | undefined;
  private isClosed = false;
  private process!: (value: T, timestampMs: number) => void;

  /** `intervalMs` is `pipeline.auto-watermark-interval`. */
  constructor(strategy: WatermarkStrategySpec<T>, intervalMs = DEFAULT_INTERVAL_MS) {
    super();
    this.strategy = strategy;
    this.intervalMs = intervalMs;
  }

  override open(): void {
    const { inline, idleTimeoutMs, createGenerator } = this.strategy;
    if (inline === undefined)
      this.generated = new GeneratedWatermarks(createGenerator(), () => this.context.operatorName);
    this.compile('timestamps');
    if (inline?.kind === 'none' && idleTimeoutMs === undefined) return;
    this.scheduleNext(this.context.monotonicMs());
  }

  processElement(value: T, timestampMs: number): void {
    this.process(value, timestampMs);
  }

  /** Only the end of event time passes. */
  override processWatermark(watermarkMs: number): void {
    if (watermarkMs === MAX_WATERMARK) this.emit(MAX_WATERMARK);
  }

  override processWatermarkStatus(): void {}

  finish(): void {
    this.emit(this.generatedWatermark());
  }

  close(): void {
    this.isClosed = true;
  }

  compile(unique: string): (value: T, timestampMs: number) => void {
    this.process = specialise(
      makeAssign<T>,
      unique,
    )({
      assigner: this.strategy.assigner,
      generator: this.generated?.generator,
      generated: this.generated as WatermarkOutput,
      afterEvent: () => this.follow(this.generated!),
      progress: this.progress,
      output: this.context.output,
      noTimestamp: NO_TIMESTAMP,
      maxWatermark: MAX_WATERMARK,
      becomeActive: () => {
        if (this.generated?.isIdle !== true) this.setIdle(false);
      },
      invalid: (found, value) => this.invalid(found, value),
      wrapAssigner: this.wrapper(ASSIGNER),
      wrapGenerator: this.wrapper(GENERATOR),
    });
    return this.process;
  }

  private scheduleNext(nowMs: number): void {
    this.context.schedule(nowMs + this.intervalMs, (atMs) => {
      if (this.isClosed || this.watermarkMs === MAX_WATERMARK) return;
      this.onPeriod(atMs);
      this.scheduleNext(atMs);
    });
  }

  private onPeriod(nowMs: number): void {
    this.emit(this.generatedWatermark());
    if (this.generated !== undefined) this.follow(this.generated);
    const { idleTimeoutMs } = this.strategy;
    if (this.progress.hasRecords || this.lastActiveMs === undefined) {
      this.progress.hasRecords = false;
      this.lastActiveMs = nowMs;
    } else if (
      idleTimeoutMs !== undefined &&
      !this.progress.isIdle &&
      nowMs - this.lastActiveMs >= idleTimeoutMs
    ) {
      this.setIdle(true);
    }
  }

  /** What the generator emitted, and whether it said that the input is idle. */
  private follow({ watermarkMs, isIdle }: GeneratedWatermarks): void {
    this.emit(watermarkMs);
    if (isIdle && !this.progress.isIdle) this.setIdle(true);
  }

  private generatedWatermark(): number {
    const { inline } = this.strategy;
    if (inline !== undefined) {
      const { maxTimestampMs } = this.progress;
      if (inline.kind === 'none' || maxTimestampMs === NO_TIMESTAMP) return MIN_WATERMARK;
      return maxTimestampMs - inline.delayMs - 1;
    }
    const generated = this.generated!;
    try {
      generated.ask();
    } catch (error) {
      throw this.context.wrapUserError(error, GENERATOR);
    }
    return generated.watermarkMs;
  }

  private emit(watermarkMs: number): void {
    if (watermarkMs <= this.watermarkMs) return;
    this.watermarkMs = watermarkMs;
    if (this.progress.isIdle) this.setIdle(false);
    this.context.output.emitWatermark(watermarkMs);
  }

  private setIdle(idle: boolean): void {
    this.progress.isIdle = idle;
    this.context.output.emitWatermarkStatus(idle);
  }

  private invalid(found: unknown, value: unknown): MillraceError {
    const operator = this.context.operatorName;
    const hint =
      found instanceof Date || typeof found === 'bigint' || typeof found === 'string'
        ? ' Convert it to a number.'
        : '';
    return new MillraceError(
      'TIMESTAMP_INVALID',
      `The ${ASSIGNER} of operator '${operator}' must return an integer (milliseconds since the epoch, within ` +
        `Number.MAX_SAFE_INTEGER), found ${describe(found)} for ${describe(value)}.${hint}`,
      { details: { operator } },
    );
  }
}
