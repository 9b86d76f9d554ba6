/**
 * Types from JSON Schemas: which values a schema describes, not which of them it allows. What narrows a type (minimum,
 * pattern, format, ...) is left to the validator; what cannot be encoded exactly is refused with its path.
 *
 *     string, boolean                          STRING, BOOLEAN
 *     number; integer                          DOUBLE; LONG (whatever its bounds, so that they may change)
 *     enum of strings; other enum, const       ENUM; LITERAL
 *     array; with prefixItems                  LIST; TUPLE
 *     object with properties                   ROW, what is not required OPTIONAL
 *     object with additionalProperties only    RECORD
 *     null or ...                              NULLABLE
 *     anyOf, oneOf, several types              UNION by a field that tells them apart, else EITHER
 *     several of objects at the same time      ROW of all their fields: allOf, $ref or anyOf beside properties
 *     {}                                       GENERIC
 *
 * Called by Types.JSON_SCHEMA and Types.SCHEMA. Drafts 7 and 2020-12, references within the document only.
 */
import { chooseBetween } from './json-schema-choice.ts';
import { type JsonSchema, REASON_KEYWORD, TYPE_KEYWORD } from './schema-shape.ts';
import { invalid } from './type-description.ts';
import * as types from './type-factories.ts';
import type { LiteralValue, TypeInformation } from './type-information.ts';
import { fieldPath } from './type-mismatch.ts';

type AnyType = TypeInformation<unknown>;
type Keywords = { readonly [keyword: string]: unknown };

/** A place in the values that a document describes. */
interface Place {
  readonly root: JsonSchema;
  readonly path: string;
  /** The references that led here: one twice is a type within itself. */
  readonly references: readonly string[];
}

/** Types that JSON Schema has no words for, by the value of x-millrace-type. */
const MARKED: Readonly<Record<string, AnyType>> = {
  bigint: types.BIGINT,
  bytes: types.BYTES,
  date: types.DATE,
  double: types.DOUBLE,
  generic: types.generic(),
  int: types.INT,
  long: types.LONG,
  undefined: types.VOID,
};

/** What changes which values a schema describes, and is not understood here. */
const REFUSED = ['not', 'if', 'dependentSchemas', 'unevaluatedProperties', '$dynamicRef'] as const;

/** The type of the values that a JSON Schema describes. Throws TYPE_INVALID; `at` begins the message. */
export function typeOfJsonSchema(schema: unknown, at: string): AnyType {
  const root = schema as JsonSchema;
  return convert(root, { root, path: at, references: ['#'] });
}

function convert(schema: unknown, place: Place): AnyType {
  if (schema === true) return types.generic();
  if (schema === false) throw invalid(place.path, 'the schema allows no value (never)');
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw invalid(place.path, 'a JSON Schema is an object, true or false');
  }
  const keywords = schema as Keywords;
  const marker = keywords[TYPE_KEYWORD];
  if (marker !== undefined) return markedType(marker, keywords, place);
  for (const keyword of REFUSED) {
    if (keywords[keyword] !== undefined)
      throw invalid(place.path, `no type is known for '${keyword}' of a JSON Schema`);
  }
  if ('const' in keywords) return literalOf([keywords.const], place);
  if (Array.isArray(keywords.enum)) return literalOf(keywords.enum, place);
  return convertAll(partsOf(keywords, place), keywords, place);
}

/** What values must be at the same time, each as a type of its own; not `type` and what else may stand beside the rest. */
function partsOf(keywords: Keywords, place: Place): AnyType[] {
  const { $ref, allOf, anyOf, oneOf, ...own } = keywords;
  const parts: AnyType[] = [];
  if (typeof $ref === 'string') parts.push(convertReference($ref, place));
  if (Array.isArray(allOf)) parts.push(...allOf.map((each: unknown) => convert(each, place)));
  for (const alternatives of [anyOf, oneOf]) {
    if (!Array.isArray(alternatives)) continue;
    const types = alternatives.map((each: unknown) => convert(each, place));
    parts.push(chooseBetween(types, place.path));
  }
  if (own.properties !== undefined || own.patternProperties !== undefined) {
    parts.push(convertByType(own, place));
  }
  return parts;
}

function markedType(marker: unknown, keywords: Keywords, { path }: Place): AnyType {
  if (marker === 'unsupported') {
    throw invalid(
      path,
      `no type is known for this part of the schema (${String(keywords[REASON_KEYWORD])}). Describe the records by Types.ROW, or give a schema without it`,
    );
  }
  const type = Object.hasOwn(MARKED, String(marker)) ? MARKED[String(marker)] : undefined;
  if (type === undefined) {
    throw invalid(
      path,
      `${TYPE_KEYWORD} is one of ${Object.keys(MARKED).join(', ')}, not '${String(marker)}'`,
    );
  }
  return type;
}

function convertByType(keywords: Keywords, place: Place): AnyType {
  const { type } = keywords;
  if (Array.isArray(type)) {
    const each = type.map((one: unknown) => convertByType({ ...keywords, type: one }, place));
    return chooseBetween(each, place.path);
  }
  switch (type ?? impliedType(keywords)) {
    case 'string':
      return types.STRING;
    case 'number':
      return types.DOUBLE;
    case 'integer':
      return types.LONG;
    case 'boolean':
      return types.BOOLEAN;
    case 'null':
      return types.literal(null);
    case 'array':
      return convertArray(keywords, place);
    case 'object':
      return convertObject(keywords, place);
    case undefined:
      return types.generic();
    default:
      throw invalid(place.path, `a JSON Schema has no type '${String(type)}'`);
  }
}

function impliedType(keywords: Keywords): string | undefined {
  if (keywords.properties !== undefined) return 'object';
  return keywords.prefixItems === undefined && keywords.items === undefined ? undefined : 'array';
}

function literalOf(values: readonly unknown[], { path }: Place): AnyType {
  const [first] = values;
  if (values.length === 1 && typeof first === 'string') return types.literal(first);
  if (values.every((value) => typeof value === 'string')) return types.enumeration([...new Set(values)]);
  if (values.some((value) => typeof value === 'object' && value !== null)) {
    throw invalid(path, 'no type is known for an enum or const with objects or arrays');
  }
  return types.literal(...new Set(values as LiteralValue[]));
}

function convertArray(keywords: Keywords, place: Place): AnyType {
  const { items, prefixItems, additionalItems, minItems } = keywords;
  const prefix = Array.isArray(items) ? items : prefixItems;
  if (!Array.isArray(prefix)) return types.list(convert(items ?? true, at(place, '[]')));
  const rest = Array.isArray(items) ? additionalItems : items;
  if (rest !== undefined && rest !== false) {
    throw invalid(
      place.path,
      'no type is known for a tuple with a rest of any length: use an array for the rest',
    );
  }
  if (typeof minItems === 'number' && minItems < prefix.length) {
    throw invalid(place.path, 'no type is known for a tuple whose last elements may be missing');
  }
  return types.tuple(...prefix.map((each: unknown, i) => convert(each, at(place, `[${i}]`))));
}

function convertObject(keywords: Keywords, place: Place): AnyType {
  const { properties, additionalProperties, patternProperties } = keywords;
  const isEmpty = properties === undefined || Object.keys(properties as object).length === 0;
  const rest = additionalProperties ?? false;
  if (isEmpty && patternProperties !== undefined) {
    const [pattern, ...others] = Object.values(patternProperties as object) as unknown[];
    if (others.length > 0 || rest !== false)
      throw invalid(place.path, 'no type is known for several patternProperties');
    return types.record(convert(pattern, at(place, '[key]')));
  }
  if (patternProperties !== undefined || (!isEmpty && rest !== false)) {
    throw invalid(
      place.path,
      'no type is known for an object with declared fields and others beside them: put the others into a record of its own, or leave them out (a strict object)',
    );
  }
  if (!isEmpty) return types.row(fieldsOf(keywords, place));
  if (rest !== false) return types.record(convert(rest, at(place, '[key]')));
  // An object without a word about its fields may have any.
  return properties === undefined && additionalProperties === undefined ? types.generic() : types.row({});
}

function fieldsOf(keywords: Keywords, place: Place): Record<string, AnyType> {
  const required = new Set(Array.isArray(keywords.required) ? (keywords.required as unknown[]) : []);
  const fields: Record<string, AnyType> = {};
  for (const [name, schema] of Object.entries((keywords.properties ?? {}) as object) as [string, unknown][]) {
    const type = convert(schema, at(place, fieldPath(name)));
    const isOptional = type.description.kind === 'optional' || required.has(name);
    // Not by assignment: a field may be named __proto__, which is refused with its name later.
    Object.defineProperty(fields, name, {
      value: isOptional ? type : types.optional(type),
      enumerable: true,
    });
  }
  return fields;
}

/** The type of what is of all `parts`: of objects, it has the fields of all. Where nothing says more, that of `keywords`. */
function convertAll(parts: readonly AnyType[], keywords: Keywords, place: Place): AnyType {
  // What may be anything, such as a list of required fields alone, says nothing about the type.
  const [only, ...others] = parts.filter(({ description }) => description.kind !== 'generic');
  if (only === undefined) return convertByType(keywords, place);
  if (others.length === 0) return only;
  const fields: Record<string, AnyType> = {};
  for (const { description } of [only, ...others]) {
    if (description.kind !== 'pojo') {
      throw invalid(
        place.path,
        'no type is known for an intersection (allOf, or $ref, anyOf, oneOf and properties side by side) of other things than objects',
      );
    }
    for (const { name, type } of description.fields) {
      if (Object.hasOwn(fields, name) && JSON.stringify(fields[name]!.description) !== JSON.stringify(type)) {
        throw invalid(place.path + fieldPath(name), 'the field has two types in an intersection');
      }
      fields[name] = { description: type };
    }
  }
  return types.row(fields);
}

function convertReference(reference: string, place: Place): AnyType {
  if (place.references.includes(reference)) {
    throw invalid(
      place.path,
      `the schema contains itself ('${reference}'), and a type cannot. Use a schema of anything (unknown) where the recursion begins`,
    );
  }
  if (reference !== '#' && !reference.startsWith('#/')) {
    throw invalid(place.path, `'${reference}' is a reference to another document, and those are not read`);
  }
  let target: unknown = place.root;
  for (const step of reference.split('/').slice(1)) {
    const name = unescaped(step, place).replaceAll('~1', '/').replaceAll('~0', '~');
    const holder = target as Keywords | undefined;
    target =
      typeof holder === 'object' && holder !== null && Object.hasOwn(holder, name) ? holder[name] : undefined;
  }
  if (target === undefined) throw invalid(place.path, `there is nothing at the reference '${reference}'`);
  const next = { ...place, references: [...place.references, reference] };
  return convert(target, next);
}

function unescaped(step: string, { path }: Place): string {
  try {
    return decodeURIComponent(step);
  } catch (cause) {
    throw invalid(path, `'${step}' of a reference is not escaped as in a URI`, cause);
  }
}

function at(place: Place, step: string): Place {
  return { ...place, path: place.path + step };
}
