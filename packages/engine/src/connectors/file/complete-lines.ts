/**
 * Where the complete lines of a file that grows end. Called for tailed files, before their new bytes are given out.
 */
import { MillraceError } from '../../base/index.ts';
import type { Platform } from '../../platform/index.ts';
import type { WatchedFile } from './watched-files.ts';

const PIECE_BYTES = 64 * 1024;
const LF = 10;

/**
 * The offset after the last line break between the position of `file` and its size; its position, if there is none.
 * `rewritten`: the byte before the position, where a line break was, is none any more.
 *
 * Rejects with SOURCE_RECORD_MALFORMED for a line of more than `lineBytesMax`, with SOURCE_READ_FAILED if another file is
 * at the path since it was listed.
 */
export async function completeLinesEnd(
  platform: Platform,
  { path: shown, position, sizeBytes, identity }: WatchedFile,
  lineBytesMax: number,
): Promise<number | 'rewritten'> {
  const { files, path } = platform.fileSystem(shown);
  const file = await files.open(path);
  try {
    if (file.identity !== identity) throw renamed(shown);
    if (position > 0 && (await file.read(position - 1, 1))[0] !== LF) return 'rewritten';
    for (let end = sizeBytes; end > position; ) {
      const start = Math.max(position, end - PIECE_BYTES);
      const piece = await file.read(start, end - start);
      const lineBreak = piece.lastIndexOf(LF);
      if (lineBreak >= 0) return start + lineBreak + 1;
      end = start;
      if (sizeBytes - end > lineBytesMax) throw tooLong(shown, position, lineBytesMax);
    }
    return position;
  } finally {
    await file.close();
  }
}

function renamed(path: string): MillraceError {
  return new MillraceError('SOURCE_READ_FAILED', `${path} was renamed while it was looked at`, {
    details: { path },
  });
}

function tooLong(path: string, position: number, lineBytesMax: number): MillraceError {
  return new MillraceError(
    'SOURCE_RECORD_MALFORMED',
    `${path} has no line break in its last ${lineBytesMax} bytes: expected lines of at most that length (option maxLineBytes)`,
    { details: { path, position } },
  );
}
