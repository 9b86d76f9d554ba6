/**
 * Buckets by time (org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.DateTimeBucketAssigner). Pure:
 * the time is that of the batch, or what the user's function takes from the record.
 *
 * The pattern has letters of Java's DateTimeFormatter: `yyyy` `MM` `dd` `HH` `mm` `ss` (two digits, or one letter for no
 * leading zero); other letters stand in single quotes, two of which are one; everything else stands for itself.
 */
import { MillraceError } from '../../base/index.ts';
import { type BucketAssigner, type BucketAssignerContext, bucketIdObjection } from './bucket-assigner.ts';

const KNOWN_IDS_MAX = 1000;
const SECOND_MS = 1000;

const FIELDS = {
  y: 'year',
  M: 'month',
  d: 'day',
  H: 'hour',
  m: 'minute',
  s: 'second',
} as const;

type Field = (typeof FIELDS)[keyof typeof FIELDS];

type Piece = { readonly text: string } | { readonly field: Field; readonly digits: number };

/** The time of a record, in milliseconds since the epoch. */
export type TimeOfRecord<T> = (record: T, context: BucketAssignerContext) => number;

/**
 * A folder for each hour, day or what the pattern says. By default the hour of processing, in UTC: `2024-06-01--13`.
 * After a restart, records that are processed again may come into a later bucket than before; with `timeOf` each has its
 * own for ever.
 */
export class DateTimeBucketAssigner<T = unknown> implements BucketAssigner<T> {
  readonly #pieces: readonly Piece[];
  readonly #format: Intl.DateTimeFormat;
  readonly #timeOf: TimeOfRecord<T>;
  /** By second: all zones change on whole seconds. */
  readonly #ids = new Map<number, string>();

  /**
   * `zoneId` is a name such as `Europe/Berlin` or `+02:00`, the same on every machine. `timeOf` gives the time of a record;
   * default: the time of processing. Throws INVALID_ARGUMENT.
   */
  constructor(
    formatString = 'yyyy-MM-dd--HH',
    zoneId = 'UTC',
    timeOf: TimeOfRecord<T> = (_, context) => context.currentProcessingTime(),
  ) {
    this.#pieces = parsePattern(formatString);
    this.#format = zoneFormat(zoneId);
    this.#timeOf = timeOf;
    const objection = bucketIdObjection(this.#idOf(0));
    if (objection !== undefined) throw badPattern(formatString, `as a path, ${objection}`);
  }

  getBucketId(record: T, context: BucketAssignerContext): string {
    const second = Math.floor(this.#timeOf(record, context) / SECOND_MS);
    const known = this.#ids.get(second);
    if (known !== undefined) return known;
    if (this.#ids.size >= KNOWN_IDS_MAX) this.#ids.clear();
    const id = this.#idOf(second);
    this.#ids.set(second, id);
    return id;
  }

  #idOf(second: number): string {
    const date = new Date(second * SECOND_MS);
    if (!Number.isFinite(date.getTime())) {
      throw new MillraceError(
        'TIMESTAMP_INVALID',
        `DateTimeBucketAssigner: the time of a record is ${second * SECOND_MS}, expected milliseconds since the epoch`,
      );
    }
    const values = new Map(this.#format.formatToParts(date).map(({ type, value }) => [type, value]));
    return this.#pieces
      .map((piece) => {
        if ('text' in piece) return piece.text;
        const value = Number(values.get(piece.field));
        return String(piece.field === 'year' && piece.digits === 2 ? value % 100 : value).padStart(
          piece.digits,
          '0',
        );
      })
      .join('');
  }
}

function parsePattern(pattern: string): Piece[] {
  if (typeof pattern !== 'string') throw badPattern(String(pattern), 'it is no text');
  const pieces: Piece[] = [];
  for (const [token, quoted] of pattern.matchAll(/'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+|'/g)) {
    if (token === "'") throw badPattern(pattern, 'a quote is not closed');
    if (token === "''") pieces.push({ text: "'" });
    else if (quoted !== undefined) pieces.push({ text: quoted.replaceAll("''", "'") });
    else pieces.push(/^[A-Za-z]/.test(token) ? fieldPiece(token, pattern) : { text: token });
  }
  return pieces;
}

function fieldPiece(letters: string, pattern: string): Piece {
  const field = FIELDS[letters[0] as keyof typeof FIELDS] as Field | undefined;
  const digits = letters.length;
  const fits = field === 'year' ? [1, 2, 4] : [1, 2];
  if (field !== undefined && fits.includes(digits)) return { field, digits };
  throw badPattern(
    pattern,
    `"${letters}" is not known; use yyyy, MM, dd, HH, mm, ss, and other letters in quotes`,
  );
}

function zoneFormat(zoneId: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zoneId,
      calendar: 'iso8601',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch (cause) {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `DateTimeBucketAssigner: ${JSON.stringify(zoneId)} is no time zone; expected a name such as "Europe/Berlin" or "+02:00"`,
      { cause },
    );
  }
}

function badPattern(pattern: string, objection: string): MillraceError {
  return new MillraceError(
    'INVALID_ARGUMENT',
    `DateTimeBucketAssigner: pattern ${JSON.stringify(pattern)}: ${objection}`,
  );
}
