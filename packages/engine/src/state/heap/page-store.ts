/**
 * Pages of state in shared memory, and their copy-on-write.
 *
 * Memory comes in chunks (SharedArrayBuffers), each divided into pages; a page belongs to one key group. Addresses count
 * units of 8 bytes over all chunks: `chunk = address >>> chunkShift`. One view a chunk serves all its pages, so that
 * random access costs one load more than a single array would. The row store puts rows into pages; snapshots read pages.
 *
 *   chunk 0 (small)           chunk 1 (twice as large)        ...   up to 2 MB, from then on all of 2 MB
 *   +--------+--------+-- -   +--------+--------+--------+-- -
 *   | page 0 | page 1 | ..    | page n | page n+1 ...             n = pages of a full chunk: numbers have holes
 *   +--------+--------+-- -   +--------+--------+--------+-- -
 *
 *   page:  +-------------------+--------------------------+----------+
 *          | 64 bytes, unused  | rows, one after another  | unused   |
 *          +-------------------+--------------------------+----------+
 *          0                   64            pageUsed * 8
 *
 * Address 0 is in the unused head of page 0 and stands for "no row".
 *
 * Invariants:
 * I1 Whoever changes bytes below `pageUsed`, or `pageUsed` itself, has called `touch` for the page since the last change
 *    of `epoch`. (Links of free rows are exempt: nobody reads them from a snapshot.)
 * I2 A page with `pageEpoch < capture.epoch` that is in use has not changed since that capture began; any other was
 *    handed to the capture before its first change, or did not exist. So a snapshot is exact, and beginning one costs
 *    nothing but a new epoch.
 * I3 A page out of use has `pageGroup` -1 and `pageUsed` 0.
 */
import { assert, MillraceError } from '../../base/index.ts';
import { ByteView } from '../../types/index.ts';

/** Bytes of an address unit. */
export const UNIT_BYTES = 8;

/** First unit of a page that rows may use: a cache line, so that rows of 32 bytes never lie across two of them. */
export const PAGE_HEAD_UNITS = 8;

/** Sizes of pages and chunks; powers of two. */
export interface PageSizes {
  readonly pageBytes: number;
  readonly chunkBytes: number;
}

/** Somebody who wants the pages of this store as they were when its epoch began. */
export interface PageCapture {
  readonly epoch: number;
  /** Pages below have been taken. */
  cursor: number;
  /** Takes the bytes of the page, now. */
  capture(page: number): void;
}

const FIRST_CHUNK_BYTES = 64 * 1024;
const NOBODY = -1;

export class PageStore {
  readonly pageUnits: number;
  readonly pageShift: number;
  readonly chunkShift: number;
  readonly chunkMask: number;
  /** One view a chunk. Never replaced, only appended to. */
  readonly views: ByteView[] = [];
  /** The same chunks by byte and by word, for those who would go through a view for each record. */
  readonly bytes: Uint8Array[] = [];
  readonly words: Int32Array[] = [];

  /** The epoch of the last `touch` of each page. */
  pageEpoch = new Int32Array(0);
  /** Units in use from the start of each page, its head included. */
  pageUsed = new Int32Array(0);
  /** Key group of each page, counted from the first of the store; -1 if the page is not in use. */
  pageGroup = new Int32Array(0);
  /** Live rows in each page. */
  pageLive = new Int32Array(0);
  /** Page numbers are below. */
  pageLimit = 0;
  /** Sum of pageUsed. */
  usedUnits = 0;
  epoch = 1;

  private readonly sizes: PageSizes;
  private readonly captures: PageCapture[] = [];
  private readonly freePages: number[] = [];
  /** Pages of the last chunk that were never used. */
  private freshPages = 0;

  constructor(sizes: PageSizes) {
    const { pageBytes, chunkBytes } = sizes;
    assert(isPowerOfTwo(pageBytes) && pageBytes >= 256 && pageBytes <= 32768, `page of ${pageBytes} bytes`);
    assert(isPowerOfTwo(chunkBytes) && chunkBytes >= pageBytes, `chunk of ${chunkBytes} bytes`);
    this.sizes = sizes;
    this.pageUnits = pageBytes / UNIT_BYTES;
    this.pageShift = Math.log2(this.pageUnits);
    this.chunkShift = Math.log2(chunkBytes / UNIT_BYTES);
    this.chunkMask = chunkBytes / UNIT_BYTES - 1;
  }

  get pageBytes(): number {
    return this.sizes.pageBytes;
  }

  /** The view in which `address` lies; its bytes begin at `offsetOf(address)`. */
  viewOf(address: number): ByteView {
    return this.views[address >>> this.chunkShift]!;
  }

  /** Byte offset of `address` in its view. */
  offsetOf(address: number): number {
    return (address & this.chunkMask) << 3;
  }

  /** To be called before the page of `address` is changed. */
  touch(address: number): void {
    const page = address >>> this.pageShift;
    if (this.pageEpoch[page] !== this.epoch) this.capture(page);
  }

  /** Hands the page to the captures that still need it as it is; from now on it may be changed. */
  capture(page: number): void {
    const last = this.pageEpoch[page]!;
    if (this.pageUsed[page]! > PAGE_HEAD_UNITS) {
      for (const capture of this.captures) {
        if (capture.epoch > last && capture.cursor <= page) capture.capture(page);
      }
    }
    this.pageEpoch[page] = this.epoch;
  }

  /** Begins a capture of all pages as they are now. `create` gets the capture's epoch. */
  beginCapture(create: (epoch: number) => PageCapture): void {
    this.epoch++;
    this.captures.push(create(this.epoch));
  }

  /** From now on pages are changed without being handed to `capture`. */
  endCapture(capture: PageCapture): void {
    const index = this.captures.indexOf(capture);
    if (index >= 0) this.captures.splice(index, 1);
  }

  /** True if the page belongs to a capture of this epoch and was not handed to it when it was changed. */
  isUnchangedSince(page: number, epoch: number): boolean {
    return this.pageEpoch[page]! < epoch && this.pageUsed[page]! > PAGE_HEAD_UNITS;
  }

  /** Takes an empty page for a key group; its number. Throws STATE_CAPACITY_EXCEEDED. */
  allocatePage(group: number): number {
    const page = this.freePages.pop() ?? this.freshPage();
    this.pageGroup[page] = group;
    this.pageEpoch[page] = this.epoch;
    this.pageUsed[page] = PAGE_HEAD_UNITS;
    this.pageLive[page] = 0;
    this.usedUnits += PAGE_HEAD_UNITS;
    return page;
  }

  /** Gives a page back. The caller has touched it. */
  freePage(page: number): void {
    this.usedUnits -= this.pageUsed[page]!;
    this.pageGroup[page] = NOBODY;
    this.pageUsed[page] = 0;
    this.pageLive[page] = 0;
    this.freePages.push(page);
  }

  /** Sets the end of the rows of a page; the caller has touched it. */
  setPageUsed(page: number, units: number): void {
    this.usedUnits += units - this.pageUsed[page]!;
    this.pageUsed[page] = units;
  }

  /** The bytes of the rows of a page, not copied. */
  pageContent(page: number): Uint8Array {
    const address = page << this.pageShift;
    const offset = this.offsetOf(address);
    const end = offset + this.pageUsed[page]! * UNIT_BYTES;
    return this.viewOf(address).u8.subarray(offset + PAGE_HEAD_UNITS * UNIT_BYTES, end);
  }

  private freshPage(): number {
    if (this.freshPages === 0) this.addChunk();
    const pagesPerChunk = 1 << (this.chunkShift - this.pageShift);
    const lastChunk = this.views.length - 1;
    const pagesOfLast = this.views[lastChunk]!.u8.length / this.sizes.pageBytes;
    const page = lastChunk * pagesPerChunk + pagesOfLast - this.freshPages;
    this.freshPages--;
    this.pageLimit = page + 1;
    return page;
  }

  /** Chunks double in size until they are full ones: a small state takes little memory. */
  private addChunk(): void {
    const chunk = this.views.length;
    if ((chunk + 1) * (this.chunkMask + 1) > 0x7fffffff) {
      throw new MillraceError(
        'STATE_CAPACITY_EXCEEDED',
        'One state of one subtask holds more than 16 GB; raise the parallelism of its operator.',
      );
    }
    const { pageBytes, chunkBytes } = this.sizes;
    const bytes = Math.min(chunkBytes, Math.max(pageBytes, FIRST_CHUNK_BYTES * 2 ** chunk));
    const buffer = new SharedArrayBuffer(bytes);
    this.views.push(new ByteView(buffer));
    this.bytes.push(new Uint8Array(buffer));
    this.words.push(new Int32Array(buffer));
    this.freshPages = bytes / pageBytes;
    const pages = (chunk + 1) << (this.chunkShift - this.pageShift);
    if (pages > this.pageEpoch.length) this.growPageColumns(Math.max(pages, this.pageEpoch.length * 2));
  }

  private growPageColumns(pages: number): void {
    const grown = (column: Int32Array, fill: number) => {
      const copy = new Int32Array(pages).fill(fill, column.length);
      copy.set(column);
      return copy;
    };
    this.pageEpoch = grown(this.pageEpoch, 0);
    this.pageUsed = grown(this.pageUsed, 0);
    this.pageGroup = grown(this.pageGroup, NOBODY);
    this.pageLive = grown(this.pageLive, 0);
  }
}

function isPowerOfTwo(value: number): boolean {
  return Number.isInteger(value) && value > 0 && (value & (value - 1)) === 0;
}
