/**
 * Map state with time-to-live: each entry expires by itself. Putting is HeapMapState's, whose serializer puts the time
 * before each value; this is finding, where expired entries count as absent and are removed.
 */
import type { KeySerializer, TypeSerializer } from '../../types/index.ts';
import type { CurrentRow } from './current-row.ts';
import type { StateWorkspace } from './entry-state.ts';
import { type Cursor, HeapMapState } from './heap-map-state.ts';
import { headInt } from './map-rows.ts';
import { MAP_ENTRY_NEXT, MAP_FIRST } from './row-format.ts';
import type { StateTtl } from './state-ttl.ts';

export class HeapTtlMapState<K, V> extends HeapMapState<K, V> {
  private readonly ttl: StateTtl;

  constructor(
    current: CurrentRow<undefined>,
    keySerializer: KeySerializer<K>,
    serializer: TypeSerializer<V>,
    workspace: StateWorkspace,
    ttl: StateTtl,
  ) {
    super(current, keySerializer, serializer, workspace);
    this.ttl = ttl;
  }

  override get(key: K): V | undefined {
    const row = this.findVisible(key);
    if (row === 0) return undefined;
    const value = this.decodeValue(row);
    this.afterRead(row);
    return value;
  }

  override contains(key: K): boolean {
    const row = this.findVisible(key);
    if (row === 0) return false;
    if (this.ttl.refreshesOnRead && !this.ttl.isExpired(this.store, row)) this.ttl.refresh(this.store, row);
    return true;
  }

  override isEmpty(): boolean {
    this.ttl.accesses++;
    const head = this.current.find();
    if (head === 0 || this.ttl.returnsExpired) return head === 0;
    for (let row = headInt(this.store, head, MAP_FIRST); row !== 0; ) {
      if (!this.ttl.isExpired(this.store, row)) return false;
      const next = this.store.getInt(row, MAP_ENTRY_NEXT);
      this.removeExpired(row);
      row = next;
    }
    return true;
  }

  protected override nextRow(cursor: Cursor): number {
    for (;;) {
      this.ttl.accesses++;
      const row = super.nextRow(cursor);
      if (row === 0 || this.ttl.returnsExpired || !this.ttl.isExpired(this.store, row)) return row;
      this.removeExpired(row);
    }
  }

  protected override iterate<R>(read: (row: number) => R): IterableIterator<R> {
    return super.iterate((row) => {
      const result = read(row);
      this.afterRead(row);
      return result;
    });
  }

  /** The row of a user key, unless it has expired and must not be seen. */
  private findVisible(key: K): number {
    this.ttl.accesses++;
    const row = this.find(key);
    if (row === 0 || this.ttl.returnsExpired || !this.ttl.isExpired(this.store, row)) return row;
    this.removeExpired(row);
    return 0;
  }

  /** What reading does to an entry: it lives on, or, if it was returned although it had expired, goes. */
  private afterRead(row: number): void {
    const { ttl, store } = this;
    if (ttl.returnsExpired && ttl.isExpired(store, row)) this.removeExpired(row);
    else if (ttl.refreshesOnRead) ttl.refresh(store, row);
  }

  private removeExpired(row: number): void {
    this.removeRow(row);
    this.ttl.expired++;
  }
}
