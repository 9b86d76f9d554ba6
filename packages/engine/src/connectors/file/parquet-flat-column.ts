/**
 * Decodes one simple column of a row group (no list, map or structure) from the bytes of its chunk. Pure.
 *
 * The library's own way builds arrays of levels and of raw values for every row. Most columns are simple, have a
 * dictionary and no empty fields: then each row needs one look-up, and conversion is done once for each entry of the
 * dictionary (so rows share its dates and byte arrays: they must not be changed). Pages are taken apart by the library's
 * functions.
 */
import { parquetHeader } from 'hyparquet/src/column.js';
import { convert as convertPhysical, DEFAULT_PARSERS } from 'hyparquet/src/convert.js';
import { decompressPage, readDataPage, readDataPageV2 } from 'hyparquet/src/datapage.js';
import type { ColumnMetaData, PageHeader, SchemaTree } from 'hyparquet/src/index.js';
import { readPlain } from 'hyparquet/src/plain.js';
import type { Convert } from './declared-value.ts';
import { MalformedRecord } from './malformed-record.ts';

/** By the names of Parquet's codecs. */
export type Decompressors = Record<string, (input: Uint8Array, outputLength: number) => Uint8Array>;

export interface FlatColumn {
  readonly meta: ColumnMetaData;
  /** From the root to the column. */
  readonly schemaPath: SchemaTree[];
  readonly compressors: Decompressors;
  /** True: bytes that the file does not say to be text are read as text. */
  readonly isText: boolean;
}

/** A value that is not what was declared, with its row in the group. */
export class RowError extends Error {
  readonly row: number;
  readonly reason: MalformedRecord;

  constructor(row: number, reason: MalformedRecord) {
    super(reason.message);
    this.row = row;
    this.reason = reason;
  }
}

/** True for a column that has at most one value a row and no parts. */
export function isFlat(schemaPath: readonly SchemaTree[]): boolean {
  const column = schemaPath[1];
  return (
    schemaPath.length === 2 && column!.children.length === 0 && column!.element.repetition_type !== 'REPEATED'
  );
}

/** The converted values of all `rows`. Throws RowError, or what the library throws for damaged bytes. */
export function readFlatColumn(
  bytes: ArrayBuffer,
  column: FlatColumn,
  rows: number,
  convert: Convert,
): unknown[] {
  const decoder = decoderOf(column);
  const reader = { view: new DataView(bytes), offset: 0 };
  const values = new Array<unknown>(rows);
  let dictionary: ArrayLike<unknown> | undefined;
  let at = 0;
  while (at < rows) {
    const header = parquetHeader(reader);
    const page = new Uint8Array(bytes, reader.offset, header.compressed_page_size);
    reader.offset += header.compressed_page_size;
    if (header.type === 'DICTIONARY_PAGE')
      dictionary = convertDictionary(readDictionary(page, header, decoder), convert);
    else at += placePage(readPage(page, header, decoder), dictionary, decoder, values, at, convert);
  }
  return values;
}

type Decoder = ReturnType<typeof decoderOf>;

function decoderOf({ meta, schemaPath, compressors, isText }: FlatColumn) {
  const { element } = schemaPath[1]!;
  const { type, codec } = meta;
  return {
    pathInSchema: meta.path_in_schema,
    element,
    schemaPath,
    type,
    codec,
    compressors,
    parsers: DEFAULT_PARSERS,
    utf8: isText,
  };
}

function readDictionary(bytes: Uint8Array, header: PageHeader, decoder: Decoder): ArrayLike<unknown> {
  const { codec, compressors, type, element } = decoder;
  const page = decompressPage(bytes, header.uncompressed_page_size, codec, compressors);
  const view = new DataView(page.buffer, page.byteOffset, page.byteLength);
  const count = header.dictionary_page_header?.num_values ?? 0;
  return convertPhysical(readPlain({ view, offset: 0 }, type, count, element.type_length), decoder);
}

/** An entry that does not convert may be one that no row has: it becomes the error that a row with it will throw. */
function convertDictionary(entries: ArrayLike<unknown>, convert: Convert): unknown[] {
  return Array.from(entries, (entry) => {
    try {
      return convert(entry, '');
    } catch (error) {
      if (error instanceof MalformedRecord) return error;
      throw error;
    }
  });
}

interface Page {
  readonly definitionLevels: readonly number[];
  readonly data: ArrayLike<unknown>;
  readonly rows: number;
  readonly byDictionary: boolean;
}

function readPage(bytes: Uint8Array, header: PageHeader, decoder: Decoder): Page {
  const v1 = header.data_page_header;
  const v2 = header.data_page_header_v2;
  const about = v1 ?? v2;
  if (about === undefined) throw new Error(`unsupported page type ${header.type}`);
  const { definitionLevels, dataPage } =
    v1 === undefined
      ? readDataPageV2(bytes, header, decoder)
      : readDataPage(
          decompressPage(bytes, header.uncompressed_page_size, decoder.codec, decoder.compressors),
          v1,
          decoder,
        );
  const byDictionary = about.encoding.endsWith('_DICTIONARY');
  return { definitionLevels: definitionLevels ?? [], data: dataPage, rows: about.num_values, byDictionary };
}

/** Puts the rows of a page into `values` from `at` on; returns how many they are. */
function placePage(
  page: Page,
  dictionary: ArrayLike<unknown> | undefined,
  decoder: Decoder,
  values: unknown[],
  at: number,
  convert: Convert,
): number {
  const { definitionLevels: levels, rows } = page;
  const useDictionary = page.byDictionary && dictionary !== undefined;
  if (useDictionary && levels.length === 0)
    placeEntries(page.data as ArrayLike<number>, dictionary, values, at);
  else {
    const data = useDictionary ? page.data : convertPhysical(page.data as never, decoder);
    let next = 0;
    for (let i = 0; i < rows; i++) {
      const empty = levels.length > 0 && levels[i] === 0;
      if (useDictionary && !empty) values[at + i] = entryOf(dictionary, data[next++] as number, at + i);
      else values[at + i] = convertRow(empty ? null : data[next++], at + i, convert);
    }
  }
  return rows;
}

/** The common case. */
function placeEntries(
  indexes: ArrayLike<number>,
  dictionary: ArrayLike<unknown>,
  values: unknown[],
  at: number,
): void {
  for (let i = 0; i < indexes.length; i++) {
    const value = dictionary[indexes[i]!];
    if (value instanceof MalformedRecord) throw new RowError(at + i, value);
    values[at + i] = value;
  }
}

function entryOf(dictionary: ArrayLike<unknown>, index: number, row: number): unknown {
  const value = dictionary[index];
  if (value instanceof MalformedRecord) throw new RowError(row, value);
  return value;
}

function convertRow(value: unknown, row: number, convert: Convert): unknown {
  try {
    return convert(value, '');
  } catch (error) {
    throw error instanceof MalformedRecord ? new RowError(row, error) : error;
  }
}
