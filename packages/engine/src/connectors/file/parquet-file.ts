/**
 * A Parquet file through the platform: its footer, and column by column the values of a row group, by the library
 * `hyparquet`.
 *
 * Called by the enumerator (footer: which row groups there are) and by the reading of a row group. Files compressed with
 * gzip, zstd, brotli, snappy or not at all can be read.
 */
import { type FileMetaData, parquetMetadataAsync, parquetScan, parquetSchema } from 'hyparquet/src/index.js';
import { getTreePath } from 'hyparquet/src/schema.js';
import { MillraceError } from '../../base/index.ts';
import type { CompressionFormat, Platform, ReadableFile } from '../../platform/index.ts';
import type { Convert } from './declared-value.ts';
import { MalformedRecord } from './malformed-record.ts';
import { type Decompressors, isFlat, RowError, readFlatColumn } from './parquet-flat-column.ts';

/** The values of a column of one row group, converted. */
export type ColumnValues = ArrayLike<unknown>;

/** A Parquet file that is open. */
export interface ParquetFile {
  /** Top-level columns, in the order of the file. */
  readonly columns: readonly string[];
  /** Rows of each row group. */
  readonly rowGroupRows: readonly number[];
  /**
   * One column of a row group. `convert` is given null for nothing, a bigint for a 64-bit integer, a Date for a date or
   * timestamp; of bytes that the file does not say to be text, a string if `isText`. Rejects with SOURCE_RECORD_MALFORMED
   * naming row and column if it throws MalformedRecord.
   */
  readColumn(column: string, rowGroup: number, convert: Convert, isText: boolean): Promise<ColumnValues>;
}

/** Reads the footer. Rejects with SOURCE_RECORD_MALFORMED if it is not a Parquet file. */
export async function openParquet(
  platform: Platform,
  sourceName: string,
  path: string,
  file: ReadableFile,
): Promise<ParquetFile> {
  const buffer = {
    byteLength: file.sizeBytes,
    slice: async (start: number, end = file.sizeBytes) => asArrayBuffer(await file.read(start, end - start)),
  };
  let metadata: FileMetaData;
  try {
    metadata = await parquetMetadataAsync(buffer);
  } catch (error) {
    throw notParquet(sourceName, path, error);
  }
  const compressors = compressorsOf(platform);
  return {
    columns: parquetSchema(metadata).children.map((child) => child.element.name),
    rowGroupRows: metadata.row_groups.map((group) => Number(group.num_rows)),
    async readColumn(column, rowGroup, convert, isText) {
      try {
        return await readColumn({ buffer, metadata, compressors }, column, rowGroup, convert, isText);
      } catch (error) {
        if (error instanceof RowError) throw malformedValue(sourceName, path, rowGroup, column, error);
        throw error instanceof MillraceError
          ? error
          : notParquet(sourceName, `${path}, column "${column}"`, error);
      }
    },
  };
}

interface OpenParquet {
  readonly buffer: { readonly byteLength: number; slice(start: number, end?: number): Promise<ArrayBuffer> };
  readonly metadata: FileMetaData;
  readonly compressors: Decompressors;
}

/** Simple columns by the short way; lists, maps and structures by the library's own. */
async function readColumn(
  { buffer, metadata, compressors }: OpenParquet,
  column: string,
  rowGroup: number,
  convert: Convert,
  isText: boolean,
): Promise<ColumnValues> {
  const group = metadata.row_groups[rowGroup]!;
  const rows = Number(group.num_rows);
  const chunks = group.columns.filter(({ meta_data: meta }) => meta?.path_in_schema[0] === column);
  const meta = chunks[0]?.meta_data;
  const schemaPath = meta === undefined ? [] : getTreePath(parquetSchema(metadata), meta.path_in_schema);
  if (chunks.length === 1 && meta !== undefined && isFlat(schemaPath)) {
    const start = Number(meta.dictionary_page_offset || meta.data_page_offset);
    const bytes = await buffer.slice(start, start + Number(meta.total_compressed_size));
    return readFlatColumn(bytes, { meta, schemaPath, compressors, isText }, rows, convert);
  }
  const rowStart = metadata.row_groups
    .slice(0, rowGroup)
    .reduce((sum, before) => sum + Number(before.num_rows), 0);
  const range = { rowStart, rowEnd: rowStart + rows };
  const options = {
    file: buffer,
    metadata,
    compressors,
    useOffsetIndex: false,
    columns: [column],
    utf8: isText,
  };
  const values = await (await parquetScan({ ...options, ...range })).readColumn({ column, ...range });
  return Array.from(values as ArrayLike<unknown>, (value, row) => convertRow(value, row, convert));
}

function convertRow(value: unknown, row: number, convert: Convert): unknown {
  try {
    return convert(value, '');
  } catch (error) {
    throw error instanceof MalformedRecord ? new RowError(row, error) : error;
  }
}

function compressorsOf(platform: Platform): Decompressors {
  const by =
    (format: CompressionFormat) =>
    (input: Uint8Array, outputLength: number): Uint8Array =>
      platform.decompress(format, input, outputLength);
  return { GZIP: by('gzip'), ZSTD: by('zstd'), BROTLI: by('brotli') };
}

/** The library wants an ArrayBuffer that begins with the bytes. */
function asArrayBuffer(bytes: Uint8Array): ArrayBuffer {
  const { buffer, byteOffset, byteLength } = bytes;
  const whole = byteOffset === 0 && byteLength === buffer.byteLength;
  return (whole ? buffer : buffer.slice(byteOffset, byteOffset + byteLength)) as ArrayBuffer;
}

function notParquet(sourceName: string, where: string, cause: unknown): MillraceError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new MillraceError(
    'SOURCE_RECORD_MALFORMED',
    `source "${sourceName}": ${where}: expected an intact Parquet file: ${reason}`,
    { cause, details: { source: sourceName, path: where } },
  );
}

function malformedValue(
  sourceName: string,
  path: string,
  rowGroup: number,
  column: string,
  { row, reason }: RowError,
): MillraceError {
  return new MillraceError(
    'SOURCE_RECORD_MALFORMED',
    `source "${sourceName}": ${path} row group ${rowGroup}, row ${row}, column "${column}": ` +
      `expected ${reason.expected}, found ${reason.found}`,
    { cause: reason, details: { source: sourceName, path, rowGroup, row, column } },
  );
}
