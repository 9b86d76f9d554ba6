/**
 * Hands out ranges of indexes on request, in order.
 *
 * Called by the host of the source; knows nothing of what the indexes stand for. Its state is one number, so a source of
 * any length costs the same in a checkpoint, and what was not handed out is cut anew after a restore at another
 * parallelism.
 *
 * I1  Everything below `nextIndex` is in exactly one split that a reader has; everything else in none.
 */
import { MillraceError } from '../../base/index.ts';
import type { EnumeratorContext, SplitEnumerator } from '../../runtime/index.ts';
import {
  cutNext,
  type IndexRangeEnumeratorState,
  type IndexRangeSplit,
  type RangeCut,
} from './index-range-split.ts';

export class IndexRangeEnumerator implements SplitEnumerator<IndexRangeEnumeratorState> {
  readonly #context: EnumeratorContext<IndexRangeSplit>;
  readonly #identity: string;
  readonly #cut: RangeCut;
  #nextIndex: number;
  #splitsLeft: number;

  /** Throws SOURCE_STATE_MISMATCH if `restored` is the state of another source, or of a longer one. */
  constructor(
    context: EnumeratorContext<IndexRangeSplit>,
    identity: string,
    cut: RangeCut,
    restored?: IndexRangeEnumeratorState,
  ) {
    this.#context = context;
    this.#identity = identity;
    this.#cut = cut;
    this.#nextIndex = restored?.nextIndex ?? 0;
    this.#splitsLeft = cut.splits;
    if (restored !== undefined) checkRestored(context.sourceName, identity, cut, restored);
  }

  start(): void {}

  addReader(): void {}

  handleSplitRequest(subtaskIndex: number): void {
    const split = cutNext(this.#nextIndex, this.#cut, this.#splitsLeft);
    if (split === undefined) {
      this.#context.signalNoMoreSplits(subtaskIndex);
      return;
    }
    this.#nextIndex = split.end;
    this.#splitsLeft -= 1;
    this.#context.assignSplit(split, subtaskIndex);
  }

  amountAssigned(): number {
    return this.#nextIndex;
  }

  snapshotState(): IndexRangeEnumeratorState {
    return { identity: this.#identity, nextIndex: this.#nextIndex };
  }

  close(): void {}
}

function checkRestored(
  sourceName: string,
  identity: string,
  cut: RangeCut,
  restored: IndexRangeEnumeratorState,
): void {
  if (restored.identity !== identity) {
    throw new MillraceError(
      'SOURCE_STATE_MISMATCH',
      `source "${sourceName}": the saved position belongs to a ${restored.identity}, but the program now has a ` +
        `${identity}. Restore with the source it was saved with, or give the changed source a new uid.`,
      { details: { source: sourceName, saved: restored.identity, found: identity } },
    );
  }
  if (cut.count !== undefined && restored.nextIndex > cut.count) {
    throw tooShort(sourceName, restored.nextIndex, cut.count);
  }
}

/** The error for a saved position beyond the end of the source. */
export function tooShort(sourceName: string, savedEnd: number, count: number): MillraceError {
  return new MillraceError(
    'SOURCE_STATE_MISMATCH',
    `source "${sourceName}": the saved position reaches record ${savedEnd}, but the source now ends after ${count} ` +
      'records. Restore with at least as many records as it had, or give the changed source a new uid.',
    { details: { source: sourceName, savedEnd, count } },
  );
}
