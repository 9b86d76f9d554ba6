/** The rows of a Parquet file as JSON lines, read at once. For the judge; flat columns, zstd or no compression. */
import { zstdDecompressSync } from 'node:zlib';
import { parquetMetadata, parquetSchema } from 'hyparquet/src/index.js';
import { readFlatColumn } from '../../src/connectors/file/parquet-flat-column.ts';

const compressors = { ZSTD: (input: Uint8Array): Uint8Array => new Uint8Array(zstdDecompressSync(input)) };

/** Numbers of 64 bits are written as numbers. Throws if the file is torn. */
export function parquetLines(bytes: Uint8Array): string[] {
  const buffer = new Uint8Array(bytes).buffer;
  const metadata = parquetMetadata(buffer);
  const root = parquetSchema(metadata);
  return metadata.row_groups.flatMap(({ columns, num_rows: rowCount }) => {
    const rows: Record<string, unknown>[] = Array.from({ length: Number(rowCount) }, () => ({}));
    for (const [i, { meta_data: meta }] of columns.entries()) {
      const start = Number(meta!.dictionary_page_offset || meta!.data_page_offset);
      const chunk = buffer.slice(start, start + Number(meta!.total_compressed_size));
      const column = { meta: meta!, schemaPath: [root, root.children[i]!], compressors, isText: true };
      const values = readFlatColumn(chunk, column, rows.length, (value) =>
        typeof value === 'bigint' ? Number(value) : value,
      );
      for (const [row, value] of values.entries()) rows[row]![root.children[i]!.element.name] = value;
    }
    return rows.map((row) => JSON.stringify(row));
  });
}
