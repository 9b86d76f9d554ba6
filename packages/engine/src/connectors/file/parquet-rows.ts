/**
 * From the columns of a row group to row objects: which columns, converted to what, and the generated loop that builds
 * the rows. Pure.
 *
 * Without a declared type a 64-bit integer becomes a number (an error if one is not exact), a date or timestamp a Date,
 * and an empty field null.
 */
import { generateCode, MillraceError } from '../../base/index.ts';
import type { SourceOutput } from '../../runtime/index.ts';
import type { FieldDescription, TypeDescription, TypeInformation } from '../../types/index.ts';
import type { TimestampOf } from '../generated-loop.ts';
import { type Convert, converterTo } from './declared-value.ts';
import { MalformedRecord } from './malformed-record.ts';
import type { ColumnValues } from './parquet-file.ts';

/** One column to read, and what its values become. */
export interface ParquetColumn {
  readonly name: string;
  readonly convert: Convert;
  /** False: the values hold bytes, which are not to be taken for text. */
  readonly isText: boolean;
}

/** Emits rows `from` to `to` of a row group. `columns` are converted values in the order of the columns. */
export type EmitRows<T> = (
  output: SourceOutput<T>,
  columns: readonly (ColumnValues | undefined)[],
  from: number,
  to: number,
) => void;

/**
 * The columns to read of a file that has `found`: those of `type`, or those named, or all. Throws
 * SOURCE_RECORD_MALFORMED if one is missing; an optional field may have no column and is then undefined here.
 */
export function chooseColumns(
  found: readonly string[],
  wanted: readonly string[] | undefined,
  type: TypeInformation<unknown> | undefined,
  where: string,
): (ParquetColumn | undefined)[] {
  const fields = type === undefined ? undefined : rowFields(type);
  const names = fields?.map(({ name }) => name) ?? wanted ?? found;
  return names.map((name, i) => {
    const field = fields?.[i];
    if (!found.includes(name)) {
      if (field?.type.kind === 'optional') return undefined;
      throw new MillraceError(
        'SOURCE_RECORD_MALFORMED',
        `${where}: expected the column "${name}", found ${found.join(', ')}`,
        { details: { column: name, found } },
      );
    }
    const convert =
      field === undefined ? undeclared : converterTo({ description: field.type, classes: type?.classes });
    return { name, convert, isText: field === undefined || !holdsBytes(field.type) };
  });
}

function holdsBytes(type: TypeDescription): boolean {
  switch (type.kind) {
    case 'bytes':
      return true;
    case 'list':
    case 'set':
      return holdsBytes(type.element);
    case 'map':
    case 'record':
    case 'optional':
    case 'nullable':
      return holdsBytes(type.value);
    case 'pojo':
      return type.fields.some((field) => holdsBytes(field.type));
    default:
      return false;
  }
}

/** The names of the fields of the rows. */
export function rowFieldNames(
  found: readonly string[],
  wanted: readonly string[] | undefined,
  type: TypeInformation<unknown> | undefined,
): readonly string[] {
  return (type === undefined ? undefined : rowFields(type).map(({ name }) => name)) ?? wanted ?? found;
}

/** The fields of a declared row. Throws INVALID_ARGUMENT if it is none. */
export function rowFields(type: TypeInformation<unknown>): readonly FieldDescription[] {
  if (type.description.kind === 'pojo') return type.description.fields;
  throw new MillraceError(
    'INVALID_ARGUMENT',
    `FileSource.forParquet: type is a ${type.description.kind}, expected a row or pojo such as Types.ROW({ name: Types.STRING })`,
  );
}

function undeclared(value: unknown): unknown {
  if (typeof value !== 'bigint') return value ?? null;
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new MalformedRecord(
    'a whole number below 2^53 (else declare the column as Types.BIGINT)',
    `${value}`,
  );
}

/**
 * Compiles the loop that builds rows with these fields, all of one shape. Field names get into its text as string
 * literals only.
 */
export function compileEmitRows<T>(
  fields: readonly string[],
  rowClass: (new () => object) | undefined,
  timestampOf: TimestampOf<T> | undefined,
): EmitRows<T> {
  const declare = fields.map((_, i) => `const c${i} = columns[${i}];`).join(' ');
  const cell = (i: number): string => `(c${i} === undefined ? undefined : c${i}[i])`;
  const literal = `{ ${fields.map((name, i) => `${propertyKey(name)}: ${cell(i)}`).join(', ')} }`;
  const assign = fields.map((name, i) => `row[${JSON.stringify(name)}] = ${cell(i)};`).join(' ');
  const build = rowClass === undefined ? `const row = ${literal};` : `const row = new RowClass(); ${assign}`;
  const collect = timestampOf === undefined ? 'output.collect(row)' : 'output.collect(row, timestampOf(row))';
  return generateCode<EmitRows<T>>(
    'parquet source',
    { RowClass: rowClass, timestampOf },
    `return function emitRows(output, columns, from, to) {
      ${declare}
      for (let i = from; i < to; i++) { ${build} ${collect}; }
    };`,
  );
}

/** `__proto__` in a literal would set the prototype; computed, it is a field like others. */
function propertyKey(name: string): string {
  return name === '__proto__' ? '["__proto__"]' : JSON.stringify(name);
}
