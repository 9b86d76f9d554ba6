/**
 * What a row store keeps for one key group beside its table: the free lists and the page being filled.
 */
import { SIZE_CLASSES } from './size-class.ts';

export class KeyGroupRows {
  /** Entries in the table. */
  count = 0;
  /** First free row of each size class. */
  readonly freeHeads = new Int32Array(SIZE_CLASSES);
  /** Bit c (of the second word c - 32): class c has free rows. */
  freeLow = 0;
  freeHigh = 0;
  /** Next unit of the page that is being filled, and its end. Equal if there is none. */
  fillAt = 0;
  fillEnd = 0;
}
