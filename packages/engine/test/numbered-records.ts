/** Records that tell whether each came once and in order: those of a key are numbered, and all are from one partition. */
import { type Infer, Types } from '@millrace/engine';

export const NUMBERED = Types.ROW({ key: Types.STRING, n: Types.LONG, text: Types.STRING });
export type Numbered = Infer<typeof NUMBERED>;

const PARTITIONS = 4;
const KEYS_EACH = 5;

/** By partition. One record in fifty needs several small segments. */
export function numbered(records: number): Numbered[][] {
  return Array.from({ length: PARTITIONS }, (_, partition) =>
    Array.from({ length: records / PARTITIONS }, (_, i) => ({
      key: `${partition}${String.fromCharCode(97 + (i % KEYS_EACH))}`,
      n: Math.floor(i / KEYS_EACH),
      text: i % 50 === 0 ? 'long '.repeat(60) : 'short',
    })),
  );
}
