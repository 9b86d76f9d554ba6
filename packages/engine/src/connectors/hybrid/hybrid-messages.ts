/**
 * What the two halves of a hybrid source say to each other, and what they save. All of it is plain data.
 *
 *     enumerator                                   readers
 *         ── begin(i, state of the source before) ──►  make the reader of source i
 *         ── splits of source i ────────────────────►
 *         ── no more splits ────────────────────────►  read on to the end
 *         ◄── finished(i) ───────────────────────────
 *     when all have finished: source i + 1
 *
 * Nothing of this is saved: after a restore the enumerator begins its source with all readers again, and those that had
 * finished finish again.
 */
import type { Source, SourceSplit } from '../../runtime/index.ts';

/** A split of one of the sources. */
export interface HybridSplit extends SourceSplit {
  readonly sourceIndex: number;
  readonly split: SourceSplit;
}

/** What the enumerator saves. Splits that readers have are all of the source `sourceIndex`. */
export interface HybridEnumeratorState {
  readonly sourceIndex: number;
  /** State of the enumerator before, at its end; undefined for the first source. */
  readonly previousState: unknown;
  /** State of the enumerator of this source. */
  readonly current: unknown;
}

export type ToHybridReader =
  | { readonly type: 'begin'; readonly sourceIndex: number; readonly previousState: unknown }
  | { readonly type: 'no-more-splits' }
  | { readonly type: 'event'; readonly event: unknown };

export type ToHybridEnumerator =
  | { readonly type: 'finished'; readonly sourceIndex: number }
  | { readonly type: 'event'; readonly event: unknown };

/** The source of that index. Throws what a factory throws, and INVALID_ARGUMENT. */
export type ResolveSource<T> = (index: number, previousState: unknown) => Source<T>;
