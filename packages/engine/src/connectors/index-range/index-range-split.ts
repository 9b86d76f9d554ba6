/**
 * Splits of sources whose records are numbered: a range of indexes, and how a range is cut. Pure.
 *
 * Used by the enumerator and reader of collection, sequence and generator sources. The position of a split is its
 * `start`: the index of the next record. Its id keeps the first index it ever had, so it is unique and never changes.
 */
import type { SourceSplit } from '../../runtime/index.ts';

/** The records `start` (inclusive) to `end` (exclusive). Plain numbers. */
export interface IndexRangeSplit extends SourceSplit {
  readonly start: number;
  readonly end: number;
}

/** What the enumerator saves: everything from `nextIndex` on was not handed out. */
export interface IndexRangeEnumeratorState {
  /** What source this is a position of; a different one is refused. */
  readonly identity: string;
  readonly nextIndex: number;
}

/** How a source wants its range cut. */
export interface RangeCut {
  /** Records in all; undefined: endless. */
  readonly count: number | undefined;
  /** Into how many splits what is left is cut; ignored if `splitRecords` is given. */
  readonly splits: number;
  /** Records of a split; undefined: evenly into `splits`. Must be given for an endless source. */
  readonly splitRecords: number | undefined;
}

/**
 * The next split after `nextIndex`, or undefined at the end. `splitsLeft` says into how many what is left is cut evenly.
 */
export function cutNext(nextIndex: number, cut: RangeCut, splitsLeft: number): IndexRangeSplit | undefined {
  const end = cut.count ?? Number.MAX_SAFE_INTEGER;
  const left = end - nextIndex;
  if (left <= 0) return undefined;
  const records = cut.splitRecords ?? Math.ceil(left / Math.max(1, splitsLeft));
  const splitEnd = nextIndex + Math.min(records, left);
  return { splitId: `index-${nextIndex}`, start: nextIndex, end: splitEnd };
}
