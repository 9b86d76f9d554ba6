/**
 * Chooses the snapshot that a job starts from when it is asked for the latest. Pure: what was found goes in; out comes what
 * to use, what to look at next, or why to stop, each with an explanation for people. Called in turns by
 * latest-snapshot.ts, which reads the files.
 *
 * Newest: within a lineage ids rise strictly, so the id decides, whatever the clocks did. Between lineages (other starts,
 * forks) the wall time of the newest of each decides; for one that has nothing of its own yet, the time of its start.
 *
 * Invariants:
 * I1 A damaged snapshot is never chosen. It is passed over only if the policy allows it, and never silently.
 * I2 An incomplete one is never chosen: nobody was ever told that it is complete.
 * I3 What another job has claimed is never chosen: that job goes on from it. It is passed over like a damaged one, unless the
 *    other is an execution of this very job: what came after is found there.
 */
import { MillraceError } from '../base/index.ts';
import type { Claimant } from './job-file.ts';

/** What is known of a found snapshot. `unchecked`: its manifest is intact, its files were not compared yet. */
export type SnapshotCondition =
  | { readonly type: 'intact' }
  | { readonly type: 'unchecked' }
  | { readonly type: 'damaged'; readonly file: string; readonly problem: string }
  | { readonly type: 'incomplete' }
  /** `isGone`: that job has deleted it since. */
  | { readonly type: 'claimed'; readonly by: Claimant; readonly isGone: boolean };

type Claimed = Extract<SnapshotCondition, { readonly type: 'claimed' }>;

/** A snapshot that was found, complete or not. */
export interface SnapshotCandidate {
  /** URI or plain path of its directory. */
  readonly directory: string;
  readonly checkpointId: number;
  readonly jobId: string;
  readonly lineageId: string;
  /** Wall time, milliseconds since the epoch. */
  readonly timestampMs: number;
  readonly condition: SnapshotCondition;
  /** Not among the job's checkpoints: it was stopped with it, or started from it, or has claimed it. */
  readonly elsewhere?: 'stopped-with' | 'started-from' | 'claimed';
  /** When it became what the job goes on from, if that is not its own time. Wall time. */
  readonly sinceMs?: number;
}

/** If the newest cannot be used. `stop`: the job does not start. `fallback`: older ones may be used, more is replayed. */
export type DamagePolicy = 'stop' | 'fallback';

export type SnapshotChoice =
  | { readonly type: 'none'; readonly explanation: readonly string[] }
  /** Compare the files of this one and ask again. */
  | { readonly type: 'check'; readonly candidate: SnapshotCandidate }
  | {
      readonly type: 'use';
      readonly candidate: SnapshotCandidate;
      readonly explanation: readonly string[];
      /** What can be lost or shown twice by it. */
      readonly warning: string | undefined;
    }
  | { readonly type: 'stop'; readonly error: MillraceError; readonly explanation: readonly string[] };

/**
 * `preferCheckpoint`: a savepoint that the job was stopped with is passed over if there is a checkpoint of the same lineage
 * that can be used.
 */
export function chooseSnapshot(
  found: readonly SnapshotCandidate[],
  policy: DamagePolicy,
  preferCheckpoint = false,
): SnapshotChoice {
  const leftOut = found.filter((each) => each.condition.type === 'incomplete' || isSucceeded(each, found));
  const all = newestFirst(found.filter((each) => !leftOut.includes(each)));
  const passedOver = preferCheckpoint ? savepointsWithCheckpoint(all) : [];
  const complete = all.filter((candidate) => !passedOver.includes(candidate));
  const newest = complete[0];
  const explanation = leftOut.map(describeUnusable);
  if (newest === undefined) {
    return { type: 'none', explanation: [...explanation, 'no complete checkpoint was found'] };
  }
  const usable = complete.find(isUsable);
  if (usable?.condition.type === 'unchecked') return { type: 'check', candidate: usable };
  const newer = usable === undefined ? complete : complete.slice(0, complete.indexOf(usable));
  const claimed = complete.filter(({ condition }) => condition.type === 'claimed');
  for (const candidate of new Set([...newer, ...claimed])) explanation.push(describeUnusable(candidate));
  if (usable !== undefined && (newer.length === 0 || policy === 'fallback')) {
    explanation.push(...describeUse(usable, newest, complete));
    const savepoint = passedOver.find(({ lineageId }) => lineageId === usable.lineageId);
    const warning = savepoint === undefined ? undefined : preferredCheckpointText(usable, savepoint);
    return { type: 'use', candidate: usable, explanation, warning };
  }
  return { type: 'stop', error: unusableError(newest, usable), explanation };
}

function isUsable({ condition }: SnapshotCandidate): boolean {
  return condition.type === 'intact' || condition.type === 'unchecked';
}

/** Claimed by an execution of the same job that has something to go on from: the job is not behind it. */
function isSucceeded({ condition }: SnapshotCandidate, found: readonly SnapshotCandidate[]): boolean {
  if (condition.type !== 'claimed') return false;
  const { jobId } = condition.by;
  return found.some((each) => each.jobId === jobId && each.condition.type !== 'incomplete');
}

function savepointsWithCheckpoint(complete: readonly SnapshotCandidate[]): SnapshotCandidate[] {
  const checkpoints = complete.filter(
    (candidate) => candidate.elsewhere !== 'stopped-with' && isUsable(candidate),
  );
  return complete.filter(
    ({ elsewhere, lineageId }) =>
      elsewhere === 'stopped-with' && checkpoints.some((each) => each.lineageId === lineageId),
  );
}

/** What it means that a checkpoint is preferred to a newer savepoint. */
export function preferredCheckpointText(
  checkpoint: { readonly directory: string | undefined; readonly checkpointId: number },
  savepoint: { readonly directory: string | undefined },
): string {
  const used = checkpoint.directory ?? `checkpoint ${checkpoint.checkpointId}`;
  return (
    `${used} is used because checkpoints are preferred for recovery, although the job was stopped with ${savepoint.directory}, ` +
    'which is newer: what came between is done again, sinks may show it twice, and what a source cannot read again is lost'
  );
}

/** Newest first, as the header says. */
export function newestFirst(candidates: readonly SnapshotCandidate[]): SnapshotCandidate[] {
  const lineages = new Map<string, SnapshotCandidate[]>();
  for (const candidate of candidates) {
    const lineage = lineages.get(candidate.lineageId) ?? [];
    lineage.push(candidate);
    lineages.set(candidate.lineageId, lineage);
  }
  const ordered = [...lineages.values()].map((lineage) => lineage.sort(newerById));
  ordered.sort((a, b) => timeOf(b[0]!) - timeOf(a[0]!) || compareText(a[0]!.directory, b[0]!.directory));
  return ordered.flat();
}

function timeOf({ sinceMs, timestampMs }: SnapshotCandidate): number {
  return sinceMs ?? timestampMs;
}

function newerById(a: SnapshotCandidate, b: SnapshotCandidate): number {
  return (
    b.checkpointId - a.checkpointId || b.timestampMs - a.timestampMs || compareText(a.directory, b.directory)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function describeUnusable({ directory, condition }: SnapshotCandidate): string {
  switch (condition.type) {
    case 'incomplete':
      return `${directory}: incomplete, it has no _metadata; it was never in use`;
    case 'claimed':
      return `${directory}: ${describeClaim(condition)}`;
    case 'damaged':
      return `${directory}: damaged, ${condition.file}: ${condition.problem}`;
    default:
      return `${directory}: ${condition.type}`;
  }
}

function describeClaim({ by, isGone }: Claimed): string {
  const since = isGone ? ', and has deleted it since' : '';
  return `job '${by.jobName}' (${by.jobId}) has claimed it: it owns it${since}`;
}

function describeUse(
  used: SnapshotCandidate,
  newest: SnapshotCandidate,
  complete: readonly SnapshotCandidate[],
): string[] {
  const when = new Date(used.timestampMs).toISOString();
  const count = complete.filter(({ condition }) => condition.type !== 'claimed').length;
  const among = count === 1 ? 'the only complete one' : `the newest intact of ${count} complete ones`;
  const lines = [`${used.directory}: used; checkpoint ${used.checkpointId} of ${when}, ${among}`];
  if (used === newest) return lines;
  const why = newest.condition.type === 'claimed' ? 'another job has claimed' : 'is damaged';
  const lostS = Math.max(0, Math.round((newest.timestampMs - used.timestampMs) / 1000));
  lines.push(
    `instead of the newest, ${newest.directory}, which ${why}: at least ${lostS} s of input more are replayed; ` +
      'what was committed after the older checkpoint is written again, so sinks may see duplicates',
  );
  return lines;
}

function unusableError(newest: SnapshotCandidate, usable: SnapshotCandidate | undefined): MillraceError {
  const { condition, directory } = newest;
  const older = usable && `${usable.directory} (checkpoint ${usable.checkpointId})`;
  const details = { directory, alternative: usable?.directory };
  if (condition.type === 'claimed') return claimedError(directory, condition, older, details);
  const file = condition.type === 'damaged' ? condition.file : directory;
  const problem = condition.type === 'damaged' ? condition.problem : condition.type;
  const advice =
    older === undefined
      ? 'There is no intact one to use instead.'
      : `The newest intact one is ${older}: start from it by its path to replay more input, knowing that sinks may see ` +
        'duplicates, or restore the damaged file from a copy.';
  const message = `The newest snapshot of the job cannot be used. ${file}: ${problem}. ${advice}`;
  return new MillraceError('SNAPSHOT_CORRUPT', message, { details: { ...details, file } });
}

/** Nothing is wrong with it: it has changed hands, and the results that follow it are another job's to make. */
function claimedError(
  directory: string,
  condition: Claimed,
  older: string | undefined,
  details: Record<string, unknown>,
): MillraceError {
  const { jobId, jobName } = condition.by;
  const instead =
    older === undefined
      ? 'to begin anew, start this one without a snapshot'
      : `to branch off from an older one, start this one from ${older} by its path, or begin anew without a snapshot`;
  return new MillraceError(
    'SNAPSHOT_CLAIMED',
    `The newest snapshot of the job, ${directory}, is no longer its own: ${describeClaim(condition)}. That job goes on from it, ` +
      `so whatever this one did again its sinks would show twice. Start job '${jobName}' from latest to go on; ${instead}, ` +
      'knowing that sinks may see duplicates.',
    { details: { ...details, jobId, jobName } },
  );
}
