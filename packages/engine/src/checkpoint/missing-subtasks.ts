/**
 * Where a checkpoint is held up: of the subtasks that have not answered, those that hold up the others, each with the phase
 * in which it presumably is. Pure; called for the sentences about checkpoints.
 *
 * Nobody tells the JobManager where a barrier is. But a subtask answers only after its barrier went on, so:
 *
 *     answered ──► missing ──► answered      its barrier got through: it is writing
 *     answered ──► missing ──► missing       its barriers are on the way to it, or it is writing
 *     missing  ──► missing                   it waits for the one in front of it, or records until its barrier comes
 *                  missing source            it has not taken the trigger, or is writing
 *
 * What it does instead is told by the times that tasks report: a subtask whose outputs are full is held up by what is
 * behind it, and there is the slow one.
 */
import {
  answered,
  type CheckpointRecord,
  isUnaligned,
  missing,
  type SubtaskRef,
} from './checkpoint-record.ts';

/** What a subtask did since the trigger, by its own reports. */
export interface SubtaskActivity {
  /** Of the time, 0 to 1; undefined: it has not reported since. */
  readonly busyRatio: number | undefined;
  /** Of the time, waiting for room in its outputs. */
  readonly backPressuredRatio: number | undefined;
  /** How long its thread has reported nothing. */
  readonly silentMs: number;
}

/** What is known of a job beside the checkpoint. */
export interface CheckpointSurroundings {
  /** Subtasks with a channel to this one; none for a source. */
  sendersOf(subtask: SubtaskRef): readonly SubtaskRef[];
  receiversOf(subtask: SubtaskRef): readonly SubtaskRef[];
  /** Others that run in the same thread, in turns. */
  sameThreadAs(subtask: SubtaskRef): readonly SubtaskRef[];
  activityOf(subtask: SubtaskRef): SubtaskActivity | undefined;
  /** Since its trigger, by monotonic time. */
  readonly elapsedMs: number;
  /** True if no barrier may overtake records. */
  readonly isAligned: boolean;
}

/** Where a subtask presumably is. */
export type PresumedPhase = 'at-trigger' | 'at-barriers' | 'writing';

/** A subtask that holds a checkpoint up. */
export interface Culprit {
  readonly subtask: SubtaskRef;
  readonly phase: PresumedPhase;
  readonly activity: SubtaskActivity | undefined;
  /** If its outputs are full: the subtask behind it that is slow. */
  readonly slowReceiver: SubtaskRef | undefined;
}

/** A thread that reports twice a second and has been silent for so long is in one call. */
const SILENT_MS = 2500;
const MOSTLY = 0.5;

export function isSilent(activity: SubtaskActivity | undefined): boolean {
  return activity !== undefined && activity.silentMs >= SILENT_MS;
}

export function isMostlyBusy(activity: SubtaskActivity | undefined): boolean {
  return (activity?.busyRatio ?? 0) >= MOSTLY;
}

export function isMostlyBackPressured(activity: SubtaskActivity | undefined): boolean {
  return (activity?.backPressuredRatio ?? 0) >= MOSTLY;
}

/** Those that hold a checkpoint up, the most suspicious first. Empty if all have answered. */
export function findCulprits(record: CheckpointRecord, surroundings: CheckpointSurroundings): Culprit[] {
  const isThrough = throughOf(record, surroundings);
  const culprits = missing(record).flatMap((subtask): Culprit[] => {
    const senders = surroundings.sendersOf(subtask);
    if (!senders.every(isThrough)) return [];
    const phase = isThrough(subtask) ? 'writing' : senders.length === 0 ? 'at-trigger' : 'at-barriers';
    const activity = surroundings.activityOf(subtask);
    const isHeldUp = phase !== 'writing' && isMostlyBackPressured(activity);
    return [
      { subtask, phase, activity, slowReceiver: isHeldUp ? slowBehind(subtask, surroundings) : undefined },
    ];
  });
  return culprits.sort((a, b) => suspicion(b) - suspicion(a));
}

/**
 * Tells whether the barriers of a subtask are known to have gone on. Where barriers wait their turn, one that has come
 * through was sent by all in front of it; one that overtakes says so of its sender only.
 */
function throughOf(
  record: CheckpointRecord,
  surroundings: CheckpointSurroundings,
): (subtask: SubtaskRef) => boolean {
  const overtakes = answered(record).some(({ answer }) => isUnaligned(answer.metrics));
  const known = new Map<string, boolean>();
  const hasAnswered = ({ vertexIndex, subtaskIndex }: SubtaskRef): boolean =>
    record.subtasks.get(vertexIndex)?.[subtaskIndex] !== undefined;
  const isThrough = (subtask: SubtaskRef): boolean => {
    const key = keyOf(subtask);
    const before = known.get(key);
    if (before !== undefined) return before;
    const receivers = surroundings.receiversOf(subtask);
    const is = hasAnswered(subtask) || receivers.some(overtakes ? hasAnswered : isThrough);
    known.set(key, is);
    return is;
  };
  return isThrough;
}

function keyOf({ vertexIndex, subtaskIndex }: SubtaskRef): string {
  return `${vertexIndex}.${subtaskIndex}`;
}

/** A stuck thread explains most, then work, then full outputs. The sort is stable: equals stay in topological order. */
function suspicion({ activity }: Culprit): number {
  if (isSilent(activity)) return 3;
  return Math.max(activity?.busyRatio ?? 0, activity?.backPressuredRatio ?? 0);
}

/** The busiest of the first subtasks behind this one whose own outputs are not full. */
function slowBehind(from: SubtaskRef, surroundings: CheckpointSurroundings): SubtaskRef | undefined {
  const seen = new Set<string>();
  let slow: { readonly subtask: SubtaskRef; readonly busyRatio: number } | undefined;
  const queue = [...surroundings.receiversOf(from)];
  for (let subtask = queue.shift(); subtask !== undefined; subtask = queue.shift()) {
    if (seen.has(keyOf(subtask))) continue;
    seen.add(keyOf(subtask));
    const activity = surroundings.activityOf(subtask);
    if (isSilent(activity)) return subtask;
    if (isMostlyBackPressured(activity)) queue.push(...surroundings.receiversOf(subtask));
    else if (isMostlyBusy(activity) && activity!.busyRatio! > (slow?.busyRatio ?? 0))
      slow = { subtask, busyRatio: activity!.busyRatio! };
  }
  return slow?.subtask;
}
