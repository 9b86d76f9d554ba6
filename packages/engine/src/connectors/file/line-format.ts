/**
 * What a format of records in lines is, and the two simplest: lines of text, and JSON values.
 *
 * A format is pure: it says how lines become records. Reading files, ranges and positions are text-reading.ts.
 */
import type { TypeInformation } from '../../types/index.ts';
import { converterTo } from './declared-value.ts';
import { MalformedRecord } from './malformed-record.ts';

/** Makes a record of its text. Throws MalformedRecord. */
export type ParseRecord<T> = (text: string) => T;

export interface LineFormat<T> {
  readonly name: string;
  readonly outputType: TypeInformation<T> | undefined;
  /** True if each line break ends a record: then a file can be read in ranges. */
  readonly splittable: boolean;
  /** True if the first line of each file is no record but is handed to createParser. */
  readonly hasHeader: boolean;
  /** True if empty lines are no records. */
  readonly skipsBlankLines: boolean;
  /**
   * True if the record goes on behind `line`; `isOpen`: it went on behind the line before. Only for formats that are not
   * splittable.
   */
  readonly continues: ((line: string, isOpen: boolean) => boolean) | undefined;
  /** Of one file. Throws MalformedRecord if the header is not what was expected. */
  createParser(header: string | undefined): ParseRecord<T>;
}

const STRING: TypeInformation<string> = { description: { kind: 'string' } };

/** Each line is a record, empty ones too. */
export const TEXT_LINES: LineFormat<string> = {
  name: 'text lines',
  outputType: STRING,
  splittable: true,
  hasHeader: false,
  skipsBlankLines: false,
  continues: undefined,
  createParser: () => (text) => text,
};

/** Each line is a JSON value; with `type` it is converted to it (declared-value.ts has the table). */
export function jsonLines<T>(type: TypeInformation<T> | undefined): LineFormat<T> {
  const convert = type === undefined ? undefined : converterTo(type);
  const parse = (text: string): T => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw new MalformedRecord('a JSON value', `${(error as Error).message}`);
    }
    return (convert === undefined ? value : convert(value, '')) as T;
  };
  return {
    name: 'JSON lines',
    outputType: type,
    splittable: true,
    hasHeader: false,
    skipsBlankLines: true,
    continues: undefined,
    createParser: () => parse,
  };
}
