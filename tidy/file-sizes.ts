/**
 * A source has at most 600 lines, a test at most 800. An exception names the lines that the file has now: it may
 * not grow, when it shrinks the number follows, and below the limit the exception goes.
 */
import { isSource, isTest, lineCount, type RepositoryFile } from './repository.ts';

const SOURCE_LINES_MAX = 600;
const TEST_LINES_MAX = 800;

export interface FileSizeException {
  readonly path: string;
  readonly lines: number;
  readonly reason: string;
}

const EXCEPTIONS: readonly FileSizeException[] = [];

export function fileSizes(files: readonly RepositoryFile[], exceptions = EXCEPTIONS): string[] {
  const violations: string[] = [];
  for (const { path, text } of files) {
    if (!isSource(path) && !isTest(path)) continue;
    const lines = lineCount(text);
    const limit = isTest(path) ? TEST_LINES_MAX : SOURCE_LINES_MAX;
    const exception = exceptions.find((e) => e.path === path);
    if (exception !== undefined && exception.lines > limit && lines < exception.lines) {
      violations.push(`${path}: its exception can shrink to ${lines} lines`);
    } else if (lines > Math.max(limit, exception?.lines ?? 0)) {
      violations.push(`${path}: ${lines} lines, ${exception?.lines ?? limit} are allowed`);
    }
  }
  const paths = new Set(files.map(({ path }) => path));
  for (const { path } of exceptions) {
    if (!paths.has(path)) violations.push(`${path}: exception for a file that does not exist`);
  }
  return violations;
}
