/**
 * Puts a record that came in several segments together again, for one channel of an input gate. Bounded, so that a wrong
 * length cannot fill the memory.
 */
import { MillraceError } from '../base/index.ts';
import { ByteView } from '../types/index.ts';

/** A buffer above this size is let go after use. */
const KEPT_BUFFER_BYTES = 1024 * 1024;

export class SpanAssembly {
  readonly #limitBytes: number;
  readonly #label: string;
  #view = ByteView.allocate(0);
  #lengthBytes = 0;

  /** `label` names the receiving side in errors: "input of operator 'x'". */
  constructor(limitBytes: number, label: string) {
    this.#limitBytes = limitBytes;
    this.#label = label;
  }

  /** Appends a piece: `length` bytes of `bytes` from `start` on. Throws RECORD_TOO_LARGE. */
  append(bytes: Uint8Array, start: number, length: number): void {
    const needed = this.#lengthBytes + length;
    if (needed > this.#limitBytes) {
      throw new MillraceError(
        'RECORD_TOO_LARGE',
        `A record on the ${this.#label} has more than ${this.#limitBytes} bytes, the limit of this input. Sender and ` +
          'receiver must have the same limit.',
        { details: { limitBytes: this.#limitBytes } },
      );
    }
    if (needed > this.#view.u8.length) {
      const grown = ByteView.allocate(Math.min(Math.max(2 * needed, 4096), this.#limitBytes));
      grown.u8.set(this.#view.u8.subarray(0, this.#lengthBytes));
      this.#view = grown;
    }
    this.#view.u8.set(bytes.subarray(start, start + length), this.#lengthBytes);
    this.#lengthBytes = needed;
  }

  /** A copy of the pieces that are there; undefined if there are none. */
  copy(): Uint8Array | undefined {
    return this.#lengthBytes === 0 ? undefined : this.#view.u8.slice(0, this.#lengthBytes);
  }

  /** The record, from position 0 to `limit`. Valid until the next call. The assembly is empty then. */
  take(): ByteView {
    const view = this.#view;
    view.pos = 0;
    view.limit = this.#lengthBytes;
    this.#lengthBytes = 0;
    if (view.u8.length > KEPT_BUFFER_BYTES) this.#view = ByteView.allocate(0);
    return view;
  }
}
