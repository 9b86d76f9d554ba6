/**
 * What a restore does with each saved operator, and the same as text for people: saved operators and those of the job side
 * by side, by name; what was refused and why, what was dropped. One text for a refused restore, and for one that may drop
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

export interface RestoreReport {
  readonly matches: readonly RestoreMatch[];
  /** Operators of the new job that nothing was saved for. */
  readonly fresh: readonly OperatorToRestore[];
  /** Names in `dropStateOf` that the snapshot does not have. */
  readonly unknownDrops: readonly string[];
  readonly isAccepted: boolean;
}

/** The whole report. */
export function restoreReportText(report: RestoreReport, path: string): string {
  const refused = report.matches.filter(({ outcome }) => outcome.type === 'refused');
  const lines = [headline(report, refused.length, path), '', ...table(report)];
  for (const match of refused) lines.push('', ...refusalLines(match));
  for (const uid of report.unknownDrops) {
    lines.push(
      '',
      `The state of "${uid}" was to be dropped, but the snapshot has no operator with that uid.`,
    );
  }
  const dropped = report.matches.filter(({ outcome }) => outcome.type === 'dropped');
  for (const { saved } of dropped) lines.push('', `Dropped: the state of ${label(saved)}, ${weight(saved)}.`);
  if (refused.some(({ target }) => target === undefined)) {
    lines.push(
      '',
      'To give state up, name its operators (the option restore.dropState), or drop all that has no home ' +
        '(restore.allowNonRestoredState).',
    );
  }
  return lines.join('\n');
}

/** One line for each operator whose state is dropped; empty if none is. */
export function droppedStateLines(report: RestoreReport): string[] {
  return report.matches
    .filter(({ outcome }) => outcome.type === 'dropped')
    .map(({ saved }) => `dropped the state of ${label(saved)}: ${weight(saved)}`);
}

function headline(report: RestoreReport, refused: number, path: string): string {
  if (report.isAccepted) return `The snapshot ${path} fits the job.`;
  const what = refused === 1 ? 'the state of 1 operator' : `the state of ${refused} operators`;
  return `The snapshot ${path} does not fit the job: ${what} cannot be restored. Nothing was read or started.`;
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
