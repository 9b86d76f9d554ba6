/** Cuts Parquet files into their row groups: reads each footer, and checks that the columns wanted are there. */
import type { EnumeratorContext } from '../../runtime/index.ts';
import type { FileSplit, ListedFile, RowGroupSplit } from './file-split.ts';
import { chooseColumns } from './parquet-rows.ts';
import type { ParquetReadOptions } from './row-group-reading.ts';
import { readError } from './split-reading.ts';

/** One split a row group that has rows, in the order of files and rows. */
export async function planRowGroups<T>(
  context: EnumeratorContext<FileSplit>,
  files: readonly ListedFile[],
  options: ParquetReadOptions<T>,
): Promise<RowGroupSplit[]> {
  const splits: Omit<RowGroupSplit, 'totalRows'>[] = [];
  let left = options.maxRows ?? Number.POSITIVE_INFINITY;
  for (const listed of files) {
    if (left <= 0) break;
    for (const split of await rowGroupsOf(context, listed, options)) {
      if (left <= 0) break;
      const rows = Math.min(split.rows, left);
      left -= rows;
      splits.push({ ...split, rows });
    }
  }
  const totalRows = splits.reduce((sum, split) => sum + split.rows, 0);
  return splits.map((split) => ({ ...split, totalRows }));
}

async function rowGroupsOf<T>(
  context: EnumeratorContext<FileSplit>,
  listed: ListedFile,
  options: ParquetReadOptions<T>,
): Promise<Omit<RowGroupSplit, 'totalRows'>[]> {
  const { platform, sourceName } = context;
  const { files, path } = platform.fileSystem(listed.path);
  try {
    const file = await files.open(path);
    try {
      const { openParquet } = await import('./parquet-file.ts');
      const { columns, rowGroupRows } = await openParquet(platform, sourceName, listed.path, file);
      chooseColumns(columns, options.columns, options.type, `source "${sourceName}": ${listed.path}`);
      let firstRow = 0;
      return rowGroupRows.flatMap((rows, rowGroup) => {
        const splitId = `${listed.path}#${rowGroup}`;
        const place = { path: listed.path, fileSizeBytes: file.sizeBytes, rowGroup, firstRow, rows };
        firstRow += rows;
        return rows === 0 ? [] : [{ kind: 'row-group' as const, splitId, ...place, position: 0 }];
      });
    } finally {
      await file.close();
    }
  } catch (error) {
    throw readError(sourceName, listed.path, error);
  }
}
