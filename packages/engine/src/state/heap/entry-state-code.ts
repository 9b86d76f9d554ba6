/**
 * Makes the classes of value, reducing and aggregating states: one class a state, as text.
 *
 * These run per record. V8 keeps type feedback by source text, so each text is made unique by a comment: the calls of the
 * serializer and of the user's function then have one target each and are inlined. What is rare (inserting, external
 * values, removing) is inherited from EntryState. Sizes of pages and chunks are literals in the text.
 *
 * Values of one number are encoded in place. Others are encoded into the scratch first, because encoding may throw
 * half-way, which must not harm the row; then they are copied if they fit.
 *
 * Value states with strings keep the values in use as objects (known-values.ts).
 *
 * A state with time-to-live has more text at two places: a row that was located is dropped if it has expired, and a row
 * that was read lives on or goes. Its serializer is that of values with their last access (state-ttl.ts).
 */

import { generateCode } from '../../base/index.ts';
import type { TypeSerializer } from '../../types/index.ts';
import type { AddsIfPresent, Merging, Namespaced, RemembersNamespaces } from '../backend.ts';
import type {
  AggregateFunction,
  AggregatingState,
  ReduceFunction,
  ReducingState,
  ValueState,
} from '../descriptors.ts';
import { copyBytes } from './bytes.ts';
import { type CurrentRow, UNKNOWN } from './current-row.ts';
import { setEntryValue } from './entry-rows.ts';
import { EntryState, type StateWorkspace } from './entry-state.ts';
import type { KnownValues } from './known-values.ts';
import { RememberedRows } from './remembered-rows.ts';
import { EXTERNAL_VALUE, UNITS_MASK, VALUE_OFFSET_MASK, VALUE_OFFSET_SHIFT } from './row-format.ts';
import type { RowStore } from './row-store.ts';
import type { StateTtl } from './state-ttl.ts';

/** Kinds whose encoders check the value before they write anything. */
const IN_PLACE: ReadonlySet<string> = new Set(['long', 'int', 'double', 'boolean', 'date', 'enum']);

/** Larger rows take the way through setEntryValue, which also shrinks them. */
const COPY_UNITS_MAX = 32;

/** What a class is made with. */
export interface EntryStateParts<T, N> {
  readonly current: CurrentRow<N>;
  readonly serializer: TypeSerializer<T>;
  readonly workspace: StateWorkspace;
  readonly ttl: StateTtl | undefined;
  /** Of value states for which it pays. */
  readonly known?: KnownValues<T, N> | undefined;
}

/** A value state; `value()` gives a fresh default each time where `defaultValue` has one. */
export function createValueState<T, N>(
  parts: EntryStateParts<T, N>,
  defaultValue: () => T | undefined,
): Namespaced<ValueState<T>, N> {
  const isKnown = parts.known !== undefined;
  const methods = `
  value() {
    ${locateVisible(parts.ttl)}
    if (row === 0) return this.defaultValue();
    ${isKnown ? KNOWN_VALUE : ''}
    ${readText(parts.current.store)}
    ${afterReadText(parts.ttl)}
    ${isKnown ? KEEP_VALUE : ''}
    return value;
  }
  update(value) {
    if (value === undefined) this.clear();
    else this.write(value);
  }`;
  return generate(parts, methods, { defaultValue });
}

export function createReducingState<T, N>(
  parts: EntryStateParts<T, N>,
  reduce: ReduceFunction<T>,
): Namespaced<ReducingState<T>, N> & Merging<N> & Required<AddsIfPresent<T>> & RemembersNamespaces<T> {
  const methods = `
  get() {
    ${locateVisible(parts.ttl)}
    if (row === 0) return undefined;
    ${readText(parts.current.store)}
    ${afterReadText(parts.ttl)}
    return value;
  }
  add(added) {
    ${locateVisible(parts.ttl)}
    if (row === 0) { this.insert(added); return; }
    ${readText(parts.current.store)}
    this.write(this.reduce(value, added));
  }
  addIfPresent(added) {
    ${locateVisible(parts.ttl)}
    if (row === 0) return false;
    ${readText(parts.current.store)}
    this.write(this.reduce(value, added));
    return true;
  }
  ${rememberingText(parts, 'this.reduce(value, added)')}
  mergeNamespaces(target, sources) {
    this.mergeInto(target, sources, (a, b) => this.reduce(a, b), (value) => this.write(value));
  }`;
  return generate(parts, methods, { reduce });
}

export function createAggregatingState<In, Acc, Out, N>(
  parts: EntryStateParts<Acc, N>,
  aggregate: AggregateFunction<In, Acc, Out>,
): Namespaced<AggregatingState<In, Out>, N> &
  Merging<N> &
  Required<AddsIfPresent<In>> &
  RemembersNamespaces<In> {
  const methods = `
  get() {
    ${locateVisible(parts.ttl)}
    if (row === 0) return undefined;
    ${readText(parts.current.store)}
    ${afterReadText(parts.ttl)}
    return this.aggregate.getResult(value);
  }
  add(added) {
    ${locateVisible(parts.ttl)}
    if (row === 0) { this.insert(this.aggregate.add(added, this.aggregate.createAccumulator())); return; }
    ${readText(parts.current.store)}
    this.write(this.aggregate.add(added, value));
  }
  addIfPresent(added) {
    ${locateVisible(parts.ttl)}
    if (row === 0) return false;
    ${readText(parts.current.store)}
    this.write(this.aggregate.add(added, value));
    return true;
  }
  ${rememberingText(parts, 'this.aggregate.add(added, value)')}
  mergeNamespaces(target, sources) {
    this.mergeInto(target, sources, (a, b) => this.aggregate.merge(a, b), (value) => this.write(value));
  }`;
  return generate(parts, methods, { aggregate });
}

const KNOWN_VALUE = `const { known } = this;
    const place = known.placeOf(current.hash);
    if (known.rows[place] === row) {
      known.hits++;
      return this.serializer.copy(known.values[place]);
    }`;
const KEEP_VALUE = `if ((word & ${EXTERNAL_VALUE}) === 0 && known.keep(value)) return this.serializer.copy(value);`;

const LOCATE = `const current = this.current;
    const row = current.generation === this.context.generation ? current.row : current.locate();`;

/** Locates the row; one that has expired and must not be seen is removed. */
function locateVisible(ttl: StateTtl | undefined): string {
  if (ttl === undefined) return LOCATE;
  const counted = `this.ttl.accesses++; ${LOCATE}`;
  if (ttl.returnsExpired) return counted;
  return `${counted.replace('const row', 'let row')}
    if (row !== 0 && this.ttl.isExpired(this.store, row)) { this.removeExpired(); row = 0; }`;
}

/** After a value was read from the row, as `value`. */
function afterReadText(ttl: StateTtl | undefined): string {
  if (ttl === undefined || !(ttl.returnsExpired || ttl.refreshesOnRead)) return '';
  const refresh = ttl.refreshesOnRead ? 'this.ttl.refresh(this.store, row);' : '';
  if (!ttl.returnsExpired) return refresh;
  return `if (this.ttl.isExpired(this.store, row)) this.removeExpired(); else { ${refresh} }`;
}

/** What only states with time-to-live have. */
function ttlText(ttl: StateTtl | undefined): string {
  if (ttl === undefined) return '';
  return `
  find() {
    ${locateVisible(ttl)}
    return row;
  }
  removeExpired() {
    this.clear();
    this.ttl.expired++;
  }`;
}

/** The methods of RemembersNamespaces. `change` is the new value, from `value` and `added`. */
function rememberingText<T, N>(parts: EntryStateParts<T, N>, change: string): string {
  const { ttl, current, serializer } = parts;
  if (ttl !== undefined) return '';
  return `
  addToRemembered(tag, added) {
    const { remembered } = this;
    if (remembered === undefined) return false;
    const first = remembered.find(tag);
    if (first < 0) return false;
    // A value that grows moves its row, which may be the current one.
    this.current.generation = ${UNKNOWN};
    const { rows } = remembered;
    for (let i = first, end = first + remembered.width; i < end; i++) {
      const row = rows[i];
      ${readText(current.store)}
      const changed = ${change};
      ${storeText(current.store, serializer, '')}
    }
    return true;
  }
  remember(tag, index, count) {
    if (this.remembered === undefined) this.remembered = new RememberedRows(this.current);
    this.remembered.note(tag, index, count, this.current.find());
  }`;
}

/** Declares view, at and word of the row. */
function rowText(store: RowStore): string {
  return `const view = this.views[row >>> ${store.chunkShift}];
    const at = (row & ${store.chunkMask}) << 3;
    const word = view.dv.getInt32(at, true);`;
}

/** Declares `value`. */
function readText(store: RowStore): string {
  return `${rowText(store)}
    let value;
    if ((word & ${EXTERNAL_VALUE}) === 0) {
      view.pos = at + ((word >>> ${VALUE_OFFSET_SHIFT}) & ${VALUE_OFFSET_MASK});
      value = this.serializer.decode(view);
    } else value = this.readAnywhere(row);`;
}

function touchText(store: RowStore): string {
  return `const store = this.store;
    const page = row >>> ${store.pageShift};
    if (store.pageEpoch[page] !== store.epoch) store.capture(page);`;
}

function writeText<T, N>({ current: { store }, serializer, known }: EntryStateParts<T, N>): string {
  const plain = `
    ${LOCATE}
    if (row === 0) { this.insert(changed); return; }`;
  // The row may move when what was known is written.
  const keeping = `${plain.replace('const row', 'let row')}
    if (this.known.change(changed)) return;
    row = current.row;`;
  return `
  write(changed) {
    ${known === undefined ? plain : keeping}
    ${storeText(store, serializer, 'current.row = ')}
  }`;
}

/** Gives `row` the value `changed`. Where it moves, the new row is what `assign` is followed by. */
function storeText<T>(store: RowStore, serializer: TypeSerializer<T>, assign: string): string {
  const offset = `((word >>> ${VALUE_OFFSET_SHIFT}) & ${VALUE_OFFSET_MASK})`;
  if (IN_PLACE.has(serializer.description.kind)) {
    return `{
      ${touchText(store)}
      ${rowText(store)}
      view.pos = at + ${offset};
      view.limit = view.pos + ${serializer.fixedSizeBytes};
      this.serializer.encode(view, changed);
    }`;
  }
  return `{
      const scratch = this.scratch.view;
      scratch.pos = 0;
      scratch.limit = scratch.u8.length;
      const length = this.serializer.encode(scratch, changed) ? scratch.pos : this.scratch.encode(this.serializer, changed);
      ${rowText(store)}
      const end = ${offset} + length;
      const units = word & ${UNITS_MASK};
      if ((word & ${EXTERNAL_VALUE}) === 0 && end <= units << 3 && units <= ${COPY_UNITS_MAX}) {
        ${touchText(store)}
        copyBytes(scratch, 0, view, at + end - length, length);
      } else {
        ${assign}setEntryValue(this.store, row, this.scratch.view, length);
        this.scratch.trim();
      }
    }`;
}

/** The user's functions, and the time-to-live, which become properties of the state. */
type Properties = Readonly<Record<string, unknown>>;

function generate<T, N, S>(parts: EntryStateParts<T, N>, methods: string, functions: Properties): S {
  const { current, serializer, workspace, ttl, known } = parts;
  const properties = ttl === undefined ? functions : { ...functions, ttl };
  const names = Object.keys(properties).join(', ');
  const source = `return class extends EntryState {
  constructor(current, serializer, workspace, known, { ${names} }) {
    super(current, serializer, workspace, known);
    this.views = current.store.views;
    this.remembered = undefined;
    Object.assign(this, { ${names} });
  }
${methods}
${ttlText(ttl)}
${writeText(parts)}
};`;
  const State = generateCode<
    new (
      current: CurrentRow<N>,
      serializer: TypeSerializer<T>,
      workspace: StateWorkspace,
      known: KnownValues<T, N> | undefined,
      properties: Properties,
    ) => S
  >('keyed state', { EntryState, RememberedRows, copyBytes, setEntryValue }, source);
  return new State(current, serializer, workspace, known, properties);
}
