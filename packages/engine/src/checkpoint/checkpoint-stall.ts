/**
 * Sentences for people: what holds a checkpoint up. Pure; a part of the sentences about checkpoints that expired or are under
 * way. Who holds it up is found by missing-subtasks.ts.
 */
import { readableDuration } from '../base/index.ts';
import {
  answered,
  type CheckpointRecord,
  missing,
  type SubtaskRef,
  subtaskName,
} from './checkpoint-record.ts';
import {
  type CheckpointSurroundings,
  type Culprit,
  findCulprits,
  isMostlyBackPressured,
  isMostlyBusy,
  isSilent,
  type SubtaskActivity,
} from './missing-subtasks.ts';

const CULPRITS_SHOWN_MAX = 3;

/** Who has not answered, who of these holds up the rest, and what they do instead. */
export function stallText(record: CheckpointRecord, surroundings: CheckpointSurroundings): string {
  const open = missing(record);
  const all = open.length + answered(record).length;
  const culprits = findCulprits(record, surroundings);
  const shown = culprits.slice(0, CULPRITS_SHOWN_MAX);
  const sentences = [
    `${open.length} of ${all} subtasks ${open.length === 1 ? 'has' : 'have'} not answered`,
    ...shown.map((culprit) => culpritText(record, culprit, surroundings)),
  ];
  const more = culprits.length - shown.length;
  if (more > 0) sentences.push(`${more} more hold it up`);
  const behind = open.length - culprits.length;
  if (behind > 0) sentences.push(`${behind} ${behind === 1 ? 'waits' : 'wait'} for barriers behind them`);
  if (surroundings.isAligned && culprits.some(isHeldUpByRecords)) {
    sentences.push('Unaligned checkpoints let barriers overtake the records that wait there');
  }
  return `${sentences.join('. ')}.`;
}

function isHeldUpByRecords({ phase, activity }: Culprit): boolean {
  if (phase === 'writing' || isSilent(activity)) return false;
  return isMostlyBackPressured(activity) || (phase === 'at-barriers' && activity?.busyRatio !== undefined);
}

const WHERE: Readonly<Record<Culprit['phase'], string>> = {
  'at-trigger': 'has not answered its trigger',
  'at-barriers': 'has not answered, though its barriers are on the way to it',
  writing: 'has sent its barriers on and is writing its state',
};

function culpritText(
  record: CheckpointRecord,
  { subtask, phase, slowReceiver }: Culprit,
  surroundings: CheckpointSurroundings,
): string {
  const where = `${subtaskName(record, subtask)} ${WHERE[phase]}`;
  if (phase === 'writing') return where;
  const does = occupation(record, subtask, surroundings) ?? idleness(surroundings.activityOf(subtask));
  const slow = slowReceiver && occupation(record, slowReceiver, surroundings);
  const behind = slow === undefined ? '' : `; behind it is ${subtaskName(record, slowReceiver!)}: ${slow}`;
  return `${where}${does === undefined ? '' : `: ${does}`}${behind}`;
}

/** What keeps a subtask from its barriers; undefined: nothing that is known. */
export function occupation(
  record: CheckpointRecord,
  subtask: SubtaskRef,
  surroundings: CheckpointSurroundings,
): string | undefined {
  const activity = surroundings.activityOf(subtask);
  if (activity === undefined) return undefined;
  if (isSilent(activity)) {
    return `its thread has been in one call for ${readableDuration(activity.silentMs)}`;
  }
  if (isMostlyBackPressured(activity)) {
    return `its outputs were full ${percent(activity.backPressuredRatio!)} of the time`;
  }
  if (isMostlyBusy(activity)) return `it was busy ${percent(activity.busyRatio!)} of the time`;
  const others = surroundings
    .sameThreadAs(subtask)
    .map((other) => ({ other, busyRatio: surroundings.activityOf(other)?.busyRatio ?? 0 }));
  const busyRatio = others.reduce((sum, each) => sum + each.busyRatio, 0);
  if (!isMostlyBusy({ ...activity, busyRatio })) return undefined;
  const most = others.reduce((busiest, each) => (each.busyRatio > busiest.busyRatio ? each : busiest));
  return (
    `its thread was busy with other tasks ${percent(Math.min(1, busyRatio))} of the time, ` +
    `most of all with ${subtaskName(record, most.other)}`
  );
}

function idleness(activity: SubtaskActivity | undefined): string | undefined {
  if (activity?.busyRatio === undefined) return undefined;
  return `it was busy ${percent(activity.busyRatio)} of the time only, so it waits for something, such as asynchronous calls`;
}

function percent(ratio: number): string {
  return `${Math.round(ratio * 100)} %`;
}
