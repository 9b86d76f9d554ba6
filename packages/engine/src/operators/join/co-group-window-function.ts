/**
 * Windows over two streams: their records travel as one stream of tagged records, the window operator collects them, and
 * these functions take them apart again (org.apache.flink.streaming.api.datastream.CoGroupedStreams: TaggedUnion,
 * CoGroupWindowFunction; JoinedStreams: JoinCoGroupFunction).
 */
import { type TypeInformation, Types } from '../../types/index.ts';
import { adaptFunction } from '../function-instance.ts';
import type {
  FunctionOrFactory,
  FunctionShape,
  ProcessWindowFunction,
  RichCoGroupFunction,
} from '../functions.ts';
import { emitJoined, isFlatJoin, type JoinMethod } from './join-call.ts';

/** A record of the first or of the second stream: `'one' in value` tells which. */
export type TaggedUnion<First, Second> = { readonly one: First } | { readonly two: Second };

/** A field that is missing and one that is undefined differ in bytes too. Without a type a side is undescribed. */
export function taggedUnionType<First, Second>(
  first: TypeInformation<First> | undefined,
  second: TypeInformation<Second> | undefined,
): TypeInformation<TaggedUnion<First, Second>> {
  return Types.POJO('TaggedUnion', {
    one: Types.OPTIONAL(first ?? Types.GENERIC<First>()),
    two: Types.OPTIONAL(second ?? Types.GENERIC<Second>()),
  }) as TypeInformation<never>;
}

/** Asks neither for the key nor for the window. */
type PairWindowFunction<First, Second, Out> = ProcessWindowFunction<
  TaggedUnion<First, Second>,
  Out,
  unknown,
  unknown
>;

/** Throws INVALID_ARGUMENT, or PROMISE_NOT_EXPECTED for async functions. */
export function coGroupWindowFunction<First, Second, Out>(
  given: FunctionOrFactory<RichCoGroupFunction<First, Second, Out>>,
): FunctionOrFactory<PairWindowFunction<First, Second, Out>> {
  return adaptFunction(
    given,
    ['coGroup'],
    (user): FunctionShape<PairWindowFunction<First, Second, Out>> => ({
      process: (_key, _context, elements, out) => {
        const { first, second } = sidesOf(elements);
        return user.coGroup(first, second, out);
      },
    }),
  );
}

/** As coGroupWindowFunction: the join of two sides is each of the first with each of the second. */
export function joinWindowFunction<First, Second, Out>(
  given: FunctionOrFactory<JoinMethod<First, Second, Out>>,
): FunctionOrFactory<PairWindowFunction<First, Second, Out>> {
  return adaptFunction(given, ['join'], (user): FunctionShape<PairWindowFunction<First, Second, Out>> => {
    const isFlat = isFlatJoin(user.join);
    return {
      process: (_key, _context, elements, out) => {
        const { first, second } = sidesOf(elements);
        for (const one of first) {
          for (const two of second) {
            const refused = emitJoined(user.join(one, two, out), isFlat, out);
            if (refused !== undefined) return refused;
          }
        }
      },
    };
  });
}

function sidesOf<First, Second>(
  elements: Iterable<TaggedUnion<First, Second>>,
): { readonly first: First[]; readonly second: Second[] } {
  const first: First[] = [];
  const second: Second[] = [];
  for (const element of elements) {
    if ('one' in element) first.push(element.one);
    else second.push(element.two);
  }
  return { first, second };
}
