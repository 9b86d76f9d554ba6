/**
 * Which type of a UNION or an EITHER a value has: every type of it has tags of its own, and a value has one tag. Used by
 * generated codecs and by the evolution of state.
 */
import { kindOf, kindsOf } from './js-kind.ts';
import type { TypeDescription } from './type-information.ts';

/** A description whose values have one of several types. */
export type Branching = Extract<TypeDescription, { readonly kind: 'union' | 'either' }>;

/** The tags of one type: of a union the values that its field may have, of an EITHER the kinds of values. */
export function tagsOf(branching: Branching, type: TypeDescription): readonly unknown[] {
  if (branching.kind === 'either') return kindsOf(type) ?? [];
  const field =
    type.kind === 'pojo' ? type.fields.find((each) => each.name === branching.field)?.type : undefined;
  return field?.kind === 'literal' || field?.kind === 'enum' ? field.values : [];
}

/** The position of the type by tag. */
export function branchesByTag(branching: Branching): ReadonlyMap<unknown, number> {
  return new Map(branching.types.flatMap((type, i) => tagsOf(branching, type).map((tag) => [tag, i])));
}

/** The tag of a value that is of one of the types. */
export function tagOf(branching: Branching, value: unknown): unknown {
  if (branching.kind === 'either') return kindOf(value);
  return (value as Readonly<Record<string, unknown>>)[branching.field];
}
