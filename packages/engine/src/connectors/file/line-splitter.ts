/**
 * Cuts a run of bytes that arrives in pieces into lines. Pure.
 *
 * Lines end with LF or CR LF; the last one may end with the file. Text is UTF-8; a byte order mark at offset 0 is dropped.
 * Called by the reading of a byte range, which appends pieces and asks for lines.
 *
 * I1  `position` is the offset in the file of the first byte after the last line given out.
 * I2  At most one piece and one unfinished line (of at most `maxLineBytes`) are held.
 */
import { MalformedRecord } from './malformed-record.ts';

const LF = 10;
const CR = 13;
const REPLACEMENT = '\uFFFD';

export class LineSplitter {
  readonly #maxLineBytes: number;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  /** Up to where no line break was found. */
  #scanned = 0;
  /** Offset in the file of `#bytes[0]`. */
  #base: number;
  #ended = false;
  /** Offset in the file of the first byte of the line given out last. */
  lineStart: number;

  /** `offset`: where in the file the first piece begins. */
  constructor(offset: number, maxLineBytes: number) {
    this.#base = offset;
    this.lineStart = offset;
    this.#maxLineBytes = maxLineBytes;
  }

  /** I1. */
  get position(): number {
    return this.#base + this.#at;
  }

  /** Adds the next piece; it must not be changed afterwards. */
  append(piece: Uint8Array): void {
    const rest = this.#bytes.subarray(this.#at);
    const next = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    this.#base += this.#at;
    this.#scanned = rest.length;
    this.#at = 0;
    this.#bytes = rest.length === 0 ? next : Buffer.concat([rest, next]);
  }

  /** No more pieces come: what is left is the last line. */
  end(): void {
    this.#ended = true;
  }

  /** True if everything was given out and nothing more comes. */
  get exhausted(): boolean {
    return this.#ended && this.#at >= this.#bytes.length;
  }

  /**
   * The next line without its line break, or undefined if it is not complete yet. Throws MalformedRecord if it is longer
   * than `maxLineBytes` or not UTF-8 (then `position` is behind it).
   */
  next(): string | undefined {
    const start = this.#at;
    if (!this.skip()) return undefined;
    return this.#text(start, this.#at);
  }

  /** Passes over the next line, whatever its bytes are; false if it is not complete yet. Throws as `next` if too long. */
  skip(): boolean {
    const bytes = this.#bytes;
    const lineBreak = bytes.indexOf(LF, this.#scanned);
    this.#scanned = lineBreak === -1 ? bytes.length : lineBreak + 1;
    if (this.#scanned - this.#at > this.#maxLineBytes + 2) throw tooLong(this.position, this.#maxLineBytes);
    if (lineBreak === -1 && (!this.#ended || this.#at >= bytes.length)) return false;
    this.lineStart = this.position;
    this.#at = this.#scanned;
    return true;
  }

  #text(start: number, after: number): string {
    const bytes = this.#bytes;
    let end = after;
    if (end > start && bytes[end - 1] === LF) end -= 1;
    if (end > start && bytes[end - 1] === CR) end -= 1;
    if (this.lineStart === 0 && hasByteOrderMark(bytes)) start += 3;
    const text = bytes.toString('utf8', start, end);
    if (text.includes(REPLACEMENT) && !isUtf8(bytes, start, end))
      throw new MalformedRecord('UTF-8 text', text, 'line');
    return text;
  }
}

function hasByteOrderMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** The replacement character may be in the text itself: then encoding it again gives the same bytes. */
function isUtf8(bytes: Buffer, start: number, end: number): boolean {
  const slice = bytes.subarray(start, end);
  return Buffer.from(slice.toString('utf8'), 'utf8').equals(slice);
}

function tooLong(position: number, maxLineBytes: number): MalformedRecord {
  return new MalformedRecord(
    `a line of at most ${maxLineBytes} bytes (option maxLineBytes)`,
    `a longer one at byte ${position}`,
    'endless',
  );
}
