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
  type RemembersNamespaces,
} from '../../state/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { specialise } from '../specialise.ts';
import { assertMethods, assertSynchronous, resultNotAllowed } from '../user-result.ts';

/** Flink's name; saved state knows the contents by it. */
export const CONTENTS = 'window-contents';

/** How the contents are kept. `Content` is what the window function gets, or what is emitted without one. */
export type WindowContentsSpec<In, Acc, Content> =
  | {
      readonly kind: 'reduce';
      readonly reduce: ReduceFunction<In>;
      /** Throws for an element that cannot be reduced: the first of a window is reduced with nothing. */
      readonly check?: (value: In) => void;
      readonly type?: TypeInformation<In>;
    }
  | {
      readonly kind: 'aggregate';
      readonly aggregate: AggregateFunction<In, Acc, Content>;
      readonly accumulatorType?: TypeInformation<Acc>;
      /** Of the elements, which are kept where there is an evictor. */
      readonly type?: TypeInformation<In>;
    }
  | { readonly kind: 'elements'; readonly type?: TypeInformation<In> };

/** Contents of the window that `setNamespace` was called with, for the current key. */
export interface WindowContents<In, W> extends Merging<W> {
  setNamespace(window: W): void;
  add(value: In, timestampMs: number): void;
  clear(): void;
  /** What the window function is to be called with as `window` fires; undefined: it is not to be called. */
  elements(window: W): readonly unknown[] | undefined;
  /** After it was called with them. */
  evaluated?(window: W): void;
  /** For the hot path: the state itself if it can add to what is there, else these contents; undefined: not for it. */
  readonly fast: FastContents<In, W> | undefined;
}

export interface FastContents<In, W> extends Required<AddsIfPresent<In>>, RemembersNamespaces<In> {
  setNamespace(window: W): void;
}

/** Checks user functions at construction: PROMISE_NOT_EXPECTED, INVALID_ARGUMENT. */
export function checkContentsSpec<In, Acc, Content>(spec: WindowContentsSpec<In, Acc, Content>): void {
  if (spec.kind === 'reduce') assertSynchronous(spec.reduce, 'reduce function');
  if (spec.kind !== 'aggregate') return;
  assertMethods(spec.aggregate, 'aggregate function', ['createAccumulator', 'add', 'getResult', 'merge']);
}

export function createWindowContents<In, Acc, Content, W>(
  backend: KeyedStateBackend,
  spec: WindowContentsSpec<In, Acc, Content>,
  windowType: TypeInformation<W>,
  operatorName: string,
): WindowContents<In, W> {
  switch (spec.kind) {
    case 'elements': {
      const descriptor = new ListStateDescriptor<In>(CONTENTS, spec.type);
      const state = backend.getNamespacedListState(descriptor, windowType);
      return adapt<In, W>(state, () => {
        const elements = state.get();
        return elements.length === 0 ? undefined : elements;
      });
    }
    case 'reduce': {
      const reduce = guardReduce(spec.reduce, operatorName);
      const descriptor = new ReducingStateDescriptor<In>(CONTENTS, reduce, spec.type);
      const state = backend.getNamespacedReducingState(descriptor, windowType);
      return adapt<In, W>(state, () => asElements(state.get()), spec.check);
    }
    case 'aggregate': {
      const aggregate = guardAggregate(spec.aggregate, operatorName);
      const descriptor = new AggregatingStateDescriptor(CONTENTS, aggregate, spec.accumulatorType);
      const state = backend.getNamespacedAggregatingState(descriptor, windowType);
      return adapt<In, W>(state, () => asElements(state.get()));
    }
  }
}

/**
 * What the window function gets of `values` that were kept one by one; undefined: it is not called, because there is nothing
 * to reduce.
 */
export function evaluateAtOnce<In, Acc, Content>(
  spec: WindowContentsSpec<In, Acc, Content>,
  operatorName: string,
): (values: readonly In[]) => readonly unknown[] | undefined {
  switch (spec.kind) {
    case 'elements':
      return (values) => values;
    case 'reduce': {
      const reduce = guardReduce(spec.reduce, operatorName);
      return (values) =>
        values.length === 0 ? undefined : [values.reduce((left, right) => reduce(left, right))];
    }
    case 'aggregate': {
      const { createAccumulator, add, getResult } = guardAggregate(spec.aggregate, operatorName);
      return (values) => {
        let accumulator = createAccumulator();
        for (const value of values) accumulator = add(value, accumulator);
        return asElements(getResult(accumulator));
      };
    }
  }
}

interface AddingState<In, W> extends Merging<W>, AddsIfPresent<In> {
  setNamespace(window: W): void;
  add(value: In): void;
  clear(): void;
}

function adapt<In, W>(
  state: AddingState<In, W>,
  elements: () => readonly unknown[] | undefined,
  check?: (value: In) => void,
): WindowContents<In, W> {
  const emulated: FastContents<In, W> = {
    setNamespace: (window) => state.setNamespace(window),
    addIfPresent: (value) => {
      if (elements() === undefined) return false;
      state.add(value);
      return true;
    },
  };
  return {
    setNamespace: (window) => state.setNamespace(window),
    add: (value) => {
      check?.(value);
      state.add(value);
    },
    clear: () => state.clear(),
    mergeNamespaces: (target, sources) => state.mergeNamespaces(target, sources),
    elements,
    fast: state.addIfPresent === undefined ? emulated : (state as FastContents<In, W>),
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
