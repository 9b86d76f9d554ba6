/** A buffer of one's own that values are encoded into before they get a place; grows as needed. */
import { MillraceError } from '../../base/index.ts';
import { ByteView, type TypeSerializer } from '../../types/index.ts';

const FIRST_BYTES = 256;
/** What is kept after use. */
const KEPT_BYTES = 1 << 20;
/** The largest value, 1 GB: lengths stay below 2^31 with room to double. */
const LARGEST_BYTES = 2 ** 30;

export class Scratch {
  view = ByteView.allocate(FIRST_BYTES);

  /** Encodes `value` at byte `at`, keeping what is before; its length. Throws TYPE_MISMATCH, STATE_VALUE_TOO_LARGE. */
  encode<T>(serializer: TypeSerializer<T>, value: T, at = 0): number {
    for (;;) {
      const view = this.view;
      view.pos = at;
      view.limit = view.u8.length;
      if (serializer.encode(view, value)) return view.pos - at;
      this.reserve(view.u8.length * 2);
    }
  }

  /** Makes room for `bytes`, keeping the contents. */
  reserve(bytes: number): void {
    const old = this.view;
    if (bytes <= old.u8.length) return;
    if (bytes > LARGEST_BYTES) {
      throw new MillraceError(
        'STATE_VALUE_TOO_LARGE',
        `A value of state must not be larger than ${LARGEST_BYTES / 2 ** 20} MB when encoded.`,
      );
    }
    let size = old.u8.length;
    while (size < bytes) size *= 2;
    this.view = ByteView.allocate(size);
    this.view.u8.set(old.u8);
  }

  /** Gives up an unusually large buffer; the contents are lost then. */
  trim(): void {
    if (this.view.u8.length > KEPT_BYTES) this.view = ByteView.allocate(FIRST_BYTES);
  }
}
