/**
 * Whether something is the description of a type: descriptions come from users, from manifests and from plans, and all
 * other code relies on what is checked here.
 */
import { avroSchemaOf } from './avro-schema.ts';
import { isTypedArray } from './binary-kinds.ts';
import { formatType, invalid } from './type-description.ts';
import type { FieldDescription, LiteralValue, PrimitiveKind, TypeDescription } from './type-information.ts';
import { type Branching, tagsOf } from './union-branches.ts';

/** Types nested deeper than this are taken for a type that contains itself. */
const TYPE_DEPTH_MAX = 64;
/** The value of an enum or a literal travels as one byte, or two. */
const LISTED_VALUES_MAX = 65_536;
/** The type of a union's value travels as one byte. */
const UNION_TYPES_MAX = 256;

const NO_RECURSION = 'a type cannot contain itself. Use Types.GENERIC() where the recursion begins';

const PRIMITIVE_KINDS: ReadonlySet<string> = new Set<PrimitiveKind>([
  'void',
  'string',
  'long',
  'int',
  'double',
  'boolean',
  'bytes',
  'bigint',
  'date',
]);

/**
 * Makes sure that `value` is a description, whoever wrote it. `at` says where it was found, for the message.
 * Throws TYPE_INVALID. Idempotent and without side effects; the nodes keep their identity.
 */
export function checkTypeDescription(value: unknown, at: string): asserts value is TypeDescription {
  check(value, at, []);
}

/** A description on the way from the whole type to the part that is checked, and where it stands. */
interface Ancestor {
  readonly type: object;
  readonly at: string;
}

type Unchecked = { readonly [name: string]: unknown };

function check(value: unknown, at: string, above: readonly Ancestor[]): void {
  if (typeof value !== 'object' || value === null) {
    throw invalid(at, 'a type description is an object with a kind');
  }
  checkDepth(value, at, above);
  const type = value as Unchecked;
  const within = [...above, { type: value, at }];
  const { kind } = type;
  if (typeof kind === 'string' && PRIMITIVE_KINDS.has(kind)) return;
  switch (kind) {
    case 'generic':
      return;
    case 'list':
    case 'set':
      return check(type.element, `${at}[]`, within);
    case 'map':
      check(type.key, `the keys of ${at}`, within);
      return check(type.value, `the values of ${at}`, within);
    case 'record':
      return check(type.value, `the values of ${at}`, within);
    case 'tuple':
      if (!Array.isArray(type.elements)) throw invalid(at, 'a tuple has a list of elements');
      type.elements.forEach((element: unknown, i) => check(element, `${at}[${i}]`, within));
      return;
    case 'pojo':
      return checkPojo(type, at, within);
    case 'optional':
    case 'nullable':
      return check(type.value, at, within);
    case 'enum':
      return checkEnum(type, at);
    case 'literal':
      return checkListed(
        type.values,
        at,
        'a literal',
        isLiteral,
        'strings, finite numbers, booleans or null',
      );
    case 'union':
    case 'either':
      return checkBranches(type, at, within);
    default:
      return checkLeaf(type, at);
  }
}

function checkLeaf(type: Unchecked, at: string): void {
  switch (type.kind) {
    case 'avro':
      return checkAvro(type.schema, at);
    case 'typed-array':
      if (!isTypedArray(type.array)) throw invalid(at, `there is no typed array '${String(type.array)}'`);
      return;
    case 'custom':
      if (typeof type.name !== 'string' || type.name === '') throw invalid(at, 'a serializer has a name');
      if (!Number.isSafeInteger(type.version)) throw invalid(at, 'the version of a serializer is an integer');
      return;
    default:
      throw invalid(at, `there is no kind of type '${String(type.kind)}'`);
  }
}

function checkDepth(type: object, at: string, above: readonly Ancestor[]): void {
  const same = above.find((each) => each.type === type);
  if (same !== undefined) {
    throw invalid(at, `this is the type of ${same.at} again: ${NO_RECURSION}`);
  }
  if (above.length > TYPE_DEPTH_MAX) {
    throw invalid(
      `${at.slice(0, 60)}...`,
      `types are nested more than ${TYPE_DEPTH_MAX} deep: ${NO_RECURSION}`,
    );
  }
}

function checkPojo(type: Unchecked, at: string, within: readonly Ancestor[]): void {
  if (typeof type.name !== 'string') throw invalid(at, 'the name of a pojo is a string');
  if (!Array.isArray(type.fields)) throw invalid(at, 'a pojo has a list of fields');
  const names = new Set<string>();
  for (const field of type.fields as readonly Partial<FieldDescription>[]) {
    const name = field?.name;
    if (typeof name !== 'string' || name === '') throw invalid(at, 'a field of a pojo has a name');
    // Assigning to it would change the prototype instead of a field.
    if (name === '__proto__') throw invalid(at, 'a field cannot be named __proto__');
    if (names.has(name)) throw invalid(at, `the field '${name}' is there twice`);
    names.add(name);
    check(field.type, `${at}.${name}`, within);
  }
}

function checkEnum(type: Unchecked, at: string): void {
  if (typeof type.name !== 'string') throw invalid(at, 'the name of an enum is a string');
  checkListed(type.values, at, 'an enum', (each) => typeof each === 'string', 'strings');
}

function isLiteral(value: unknown): value is LiteralValue {
  // Descriptions are JSON, which has no -0.
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

function checkListed(
  values: unknown,
  at: string,
  what: string,
  isAllowed: (each: unknown) => boolean,
  allowed: string,
): void {
  if (!Array.isArray(values) || values.length === 0 || !values.every(isAllowed)) {
    throw invalid(at, `${what} has at least one value, and its values are ${allowed}`);
  }
  if (values.length > LISTED_VALUES_MAX) throw invalid(at, `${what} has at most ${LISTED_VALUES_MAX} values`);
  const twice: unknown = values.find((each, i) => values.indexOf(each) !== i);
  if (twice !== undefined) throw invalid(at, `the value '${String(twice)}' is there twice`);
}

/** The types must be told apart by what a value says itself, and each tag must lead to one type. */
function checkBranches(type: Unchecked, at: string, within: readonly Ancestor[]): void {
  const { types } = type;
  if (!Array.isArray(types) || types.length < 2 || types.length > UNION_TYPES_MAX) {
    throw invalid(at, `there are 2 to ${UNION_TYPES_MAX} types to choose from`);
  }
  if (type.kind === 'union' && (typeof type.field !== 'string' || type.field === '')) {
    throw invalid(at, 'a union is told apart by a field');
  }
  types.forEach((each: unknown, i) => check(each, `${at}, type ${i + 1}`, within));
  const branching = type as unknown as Branching;
  const seen = new Map<unknown, TypeDescription>();
  for (const each of branching.types) {
    const tags = tagsOf(branching, each);
    if (tags.length === 0) throw invalid(at, whyUntold(branching, each));
    for (const tag of tags) {
      const other = seen.get(tag);
      if (other !== undefined) throw invalid(at, whyTheSame(branching, other, each, tag));
      seen.set(tag, each);
    }
  }
}

function whyUntold(branching: Branching, type: TypeDescription): string {
  if (branching.kind === 'either') {
    return `values of ${formatType(type)} may be of any kind, so that they cannot be told from others: use GENERIC for all`;
  }
  return `${formatType(type)} is no type of a union by the field '${branching.field}': it must be a ROW or POJO in which that field is a LITERAL or an ENUM`;
}

function whyTheSame(
  branching: Branching,
  one: TypeDescription,
  other: TypeDescription,
  tag: unknown,
): string {
  const types = `${formatType(one)} and ${formatType(other)}`;
  if (branching.kind === 'union') {
    return `the field '${branching.field}' may be ${JSON.stringify(tag)} in ${types}: it must tell them apart`;
  }
  const advice =
    tag === 'object' ? 'use UNION, which tells objects apart by a field' : 'describe them as one type';
  return `the values of ${types} are both of kind ${String(tag)} and cannot be told apart: ${advice}`;
}

function checkAvro(schema: unknown, at: string): void {
  if (typeof schema !== 'string') throw invalid(at, 'the schema of an avro type is JSON text');
  try {
    avroSchemaOf(schema);
  } catch (error) {
    throw invalid(at, `the Avro schema is not allowed: ${(error as Error).message}`, error);
  }
}
