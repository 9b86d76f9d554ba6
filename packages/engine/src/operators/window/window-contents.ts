/**
 * What a window keeps of its elements: one reduced value, an accumulator, or the elements themselves; in keyed state in
 * the namespace of the window. User functions are guarded here, inside the state that calls them.
 */
import {
  type AddsIfPresent,
  type AggregateFunction,
  AggregatingStateDescriptor,
  type KeyedStateBackend,
  ListStateDescriptor,
  type Merging,
  type ReduceFunction,
  ReducingStateDescriptor,
} from '../../state/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { specialise } from '../specialise.ts';
import { assertSynchronous, resultNotAllowed } from '../user-result.ts';
import { TIME_WINDOW_TYPE, type TimeWindow } from './time-window.ts';

/** Flink's name; saved state knows the contents by it. */
const STATE_NAME = 'window-contents';

/** How the contents are kept. `Content` is what the window function gets, or what is emitted without one. */
export type WindowContentsSpec<In, Acc, Content> =
  | { readonly kind: 'reduce'; readonly reduce: ReduceFunction<In>; readonly type?: TypeInformation<In> }
  | {
      readonly kind: 'aggregate';
      readonly aggregate: AggregateFunction<In, Acc, Content>;
      readonly accumulatorType?: TypeInformation<Acc>;
    }
  | { readonly kind: 'elements'; readonly type?: TypeInformation<In> };

/** Contents of the window that `setNamespace` was called with, for the current key. */
export interface WindowContents<In> extends Merging<TimeWindow> {
  setNamespace(window: TimeWindow): void;
  add(value: In): void;
  clear(): void;
  /** All elements, or the one result; undefined if there is nothing. */
  elements(): readonly unknown[] | undefined;
  /** For the hot path: the state itself if it can add to what is there, else these contents. */
  readonly fast: FastContents<In>;
}

export interface FastContents<In> {
  setNamespace(window: TimeWindow): void;
  addIfPresent(value: In): boolean;
}

/** Checks user functions at construction: PROMISE_NOT_EXPECTED, INVALID_ARGUMENT. */
export function checkContentsSpec<In, Acc, Content>(spec: WindowContentsSpec<In, Acc, Content>): void {
  if (spec.kind === 'reduce') assertSynchronous(spec.reduce, 'reduce function');
  if (spec.kind !== 'aggregate') return;
  for (const method of ['createAccumulator', 'add', 'getResult', 'merge'] as const) {
    assertSynchronous(spec.aggregate[method], `method ${method} of the aggregate function`);
  }
}

export function createWindowContents<In, Acc, Content>(
  backend: KeyedStateBackend,
  spec: WindowContentsSpec<In, Acc, Content>,
  operatorName: string,
): WindowContents<In> {
  switch (spec.kind) {
    case 'elements': {
      const descriptor = new ListStateDescriptor<In>(STATE_NAME, spec.type);
      const state = backend.getNamespacedListState(descriptor, TIME_WINDOW_TYPE);
      return adapt<In>(state, () => {
        const elements = state.get();
        return elements.length === 0 ? undefined : elements;
      });
    }
    case 'reduce': {
      const reduce = guardReduce(spec.reduce, operatorName);
      const descriptor = new ReducingStateDescriptor<In>(STATE_NAME, reduce, spec.type);
      const state = backend.getNamespacedReducingState(descriptor, TIME_WINDOW_TYPE);
      return adapt<In>(state, () => asElements(state.get()));
    }
    case 'aggregate': {
      const aggregate = guardAggregate(spec.aggregate, operatorName);
      const descriptor = new AggregatingStateDescriptor(STATE_NAME, aggregate, spec.accumulatorType);
      const state = backend.getNamespacedAggregatingState(descriptor, TIME_WINDOW_TYPE);
      return adapt<In>(state, () => asElements(state.get()));
    }
  }
}

interface AddingState<In> extends Merging<TimeWindow>, AddsIfPresent<In> {
  setNamespace(window: TimeWindow): void;
  add(value: In): void;
  clear(): void;
}

function adapt<In>(
  state: AddingState<In>,
  elements: () => readonly unknown[] | undefined,
): WindowContents<In> {
  const emulated: FastContents<In> = {
    setNamespace: (window) => state.setNamespace(window),
    addIfPresent: (value) => {
      if (elements() === undefined) return false;
      state.add(value);
      return true;
    },
  };
  return {
    setNamespace: (window) => state.setNamespace(window),
    add: (value) => state.add(value),
    clear: () => state.clear(),
    mergeNamespaces: (target, sources) => state.mergeNamespaces(target, sources),
    elements,
    fast: state.addIfPresent === undefined ? emulated : (state as FastContents<In>),
  };
}

function asElements(value: unknown): readonly unknown[] | undefined {
  return value === undefined ? undefined : [value];
}

/** What a guard does with a result that cannot be: names the operator and throws. */
type Refuse = (result: unknown, method: string, expected: string) => never;

const makeReduce = <T>({
  reduce,
  refuse,
}: {
  reduce: ReduceFunction<T>;
  refuse: Refuse;
}): ReduceFunction<T> => {
  return (left, right) => {
    const result = reduce(left, right);
    if (result === undefined || result instanceof Promise)
      refuse(result, 'reduce function', 'the merged value');
    return result;
  };
};

interface AggregateEnv<In, Acc, Out> {
  readonly aggregate: AggregateFunction<In, Acc, Out>;
  readonly refuse: Refuse;
}

const makeAggregate = <In, Acc, Out>({
  aggregate,
  refuse,
}: AggregateEnv<In, Acc, Out>): AggregateFunction<In, Acc, Out> => {
  return {
    createAccumulator: () => {
      const result = aggregate.createAccumulator();
      if (result === undefined || result instanceof Promise)
        refuse(result, 'createAccumulator', 'an accumulator');
      return result;
    },
    add: (value, accumulator) => {
      const result = aggregate.add(value, accumulator);
      if (result === undefined || result instanceof Promise) refuse(result, 'add', 'the accumulator');
      return result;
    },
    merge: (a, b) => {
      const result = aggregate.merge(a, b);
      if (result === undefined || result instanceof Promise)
        refuse(result, 'merge', 'the merged accumulator');
      return result;
    },
    getResult: (accumulator) => {
      const result = aggregate.getResult(accumulator);
      if (result instanceof Promise) refuse(result, 'getResult', 'the result');
      return result;
    },
  };
};

function guardReduce<T>(reduce: ReduceFunction<T>, operatorName: string): ReduceFunction<T> {
  const refuse: Refuse = (result, what, expected) => {
    throw resultNotAllowed(result, what, operatorName, expected);
  };
  return specialise(makeReduce<T>, 'window reduce')({ reduce, refuse });
}

function guardAggregate<In, Acc, Out>(
  aggregate: AggregateFunction<In, Acc, Out>,
  operatorName: string,
): AggregateFunction<In, Acc, Out> {
  const refuse: Refuse = (result, method, expected) => {
    throw resultNotAllowed(result, `method ${method} of the aggregate function`, operatorName, expected);
  };
  return specialise(makeAggregate<In, Acc, Out>, 'window aggregate')({ aggregate, refuse });
}
