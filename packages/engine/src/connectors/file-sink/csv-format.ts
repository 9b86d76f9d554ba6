/**
 * Records as separated values (RFC 4180). Pure. `FileSource.forCsv` with the type reads them back.
 *
 * A field is quoted if it holds the delimiter, a quote or a line break; a quote inside is doubled. undefined and null are
 * empty fields, dates ISO 8601 strings, bytes base64. Objects and arrays are refused: map the record to simple fields.
 */
import { MillraceError } from '../../base/index.ts';
import { type RowFormat, UnwritableRecord } from './row-format.ts';

/** How `FileSink.forCsv` writes records. */
export interface CsvSinkOptions {
  /** True (default): each file begins with the names of the columns. */
  readonly header?: boolean;
  /** One character; default `,`. */
  readonly delimiter?: string;
  /** Default `\n`; RFC 4180 has `\r\n`. */
  readonly lineBreak?: '\n' | '\r\n';
}

/** The format of records with `columns`, the names of their fields in order. Throws INVALID_ARGUMENT. */
export function csvFormat<T extends object>(
  columns: readonly (keyof T & string)[],
  options: CsvSinkOptions = {},
): RowFormat<T> {
  const { header = true, delimiter = ',', lineBreak = '\n' } = options;
  if (delimiter.length !== 1 || '"\r\n'.includes(delimiter)) {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `FileSink.forCsv: delimiter is ${JSON.stringify(delimiter)}, expected one character that is no quote or line break`,
    );
  }
  if (columns.length === 0 || new Set(columns).size !== columns.length) {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      'FileSink.forCsv: expected the names of the columns, each once',
    );
  }
  const special = (text: string): boolean =>
    text.includes(delimiter) || text.includes('"') || text.includes('\n') || text.includes('\r');
  const quoted = (text: string): string => (special(text) ? `"${text.replaceAll('"', '""')}"` : text);
  // A record of one empty field would be an empty line, which readers leave out.
  const line = (fields: string[]): string =>
    fields.length === 1 && fields[0] === '' ? '""' : fields.join(delimiter);
  return {
    name: 'CSV',
    suffix: '.csv',
    header: header ? line(columns.map(quoted)) + lineBreak : undefined,
    encode: (value) => line(columns.map((name) => quoted(fieldText(value[name], name)))) + lineBreak,
  };
}

function fieldText(value: unknown, column: string): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'undefined':
      return '';
    case 'object':
      if (value === null) return '';
      if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
      if (value instanceof Uint8Array)
        return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  }
  const found =
    typeof value === 'object' ? `a ${(value as object).constructor?.name ?? 'object'}` : `a ${typeof value}`;
  throw new UnwritableRecord(`column "${column}" is ${found}; expected a simple value`);
}
