/**
 * Segments on the heap for what does not fit into full rings: a sender never blocks in the middle of a record, a flatMap
 * or a timer, it writes on and is not given another turn until all of this has drained. Shared by the channels of one
 * record writer; bounded, because an operator that emits without end in one call would otherwise fill the memory.
 */
import { MillraceError } from '../base/index.ts';
import { ByteView } from '../types/index.ts';

/** Segments kept for reuse. */
const IDLE_SEGMENTS_MAX = 64;

/** Hands out heap segments of one size and takes them back. */
export class OverflowPool {
  readonly segmentBytes: number;
  readonly #idle: ByteView[] = [];
  readonly #limitBytes: number;
  readonly #label: string;
  #usedBytes = 0;

  /** `label` names the writer in errors: "output of operator 'x'". */
  constructor(segmentBytes: number, limitBytes: number, label: string) {
    this.segmentBytes = segmentBytes;
    this.#limitBytes = limitBytes;
    this.#label = label;
  }

  /** Bytes of the segments that are out. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** An empty segment. Throws EXCHANGE_OVERFLOW if that many are out already. */
  take(): ByteView {
    if (this.#usedBytes + this.segmentBytes > this.#limitBytes) {
      throw new MillraceError(
        'EXCHANGE_OVERFLOW',
        `The ${this.#label} emitted more than ${this.#limitBytes} bytes beyond what its receivers can take, in one call ` +
          'of its function or timers. Emit less per call: a function that makes an unbounded number of records from ' +
          'one belongs into a source.',
        { details: { limitBytes: this.#limitBytes } },
      );
    }
    this.#usedBytes += this.segmentBytes;
    const view = this.#idle.pop() ?? ByteView.allocate(this.segmentBytes);
    view.pos = 0;
    view.limit = this.segmentBytes;
    return view;
  }

  /** Takes back a segment of `take`. */
  give(view: ByteView): void {
    this.#usedBytes -= this.segmentBytes;
    if (this.#idle.length < IDLE_SEGMENTS_MAX) this.#idle.push(view);
  }
}
