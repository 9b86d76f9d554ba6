/** States with time-to-live of every kind behind one small face: what the cases of time-to-live are run with. */
import {
  AggregatingStateDescriptor,
  type KeyedStateBackend,
  ListStateDescriptor,
  MapStateDescriptor,
  ReducingStateDescriptor,
  type StateTtlConfig,
  type StateTtlOptions,
  ValueStateDescriptor,
} from '../../state/index.ts';
import { type TypeInformation, Types } from '../../types/index.ts';

/** A state of texts. */
export interface TextState {
  /** Value and map: replaces; list, reducing, aggregating: adds. */
  write(text: string): void;
  /** All texts together; undefined if there is none. */
  read(): string | undefined;
}

type Ttl = StateTtlConfig | StateTtlOptions | undefined;
type Open = (backend: KeyedStateBackend<string>, ttl: Ttl, type?: TypeInformation<string>) => TextState;

const joined = {
  createAccumulator: () => '',
  add: (text: string, all: string) => all + text,
  getResult: (all: string) => all,
  merge: (a: string, b: string) => a + b,
};

function withTtl<D extends { enableTimeToLive(ttl: StateTtlConfig | StateTtlOptions): D }>(
  descriptor: D,
  ttl: Ttl,
): D {
  return ttl === undefined ? descriptor : descriptor.enableTimeToLive(ttl);
}

/** Opens the state `s-<kind>` of a backend, with time-to-live unless that is undefined. */
export const TEXT_STATES: Readonly<
  Record<'value' | 'list' | 'map' | 'reducing' | 'aggregating' | 'general', Open>
> = {
  value: (backend, ttl, type = Types.STRING) => {
    const state = backend.getValueState(withTtl(new ValueStateDescriptor('s-value', type), ttl));
    return { write: (text) => state.update(text), read: () => state.value() };
  },
  list: (backend, ttl, type = Types.STRING) => {
    const state = backend.getListState(withTtl(new ListStateDescriptor('s-list', type), ttl));
    return { write: (text) => state.add(text), read: () => state.get().join('') || undefined };
  },
  map: (backend, ttl, type = Types.STRING) => {
    const state = backend.getMapState(withTtl(new MapStateDescriptor('s-map', Types.STRING, type), ttl));
    return { write: (text) => state.put('user key', text), read: () => state.get('user key') };
  },
  reducing: (backend, ttl, type = Types.STRING) => {
    const descriptor = new ReducingStateDescriptor<string>('s-reducing', (a, b) => a + b, type);
    const state = backend.getReducingState(withTtl(descriptor, ttl));
    return { write: (text) => state.add(text), read: () => state.get() };
  },
  aggregating: (backend, ttl, type = Types.STRING) => {
    const descriptor = new AggregatingStateDescriptor('s-aggregating', joined, type);
    const state = backend.getAggregatingState(withTtl(descriptor, ttl));
    return { write: (text) => state.add(text), read: () => state.get() };
  },
  general: (backend, ttl) => {
    const state = backend.getValueState(withTtl(new ValueStateDescriptor<string>('s-general'), ttl));
    return { write: (text) => state.update(text), read: () => state.value() };
  },
};

export type TextStateKind = keyof typeof TEXT_STATES;
export const TEXT_STATE_KINDS = Object.keys(TEXT_STATES) as TextStateKind[];

/** All of them, by kind. */
export function openTextStates(
  backend: KeyedStateBackend<string>,
  ttl: Ttl,
  type?: TypeInformation<string>,
): ReadonlyMap<TextStateKind, TextState> {
  return new Map(TEXT_STATE_KINDS.map((kind) => [kind, TEXT_STATES[kind](backend, ttl, type)]));
}
