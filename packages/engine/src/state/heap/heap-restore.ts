/**
 * Reads heap-1 streams into row stores. Called once by the backend, before the first record.
 *
 * From each stream the trailer is read, then the pages of the wanted key groups in the order in which they lie there.
 * Where max parallelism and page size agree the page images are adopted; otherwise they are adopted into a store of
 * their own, whose entries are then copied into their new key groups.
 */
import { assert } from '../../base/index.ts';
import type { KeyedStateToRestore } from '../backend.ts';
import type { KeyedStateKind, KeyedStateMetadata, KeyGroupRange } from '../handles.ts';
import type { SnapshotInput } from '../snapshot.ts';
import {
  check,
  decodeStreamFooter,
  decodeStreamIndex,
  decodeStreamMetadata,
  type HeapStateMetadata,
  type HeapStreamMetadata,
  INDEX_ENTRY_BYTES,
  isPageRecord,
  PAGE_RECORD_BYTES,
  type PageRecord,
  STREAM_FOOTER_BYTES,
  STREAM_HEADER_BYTES,
} from './heap-stream.ts';
import { PageAdoption } from './page-adoption.ts';
import { PAGE_HEAD_UNITS, UNIT_BYTES } from './page-store.ts';
import type { RestoredState, StateSchema } from './restored-state.ts';
import { RowStore } from './row-store.ts';
import { RowTransfer } from './row-transfer.ts';
import { TableFill } from './table-fill.ts';

/** Records with no more than this between them are read together, up to READ_BYTES_MAX. */
const READ_GAP_BYTES = 64 * 1024;
const READ_BYTES_MAX = 2 * 1024 * 1024;

/** The backend that is being restored. */
export interface HeapRestoreTarget {
  readonly keyGroups: KeyGroupRange;
  readonly maxParallelism: number;
  readonly pageBytes: number;
  readonly chunkBytes: number;
  readonly createStore: (kind: KeyedStateKind) => RowStore;
  /** Key group by key hash, counted from the first; -1 if it is not one of the backend's. */
  readonly groupOf: (keyHash: number) => number;
  /** Throws if the state cannot be restored; called for each state before any page is read. */
  readonly checkState: (metadata: KeyedStateMetadata) => void;
}

/** Restores all streams; states by name, timers apart from others. Throws SNAPSHOT_CORRUPT and what checkState throws. */
export async function restoreHeapStates(
  inputs: readonly KeyedStateToRestore[],
  target: HeapRestoreTarget,
): Promise<RestoredState[]> {
  const states: RestoredState[] = [];
  for (const { handle, input } of inputs) {
    assert(handle.format === 'heap-1', `keyed state of format ${handle.format} is not for this backend`);
    const stream = await openStream(input);
    const { metadata } = stream;
    check(
      metadata.maxParallelism === handle.maxParallelism &&
        metadata.keyGroups.first === handle.keyGroups.first &&
        metadata.keyGroups.last === handle.keyGroups.last,
      'its key groups are not those that the manifest says',
    );
    metadata.states.forEach(target.checkState);
    const restore = new StreamRestore(metadata, target, states);
    await readPages(input, restore.wanted(stream.index), (record, bytes) => restore.takePage(record, bytes));
    restore.finish();
  }
  return states;
}

async function openStream(
  input: SnapshotInput,
): Promise<{ metadata: HeapStreamMetadata; index: PageRecord[] }> {
  const { lengthBytes } = input;
  check(lengthBytes >= STREAM_HEADER_BYTES + STREAM_FOOTER_BYTES, `it has only ${lengthBytes} bytes`);
  const header = await input.read(0, STREAM_HEADER_BYTES);
  const footerBytes = await input.read(lengthBytes - STREAM_FOOTER_BYTES, STREAM_FOOTER_BYTES);
  const footer = decodeStreamFooter(header, footerBytes, lengthBytes);
  const trailerBytes = footer.metadataBytes + footer.pages * INDEX_ENTRY_BYTES;
  const trailer = await input.read(footer.metadataAt, trailerBytes);
  check(trailer.length === trailerBytes, 'it ends before its length');
  const metadata = decodeStreamMetadata(trailer.subarray(0, footer.metadataBytes));
  const index = decodeStreamIndex(trailer.subarray(footer.metadataBytes), metadata, footer.metadataAt);
  return { metadata, index };
}

/** Reads the pages in the order of their positions, neighbours together; the next ones while these are taken. */
async function readPages(
  input: SnapshotInput,
  records: PageRecord[],
  take: (record: PageRecord, bytes: Uint8Array) => void,
): Promise<void> {
  const spans = spansOf(records);
  const read = (span: Span | undefined): Promise<Uint8Array> | undefined => {
    const bytes = span === undefined ? undefined : input.read(span.start, span.end - span.start);
    // Nobody may wait for it any more when it fails.
    bytes?.catch(() => {});
    return bytes;
  };
  let ahead = read(spans[0]);
  for (const [index, { start, end, records: inSpan }] of spans.entries()) {
    const bytes = await ahead!;
    ahead = read(spans[index + 1]);
    check(bytes.length === end - start, 'it ends before its length');
    const dv = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (const record of inSpan) {
      const at = record.position - start;
      check(isPageRecord(dv, at, record), 'a page is not where its index says');
      const contentAt = at + PAGE_RECORD_BYTES;
      take(record, bytes.subarray(contentAt, contentAt + record.rowBytes));
    }
  }
}

/** What is read at once: from `start` to `end` in the stream. */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly records: readonly PageRecord[];
}

function spansOf(records: PageRecord[]): Span[] {
  records.sort((a, b) => a.position - b.position);
  const spans: Span[] = [];
  for (let i = 0; i < records.length; ) {
    const first = i;
    const start = records[i]!.position;
    let end = endOf(records[i]!);
    for (i++; i < records.length; i++) {
      const next = records[i]!;
      if (next.position - end > READ_GAP_BYTES || endOf(next) - start > READ_BYTES_MAX) break;
      end = Math.max(end, endOf(next));
    }
    spans.push({ start, end, records: records.slice(first, i) });
  }
  return spans;
}

function endOf(record: PageRecord): number {
  return record.position + PAGE_RECORD_BYTES + record.rowBytes;
}

/** The pages of one state of a stream. */
interface LoadedState {
  readonly store: RowStore;
  readonly newPages: Map<number, number>;
  /** By key group, counted from the first of the store. */
  readonly pages: Map<number, number[]>;
  /** Where the entries are to be copied, if the pages do not fit. */
  readonly copyTo: RowStore | undefined;
  readonly hasTtl: boolean;
}

/** The restore of one stream. It is given pages and does not read. */
class StreamRestore {
  private readonly metadata: HeapStreamMetadata;
  private readonly target: HeapRestoreTarget;
  private readonly isSameShape: boolean;
  private readonly firstGroup: number;
  private readonly states: LoadedState[];

  constructor(metadata: HeapStreamMetadata, target: HeapRestoreTarget, restored: RestoredState[]) {
    this.metadata = metadata;
    this.target = target;
    this.isSameShape =
      metadata.maxParallelism === target.maxParallelism && metadata.pageBytes === target.pageBytes;
    this.firstGroup = this.isSameShape ? target.keyGroups.first : metadata.keyGroups.first;
    this.states = metadata.states.map((state) => {
      const store = storeFor(state, restored, target);
      const own = this.isSameShape ? undefined : this.createOwnStore(state.kind);
      return {
        store: own ?? store,
        newPages: new Map(),
        pages: new Map(),
        copyTo: own === undefined ? undefined : store,
        hasTtl: state.ttl === true,
      };
    });
  }

  /** Which of the pages are needed. With another max parallelism keys may come from any key group. */
  wanted(index: readonly PageRecord[]): PageRecord[] {
    const { first, last } = this.target.keyGroups;
    if (this.metadata.maxParallelism !== this.target.maxParallelism) return [...index];
    return index.filter(({ keyGroup }) => keyGroup >= first && keyGroup <= last);
  }

  takePage(record: PageRecord, bytes: Uint8Array): void {
    const { store, newPages, pages } = this.states[record.state]!;
    const group = record.keyGroup - this.firstGroup;
    check(!newPages.has(record.page), 'its index has a page twice');
    const page = store.allocatePage(group);
    newPages.set(record.page, page);
    store.setPageUsed(page, PAGE_HEAD_UNITS + record.rowBytes / UNIT_BYTES);
    store.pageContent(page).set(bytes);
    const ofGroup = pages.get(group);
    if (ofGroup === undefined) pages.set(group, [page]);
    else ofGroup.push(page);
  }

  /** Makes the pages part of their stores. */
  finish(): void {
    const tableFill = new TableFill();
    for (const { store, newPages, pages, copyTo, hasTtl } of this.states) {
      for (const [group, ofGroup] of pages) {
        check(store.entriesOf(group) === 0, 'a key group is in two of the streams');
        new PageAdoption(store, group, ofGroup, newPages, hasTtl, tableFill).run();
      }
      if (copyTo !== undefined) {
        new RowTransfer(store, copyTo, { where: 'restore', groupOf: this.target.groupOf }).copy();
      }
    }
  }

  private createOwnStore(kind: KeyedStateKind): RowStore {
    const { keyGroups, pageBytes } = this.metadata;
    const chunkBytes = Math.max(this.target.chunkBytes, pageBytes);
    return new RowStore(kind, keyGroups.last - keyGroups.first + 1, { pageBytes, chunkBytes });
  }
}

/** The store in the backend's shape for a state of a stream: the one of earlier streams if the schema is the same. */
function storeFor(state: HeapStateMetadata, restored: RestoredState[], target: HeapRestoreTarget): RowStore {
  const { name, kind } = state;
  const isTimers = kind === 'timers';
  let known = restored.find((each) => each.name === name && (each.kind === 'timers') === isTimers);
  if (known === undefined) {
    known = { name, kind, parts: [] };
    restored.push(known);
  }
  check(known.kind === kind, `state ${name} is of kind ${known.kind} in one stream and ${kind} in another`);
  const schema = schemaOfMetadata(state);
  const wanted = JSON.stringify(schema);
  const part = known.parts.find((each) => JSON.stringify(each.schema) === wanted);
  if (part !== undefined) return part.store;
  const store = target.createStore(kind);
  known.parts.push({ schema, store });
  return store;
}

function schemaOfMetadata({ key, namespace, value, mapKey, ttl }: HeapStateMetadata): StateSchema {
  return {
    ...{ key, namespace, value },
    ...(mapKey === undefined ? {} : { mapKey }),
    ...(ttl === undefined ? {} : { ttl }),
  };
}
