/**
 * What a restore does with each saved operator and with data in flight, and the same as text for people: saved operators and
 * those of the job side by side, by name; what was refused and why, what was dropped. One text for a refused restore, and for one that may drop
 * state. restore-check.ts makes the report.
 */
import type { KeyedStateKind } from '../state/index.ts';
import { formatType, type TypeDescription } from '../types/index.ts';

const COLUMN_MAX = 44;

/** An operator of the new job. */
export interface OperatorToRestore {
  readonly uid: string;
  readonly uidIsGenerated: boolean;
  readonly name: string;
  readonly kind: string;
  readonly parallelism: number;
  readonly maxParallelism: number;
  /** Type of its keys; undefined if it is not keyed. */
  readonly key: TypeDescription | undefined;
  /** Its states, if they are known before it runs. */
  readonly states?: readonly { readonly name: string; readonly kind: KeyedStateKind }[];
}

/** A saved operator in numbers. */
export interface SavedOperatorSummary {
  readonly uid: string;
  readonly uidIsGenerated: boolean;
  readonly name: string;
  readonly kind: string;
  readonly key: TypeDescription | undefined;
  readonly parallelism: number;
  readonly maxParallelism: number;
  readonly states: readonly { readonly name: string; readonly kind: string; readonly entries: number }[];
  /** The most entries that one of its keyed states has: about the number of keys. */
  readonly keys: number;
  readonly sizeBytes: number;
  readonly hasState: boolean;
}

/** What becomes of a saved operator. */
export type RestoreOutcome =
  | { readonly type: 'restored' }
  /** It had no state. */
  | { readonly type: 'nothing-to-restore' }
  | { readonly type: 'dropped'; readonly why: 'by-name' | 'allowed' }
  | { readonly type: 'refused'; readonly problems: readonly string[]; readonly advice: string | undefined };

export interface RestoreMatch {
  readonly saved: SavedOperatorSummary;
  /** The operator of the new job with its uid. */
  readonly target: OperatorToRestore | undefined;
  readonly outcome: RestoreOutcome;
}

/** What becomes of the data in flight of an exchange. */
export type EdgeOutcome =
  | { readonly type: 'restored' }
  | { readonly type: 'dropped'; readonly why: 'by-name' | 'allowed' | 'ignored' }
  | { readonly type: 'refused'; readonly problem: string };

/** An exchange with data in flight. */
export interface EdgeMatch {
  /** Of the operators at its ends, as they were saved. */
  readonly sourceName: string;
  readonly targetName: string;
  readonly sideTag: string | undefined;
  readonly sizeBytes: number;
  readonly outcome: EdgeOutcome;
}

export interface RestoreReport {
  readonly matches: readonly RestoreMatch[];
  /** Exchanges that had data in flight, as in the manifest. */
  readonly inFlight: readonly EdgeMatch[];
  /** Operators of the new job that nothing was saved for. */
  readonly fresh: readonly OperatorToRestore[];
  /** Names in `dropStateOf` that the snapshot does not have. */
  readonly unknownDrops: readonly string[];
  readonly isAccepted: boolean;
}

/** The whole report. */
export function restoreReportText(report: RestoreReport, path: string): string {
  const refused = report.matches.filter(({ outcome }) => outcome.type === 'refused');
  const lines = [headline(report, path), '', ...table(report)];
  for (const match of refused) lines.push('', ...refusalLines(match));
  lines.push(...inFlightRefusalLines(report.inFlight));
  for (const uid of report.unknownDrops) {
    lines.push(
      '',
      `The state of "${uid}" was to be dropped, but the snapshot has no operator with that uid.`,
    );
  }
  const dropped = report.matches.filter(({ outcome }) => outcome.type === 'dropped');
  for (const { saved } of dropped) lines.push('', `Dropped: the state of ${label(saved)}, ${weight(saved)}.`);
  for (const edge of report.inFlight)
    if (edge.outcome.type === 'dropped') lines.push('', `Dropped: data in flight ${inFlightLabel(edge)}.`);
  if (refused.some(({ target }) => target === undefined)) {
    lines.push(
      '',
      'To give state up, name its operators (the option restore.dropState), or drop all that has no home ' +
        '(restore.allowNonRestoredState).',
    );
  }
  return lines.join('\n');
}

/** One line for each operator and exchange of which something is dropped; empty if nothing is. */
export function droppedStateLines(report: RestoreReport): string[] {
  const states = report.matches
    .filter(({ outcome }) => outcome.type === 'dropped')
    .map(({ saved }) => `dropped the state of ${label(saved)}: ${weight(saved)}`);
  const edges = report.inFlight.flatMap((edge) => {
    if (edge.outcome.type !== 'dropped') return [];
    const why =
      edge.outcome.why === 'ignored'
        ? ', as execution.state-recovery.without-channel-state.checkpoint-id demands'
        : '';
    return [`dropped data in flight ${inFlightLabel(edge)}${why}: these records are not processed`];
  });
  return [...states, ...edges];
}

function headline(report: RestoreReport, path: string): string {
  if (report.isAccepted) return `The snapshot ${path} fits the job.`;
  const states = report.matches.filter(({ outcome }) => outcome.type === 'refused').length;
  const edges = report.inFlight.filter(({ outcome }) => outcome.type === 'refused').length;
  const parts: string[] = [];
  // Drops that name nothing are said further down: the headline stays about state.
  if (states > 0 || edges === 0)
    parts.push(`the state of ${states} ${states === 1 ? 'operator' : 'operators'}`);
  if (edges > 0) parts.push(`data in flight of ${edges} ${edges === 1 ? 'exchange' : 'exchanges'}`);
  return `The snapshot ${path} does not fit the job: ${parts.join(' and ')} cannot be restored. Nothing was read or started.`;
}

function inFlightRefusalLines(inFlight: readonly EdgeMatch[]): string[] {
  const lines = inFlight.flatMap((edge) =>
    edge.outcome.type === 'refused'
      ? ['', `Data in flight ${inFlightLabel(edge)}: ${edge.outcome.problem}.`]
      : [],
  );
  if (lines.length === 0) return [];
  return [
    ...lines,
    '',
    'To change such a part of the job, take a savepoint of the job as it was and start from that: savepoints hold no data ' +
      'in flight. To give these records up, allow it (restore.allowNonRestoredState).',
  ];
}

/** `from "orders" to "running total", 1234 bytes`. */
function inFlightLabel({ sourceName, targetName, sideTag, sizeBytes }: EdgeMatch): string {
  const source = sideTag === undefined ? `"${sourceName}"` : `side output "${sideTag}" of "${sourceName}"`;
  return `from ${source} to "${targetName}", ${sizeBytes} bytes`;
}

function table(report: RestoreReport): string[] {
  const rows: [string, string, string][] = [['saved', 'in the new job', 'outcome']];
  for (const { saved, target, outcome } of report.matches) {
    rows.push([describeSaved(saved), target === undefined ? '(none)' : describeTarget(target), outcome.type]);
  }
  for (const operator of report.fresh) rows.push(['(none)', describeTarget(operator), 'starts empty']);
  const widths = [0, 1].map((column) =>
    Math.min(COLUMN_MAX, Math.max(...rows.map((row) => row[column]!.length))),
  );
  return rows.map(([saved, target, outcome]) => {
    return `  ${saved.padEnd(widths[0]!)}  ${target.padEnd(widths[1]!)}  ${outcome}`;
  });
}

function refusalLines({ saved, outcome }: RestoreMatch): string[] {
  if (outcome.type !== 'refused') return [];
  const states = saved.states.map(({ name, kind, entries }) => `${name} (${kind}, ${entries} entries)`);
  const lines = [`${label(saved)}, ${weight(saved)}: ${outcome.problems.join('; ')}.`];
  if (states.length > 0) lines.push(`  Its states: ${states.join(', ')}.`);
  if (outcome.advice !== undefined) lines.push(`  ${outcome.advice}`);
  return lines;
}

function label({ name, uid, uidIsGenerated }: SavedOperatorSummary | OperatorToRestore): string {
  return `"${name}" (${uidIsGenerated ? 'generated uid' : 'uid'} "${uid}")`;
}

function weight({ keys, sizeBytes }: SavedOperatorSummary): string {
  return `${keys} ${keys === 1 ? 'key' : 'keys'}, ${sizeBytes} bytes`;
}

function describeSaved(operator: SavedOperatorSummary): string {
  const states = operator.states.map(({ name }) => name).join(' ');
  return `${describeTarget(operator)}${states === '' ? '' : ` {${states}}`} ${operator.sizeBytes} B`;
}

function describeTarget({ name, kind, uid, key }: SavedOperatorSummary | OperatorToRestore): string {
  return `${name} [${kind}] uid=${uid}${key === undefined ? '' : ` by ${formatType(key)}`}`;
}
