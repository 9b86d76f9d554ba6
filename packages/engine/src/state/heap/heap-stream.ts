/**
 * The stream format heap-1: its frame, without the pages (whose rows are drawn in row-format.ts). Pure: the snapshot
 * writes by it, the restore reads by it. Described for others in docs/formats/heap-keyed-state.md.
 *
 *   0   header      "MLRHEAP1" | u32 version | u32 0                                            16 bytes
 *   16  pages       u32 state | u32 key group | u32 page | u32 row bytes | the rows             in any order
 *       metadata    JSON, UTF-8: what HeapStreamMetadata says
 *       index       u32 key group | u32 state | u32 page | u32 row bytes | f64 position         24 bytes a page
 *       footer      f64 metadata at | f64 index at | u32 metadata bytes | u32 pages |           40 bytes
 *                   u32 0 | u32 version | "MLRHEAP1"
 *
 * Positions count from the start of the stream and are those of the page's record. The index is in the order of key
 * groups: a restore reads footer, metadata and index, and then the pages of its key groups only.
 */
import { MillraceError } from '../../base/index.ts';
import type { KeyedStateKind, KeyedStateMetadata, KeyGroupRange } from '../handles.ts';
import { PAGE_HEAD_UNITS, UNIT_BYTES } from './page-store.ts';

export const HEAP_STREAM_VERSION = 2;
/** Version 1 knows no time-to-live: none of its states has `ttl`. */
const OLDEST_VERSION = 1;
const MAGIC = new TextEncoder().encode('MLRHEAP1');
export const STREAM_HEADER_BYTES = 16;
export const PAGE_RECORD_BYTES = 16;
export const INDEX_ENTRY_BYTES = 24;
export const STREAM_FOOTER_BYTES = 40;

const KINDS: ReadonlySet<unknown> = new Set<KeyedStateKind>([
  'value',
  'list',
  'map',
  'reducing',
  'aggregating',
  'timers',
]);

/** What the stream says about a state. */
export interface HeapStateMetadata extends KeyedStateMetadata {
  /** With time-to-live: each value begins with the time of its last access. */
  readonly ttl?: true;
}

/** What the stream says about itself; JSON. */
export interface HeapStreamMetadata {
  readonly keyGroups: KeyGroupRange;
  readonly maxParallelism: number;
  readonly pageBytes: number;
  /** By the number that page records use. A name may occur more than once, with different types. */
  readonly states: readonly HeapStateMetadata[];
}

/** One page in the stream. */
export interface PageRecord {
  readonly keyGroup: number;
  readonly state: number;
  readonly page: number;
  readonly rowBytes: number;
  readonly position: number;
}

export interface StreamFooter {
  readonly metadataAt: number;
  readonly metadataBytes: number;
  readonly indexAt: number;
  readonly pages: number;
}

export function encodeStreamHeader(): Uint8Array {
  const bytes = new Uint8Array(STREAM_HEADER_BYTES);
  bytes.set(MAGIC);
  new DataView(bytes.buffer).setUint32(8, HEAP_STREAM_VERSION, true);
  return bytes;
}

/** Writes the head of a page record to `dv` at `at`. */
export function encodePageRecord(dv: DataView, at: number, record: Omit<PageRecord, 'position'>): void {
  dv.setUint32(at, record.state, true);
  dv.setUint32(at + 4, record.keyGroup, true);
  dv.setUint32(at + 8, record.page, true);
  dv.setUint32(at + 12, record.rowBytes, true);
}

/**
 * The index of a stream while it is written: what the footer will say of each page, by key group. Numbers in flat arrays,
 * because a large state has very many pages.
 */
export class StreamIndex {
  private readonly byGroup = new Map<number, number[]>();
  private pages = 0;

  add({ keyGroup, state, page, rowBytes }: Omit<PageRecord, 'position'>, position: number): void {
    this.pages++;
    const ofGroup = this.byGroup.get(keyGroup);
    if (ofGroup === undefined) this.byGroup.set(keyGroup, [state, page, rowBytes, position]);
    else ofGroup.push(state, page, rowBytes, position);
  }

  /** Metadata, index and footer of a stream whose pages end at `position`. */
  encodeTrailer(metadata: HeapStreamMetadata, position: number): Uint8Array {
    const json = new TextEncoder().encode(JSON.stringify(metadata));
    const metadataBytes = Math.ceil(json.length / 8) * 8;
    const footerAt = metadataBytes + this.pages * INDEX_ENTRY_BYTES;
    const bytes = new Uint8Array(footerAt + STREAM_FOOTER_BYTES).fill(0x20, 0, metadataBytes);
    const dv = new DataView(bytes.buffer);
    bytes.set(json);
    this.encodeEntries(dv, metadataBytes);
    dv.setFloat64(footerAt, position, true);
    dv.setFloat64(footerAt + 8, position + metadataBytes, true);
    dv.setUint32(footerAt + 16, metadataBytes, true);
    dv.setUint32(footerAt + 20, this.pages, true);
    dv.setUint32(footerAt + 28, HEAP_STREAM_VERSION, true);
    bytes.set(MAGIC, footerAt + 32);
    return bytes;
  }

  private encodeEntries(dv: DataView, start: number): void {
    let at = start;
    for (const keyGroup of [...this.byGroup.keys()].sort((a, b) => a - b)) {
      const ofGroup = this.byGroup.get(keyGroup)!;
      for (let i = 0; i < ofGroup.length; i += 4) {
        dv.setUint32(at, keyGroup, true);
        dv.setUint32(at + 4, ofGroup[i]!, true);
        dv.setUint32(at + 8, ofGroup[i + 1]!, true);
        dv.setUint32(at + 12, ofGroup[i + 2]!, true);
        dv.setFloat64(at + 16, ofGroup[i + 3]!, true);
        at += INDEX_ENTRY_BYTES;
      }
    }
  }
}

/** Reads header and footer of a stream of `lengthBytes`. Throws SNAPSHOT_CORRUPT, SNAPSHOT_FORMAT_NEWER. */
export function decodeStreamFooter(
  header: Uint8Array,
  footer: Uint8Array,
  lengthBytes: number,
): StreamFooter {
  check(lengthBytes >= STREAM_HEADER_BYTES + STREAM_FOOTER_BYTES, `it has only ${lengthBytes} bytes`);
  check(
    header.length === STREAM_HEADER_BYTES && footer.length === STREAM_FOOTER_BYTES,
    'it ends before its length',
  );
  check(
    MAGIC.every((byte, i) => header[i] === byte),
    'it does not begin with MLRHEAP1',
  );
  check(
    MAGIC.every((byte, i) => footer[32 + i] === byte),
    'it does not end with MLRHEAP1: it was cut',
  );
  const dv = new DataView(footer.buffer, footer.byteOffset, footer.byteLength);
  const version = new DataView(header.buffer, header.byteOffset, header.byteLength).getUint32(8, true);
  if (version > HEAP_STREAM_VERSION) throw newer(version);
  check(version >= OLDEST_VERSION, `its version is ${version}`);
  check(dv.getUint32(28, true) === version, 'the versions in header and footer differ');
  const result = {
    metadataAt: dv.getFloat64(0, true),
    indexAt: dv.getFloat64(8, true),
    metadataBytes: dv.getUint32(16, true),
    pages: dv.getUint32(20, true),
  };
  check(
    Number.isSafeInteger(result.metadataAt) &&
      result.metadataAt >= STREAM_HEADER_BYTES &&
      result.indexAt === result.metadataAt + result.metadataBytes &&
      result.indexAt + result.pages * INDEX_ENTRY_BYTES + STREAM_FOOTER_BYTES === lengthBytes,
    'metadata and index do not fill the end of the stream',
  );
  return result;
}

/** Reads the metadata. Throws SNAPSHOT_CORRUPT. */
export function decodeStreamMetadata(bytes: Uint8Array): HeapStreamMetadata {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw corrupt('its metadata is not JSON', cause);
  }
  const metadata = parsed as HeapStreamMetadata;
  check(typeof metadata === 'object' && metadata !== null, 'its metadata is not an object');
  const { keyGroups, maxParallelism, pageBytes, states } = metadata;
  const isGroup = (value: unknown) => Number.isInteger(value) && (value as number) >= 0;
  check(
    isGroup(keyGroups?.first) &&
      isGroup(keyGroups?.last) &&
      Number.isInteger(maxParallelism) &&
      keyGroups.first <= keyGroups.last &&
      keyGroups.last < maxParallelism &&
      maxParallelism <= 32768,
    'its key groups are not those of its max parallelism',
  );
  check([256, 512, 1024, 2048, 4096, 8192, 16384, 32768].includes(pageBytes), `pages of ${pageBytes} bytes`);
  check(Array.isArray(states), 'it lists no states');
  for (const state of states) {
    check(
      typeof state?.name === 'string' &&
        KINDS.has(state.kind) &&
        [state.key, state.namespace, state.value].every((type) => typeof type?.kind === 'string') &&
        (state.kind !== 'map' || typeof state.mapKey?.kind === 'string') &&
        (state.ttl === undefined || (state.ttl === true && state.kind !== 'timers')),
      'a state in its metadata is not complete',
    );
  }
  return metadata;
}

/** Reads the index, whose pages lie before `end`. Throws SNAPSHOT_CORRUPT. */
export function decodeStreamIndex(
  bytes: Uint8Array,
  metadata: HeapStreamMetadata,
  end: number,
): PageRecord[] {
  const dv = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const records: PageRecord[] = [];
  for (let at = 0; at < bytes.length; at += INDEX_ENTRY_BYTES) {
    const record = {
      keyGroup: dv.getUint32(at, true),
      state: dv.getUint32(at + 4, true),
      page: dv.getUint32(at + 8, true),
      rowBytes: dv.getUint32(at + 12, true),
      position: dv.getFloat64(at + 16, true),
    };
    const { keyGroups, pageBytes, states } = metadata;
    check(
      record.keyGroup >= keyGroups.first &&
        record.keyGroup <= keyGroups.last &&
        record.state < states.length &&
        record.page < 2 ** 31 / (pageBytes / 8) &&
        record.rowBytes > 0 &&
        record.rowBytes <= pageBytes - PAGE_HEAD_UNITS * UNIT_BYTES &&
        record.rowBytes % 8 === 0 &&
        Number.isSafeInteger(record.position) &&
        record.position >= STREAM_HEADER_BYTES &&
        record.position + PAGE_RECORD_BYTES + record.rowBytes <= end,
      `entry ${at / INDEX_ENTRY_BYTES} of its index is out of range`,
    );
    records.push(record);
  }
  return records;
}

/** True if the head of a page record is the one that the index promised. */
export function isPageRecord(dv: DataView, at: number, record: PageRecord): boolean {
  return (
    dv.getUint32(at, true) === record.state &&
    dv.getUint32(at + 4, true) === record.keyGroup &&
    dv.getUint32(at + 8, true) === record.page &&
    dv.getUint32(at + 12, true) === record.rowBytes
  );
}

/** SNAPSHOT_CORRUPT; `what` continues the sentence "the keyed state of this snapshot is damaged: ". */
export function corrupt(what: string, cause?: unknown): MillraceError {
  return new MillraceError('SNAPSHOT_CORRUPT', `The keyed state of this snapshot is damaged: ${what}.`, {
    cause,
  });
}

function newer(version: number): MillraceError {
  return new MillraceError(
    'SNAPSHOT_FORMAT_NEWER',
    `The keyed state of this snapshot is of version ${version}; this Millrace reads up to ${HEAP_STREAM_VERSION}.`,
  );
}

/** Throws SNAPSHOT_CORRUPT unless `condition` holds. */
export function check(condition: unknown, what: string): asserts condition {
  if (!condition) throw corrupt(what);
}
