/**
 * Sentences for people: what a job was restored from, why from that, how much is done again, how long it took. Pure; made
 * for the statistics of a job, which log them and hand them out.
 */
import { counted, readableBytes, readableDuration } from '../base/index.ts';

/** A snapshot as sentences name it. */
export interface RestoredSnapshot {
  readonly checkpointId: number;
  readonly isSavepoint: boolean;
  /** undefined: in memory only. */
  readonly path: string | undefined;
  /** Wall time of its trigger. */
  readonly timestampMs: number;
  readonly stateSizeBytes: number;
}

/** Records that sources emit again. */
export interface ReplayedRecords {
  readonly count: number;
  /** Some source could not tell any more how far it had come. */
  readonly isAtLeast: boolean;
}

/** One beginning of a job: its start, or a restart after a failure. */
export interface Recovery {
  readonly jobName: string;
  readonly cause:
    | { readonly type: 'start' }
    | {
        readonly type: 'failure';
        readonly message: string;
        /** By the restart strategy, before anything was started. */
        readonly delayMs: number;
      };
  /** What is restarted, if not the whole job. */
  readonly part: string | undefined;
  /** undefined: it begins at its beginning. */
  readonly snapshot: RestoredSnapshot | undefined;
  /** Why this snapshot, in lines; empty: it is the newest that was complete. */
  readonly why: readonly string[];
  /** undefined: nobody has counted. */
  readonly replayed: ReplayedRecords | undefined;
  /** Wall time of the start, or of the failure. */
  readonly atMs: number;
  /** From then until all tasks ran again; undefined: they do not yet. */
  readonly tookMs: number | undefined;
}

/** All about it: a paragraph, and below it why this snapshot was taken. */
export function explainRecovery(recovery: Recovery): string {
  return [recoverySentences(recovery), ...recovery.why.map((line) => `  ${line}`)].join('\n');
}

/** The same in a line for the log, which knows of the failure already. */
export function recoveryLine(recovery: Recovery): string {
  const { jobName, part } = recovery;
  return recoverySentences(recovery, `${nameOf(jobName, part)} runs again.`);
}

/** From which snapshot, how much is done again, how long it took. */
function recoverySentences(recovery: Recovery, failure = failureText(recovery)): string {
  return [originText(recovery, failure), replayText(recovery), durationText(recovery)]
    .filter((text) => text !== '')
    .join(' ');
}

function nameOf(jobName: string, part: string | undefined): string {
  return part === undefined ? `Job '${jobName}'` : `Of job '${jobName}', ${part}`;
}

function failureText({ jobName, part, cause }: Recovery): string {
  const message = cause.type === 'start' ? '' : cause.message.replace(/\.$/, '');
  return `${nameOf(jobName, part)} failed: ${message}.`;
}

function originText({ jobName, cause, part, snapshot, why, atMs }: Recovery, failure: string): string {
  const what = nameOf(jobName, part);
  const from = snapshot === undefined ? undefined : snapshotText(snapshot, atMs);
  if (cause.type === 'start') {
    return from === undefined ? `${what} began at its beginning.` : `${what} was started from ${from}.`;
  }
  if (from === undefined) {
    return `${failure} It went back to its beginning, as no checkpoint was complete.`;
  }
  const newest = why.length === 0 ? 'the newest that was complete, ' : '';
  return `${failure} It went back to ${newest}${from}.`;
}

function snapshotText(
  { checkpointId, isSavepoint, path, timestampMs }: RestoredSnapshot,
  atMs: number,
): string {
  const where = path === undefined ? 'in memory' : path;
  const agoMs = Math.max(0, atMs - timestampMs);
  const when = new Date(timestampMs).toISOString();
  return `${isSavepoint ? 'savepoint' : 'checkpoint'} ${checkpointId} (${where}) of ${when}, ${readableDuration(agoMs)} before`;
}

function replayText({ cause, snapshot, replayed }: Recovery): string {
  if (cause.type === 'start') {
    return snapshot === undefined
      ? ''
      : 'Whatever its sources had emitted after that they emit again; how many records that are, nobody has counted.';
  }
  if (replayed === undefined)
    return 'What its sources had emitted after that they emit again; how many records that are is not known.';
  const { count, isAtLeast } = replayed;
  if (count === 0 && !isAtLeast) return 'Its sources had emitted nothing after that.';
  const records = counted(count, 'record');
  return `Its sources emit ${isAtLeast ? 'at least ' : ''}${records} again.`;
}

function durationText({ cause, snapshot, tookMs }: Recovery): string {
  if (tookMs === undefined) return 'It does not run yet.';
  const state = snapshot === undefined ? '' : `, with ${readableBytes(snapshot.stateSizeBytes)} of state`;
  if (cause.type === 'start') return `It ran after ${readableDuration(tookMs)}${state}.`;
  const pause =
    cause.delayMs === 0 ? '' : `, of which the restart strategy waited ${readableDuration(cause.delayMs)}`;
  return `It ran again after ${readableDuration(tookMs)}${pause}${state}.`;
}
