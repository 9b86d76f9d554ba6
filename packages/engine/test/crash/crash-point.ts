/**
 * Where the crash job fails from inside: an operator that hands records on, and throws, ends its thread, or uses up its
 * memory, at a place and in an attempt that were chosen beforehand. Each attempt has at most one point, so a job with n
 * points fails n times.
 */
import { type Collector, type ProcessContext, ProcessFunction, type RuntimeContext } from '@millrace/engine';

/** `record`: at that many records of the attempt; the others at their first occasion after so many records. */
export type CrashPlace = 'record' | 'snapshot' | 'complete' | 'open';
export type CrashAction = 'throw' | 'exit' | 'memory';

export interface CrashPoint {
  readonly place: CrashPlace;
  readonly action: CrashAction;
  /** Records of this subtask in this attempt before it; of no meaning for `open`. */
  readonly afterRecords: number;
}

export class CrashingPassage<T> extends ProcessFunction<T, T> {
  readonly #points: readonly CrashPoint[];
  #point: CrashPoint | undefined;
  #records = 0;

  /** The point of each attempt, by its number. */
  constructor(points: readonly CrashPoint[]) {
    super();
    this.#points = points;
  }

  override open(context: RuntimeContext): void {
    this.#records = 0;
    this.#point =
      context.getIndexOfThisSubtask() === 0 ? this.#points[context.getAttemptNumber()] : undefined;
    this.#pass('open');
  }

  override processElement(value: T, _context: ProcessContext, out: Collector<T>): void {
    this.#records++;
    this.#pass('record');
    out.collect(value);
  }

  override snapshotState(): void {
    this.#pass('snapshot');
  }

  override notifyCheckpointComplete(): void {
    this.#pass('complete');
  }

  #pass(place: CrashPlace): void {
    const point = this.#point;
    if (point?.place !== place || (place !== 'open' && this.#records < point.afterRecords)) return;
    if (point.action === 'throw') throw new Error(`a failure on purpose (${place})`);
    if (point.action === 'exit') process.exit(7);
    useUpMemory();
  }
}

/** Never returns where memory is limited. */
function useUpMemory(): never {
  const kept: unknown[] = [];
  for (;;) kept.push(Array.from({ length: 10_000 }, (_, i) => ({ i })));
}
