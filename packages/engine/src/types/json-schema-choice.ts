/**
 * The type of values that have one of several types: how the alternatives of a JSON Schema become NULLABLE, OPTIONAL,
 * ENUM, LITERAL, UNION or EITHER. Called by json-schema.ts only.
 */
import { invalid } from './type-description.ts';
import * as types from './type-factories.ts';
import type { LiteralValue, TypeDescription, TypeInformation } from './type-information.ts';
import { tagsOf } from './union-branches.ts';

type AnyType = TypeInformation<unknown>;
type Of<K extends TypeDescription['kind']> = Extract<TypeDescription, { readonly kind: K }>;

/** One type for all alternatives. Throws TYPE_INVALID if they cannot be told apart. */
export function chooseBetween(alternatives: readonly AnyType[], path: string): AnyType {
  const flat = alternatives.flatMap(withoutAbsence);
  if (flat.some(({ description }) => description.kind === 'generic')) return types.generic();
  const isNull = ({ description }: AnyType): boolean =>
    description.kind === 'literal' && description.values.length === 1 && description.values[0] === null;
  const isVoid = ({ description }: AnyType): boolean => description.kind === 'void';
  const rest = reduced(flat.filter((each) => !isNull(each) && !isVoid(each)));
  let type = rest.length === 0 ? undefined : oneOf(rest, path);
  if (flat.some(isNull)) type = type === undefined ? types.literal(null) : types.nullable(type);
  if (flat.some(isVoid)) type = type === undefined ? types.VOID : types.optional(type);
  if (type === undefined) throw invalid(path, 'there is nothing to choose from');
  return type;
}

/** NULLABLE(T) is T or null; each is an alternative of its own. */
function withoutAbsence(type: AnyType): readonly AnyType[] {
  const { description, classes } = type;
  if (description.kind !== 'nullable' && description.kind !== 'optional') return [type];
  const absence: AnyType = description.kind === 'nullable' ? types.literal(null) : types.VOID;
  return [absence, ...withoutAbsence({ description: description.value, classes })];
}

/** Leaves out what another alternative includes, and puts single values together. */
function reduced(alternatives: readonly AnyType[]): readonly AnyType[] {
  const byText = new Map(alternatives.map((each) => [JSON.stringify(each.description), each]));
  const kinds = new Set([...byText.values()].map(({ description }) => description.kind));
  const values: LiteralValue[] = [];
  const others: AnyType[] = [];
  for (const each of byText.values()) {
    const { description } = each;
    if (description.kind === 'enum' || description.kind === 'literal') values.push(...description.values);
    else if (description.kind !== 'long' || !kinds.has('double')) others.push(each);
  }
  const included: Readonly<Record<string, boolean>> = {
    string: kinds.has('string'),
    number: kinds.has('double'),
    boolean: kinds.has('boolean'),
  };
  const listed = [...new Set(values)].filter((value) => included[typeof value] !== true);
  if (listed.length === 0) return others;
  const isEnum = listed.every((value) => typeof value === 'string');
  return [...others, isEnum ? types.enumeration(listed as string[]) : types.literal(...listed)];
}

function oneOf(alternatives: readonly AnyType[], path: string): AnyType {
  const [first, ...others] = alternatives;
  if (others.length === 0) return first!;
  try {
    const field = alternatives.every(isObject) ? tellingField(alternatives) : undefined;
    return field === undefined ? types.either(...alternatives) : types.unionOf(field, alternatives);
  } catch (cause) {
    throw invalid(path, `the alternatives cannot be told apart. ${(cause as Error).message}`, cause);
  }
}

function isObject({ description }: AnyType): boolean {
  return description.kind === 'pojo';
}

/** The first field by which every alternative has values of its own. */
function tellingField(alternatives: readonly AnyType[]): string | undefined {
  const descriptions = alternatives.map((each) => each.description);
  return (descriptions[0] as Of<'pojo'>).fields
    .map((field) => field.name)
    .find((field) => {
      const tags = descriptions.map((each) => tagsOf({ kind: 'union', field, types: descriptions }, each));
      const all = tags.flat();
      return tags.every((each) => each.length > 0) && new Set(all).size === all.length;
    });
}
