/**
 * Splits of file sources, and how files are cut into them. Pure.
 *
 * Made by the enumerator once, when it lists the files; carried by readers with their positions. All of it is plain data
 * and is saved in checkpoints: nothing is looked up again in a listing after a restore.
 *
 * A file of records in lines is cut in byte ranges. A record belongs to the range in which its first byte lies; a range
 * that does not begin at byte 0 begins after the first line break found from the byte before it on:
 *
 *     bytes   a a a \n b b b b b b \n c c \n
 *             |------- 0 -------|------- 1 ------|      range 0 has a and b, range 1 has c
 */
import type { SourceSplit } from '../../runtime/index.ts';

/** A file as it was when it was listed. */
export interface ListedFile {
  /** Absolute path, or URI of another file system. */
  readonly path: string;
  readonly sizeBytes: number;
}

/** Records whose first byte is in `start` (inclusive) to `end` (exclusive). */
export interface ByteRangeSplit extends SourceSplit {
  readonly kind: 'bytes';
  readonly path: string;
  /** Size when it was listed: what was appended since is not read. */
  readonly fileSizeBytes: number;
  readonly start: number;
  readonly end: number;
  /** Offset of the next record; undefined: nothing was emitted yet. */
  readonly position: number | undefined;
  /** Lines between `start` and `position`. */
  readonly linesBefore: number;
  /** Bytes of the whole source. */
  readonly totalBytes: number;
}

/** The rows of one row group of a Parquet file. */
export interface RowGroupSplit extends SourceSplit {
  readonly kind: 'row-group';
  readonly path: string;
  readonly fileSizeBytes: number;
  readonly rowGroup: number;
  /** Row of the file that is the group's first. */
  readonly firstRow: number;
  readonly rows: number;
  /** Index in the group of the next row. */
  readonly position: number;
  /** Rows of the whole source. */
  readonly totalRows: number;
}

export type FileSplit = ByteRangeSplit | RowGroupSplit;

const SPLIT_BYTES_MIN = 4 * 1024 * 1024;
const SPLIT_BYTES_MAX = 64 * 1024 * 1024;
/** So many splits for each reader, if the files are neither too small nor too big for it. */
const SPLITS_PER_READER = 4;

/** Bytes of a split for files of `totalBytes` in all and `parallelism` readers. */
export function splitSizeBytes(totalBytes: number, parallelism: number): number {
  const even = Math.ceil(totalBytes / (parallelism * SPLITS_PER_READER));
  return Math.min(SPLIT_BYTES_MAX, Math.max(SPLIT_BYTES_MIN, even));
}

/** Cuts files into byte ranges of about `sizeBytes`; `splittable: false` makes one range a file. Empty files have none. */
export function cutByteRanges(
  files: readonly ListedFile[],
  sizeBytes: number,
  splittable: boolean,
): ByteRangeSplit[] {
  const totalBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  const splits: ByteRangeSplit[] = [];
  for (const file of files) {
    const count = splittable ? Math.ceil(file.sizeBytes / sizeBytes) : Math.min(1, file.sizeBytes);
    for (let i = 0; i < count; i++) {
      const start = Math.floor((file.sizeBytes * i) / count);
      splits.push({
        kind: 'bytes',
        splitId: `${file.path}@${start}`,
        path: file.path,
        fileSizeBytes: file.sizeBytes,
        start,
        end: Math.floor((file.sizeBytes * (i + 1)) / count),
        position: undefined,
        linesBefore: 0,
        totalBytes,
      });
    }
  }
  return splits;
}
