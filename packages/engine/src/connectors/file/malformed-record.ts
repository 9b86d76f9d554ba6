/**
 * A record that is not what it should be, as parsers throw it: what was expected and what was found. The reading of the
 * file adds file and line and makes SOURCE_RECORD_MALFORMED of it, or skips the record.
 */
import { MillraceError } from '../../base/index.ts';

const EXCERPT_CHARACTERS = 120;

/** How much of a file is malformed: a record, the first line that says what the columns are, or all that follows. */
type Extent = 'line' | 'header' | 'endless';

const ADVICE: Readonly<Record<Extent, string>> = {
  line: ` Repair the file, or set onMalformed: 'skip'.`,
  header: ' Repair the file, or correct the fields of the type.',
  endless: '',
};

/** `line`: reading can go on with the next line. `endless`: the end of the record was not found. */
export class MalformedRecord extends Error {
  readonly expected: string;
  readonly found: string;
  readonly extent: Extent;

  constructor(expected: string, found: string, extent: Extent = 'line') {
    super(`expected ${expected}, found ${found}`);
    this.name = 'MalformedRecord';
    this.expected = expected;
    this.found = found;
    this.extent = extent;
  }
}

/** Where a malformed record is. */
export interface RecordPlace {
  readonly path: string;
  /** 1 for the first; undefined where lines cannot be counted (a range inside a file). */
  readonly line: number | undefined;
  readonly byteOffset: number;
}

/** The error of the source, for the person who reads it. `record` is its text, if it is known. */
export function malformedError(
  sourceName: string,
  place: RecordPlace,
  cause: MalformedRecord,
  record: string | undefined,
): MillraceError {
  const where = placeText(place);
  const shown = record === undefined ? '' : ` Record: ${excerpt(record)}`;
  const advice = ADVICE[cause.extent];
  return new MillraceError(
    'SOURCE_RECORD_MALFORMED',
    `source "${sourceName}": ${where}: expected ${cause.expected}, found ${cause.found}.${advice}${shown}`,
    { cause, details: { source: sourceName, ...place, expected: cause.expected } },
  );
}

/** `file.csv line 3`, or `file.csv byte 4711`. */
export function placeText(place: RecordPlace): string {
  return place.line === undefined
    ? `${place.path} byte ${place.byteOffset}`
    : `${place.path} line ${place.line}`;
}

/** The beginning of `text` in quotes, with control characters escaped. */
export function excerpt(text: string): string {
  const cut = text.length > EXCERPT_CHARACTERS ? `${text.slice(0, EXCERPT_CHARACTERS)}…` : text;
  return JSON.stringify(cut);
}
