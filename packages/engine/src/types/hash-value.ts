/**
 * The hash of undescribed keys: of a single value as Java's class for it has it, of anything with parts over the bytes
 * of its canonical encoding.
 */
import { ByteView } from './byte-view.ts';
import { hashBigInt, hashBoolean, hashBytes, hashDate, hashNumber, hashString } from './hash-code.ts';
import { FULL, REFUSED } from './value-refusal.ts';
import { writeValue } from './write-value.ts';

let scratch = ByteView.allocate(256);

/** The hash of `value`; 0 for null and undefined. Undefined if the general codec refuses the value. */
export function hashValue(value: unknown): number | undefined {
  switch (typeof value) {
    case 'string':
      return hashString(value);
    case 'number':
      return hashNumber(value);
    case 'bigint':
      return hashBigInt(value);
    case 'boolean':
      return hashBoolean(value);
    case 'undefined':
      return 0;
    default:
      if (value === null) return 0;
      return value instanceof Date ? hashDate(value) : hashEncoded(value);
  }
}

function hashEncoded(value: unknown): number | undefined {
  for (;;) {
    const end = writeValue(scratch, value, 0, scratch.limit, true);
    if (end >= 0) return hashBytes(scratch.u8, 0, end);
    if (end === REFUSED) return undefined;
    if (end === FULL) scratch = ByteView.allocate(scratch.limit * 2);
  }
}
