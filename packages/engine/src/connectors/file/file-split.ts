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
import type { AppendableCompression } from '../../platform/index.ts';
import type { SourceSplit } from '../../runtime/index.ts';

/** A file as it was when it was listed. */
export interface ListedFile {
  /** Absolute path, or URI of another file system. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  /** See platform FileStat. */
  readonly identity?: string | undefined;
}

/** What a split says of the file it is in, to find it again and to know it. */
export interface FileOfSplit extends SourceSplit {
  readonly path: string;
  /** Size when it was listed: what was appended since is not read. */
  readonly fileSizeBytes: number;
  /** Of files in watched directories, as for `identity`: they are found again after a renaming. */
  readonly modifiedMs?: number | undefined;
  readonly identity?: string | undefined;
  /** Of files in watched directories: counts them in the order in which they are read. */
  readonly sequence?: number | undefined;
  /** True: the file must have exactly the size it had. Otherwise it may have grown. */
  readonly exactSize?: boolean | undefined;
}

/** Records whose first byte is in `start` (inclusive) to `end` (exclusive). */
export interface ByteRangeSplit extends FileOfSplit {
  readonly kind: 'bytes';
  /** Set: positions count decompressed bytes, `start` is 0 and `end` beyond everything. */
  readonly compression?: AppendableCompression | undefined;
  readonly start: number;
  readonly end: number;
  /** Offset of the next record; undefined: nothing was emitted yet. */
  readonly position: number | undefined;
  /** Lines between `start` and `position`. */
  readonly linesBefore: number;
  /** Bytes of the whole source; undefined: it has no end. */
  readonly totalBytes: number | undefined;
}

/** The rows of one row group of a Parquet file. */
export interface RowGroupSplit extends FileOfSplit {
  readonly kind: 'row-group';
  readonly rowGroup: number;
  /** Row of the file that is the group's first. */
  readonly firstRow: number;
  readonly rows: number;
  /** Index in the group of the next row. */
  readonly position: number;
  /** Rows of the whole source; undefined: it has no end. */
  readonly totalRows: number | undefined;
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

/** How much a split was when it was given out, in the unit of its progress: bytes of its file, or rows. */
export function amountOf(split: FileSplit): number {
  if (split.kind === 'row-group') return split.rows;
  return split.compression === undefined ? split.end - split.start : split.fileSizeBytes;
}

/** How the files of a format may be cut. */
export interface RangeCutRules {
  readonly sizeBytes: number;
  /** False: records go on over line breaks; one range a file. */
  readonly splittable: boolean;
  /** Of the file at a path; compressed files are one range. */
  compressionOf(path: string): AppendableCompression | undefined;
}

/** Cuts files into byte ranges. Empty files have none. */
export function cutByteRanges(files: readonly ListedFile[], rules: RangeCutRules): ByteRangeSplit[] {
  const totalBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  return files.flatMap((file) => {
    const { path, sizeBytes } = file;
    const compression = rules.compressionOf(path);
    if (compression === undefined) return cutRange(file, 0, sizeBytes, totalBytes, rules);
    if (sizeBytes === 0) return [];
    const place = { kind: 'bytes' as const, splitId: `${path}@0`, path, fileSizeBytes: sizeBytes };
    const range = { start: 0, end: Number.MAX_SAFE_INTEGER, position: undefined, linesBefore: 0 };
    return [{ ...place, ...range, totalBytes, compression, exactSize: true }];
  });
}

/** Cuts the bytes of a file from `from` to `to`, which begin with a record. */
export function cutRange(
  { path }: ListedFile,
  from: number,
  to: number,
  totalBytes: number | undefined,
  { sizeBytes, splittable }: RangeCutRules,
): ByteRangeSplit[] {
  const count = splittable ? Math.ceil((to - from) / sizeBytes) : Math.min(1, to - from);
  return Array.from({ length: count }, (_, i) => {
    const start = from + Math.floor(((to - from) * i) / count);
    return {
      kind: 'bytes' as const,
      splitId: `${path}@${start}`,
      path,
      fileSizeBytes: to,
      start,
      end: from + Math.floor(((to - from) * (i + 1)) / count),
      position: undefined,
      linesBefore: 0,
      totalBytes,
    };
  });
}
