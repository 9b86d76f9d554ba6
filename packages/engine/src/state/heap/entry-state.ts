/**
 * A state with one encoded value per key and namespace: what value, reducing and aggregating states have in common, off
 * the hot path. The hot path is generated for each state (entry-state-code.ts) and calls what is here.
 */
import type { TypeSerializer } from '../../types/index.ts';
import type { CurrentRow } from './current-row.ts';
import { type ByteRun, insertEntry, readValue, removeEntry } from './entry-rows.ts';
import type { KeyContext } from './key-context.ts';
import type { KnownValues } from './known-values.ts';
import { KIND_ENTRY } from './row-format.ts';
import type { RowStore } from './row-store.ts';
import type { Scratch } from './scratch.ts';

/** What all states of a backend work with. */
export interface StateWorkspace {
  /** Values are encoded here before they get a place. */
  readonly scratch: Scratch;
  /** Where something was just found. */
  readonly run: ByteRun;
}

export class EntryState<T, N> {
  readonly current: CurrentRow<N>;
  readonly context: KeyContext;
  readonly store: RowStore;
  readonly serializer: TypeSerializer<T>;
  readonly scratch: Scratch;
  /** Values in use, of value states for which it pays. */
  readonly known: KnownValues<T, N> | undefined;
  private readonly run: ByteRun;

  constructor(
    current: CurrentRow<N>,
    serializer: TypeSerializer<T>,
    workspace: StateWorkspace,
    known: KnownValues<T, N> | undefined,
  ) {
    this.current = current;
    this.context = current.context;
    this.store = current.store;
    this.serializer = serializer;
    this.scratch = workspace.scratch;
    this.known = known;
    this.run = workspace.run;
  }

  setNamespace(namespace: N): void {
    this.current.setNamespace(namespace);
  }

  clear(): void {
    const row = this.current.find();
    if (row === 0) return;
    this.known?.forget();
    removeEntry(this.store, row);
    this.store.entries--;
    this.current.row = 0;
  }

  /** Gives the current key and namespace, which have no row, a row with this value. */
  insert(value: T): void {
    const { current, context, store } = this;
    const length = this.scratch.encode(this.serializer, value);
    const identityLength = context.encodeWith(current.suffix, current.suffixBytes);
    current.row = insertEntry(
      store,
      context.group,
      KIND_ENTRY,
      context.hash,
      current.hash,
      context.encoded,
      identityLength,
      this.scratch.view,
      length,
    );
    store.entries++;
    this.scratch.trim();
  }

  /** The row of the current key and namespace; 0 if there is none that is to be seen. */
  find(): number {
    return this.current.find();
  }

  /** Reads a value wherever it lies. */
  readAnywhere(row: number): T {
    const { run } = this;
    readValue(this.store, row, run);
    run.view.pos = run.at;
    return this.serializer.decode(run.view);
  }

  /**
   * Merges the values of `sources` into that of `target`, from left to right, by `merge`; the current namespace stays.
   * Nothing has changed if `merge` throws. Called by the merging states.
   */
  mergeInto(
    target: N,
    sources: readonly N[],
    merge: (left: T, right: T) => T,
    write: (value: T) => void,
  ): void {
    const { current } = this;
    const held = current.holdNamespace();
    current.setNamespace(target);
    const targetBytes = current.holdNamespace();
    const others = sources.filter((source) => {
      current.setNamespace(source);
      return !current.isNamespace(targetBytes) && this.find() !== 0;
    });
    if (others.length > 0) {
      const values = others.map((source) => {
        current.setNamespace(source);
        return this.readAnywhere(current.find());
      });
      current.setNamespace(target);
      const row = this.find();
      const merged = values.reduce(merge);
      write(row === 0 ? merged : merge(this.readAnywhere(row), merged));
      for (const source of others) {
        current.setNamespace(source);
        this.clear();
      }
    }
    current.restoreNamespace(held);
  }
}
