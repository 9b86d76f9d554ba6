/**
 * List state with time-to-live: each element expires by itself. Adding is HeapListState's, whose serializer puts the time
 * before each element; this is reading.
 */
import type { ByteView, TypeSerializer } from '../../types/index.ts';
import type { CurrentRow } from './current-row.ts';
import type { StateWorkspace } from './entry-state.ts';
import { ExpiredElements, isEmptyList } from './expired-elements.ts';
import { overwritePieces } from './external-bytes.ts';
import { HeapListState } from './heap-list-state.ts';
import { CHUNK_HEAD_BYTES } from './list-rows.ts';
import { EXTERNAL_VALUE } from './row-format.ts';
import { peekLastAccess, type StateTtl } from './state-ttl.ts';

export class HeapTtlListState<T, N> extends HeapListState<T, N> {
  private readonly ttl: StateTtl;
  private readonly expired: ExpiredElements;
  /** Of the reading that goes on. */
  private nowMs = 0;
  private deadlineMs = 0;

  constructor(
    current: CurrentRow<N>,
    serializer: TypeSerializer<T>,
    workspace: StateWorkspace,
    ttl: StateTtl,
  ) {
    super(current, serializer, workspace);
    this.ttl = ttl;
    this.expired = new ExpiredElements(current.store, ttl.serializer, workspace.run);
  }

  override get(): T[] {
    const { ttl } = this;
    ttl.accesses++;
    this.nowMs = ttl.nowMs();
    this.deadlineMs = ttl.deadlineMs();
    if (!ttl.returnsExpired) this.dropExpired();
    const elements = super.get();
    if (ttl.returnsExpired) this.dropExpired();
    return elements;
  }

  override addIfPresent(value: T): boolean {
    if (!this.ttl.returnsExpired) {
      this.deadlineMs = this.ttl.deadlineMs();
      this.dropExpired();
    }
    return super.addIfPresent(value);
  }

  /** Leaves out what has expired, and makes the rest live on if reading does that. `owner` has the run, or refers to it. */
  protected override decodeRun(
    view: ByteView,
    at: number,
    length: number,
    elements: T[],
    owner: number,
  ): void {
    const { ttl, store, nowMs, deadlineMs } = this;
    const end = at + length;
    let isChanged = false;
    view.pos = at;
    while (view.pos < end) {
      const start = view.pos;
      const lastAccessMs = peekLastAccess(view);
      const isExpired = lastAccessMs <= deadlineMs;
      if (isExpired && !ttl.returnsExpired) {
        this.serializer.skip(view);
        continue;
      }
      elements.push(this.serializer.decode(view));
      if (isExpired || !ttl.refreshesOnRead || lastAccessMs === nowMs) continue;
      if (!isChanged) store.touch(owner);
      isChanged = true;
      view.dv.setFloat64(start, nowMs, true);
    }
    if (isChanged && (store.wordOf(owner) & EXTERNAL_VALUE) !== 0) {
      overwritePieces(store, store.getInt(owner, CHUNK_HEAD_BYTES), view, at);
    }
  }

  private dropExpired(): void {
    const row = this.current.find();
    if (row === 0) return;
    this.ttl.expired += this.expired.drop(row, this.deadlineMs);
    if (isEmptyList(this.store, row)) this.clear();
  }
}
