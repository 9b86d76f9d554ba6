/**
 * Records for tests of channels: each fills a number of bytes with its own number, so that damage is seen when it is read.
 * Used by the tests of the exchange.
 */
import type { ByteView, TypeSerializer } from '../types/index.ts';

/** A record: its number, which also fills `size` bytes behind it. */
export interface Sample {
  readonly id: number;
  readonly size: number;
}

export const SAMPLE: TypeSerializer<Sample> = {
  description: { kind: 'generic' },
  fixedSizeBytes: undefined,
  encode(view: ByteView, { id, size }: Sample): boolean {
    if (view.pos + 8 + size > view.limit) return false;
    view.dv.setInt32(view.pos, id, true);
    view.dv.setInt32(view.pos + 4, size, true);
    view.u8.fill(id & 255, view.pos + 8, view.pos + 8 + size);
    view.pos += 8 + size;
    return true;
  },
  decode(view: ByteView): Sample {
    const id = view.dv.getInt32(view.pos, true);
    const size = view.dv.getInt32(view.pos + 4, true);
    view.pos += 8;
    for (const end = view.pos + size; view.pos < end; view.pos++) {
      if (view.u8[view.pos] !== (id & 255)) throw new Error(`record ${id} was damaged`);
    }
    return { id, size };
  },
  skip(view: ByteView): void {
    view.pos += 8 + view.dv.getInt32(view.pos + 4, true);
  },
};

/** The same, of which all but the larger ones can be copied. */
export const COPIED_SAMPLE: TypeSerializer<Sample> = {
  ...SAMPLE,
  copyGiven: (sample) => (sample.size > 80 ? undefined : { ...sample }),
};
