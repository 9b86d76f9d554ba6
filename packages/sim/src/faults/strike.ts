/**
 * What can be done to a run, when, and in which order. A strike waits for its moment, counted in things that happen, not
 * in time, so that it hits every step of recovery and of a checkpoint as easily as the long stretches between; the next
 * begins to wait when it was carried out. Drawn by scenarios, carried out by strike-sequence.ts.
 */
import type { EventKind } from '../../../engine/src/testing/simulation/index.ts';
import type { Place } from '../world/site.ts';

export const STRIKE_KINDS = [
  /** User code throws. */
  'task-failure',
  /** A worker thread is gone without a word, or out of memory. */
  'thread-loss',
  /** kill -9. */
  'process-kill',
  /** The machine restarts: what was not synced is gone, or some of it. */
  'power-failure',
  'partial-power-failure',
  /** An operation on a file fails without effect, after its effect (a write: after a part of it), or takes very long. */
  'disk-error',
  'disk-late-error',
  'disk-hang',
  /** The disk is full for some time. */
  'disk-full',
  /** A process, or a thread, does nothing for some time. */
  'process-freeze',
  'thread-stall',
  /** The wall clock is set, forward or back. */
  'wall-clock-jump',
  /** The job is started once more while it runs. */
  'double-start',
] as const;

export type StrikeKind = (typeof STRIKE_KINDS)[number];

/** The moment: the `after`-th time, counted from 1, that something of the kind happens. */
export type Moment =
  | { readonly type: 'event'; readonly kind: EventKind | undefined; readonly after: number }
  | { readonly type: 'file'; readonly operation: string | undefined; readonly after: number }
  | { readonly type: 'place'; readonly place: Place | undefined; readonly after: number };

export interface Strike {
  readonly kind: StrikeKind;
  readonly moment: Moment;
  /** How long, how far: meaning and range depend on the kind. */
  readonly size: number;
}

/** Kinds that only user code can suffer, and those that only an operation on a file can. */
export const PLACE_STRIKES: readonly StrikeKind[] = ['task-failure'];
export const FILE_STRIKES: readonly StrikeKind[] = ['disk-error', 'disk-late-error', 'disk-hang'];

/** A process that is gone, or whose disk is not as it should be, leaves something behind: a temporary file, an empty directory. */
export const HINDERS_CLEARING_UP: readonly StrikeKind[] = [
  'process-kill',
  'power-failure',
  'partial-power-failure',
  'disk-error',
  'disk-late-error',
  'disk-full',
  'double-start',
];
