/** FILE_SYSTEM_ERROR: what every file system of the platform rejects with, so that they all read alike. */
import { MillraceError } from '../base/index.ts';

const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full: free some space, or use a directory on another disk.',
  EDQUOT: 'The disk quota is used up: free some space, or use a directory on another disk.',
  EACCES: 'This process may not do that: give its user the right to read and write there.',
  EPERM: 'This process may not do that: give its user the right to read and write there.',
  EROFS: 'The file system is mounted read-only: mount it writable, or use another directory.',
  ENOENT: 'There is no such file or directory.',
  ENOTDIR: 'A part of the path is a file, not a directory.',
  EISDIR: 'It is a directory, not a file.',
  EEXIST: 'It exists already.',
  EMFILE: 'This process has too many files open: raise the limit (ulimit -n).',
  EIO: 'The device reported an error: look at the log of the system.',
};

/**
 * The error for `cause`, which an operation on `path` failed with. `details` hold path, operation and errno.
 */
export function fileSystemError(operation: string, path: string, cause: unknown): MillraceError {
  const errno = errnoOf(cause);
  const advice = ADVICE[errno];
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `cannot ${operation} ${path}: ${advice === undefined ? reason : `${errno}. ${advice}`}`;
  return new MillraceError('FILE_SYSTEM_ERROR', message, { cause, details: { path, operation, errno } });
}

/** The errno code of a file system's error or of its cause, or '' if there is none. */
export function errnoOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if (error instanceof MillraceError) return String(error.details['errno'] ?? '');
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : '';
}
