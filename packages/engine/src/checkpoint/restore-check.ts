/**
 * Compares the operators of a snapshot with those of the job that is to start from it, before the first record. Pure;
 * called by the JobManager. restore-report.ts writes the comparison down for people.
 *
 * An operator is found by its uid, given or generated. What is found must be of the same kind, be keyed by the same type,
 * and have states of the same kinds, as far as the job says before it runs; what is not found must be dropped by name or
 * by permission. Operators without state match anything. The number of key groups may change, the parallelism may not
 * exceed it.
 *
 * Invariants:
 * I1 No state is dropped that was not named or permitted, and what is dropped is in the report.
 */
import { MillraceError, nearestName } from '../base/index.ts';
import type { OperatorSubtaskState } from '../state/index.ts';
import { formatType } from '../types/index.ts';
import {
  type OperatorToRestore,
  type RestoreMatch,
  type RestoreOutcome,
  type RestoreReport,
  restoreReportText,
  type SavedOperatorSummary,
} from './restore-report.ts';
import {
  isEmptyState,
  type OperatorSnapshot,
  type SnapshotManifest,
  streamLengthBytes,
  streamsOf,
} from './snapshot-manifest.ts';

export interface RestoreOptions {
  /** Drop whatever has no home (`-n`). */
  readonly allowNonRestoredState: boolean;
  /** Drop the state of these operators (`--drop-state`), with or without a home. */
  readonly dropStateOf: readonly string[];
}

/** Compares; never throws. */
export function checkRestore(
  manifest: SnapshotManifest,
  job: readonly OperatorToRestore[],
  options: RestoreOptions,
): RestoreReport {
  const targets = new Map(job.map((operator) => [operator.uid, operator]));
  const savedUids = new Set(manifest.operators.map(({ uid }) => uid));
  const fresh = job.filter(({ uid }) => !savedUids.has(uid));
  const matches = manifest.operators.map((operator): RestoreMatch => {
    const saved = summarize(operator);
    const target = targets.get(operator.uid);
    return { saved, target, outcome: outcomeOf(saved, target, fresh, options) };
  });
  const unknownDrops = options.dropStateOf.filter((uid) => !savedUids.has(uid));
  const isAccepted = unknownDrops.length === 0 && matches.every(({ outcome }) => outcome.type !== 'refused');
  return { matches, fresh, unknownDrops, isAccepted };
}

/** Throws RESTORE_MISMATCH with the whole report if the job must not start from the snapshot at `path`. */
export function assertRestorable(report: RestoreReport, path: string): void {
  if (report.isAccepted) return;
  const refused = report.matches.filter(({ outcome }) => outcome.type === 'refused');
  throw new MillraceError('RESTORE_MISMATCH', restoreReportText(report, path), {
    details: {
      path,
      refused: refused.map(({ saved }) => ({ uid: saved.uid, name: saved.name })),
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

/** Descriptions are plain data: equal if they have the same members with equal values. */
export function sameType(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = definedEntries(a);
  const right = new Map(definedEntries(b));
  return (
    left.length === right.size &&
    left.every(([name, value]) => right.has(name) && sameType(value, right.get(name)))
  );
}

function definedEntries(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, member]) => member !== undefined);
}
