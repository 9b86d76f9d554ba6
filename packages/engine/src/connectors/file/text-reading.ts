/**
 * Reads the records of a byte range of a text file.
 *
 * Owned by FileReader. Two halves: `#load` reads pieces of the file ahead, at most PIECES_MAX; `poll` cuts them into
 * lines, parses and emits. They share the queue of pieces and nothing else.
 *
 * I1  `#position` is the offset after the last record that was emitted or skipped; a restored split goes on there.
 * I2  Of the records that begin at or behind the end of the range none is emitted; the last one is read to its end.
 */
import type { ReadableFile } from '../../platform/index.ts';
import type { ReaderContext, SourceOutput } from '../../runtime/index.ts';
import { compileEmitOne, type EmitOne } from '../generated-loop.ts';
import { type Compression, plainPieces, unpackedPieces } from './file-bytes.ts';
import type { ByteRangeSplit } from './file-split.ts';
import type { LineFormat, ParseRecord } from './line-format.ts';
import { LineSplitter } from './line-splitter.ts';
import { MalformedRecord, malformedError, placeText, type RecordPlace } from './malformed-record.ts';
import { changed, openSplitFile } from './split-file.ts';
import { type FileReadOptions, type OnMalformed, readError, type SplitReading } from './split-reading.ts';

const PIECE_BYTES = 512 * 1024;
/** Behind the end of the range only the rest of one record is needed. */
const TAIL_PIECE_BYTES = 64 * 1024;
const PIECES_MAX = 2;
export const DEFAULT_LINE_BYTES_MAX = 10 * 1024 * 1024;

export interface TextReadOptions<T> extends FileReadOptions<T> {
  /** Default `fail`. With `skip`, malformed records are counted (`numRecordsInErrors`) and logged once a file. */
  readonly onMalformed?: OnMalformed;
  /** Longest line without its line break (with `multiline`: record); default 10 MB. */
  readonly maxLineBytes?: number;
  /**
   * `auto` (default): files whose names end with `.gz` or `.zst` are decompressed. `none`, `gzip`, `zstd`: no file is, or
   * all are. A compressed file is read by one subtask; when it is restored, it is decompressed again from its beginning.
   */
  readonly compression?: Compression | undefined;
}

export class TextReading<T> implements SplitReading<T> {
  readonly #context: ReaderContext;
  readonly #split: ByteRangeSplit;
  readonly #format: LineFormat<T>;
  readonly #options: TextReadOptions<T>;
  readonly #emitOne: EmitOne<T>;
  readonly #lineBytesMax: number;
  readonly #pieces: Uint8Array[] = [];
  readonly #splitter: LineSplitter;
  /** The first line is a header, or belongs to the range before. */
  #skipFirstLine: boolean;
  #parse: ParseRecord<T> | undefined;
  #roomAwaited: (() => void) | undefined;
  #allRead = false;
  #closed = false;
  #position: number | undefined;
  #lines: number;
  /** The beginning of a record that spans lines. */
  #open: { readonly lines: string[]; characters: number } | undefined;
  #malformed = 0;
  /** Compressed bytes that were read. */
  #packedRead = 0;
  /** What is to be read, when it was opened. */
  readonly #amount: number;
  finished = false;

  constructor(
    context: ReaderContext,
    split: ByteRangeSplit,
    format: LineFormat<T>,
    options: TextReadOptions<T>,
  ) {
    this.#context = context;
    this.#split = split;
    this.#format = format;
    this.#options = options;
    this.#emitOne = compileEmitOne<T>('file source', options.timestampOf);
    this.#lineBytesMax = options.maxLineBytes ?? DEFAULT_LINE_BYTES_MAX;
    this.#position = split.position;
    this.#lines = split.linesBefore;
    const fresh = split.position === undefined;
    this.#skipFirstLine = fresh && (split.start > 0 || format.hasHeader);
    this.#splitter = new LineSplitter(split.position ?? Math.max(0, split.start - 1), this.#lineBytesMax);
    this.#amount = this.left;
  }

  get left(): number {
    if (this.finished) return 0;
    const { compression, fileSizeBytes, start, end } = this.#split;
    if (compression !== undefined) return Math.max(0, fileSizeBytes - this.#packedRead);
    return Math.max(0, end - (this.#position ?? start));
  }

  get done(): number {
    return this.#amount - this.left;
  }

  get loaded(): boolean {
    return this.#allRead;
  }

  start(): void {
    this.#load().catch((error: unknown) => {
      if (!this.#closed) this.#context.fail(readError(this.#context.sourceName, this.#split.path, error));
    });
  }

  poll(output: SourceOutput<T>, maxRecords: number): number {
    const parse = this.#parse;
    if (parse === undefined || this.finished) return 0;
    let passed = 0;
    while (passed < maxRecords) {
      const text = this.#nextRecord();
      if (text === undefined) break;
      passed += 1;
      if (text === SKIPPED) continue;
      let value: T;
      try {
        value = parse(text);
      } catch (error) {
        this.#refuse(error, text, this.#lines - (text.split('\n').length - 1));
        continue;
      }
      this.#emitOne(output, value);
    }
    return passed;
  }

  snapshot(): ByteRangeSplit {
    return { ...this.#split, position: this.#position, linesBefore: this.#lines };
  }

  close(): void {
    if (this.#malformed > 0 && !this.#closed) {
      const fields = { skipped: this.#malformed, file: this.#split.path };
      this.#context.logger.log(
        'warn',
        `source "${this.#context.sourceName}": malformed records skipped`,
        fields,
      );
    }
    this.#closed = true;
    this.finished = true;
    this.#pieces.length = 0;
    this.#roomAwaited?.();
  }

  /** The text of the next record, SKIPPED for one that is none, undefined if there is none (yet). Advances the position. */
  #nextRecord(): string | undefined | typeof SKIPPED {
    for (;;) {
      if (this.#open === undefined && !this.#skipFirstLine && this.#splitter.position >= this.#split.end) {
        this.#finish();
        return undefined;
      }
      const line = this.#nextLine();
      if (line === undefined) return this.#splitter.exhausted ? this.#endOfFile() : undefined;
      if (this.#skipFirstLine) {
        this.#skipFirstLine = false;
        this.#passed(this.#split.start === 0 ? 1 : 0);
        continue;
      }
      const record = this.#assemble(line);
      if (record === undefined) continue;
      const blank = record === '' && this.#format.skipsBlankLines;
      return blank ? SKIPPED : record;
    }
  }

  /** Joins the lines of one record; undefined while it goes on. */
  #assemble(line: string | typeof SKIPPED): string | typeof SKIPPED | undefined {
    const open = this.#open;
    if (line === SKIPPED) {
      this.#open = undefined;
      this.#passed((open?.lines.length ?? 0) + 1);
      return SKIPPED;
    }
    if (this.#format.continues?.(line, open !== undefined) === true) {
      const begun = open ?? { lines: [], characters: 0 };
      begun.lines.push(line);
      begun.characters += line.length + 1;
      this.#open = begun;
      if (begun.characters > this.#lineBytesMax) {
        const found = 'a longer one (is a quote not closed?)';
        this.#refuse(
          new MalformedRecord(`a record of at most ${this.#lineBytesMax} bytes`, found, 'endless'),
          begun.lines[0],
          this.#lines + 1,
        );
      }
      return undefined;
    }
    this.#open = undefined;
    this.#passed((open?.lines.length ?? 0) + 1);
    return open === undefined ? line : [...open.lines, line].join('\n');
  }

  /** A line, SKIPPED for one that is not text, undefined if there is none (yet). */
  #nextLine(): string | undefined | typeof SKIPPED {
    for (;;) {
      try {
        // The first line of a range may begin in the middle of a character.
        const line = this.#skipFirstLine
          ? this.#splitter.skip()
            ? SKIPPED
            : undefined
          : this.#splitter.next();
        if (line !== undefined) return line;
      } catch (error) {
        this.#refuse(error, undefined, this.#lines + 1 + (this.#open?.lines.length ?? 0));
        return SKIPPED;
      }
      const piece = this.#pieces.shift();
      if (piece !== undefined) {
        this.#splitter.append(piece);
        this.#roomAwaited?.();
      } else if (this.#allRead && !this.#splitter.exhausted) {
        this.#splitter.end();
      } else {
        if (this.#allRead) this.#splitter.end();
        return undefined;
      }
    }
  }

  #passed(lines: number): void {
    this.#position = this.#splitter.position;
    this.#lines += lines;
  }

  /** A record that goes on where the file ends is handed to the parser, which says what is missing. */
  #endOfFile(): string | undefined {
    const open = this.#open;
    if (open === undefined) {
      this.#finish();
      return undefined;
    }
    this.#open = undefined;
    this.#passed(open.lines.length);
    return open.lines.join('\n');
  }

  #finish(): void {
    this.finished = true;
    this.#allRead = true;
    this.#roomAwaited?.();
  }

  /** Fails the task, or counts the record, as the user chose. `recordLine`: where it begins, from 1 on. */
  #refuse(error: unknown, record: string | undefined, recordLine: number): void {
    if (!(error instanceof MalformedRecord)) throw error;
    const { sourceName, logger, metrics } = this.#context;
    const line = this.#split.start === 0 ? recordLine : undefined;
    const place: RecordPlace = { path: this.#split.path, line, byteOffset: this.#splitter.lineStart };
    if (this.#options.onMalformed !== 'skip' || error.extent === 'endless') {
      throw malformedError(sourceName, place, error, record);
    }
    metrics?.counter('numRecordsInErrors').inc(1);
    this.#malformed += 1;
    if (this.#malformed === 1) {
      logger.log(
        'warn',
        `source "${sourceName}": skips malformed records, first at ${placeText(place)}: ${error.message}`,
      );
    }
  }

  /** Reads the file in pieces until its end, the end of the range's last record, or until closed. */
  async #load(): Promise<void> {
    const { onMissingFile = 'fail' } = this.#options;
    const file = await openSplitFile(this.#context, this.#split, onMissingFile);
    if (file === undefined) {
      this.#finish();
      this.#context.wake();
      return;
    }
    try {
      this.#parse = this.#format.createParser(this.#format.hasHeader ? await this.#header(file) : undefined);
    } catch (error) {
      await file.close();
      if (!(error instanceof MalformedRecord)) throw error;
      throw malformedError(
        this.#context.sourceName,
        { path: this.#split.path, line: 1, byteOffset: 0 },
        error,
        undefined,
      );
    }
    try {
      await this.#readPieces(file);
    } finally {
      await file.close();
    }
  }

  async #readPieces(file: ReadableFile): Promise<void> {
    const { fileSizeBytes, end, compression } = this.#split;
    let at = this.#splitter.position;
    for await (const piece of this.#piecesFrom(file, at)) {
      if (this.#allRead || this.#closed) break;
      at += piece.length;
      this.#pieces.push(piece);
      if (compression === undefined && at >= fileSizeBytes) break;
      this.#context.wake();
      while (this.#pieces.length >= (at < end ? PIECES_MAX : 1) && !this.#allRead && !this.#closed) {
        await new Promise<void>((resolve) => {
          this.#roomAwaited = resolve;
        });
      }
    }
    const isShort = compression === undefined && at < fileSizeBytes;
    if (isShort && !this.#allRead && !this.#closed) throw changed(this.#context.sourceName, this.#split, at);
    this.#allRead = true;
    this.#context.wake();
  }

  #piecesFrom(file: ReadableFile, from: number): AsyncIterable<Uint8Array> {
    const { fileSizeBytes, end, compression } = this.#split;
    if (compression !== undefined) {
      const onRead = (sizeBytes: number): void => {
        this.#packedRead += sizeBytes;
      };
      return unpackedPieces(this.#context.platform, { file, compression, onRead }, from);
    }
    const pieceBytes = (at: number): number =>
      at < end ? Math.min(PIECE_BYTES, end - at) : TAIL_PIECE_BYTES;
    return plainPieces(file, from, fileSizeBytes, pieceBytes);
  }

  /** The first line of the file. */
  async #header(file: ReadableFile): Promise<string> {
    const { fileSizeBytes, compression } = this.#split;
    const pieces =
      compression === undefined
        ? plainPieces(file, 0, fileSizeBytes, () => TAIL_PIECE_BYTES)
        : unpackedPieces(this.#context.platform, { file, compression, onRead() {} }, 0);
    const splitter = new LineSplitter(0, this.#lineBytesMax);
    for await (const piece of pieces) {
      splitter.append(piece);
      const line = splitter.next();
      if (line !== undefined) return line;
    }
    splitter.end();
    return splitter.next() ?? '';
  }
}

const SKIPPED = Symbol('skipped');
