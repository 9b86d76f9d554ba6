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
 * I3 What another job has claimed is never chosen: that job goes on from it.
 */
import { MillraceError } from '../base/index.ts';

/** What is known of a found snapshot. `unchecked`: its manifest is intact, its files were not compared yet. */
export type SnapshotCondition =
  | { readonly type: 'intact' }
  | { readonly type: 'unchecked' }
  | { readonly type: 'damaged'; readonly file: string; readonly problem: string }
  | { readonly type: 'incomplete' }
  /** By the job of that name. */
  | { readonly type: 'claimed'; readonly by: string };

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

/** `stop`: the job does not start. `fallback`: older ones may be used, more is replayed. */
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
 * that is not damaged.
 */
export function chooseSnapshot(
  found: readonly SnapshotCandidate[],
  policy: DamagePolicy,
  preferCheckpoint = false,
): SnapshotChoice {
  const all = newestFirst(found.filter(isComplete));
  const passedOver = preferCheckpoint ? savepointsWithCheckpoint(all) : [];
  const complete = all.filter((candidate) => !passedOver.includes(candidate));
  const newest = complete[0];
  const explanation = found.filter((candidate) => !isComplete(candidate)).map(describeUnusable);
  if (newest === undefined) {
    return { type: 'none', explanation: [...explanation, 'no complete checkpoint was found'] };
  }
  const usable = complete.find(({ condition }) => condition.type !== 'damaged');
  if (usable?.condition.type === 'unchecked') return { type: 'check', candidate: usable };
  const damaged = complete.slice(0, usable === undefined ? complete.length : complete.indexOf(usable));
  for (const candidate of damaged) explanation.push(describeUnusable(candidate));
  if (usable !== undefined && (damaged.length === 0 || policy === 'fallback')) {
    explanation.push(...describeUse(usable, newest, complete));
    const newer = passedOver.find(({ lineageId }) => lineageId === usable.lineageId);
    const warning = newer === undefined ? undefined : preferredCheckpointText(usable, newer);
    return { type: 'use', candidate: usable, explanation, warning };
  }
  return { type: 'stop', error: damageError(newest, usable), explanation };
}

function isComplete({ condition }: SnapshotCandidate): boolean {
  return condition.type !== 'incomplete' && condition.type !== 'claimed';
}

function savepointsWithCheckpoint(complete: readonly SnapshotCandidate[]): SnapshotCandidate[] {
  const checkpoints = complete.filter(
    ({ elsewhere, condition }) => elsewhere !== 'stopped-with' && condition.type !== 'damaged',
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
      return `${directory}: claimed by another job, '${condition.by}'`;
    case 'damaged':
      return `${directory}: damaged, ${condition.file}: ${condition.problem}`;
    default:
      return `${directory}: ${condition.type}`;
  }
}

function describeUse(
  used: SnapshotCandidate,
  newest: SnapshotCandidate,
  complete: readonly SnapshotCandidate[],
): string[] {
  const when = new Date(used.timestampMs).toISOString();
  const others = complete.length - 1;
  const among =
    others === 0 ? 'the only complete one' : `the newest intact of ${complete.length} complete ones`;
  const lines = [`${used.directory}: used; checkpoint ${used.checkpointId} of ${when}, ${among}`];
  if (used === newest) return lines;
  const lostMs = newest.timestampMs - used.timestampMs;
  lines.push(
    `instead of the newest, ${newest.directory}, which is damaged: at least ${Math.max(0, Math.round(lostMs / 1000))} s of ` +
      'input more are replayed; what was committed after the older checkpoint is written again, so sinks may see duplicates',
  );
  return lines;
}

function damageError(newest: SnapshotCandidate, alternative: SnapshotCandidate | undefined): MillraceError {
  const { condition } = newest;
  const file = condition.type === 'damaged' ? condition.file : newest.directory;
  const problem = condition.type === 'damaged' ? condition.problem : condition.type;
  const advice =
    alternative === undefined
      ? 'There is no intact one to use instead.'
      : `The newest intact one is ${alternative.directory} (checkpoint ${alternative.checkpointId}): start from it by its ` +
        'path to replay more input, knowing that sinks may see duplicates, or restore the damaged file from a copy.';
  return new MillraceError(
    'SNAPSHOT_CORRUPT',
    `The newest checkpoint is damaged. ${file}: ${problem}. ${advice}`,
    {
      details: { directory: newest.directory, file, alternative: alternative?.directory },
    },
  );
}
