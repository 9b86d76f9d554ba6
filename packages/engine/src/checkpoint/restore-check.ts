/**
 * Compares the operators of a snapshot, and the exchanges with data in flight, with those of the job that is to start from
 * it, before the first record. Pure; called by the JobManager. restore-report.ts writes the comparison down for people.
 *
 * An operator is found by its uid, given or generated. What is found must be of the same kind, be keyed by the same type,
 * and have states of the same kinds, as far as the job says before it runs; what is not found must be dropped by name or
 * by permission. Operators without state match anything. The number of key groups may change, the parallelism may not
 * exceed it.
 *
 * An exchange is found by the uids of the operators at its ends. Its records must be of the same type; their way to the
 * subtasks may change (in-flight-assignment.ts). What is not found must be dropped by permission, or with one of its
 * operators. All data in flight of one checkpoint may be ignored on demand.
 *
 * Invariants:
 * I1 No state and no record is dropped that was not named or permitted, and what is dropped is in the report.
 */
import { MillraceError, nearestName } from '../base/index.ts';
import type { OperatorSubtaskState } from '../state/index.ts';
import { formatType } from '../types/index.ts';
import { inFlightMisfit } from './in-flight-assignment.ts';
import { type EdgeDescription, type EdgeSnapshot, edgeKey, inFlightBytes } from './in-flight-data.ts';
import {
  type EdgeMatch,
  type EdgeOutcome,
  type OperatorToRestore,
  type RestoreMatch,
  type RestoreOutcome,
  type RestoreReport,
  restoreReportText,
  type SavedOperatorSummary,
} from './restore-report.ts';
import { sameType } from './same-type.ts';
import {
  isEmptyState,
  type OperatorSnapshot,
  type SnapshotManifest,
  streamsOf,
} from './snapshot-manifest.ts';
import { streamLengthBytes } from './stream-length.ts';

export interface RestoreOptions {
  /** Drop whatever has no home (`-n`). */
  readonly allowNonRestoredState: boolean;
  /** Drop the state of these operators (`--drop-state`), with or without a home. */
  readonly dropStateOf: readonly string[];
  /** The data in flight of the checkpoint with this id is ignored; undefined: of none. */
  readonly ignoredInFlightOf?: number | undefined;
}

/** What a restore needs to know of the job that is to start. */
export interface JobToRestore {
  readonly operators: readonly OperatorToRestore[];
  readonly edges: readonly EdgeDescription[];
}

/** Compares; never throws. */
export function checkRestore(
  manifest: SnapshotManifest,
  { operators, edges }: JobToRestore,
  options: RestoreOptions,
): RestoreReport {
  const targets = new Map(operators.map((operator) => [operator.uid, operator]));
  const savedUids = new Set(manifest.operators.map(({ uid }) => uid));
  const fresh = operators.filter(({ uid }) => !savedUids.has(uid));
  const matches = manifest.operators.map((operator): RestoreMatch => {
    const saved = summarize(operator);
    const target = targets.get(operator.uid);
    return { saved, target, outcome: outcomeOf(saved, target, fresh, options) };
  });
  const inFlight = matchEdges(manifest, edges, options);
  const unknownDrops = options.dropStateOf.filter((uid) => !savedUids.has(uid));
  const isAccepted =
    unknownDrops.length === 0 && [...matches, ...inFlight].every(({ outcome }) => outcome.type !== 'refused');
  return { matches, fresh, inFlight, unknownDrops, isAccepted };
}

function matchEdges(
  manifest: SnapshotManifest,
  edges: readonly EdgeDescription[],
  options: RestoreOptions,
): EdgeMatch[] {
  const names = new Map(manifest.operators.map(({ uid, name }) => [uid, name]));
  const targets = new Map(edges.map((edge) => [edgeKey(edge.identity), edge]));
  const isIgnored = manifest.checkpointId === options.ignoredInFlightOf;
  return manifest.inFlight.map((saved) => {
    const { identity } = saved;
    const target = targets.get(edgeKey(identity));
    return {
      sourceName: names.get(identity.sourceUid) ?? identity.sourceUid,
      targetName: names.get(identity.targetUid) ?? identity.targetUid,
      sideTag: identity.sideTag,
      sizeBytes: inFlightBytes(saved),
      outcome: isIgnored ? { type: 'dropped', why: 'ignored' } : edgeOutcomeOf(saved, target, options),
    };
  });
}

function edgeOutcomeOf(
  saved: EdgeSnapshot,
  target: EdgeDescription | undefined,
  options: RestoreOptions,
): EdgeOutcome {
  const problem =
    target === undefined ? 'the new job has no such stream between them' : inFlightMisfit(saved, target);
  if (problem === undefined) return { type: 'restored' };
  const { sourceUid, targetUid } = saved.identity;
  if (options.dropStateOf.includes(sourceUid) || options.dropStateOf.includes(targetUid))
    return { type: 'dropped', why: 'by-name' };
  if (options.allowNonRestoredState) return { type: 'dropped', why: 'allowed' };
  return { type: 'refused', problem };
}

/** Throws RESTORE_MISMATCH with the whole report if the job must not start from the snapshot at `path`. */
export function assertRestorable(report: RestoreReport, path: string): void {
  if (report.isAccepted) return;
  const refused = report.matches.filter(({ outcome }) => outcome.type === 'refused');
  throw new MillraceError('RESTORE_MISMATCH', restoreReportText(report, path), {
    details: {
      path,
      refused: refused.map(({ saved }) => ({ uid: saved.uid, name: saved.name })),
      refusedInFlight: report.inFlight
        .filter(({ outcome }) => outcome.type === 'refused')
        .map(({ sourceName, targetName, sizeBytes }) => ({ sourceName, targetName, sizeBytes })),
      unknownDrops: [...report.unknownDrops],
    },
  });
}

/** The numbers of a saved operator. */
export function summarize(operator: OperatorSnapshot): SavedOperatorSummary {
  const states = new Map<string, { name: string; kind: string; entries: number }>();
  let sizeBytes = operator.coordinator?.length ?? 0;
  const count = (name: string, kind: string, entries: number): void => {
    const state = states.get(name) ?? { name, kind, entries: 0 };
    state.entries += entries;
    states.set(name, state);
  };
  for (const subtask of operator.subtasks) {
    for (const { states: keyed } of subtask.keyed)
      for (const { name, kind, entries } of keyed) count(name, kind, entries);
    for (const { name, mode, offsets } of subtask.operator) count(name, mode, offsets.length);
    for (const stream of streamsOf(subtask)) sizeBytes += streamLengthBytes(stream);
  }
  const { uid, uidIsGenerated, name, kind, key, parallelism, maxParallelism } = operator;
  const keyedNames = new Set(operator.subtasks.flatMap(keyedStateNames));
  const keys = Math.max(
    0,
    ...[...states.values()].filter((s) => keyedNames.has(s.name)).map((s) => s.entries),
  );
  const hasState =
    operator.coordinator !== undefined || operator.subtasks.some((subtask) => holdsState(subtask));
  return {
    ...{ uid, uidIsGenerated, name, kind, key, parallelism, maxParallelism },
    ...{ states: [...states.values()], keys, sizeBytes, hasState },
  };
}

function keyedStateNames(subtask: OperatorSubtaskState): string[] {
  return subtask.keyed.flatMap(({ states }) => states.map(({ name }) => name));
}

/** An operator whose states were registered and are all empty loses nothing when it has no home. */
function holdsState(subtask: OperatorSubtaskState): boolean {
  if (isEmptyState(subtask)) return false;
  const keyed = subtask.keyed.some(({ states }) => states.some(({ entries }) => entries > 0));
  return keyed || subtask.operator.some(({ offsets }) => offsets.length > 0);
}

function outcomeOf(
  saved: SavedOperatorSummary,
  target: OperatorToRestore | undefined,
  fresh: readonly OperatorToRestore[],
  options: RestoreOptions,
): RestoreOutcome {
  if (!saved.hasState) {
    // Nothing can be lost. States that were registered and are empty still tell their types.
    const fits = target !== undefined && problemsOf(saved, target).length === 0;
    return { type: fits ? 'restored' : 'nothing-to-restore' };
  }
  if (options.dropStateOf.includes(saved.uid)) return { type: 'dropped', why: 'by-name' };
  if (target === undefined) {
    if (options.allowNonRestoredState) return { type: 'dropped', why: 'allowed' };
    const problem = 'no operator of the new job has its uid';
    return { type: 'refused', problems: [problem], advice: adviceForMissing(saved, fresh) };
  }
  const problems = problemsOf(saved, target);
  if (problems.length === 0) return { type: 'restored' };
  return { type: 'refused', problems, advice: undefined };
}

function problemsOf(saved: SavedOperatorSummary, target: OperatorToRestore): string[] {
  const problems: string[] = [];
  if (saved.kind !== target.kind) problems.push(`it was a ${saved.kind}, now it is a ${target.kind}`);
  const isKeyed = saved.key !== undefined;
  if (isKeyed && target.key === undefined) {
    problems.push(`its state is by key (${formatType(saved.key)}), now it is not keyed`);
  } else if (isKeyed && target.key !== undefined && !sameType(saved.key, target.key)) {
    problems.push(`its keys were ${formatType(saved.key)}, now they are ${formatType(target.key)}`);
  }
  if (target.parallelism > target.maxParallelism) {
    problems.push(
      `its parallelism ${target.parallelism} exceeds its max parallelism ${target.maxParallelism}`,
    );
  }
  for (const { name, kind } of target.states ?? []) {
    const old = saved.states.find((state) => state.name === name);
    if (old !== undefined && old.kind !== kind)
      problems.push(`its state "${name}" was of kind ${old.kind}, now ${kind}`);
  }
  return problems;
}

/** Which new operator the state was probably meant for. */
function adviceForMissing(
  saved: SavedOperatorSummary,
  fresh: readonly OperatorToRestore[],
): string | undefined {
  const likely = nearestOperator(saved, fresh);
  if (likely === undefined) return undefined;
  const { name, uid, uidIsGenerated } = likely;
  const found = uidIsGenerated ? 'whose uid is generated and has changed' : `which has the uid "${uid}"`;
  return `It probably belongs to "${name}" of the new job, ${found}: give that operator .uid("${saved.uid}").`;
}

function nearestOperator(
  saved: SavedOperatorSummary,
  fresh: readonly OperatorToRestore[],
): OperatorToRestore | undefined {
  const sameKind = fresh.filter(({ kind }) => kind === saved.kind);
  const sameName = sameKind.find(({ name }) => name === saved.name);
  if (sameName !== undefined) return sameName;
  const byUid = sameKind.filter(({ uidIsGenerated }) => !uidIsGenerated && !saved.uidIsGenerated);
  const uid = nearestName(
    saved.uid,
    byUid.map((operator) => operator.uid),
  );
  const name = nearestName(
    saved.name,
    sameKind.map((operator) => operator.name),
  );
  return (
    sameKind.find((operator) => operator.uid === uid) ?? sameKind.find((operator) => operator.name === name)
  );
}
