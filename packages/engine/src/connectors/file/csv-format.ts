/**
 * Records in lines of separated values (RFC 4180): fields may be quoted, a quote inside is doubled, and with
 * `multiline` a quoted field may hold line breaks. Pure.
 */
import { MillraceError } from '../../base/index.ts';
import type { FieldDescription, TypeDescription, TypeInformation } from '../../types/index.ts';
import { type Convert, converterTo, unexpected } from './declared-value.ts';
import type { LineFormat, ParseRecord } from './line-format.ts';
import { excerpt, MalformedRecord } from './malformed-record.ts';

/** How `FileSource.forCsv` reads lines. */
export interface CsvFormatOptions<T> {
  /** True (default) if the first line of each file names the columns. */
  readonly header?: boolean;
  /** Names of the columns of files without header, in order. Default: the fields of `type`. */
  readonly columns?: readonly string[];
  /** A row or pojo of simple fields, found by name. Without it, each field is a string. */
  readonly type?: TypeInformation<T>;
  /** One character; default `,`. */
  readonly delimiter?: string;
  /** One character; default `"`. */
  readonly quote?: string;
  /** True if quoted fields may hold line breaks. Files are then read as a whole, not in ranges. Default false. */
  readonly multiline?: boolean;
}

/** The format for `options`. Throws INVALID_ARGUMENT. */
export function csvLines<T>(options: CsvFormatOptions<T>): LineFormat<T> {
  const { header = true, type, delimiter = ',', quote = '"', multiline = false } = options;
  checkCharacters(delimiter, quote);
  const fields = type === undefined ? undefined : fieldsOf(type);
  const columns = options.columns ?? fields?.map(({ name }) => name);
  if (!header && columns === undefined) {
    throw invalid('files without header need `columns` or `type`, to know what their columns are');
  }
  const readers = fields?.map((field) => ({ name: field.name, read: fieldReader(field, type!) }));
  return {
    name: 'CSV',
    outputType: type,
    splittable: !multiline,
    hasHeader: header,
    skipsBlankLines: true,
    continues: multiline ? (line, isOpen) => endsInQuotes(line, isOpen, delimiter, quote) : undefined,
    createParser(headerLine) {
      const split = (text: string): string[] => splitFields(text, delimiter, quote, multiline);
      const names = headerLine === undefined ? columns! : split(headerLine);
      if (headerLine !== undefined) checkHeader(names, options.columns ?? requiredNames(fields));
      const parse = readers === undefined ? stringsParser(names) : fieldsParser(names, readers, type!);
      return ((text: string) => parse(split(text))) as ParseRecord<T>;
    },
  };
}

function checkCharacters(delimiter: string, quote: string): void {
  for (const [name, value] of [
    ['delimiter', delimiter],
    ['quote', quote],
  ] as const) {
    if (typeof value !== 'string' || value.length !== 1 || value === '\n' || value === '\r') {
      throw invalid(`${name} is ${excerpt(String(value))}, expected one character that is no line break`);
    }
  }
  if (delimiter === quote) throw invalid('delimiter and quote are the same character');
}

function invalid(what: string): MillraceError {
  return new MillraceError('INVALID_ARGUMENT', `FileSource.forCsv: ${what}`);
}

function fieldsOf(type: TypeInformation<unknown>): readonly FieldDescription[] {
  if (type.description.kind === 'pojo') return type.description.fields;
  throw invalid(
    `type is a ${type.description.kind}, expected a row or pojo such as Types.ROW({ name: Types.STRING })`,
  );
}

/** A field that may be empty may also have no column. */
function requiredNames(fields: readonly FieldDescription[] | undefined): readonly string[] {
  return (fields ?? []).filter(({ type }) => type.kind !== 'optional').map(({ name }) => name);
}

function checkHeader(found: readonly string[], wanted: readonly string[]): void {
  const missing = wanted.filter((name) => !found.includes(name));
  if (missing.length > 0) {
    throw new MalformedRecord(
      `a header with the column "${missing[0]}"`,
      `the columns ${found.join(', ')}`,
      'header',
    );
  }
  const twice = found.find((name, i) => found.indexOf(name) !== i);
  if (twice !== undefined)
    throw new MalformedRecord('a header without doubles', `"${twice}" twice`, 'header');
}

/** True if `line` ends inside a quoted field; `isOpen`: it begins inside one. Other fields may have quotes in them. */
function endsInQuotes(line: string, isOpen: boolean, delimiter: string, quote: string): boolean {
  for (let at = 0, inside = isOpen; ; inside = false) {
    if (!inside && line[at] === quote) {
      at += 1;
      inside = true;
    }
    const end = inside ? closingQuote(line, at, quote) : at;
    if (end === -1) return true;
    at = line.indexOf(delimiter, end) + 1;
    if (at === 0) return false;
  }
}

/** The fields of a record. Throws MalformedRecord for a quote that is not closed or text behind a closing quote. */
export function splitFields(text: string, delimiter: string, quote: string, multiline: boolean): string[] {
  if (!text.includes(quote)) return text.split(delimiter);
  const fields: string[] = [];
  let at = 0;
  for (;;) {
    let field: string;
    if (text[at] === quote) {
      const end = closingQuote(text, at + 1, quote);
      if (end === -1) throw unclosed(multiline);
      field = text.slice(at + 1, end).replaceAll(quote + quote, quote);
      at = end + 1;
      if (at < text.length && text[at] !== delimiter) {
        throw new MalformedRecord(
          `${excerpt(delimiter)} behind a quoted field`,
          excerpt(text.slice(at, at + 20)),
        );
      }
    } else {
      const end = text.indexOf(delimiter, at);
      field = text.slice(at, end === -1 ? text.length : end);
      at = end === -1 ? text.length : end;
    }
    fields.push(field);
    if (at >= text.length) return fields;
    at += 1;
    if (at === text.length) {
      fields.push('');
      return fields;
    }
  }
}

/** Where the quoted field with its text from `from` on closes, or -1. */
function closingQuote(text: string, from: number, quote: string): number {
  let at = text.indexOf(quote, from);
  while (at !== -1 && text[at + 1] === quote) at = text.indexOf(quote, at + 2);
  return at;
}

function unclosed(multiline: boolean): MalformedRecord {
  const hint = multiline ? '' : ' (for line breaks inside quotes set multiline: true)';
  return new MalformedRecord(`a closing quote${hint}`, 'the end of the record');
}

function checkCount(fields: readonly string[], columns: readonly string[]): void {
  if (fields.length === columns.length) return;
  throw new MalformedRecord(`${columns.length} fields (${columns.join(', ')})`, `${fields.length}`);
}

function stringsParser(columns: readonly string[]): (fields: string[]) => Record<string, string> {
  return (fields) => {
    checkCount(fields, columns);
    const record: Record<string, string> = {};
    for (let i = 0; i < columns.length; i++) record[columns[i]!] = fields[i]!;
    return record;
  };
}

interface FieldReader {
  readonly name: string;
  readonly read: Convert;
}

function fieldsParser(
  columns: readonly string[],
  readers: readonly FieldReader[],
  type: TypeInformation<unknown>,
): (fields: string[]) => object {
  const RowClass = type.classes?.get(type.description);
  const found = readers.map(({ name, read }) => ({ name, read, at: columns.indexOf(name) }));
  return (fields) => {
    checkCount(fields, columns);
    const record = (RowClass === undefined ? {} : new RowClass()) as Record<string, unknown>;
    for (const { name, read, at } of found) record[name] = at === -1 ? undefined : read(fields[at]!, name);
    return record;
  };
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const NOT_NUMBERS = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

/** Reads the text of one field. Throws MalformedRecord naming the column. */
function fieldReader(field: FieldDescription, row: TypeInformation<unknown>): Convert {
  return readerOf(field.type, field.name, row);
}

function readerOf(description: TypeDescription, column: string, row: TypeInformation<unknown>): Convert {
  const convert = converterTo({ description, classes: row.classes });
  switch (description.kind) {
    case 'string':
    case 'bigint':
    case 'bytes':
    case 'enum':
      return convert;
    case 'literal':
      return listedReader(description.values, column);
    case 'generic':
      return (value) => value;
    case 'long':
    case 'int':
    case 'double':
      return (value, at) => convert(numberOf(value as string, at), at);
    case 'boolean':
      return (value, at) => booleanOf(value as string, at);
    case 'date':
      return (value, at) => convert(/^-?\d+$/.test(value as string) ? Number(value) : value, at);
    case 'optional':
    case 'nullable': {
      const inner = readerOf(description.value, column, row);
      const empty = description.kind === 'optional' ? undefined : null;
      return (value, at) => (value === '' ? empty : inner(value, at));
    }
    default:
      throw invalid(
        `column "${column}" is declared as ${description.kind}; a CSV field holds one simple value`,
      );
  }
}

/** A column holds text: `5`, `true` and `null` stand for the values that are written so. */
function listedReader(values: readonly unknown[], column: string): Convert {
  const byText = new Map(values.map((value) => [String(value), value]));
  return (text) => {
    if (byText.has(text as string)) return byText.get(text as string);
    throw unexpected(column, `one of ${[...byText.keys()].join(', ')}`, text);
  };
}

function numberOf(text: string, column: string): number {
  const trimmed = text.trim();
  if (NUMBER.test(trimmed)) return Number(trimmed);
  const special = NOT_NUMBERS.get(trimmed);
  if (special === undefined) throw unexpected(column, 'a number', text);
  return special;
}

function booleanOf(text: string, column: string): boolean {
  const lower = text.trim().toLowerCase();
  if (lower === 'true' || lower === 'false') return lower === 'true';
  throw unexpected(column, 'true or false', text);
}
