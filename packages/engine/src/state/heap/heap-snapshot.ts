/**
 * A snapshot of a heap backend while it is being written: pages as they were, copied in slices or just before they are
 * changed.
 *
 * Made by the backend; driven by the task (`start`, `advance`, `release`). The page stores call `capture` (page-store.ts,
 * I2). A page that is captured while there is no sink waits in a block, which the sink then writes as it is: before the sink
 * is there a job has often touched most of its pages.
 *
 * Invariants:
 * I1 Every page that was in use when the snapshot was made is written exactly once, as it was then.
 * I2 After the trailer was written or the snapshot was released, no store knows it any more.
 */
import { assert, BufferPool } from '../../base/index.ts';
import { ByteView } from '../../types/index.ts';
import type { KeyedStateMetadata, KeyGroupRange } from '../handles.ts';
import type { KeyedStateSnapshot, SnapshotSink } from '../snapshot.ts';
import {
  encodePageRecord,
  encodeStreamHeader,
  type HeapStateMetadata,
  PAGE_RECORD_BYTES,
  type PageRecord,
  StreamIndex,
} from './heap-stream.ts';
import type { PageCapture, PageStore } from './page-store.ts';

/** As large as what a file is given at a time. */
const BLOCK_BYTES = 1024 * 1024;
const KEPT_BLOCKS_MAX = 64;

/** Blocks for pages that were changed before there was a sink. */
export type BlockPool = BufferPool<ByteView>;

export function createBlockPool(): BlockPool {
  return new BufferPool(() => ByteView.allocate(BLOCK_BYTES), KEPT_BLOCKS_MAX);
}

/** A state as it goes into a snapshot. */
export interface SnapshotState {
  readonly store: PageStore;
  readonly metadata: HeapStateMetadata;
}

export interface SnapshotParts {
  readonly keyGroups: KeyGroupRange;
  readonly maxParallelism: number;
  readonly pageBytes: number;
  readonly states: readonly SnapshotState[];
  readonly blocks: BlockPool;
}

/** Page records in a block; their positions are known when the block is written. */
interface WaitingBlock {
  readonly view: ByteView;
  readonly records: PageRecord[];
}

/** The pages of one store. */
interface StoreCapture extends PageCapture {
  readonly store: PageStore;
  readonly state: number;
  readonly limit: number;
}

type Phase = 'waiting' | 'copying' | 'complete' | 'released';

export class HeapSnapshot implements KeyedStateSnapshot {
  readonly format = 'heap-1';
  readonly keyGroups: KeyGroupRange;
  readonly maxParallelism: number;
  private readonly parts: SnapshotParts;
  private phase: Phase = 'waiting';
  private sink: SnapshotSink | undefined = undefined;
  /** Position of the stream in the sink. */
  private origin = 0;
  private readonly captures: StoreCapture[] = [];
  private readonly waiting: WaitingBlock[] = [];
  private readonly index = new StreamIndex();
  private readonly recordHead = ByteView.allocate(PAGE_RECORD_BYTES);
  private uncopiedBytes = 0;
  private waitingBytes = 0;

  /** Freezes the states: from now on their pages are captured before they change. */
  constructor(parts: SnapshotParts) {
    this.parts = parts;
    this.keyGroups = parts.keyGroups;
    this.maxParallelism = parts.maxParallelism;
    for (const [state, { store }] of parts.states.entries()) {
      this.uncopiedBytes += store.usedUnits * 8;
      store.beginCapture((epoch) => {
        const capture: StoreCapture = {
          epoch,
          store,
          state,
          cursor: 0,
          limit: store.pageLimit,
          capture: (page) => this.take(store, state, page),
        };
        this.captures.push(capture);
        return capture;
      });
    }
  }

  get remainingBytes(): number {
    return this.phase === 'complete' || this.phase === 'released'
      ? 0
      : this.uncopiedBytes + this.waitingBytes;
  }

  start(sink: SnapshotSink): void {
    assert(this.phase === 'waiting', `a snapshot that is ${this.phase} cannot be started`);
    this.sink = sink;
    this.origin = sink.position;
    this.phase = 'copying';
    sink.append(encodeStreamHeader());
  }

  advance(maxBytes: number): boolean {
    if (this.phase === 'complete') return true;
    assert(this.phase === 'copying', `a snapshot that is ${this.phase} cannot advance`);
    const sink = this.sink!;
    const end = sink.position + maxBytes;
    while (this.waiting.length > 0) {
      if (sink.position >= end) return false;
      this.writeBlock(sink, this.waiting.shift()!);
    }
    while (this.captures.length > 0) {
      if (!this.copyPages(this.captures[0]!, sink, end)) return false;
      const done = this.captures.shift()!;
      done.store.endCapture(done);
    }
    const { keyGroups, maxParallelism, pageBytes } = this.parts;
    const states = this.metadataOfStates();
    const position = sink.position - this.origin;
    sink.append(this.index.encodeTrailer({ keyGroups, maxParallelism, pageBytes, states }, position));
    this.phase = 'complete';
    return true;
  }

  metadata(): readonly KeyedStateMetadata[] {
    assert(this.phase === 'complete', `a snapshot that is ${this.phase} has no metadata yet`);
    return this.metadataOfStates();
  }

  release(): void {
    if (this.phase !== 'complete') this.phase = 'released';
    for (const capture of this.captures) capture.store.endCapture(capture);
    for (const { view } of this.waiting) this.parts.blocks.give(view);
    this.captures.length = 0;
    this.waiting.length = 0;
    this.sink = undefined;
  }

  private metadataOfStates(): HeapStateMetadata[] {
    return this.parts.states.map(({ metadata }) => metadata);
  }

  /** Copies pages of a store until the sink is at `end`; true if there are no more. */
  private copyPages(capture: StoreCapture, sink: SnapshotSink, end: number): boolean {
    const { store, epoch, limit } = capture;
    while (capture.cursor < limit) {
      if (store.isUnchangedSince(capture.cursor, epoch)) {
        if (sink.position >= end) return false;
        this.take(store, capture.state, capture.cursor);
      }
      capture.cursor++;
    }
    return true;
  }

  /** Takes the bytes of a page: to the sink if there is one. */
  private take(store: PageStore, state: number, page: number): void {
    const content = store.pageContent(page);
    const record = {
      keyGroup: this.keyGroups.first + store.pageGroup[page]!,
      state,
      page,
      rowBytes: content.length,
    };
    this.uncopiedBytes -= content.length;
    if (this.sink === undefined) {
      this.keep(record, content);
      return;
    }
    const { sink, recordHead } = this;
    this.index.add(record, sink.position - this.origin);
    encodePageRecord(recordHead.dv, 0, record);
    sink.append(recordHead.u8);
    sink.append(content);
  }

  private keep(record: Omit<PageRecord, 'position'>, content: Uint8Array): void {
    const bytes = PAGE_RECORD_BYTES + content.length;
    let block = this.waiting[this.waiting.length - 1];
    if (block === undefined || block.view.pos + bytes > block.view.u8.length) {
      block = { view: this.parts.blocks.take(), records: [] };
      block.view.pos = 0;
      this.waiting.push(block);
    }
    const { view } = block;
    block.records.push({ ...record, position: view.pos });
    encodePageRecord(view.dv, view.pos, record);
    view.u8.set(content, view.pos + PAGE_RECORD_BYTES);
    view.pos += bytes;
    this.waitingBytes += bytes;
  }

  private writeBlock(sink: SnapshotSink, { view, records }: WaitingBlock): void {
    const blockAt = sink.position - this.origin;
    for (const record of records) this.index.add(record, blockAt + record.position);
    this.waitingBytes -= view.pos;
    const { blocks } = this.parts;
    sink.appendLent(view.u8.subarray(0, view.pos), () => blocks.give(view));
  }
}
