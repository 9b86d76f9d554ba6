/** Finds the file system of a URI or plain path, and the path in it. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MillraceError } from '../../base/index.ts';
import type { FileSystem } from '../platform.ts';
import { nodeFileSystem } from './node-file-system.ts';

/** A scheme has two letters or more: `C:\data` is a path. */
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]+):/;

/**
 * A plain path is taken from the current directory. Throws FILE_SYSTEM_SCHEME_UNKNOWN, or INVALID_ARGUMENT for a
 * `file:` URI that names no local path.
 */
export function resolveFileUri(uri: string): { readonly files: FileSystem; readonly path: string } {
  const scheme = SCHEME.exec(uri)?.[1]?.toLowerCase();
  if (scheme === undefined) return { files: nodeFileSystem, path: separated(resolve(uri)) };
  if (scheme !== 'file') {
    throw new MillraceError(
      'FILE_SYSTEM_SCHEME_UNKNOWN',
      `there is no file system for "${scheme}:" in ${uri}. Known are: file: (a URI such as file:///data/checkpoints, ` +
        'or a plain path)',
      { details: { uri, scheme, known: ['file'] } },
    );
  }
  return { files: nodeFileSystem, path: separated(localPath(uri)) };
}

function localPath(uri: string): string {
  if (!/^file:\//i.test(uri)) throw invalid(uri, 'the path must be absolute, as in file:///data/checkpoints');
  if (/[?#]/.test(uri)) throw invalid(uri, 'it must have no "?" or "#"; give a plain path instead');
  try {
    return fileURLToPath(uri);
  } catch (cause) {
    throw invalid(uri, 'it must name a path of this machine, as in file:///data/checkpoints', cause);
  }
}

function invalid(uri: string, problem: string, cause?: unknown): MillraceError {
  return new MillraceError('INVALID_ARGUMENT', `the URI ${uri} cannot be used: ${problem}`, {
    cause,
    details: { uri },
  });
}

/** `/` everywhere, none at the end. */
function separated(path: string): string {
  const slashes = process.platform === 'win32' ? path.replaceAll('\\', '/') : path;
  return slashes.length > 1 ? slashes.replace(/\/+$/, '') : slashes;
}
