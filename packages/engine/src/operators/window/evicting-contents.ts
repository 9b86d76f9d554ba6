/**
 * The contents of a window with an evictor (Flink's EvictingWindowOperator): all elements with their timestamps, reduced only
 * when the window fires.
 *
 *     fires ─► evictBefore ─► reduce, aggregate ─► window function ─► evictAfter ─► what is left is stored
 */
import { NO_TIMESTAMP } from '../../base/index.ts';
import { type KeyedStateBackend, ListStateDescriptor } from '../../state/index.ts';
import { type TypeInformation, Types } from '../../types/index.ts';
import { resultNotAllowed } from '../user-result.ts';
import type { Evictor, EvictorContext } from './evictor.ts';
import { TimestampedValue } from './timestamped-value.ts';
import type { Window } from './window.ts';
import { CONTENTS, evaluateAtOnce, type WindowContents, type WindowContentsSpec } from './window-contents.ts';

const EVICTOR = 'evictor';
/** Who filters into a new array and returns it would evict nothing, and not notice. */
const NOTHING = 'nothing (elements are evicted by `elements.splice`, which changes the array itself)';

export interface EvictingContentsParts<In, Acc, Content, W extends Window> {
  readonly backend: KeyedStateBackend;
  readonly spec: WindowContentsSpec<In, Acc, Content>;
  readonly windowType: TypeInformation<W>;
  readonly evictor: Evictor<In, W>;
  readonly evictorContext: EvictorContext;
  readonly operatorName: string;
  /** Names the evictor in what it threw. */
  readonly wrap: (error: unknown, what: string) => Error;
}

export function createEvictingContents<In, Acc, Content, W extends Window>({
  backend,
  spec,
  windowType,
  evictor,
  evictorContext,
  operatorName,
  wrap,
}: EvictingContentsParts<In, Acc, Content, W>): WindowContents<In, W> {
  const type = Types.TUPLE(spec.type ?? Types.GENERIC<In>(), Types.LONG);
  const descriptor = new ListStateDescriptor<[In, number]>(CONTENTS, type as TypeInformation<[In, number]>);
  const state = backend.getNamespacedListState(descriptor, windowType);
  const evaluate = evaluateAtOnce(spec, operatorName);
  /** Of the window that fires. */
  let stored: readonly TimestampedValue<In>[] = [];
  let elements: TimestampedValue<In>[] = [];
  const evict = (method: 'evictBefore' | 'evictAfter', window: W): void => {
    let result: unknown;
    try {
      result = evictor[method](elements, elements.length, window, evictorContext);
    } catch (error) {
      throw wrap(error, EVICTOR);
    }
    if (result !== undefined)
      throw resultNotAllowed(result, `method ${method} of ${nameOf(evictor)}`, operatorName, NOTHING);
  };
  const evaluated = (window: W): void => {
    evict('evictAfter', window);
    const isUnchanged = elements.length === stored.length && elements.every((each, i) => each === stored[i]);
    if (!isUnchanged) state.update(elements.map(asPair));
    stored = [];
    elements = [];
  };
  return {
    setNamespace: (window) => state.setNamespace(window),
    add(value, timestampMs) {
      if (spec.kind === 'reduce') spec.check?.(value);
      state.add([value, timestampMs]);
    },
    clear: () => state.clear(),
    mergeNamespaces: (target, sources) => state.mergeNamespaces(target, sources),
    elements(window) {
      stored = state.get().map(([value, timestampMs]) => new TimestampedValue(value, timestampMs));
      if (stored.length === 0) return undefined;
      elements = [...stored];
      evict('evictBefore', window);
      const result = evaluate(elements.map((each) => each.getValue()));
      if (result === undefined) evaluated(window);
      return result;
    },
    evaluated,
    fast: undefined,
  };
}

function nameOf(evictor: object): string {
  const name = evictor.constructor?.name;
  return name === undefined || name === '' || name === 'Object' ? 'the evictor' : `the evictor ${name}`;
}

function asPair<In>(element: TimestampedValue<In>): [In, number] {
  return [element.getValue(), element.hasTimestamp() ? element.getTimestamp() : NO_TIMESTAMP];
}
