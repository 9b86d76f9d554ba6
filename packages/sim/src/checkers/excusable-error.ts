/**
 * Which errors a job may fail of when strikes fall: those that say what was done to it. Everything else is a finding:
 * broken assertions, errors of JavaScript, snapshots that were damaged or do not fit.
 */
import { MillraceError } from '../../../engine/src/base/index.ts';
import { INJECTED } from '../faults/strike-sequence.ts';

/** Codes that say so by themselves. */
const EXCUSED: ReadonlySet<string> = new Set([
  'SLOT_LOST',
  // Only when it is planned.
  'JOB_CANCELED',
  'JOB_SUSPENDED',
  'CHECKPOINT_FAILED',
  'CHECKPOINT_FAILURES_EXCEEDED',
  'CHECKPOINT_STORE_FAILED',
]);

const DONE_TO_IT = new RegExp(`${INJECTED}|a fault of the (?:simulation|test)`);

/** Of two processes of the job one runs; the other has to say so. */
const EXCUSED_BESIDE_ANOTHER = 'CHECKPOINT_DIRECTORY_IN_USE';

/**
 * False if the error, and what caused it, says nothing of what the simulator did. `besideAnother`: while it ran another
 * process ran the job too.
 */
export function isExcusable(error: unknown, besideAnother: boolean): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof MillraceError && EXCUSED.has(at.code)) return true;
    if (at instanceof MillraceError && besideAnother && at.code === EXCUSED_BESIDE_ANOTHER) return true;
    if (DONE_TO_IT.test(at.message)) return true;
  }
  return false;
}

/** What the warning of a restart in place says when something was done to the job. */
const RESTARTED = /failed and starts again from .* in \d+(?:\.\d+)? ms \(.*?\): (.*)$/s;
const EXCUSED_TEXT =
  /^(?:The thread of slot|Exceeded checkpoint tolerable failure|The checkpoint before the first record failed|A part of the job failed when the others had stopped)|: (?:EIO|ENOSPC)\. /;

/** The reason of a restart, if the line of the log tells of one that nothing was done for. */
export function unexpectedRestart(line: string): string | undefined {
  const reason = RESTARTED.exec(line)?.[1];
  if (reason === undefined || DONE_TO_IT.test(reason) || EXCUSED_TEXT.test(reason)) return undefined;
  return reason;
}

/** The error and its causes, with the place where the innermost was made. */
export function describeError(error: unknown): string {
  const lines: string[] = [];
  let innermost: Error | undefined;
  for (let at = error; at instanceof Error; at = at.cause) {
    lines.push(`${at instanceof MillraceError ? at.code : at.name}: ${at.message}`);
    innermost = at;
  }
  if (innermost === undefined) return String(error);
  const frames = (innermost.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return [...lines, ...frames.slice(0, 6)].join('\n');
}
