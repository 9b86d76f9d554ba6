/**
 * Finds what the library for Avro takes and writes as something else: objects of any class for a map, and any value for
 * a record whose fields all have defaults. Called before a value of a schema with such types is written.
 *
 * A check is made of functions, one a type, that look only at the parts from which such a type is reached.
 */
import { type AvroType, branchesOf, fieldsOf, isRecord, partsOf, typesWithin } from './avro-schema.ts';
import { fieldPath } from './type-mismatch.ts';

/** What does not fit: where (as the path in a message), what, and what the schema has there. */
export interface Misfit {
  readonly path: string;
  readonly found: unknown;
  readonly expected: AvroType;
}

/** Finds the first misfit of those that the library does not see; most misfits it does. */
export type LenientCheck = (value: unknown) => Misfit | undefined;

type ObjectCheck = (value: Readonly<Record<string, unknown>>) => Misfit | undefined;

/** The check of a schema; undefined if the library sees every misfit. */
export function lenientCheckOf(
  type: AvroType,
  made = new Map<AvroType, LenientCheck>(),
): LenientCheck | undefined {
  if (![...typesWithin(type)].some(isLenient)) return undefined;
  const known = made.get(type);
  if (known !== undefined) return known;
  let checkParts: ObjectCheck = findNothing;
  const check: LenientCheck = isLenient(type)
    ? (value) => (hasFields(value) ? checkParts(value) : { path: '', found: value, expected: type })
    : (value) => (typeof value === 'object' && value !== null ? checkParts(value as never) : undefined);
  // A type may contain itself.
  made.set(type, check);
  checkParts = partsCheckOf(type, made);
  return check;
}

function isLenient(type: AvroType): boolean {
  if (type.typeName === 'map') return true;
  return isRecord(type) && fieldsOf(type).every((field) => field.defaultValue() !== undefined);
}

function findNothing(): undefined {
  return undefined;
}

/** Whether what an object holds is in its fields. A key __proto__ would be lost when it is read. */
function hasFields(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Object.hasOwn(value, '__proto__')) return false;
  if (Object.getPrototypeOf(value) === Object.prototype) return true;
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return false;
  return !(value instanceof Map || value instanceof Set || value instanceof Date || value instanceof Promise);
}

function partsCheckOf(type: AvroType, made: Map<AvroType, LenientCheck>): ObjectCheck {
  switch (type.typeName) {
    case 'array':
      return elementsCheck(lenientCheckOf(partsOf(type)[0]!, made));
    case 'map':
      return entriesCheck(lenientCheckOf(partsOf(type)[0]!, made));
    case 'union:unwrapped':
      return branchCheck(branchesOf(type), made);
    case 'union:wrapped':
      return fieldsCheck(
        branchesOf(type).map((branch) => [branch.branchName!, lenientCheckOf(branch, made)] as const),
      );
    default:
      return fieldsCheck(
        fieldsOf(type).map((field) => [field.name, lenientCheckOf(field.type, made)] as const),
      );
  }
}

function elementsCheck(check: LenientCheck | undefined): ObjectCheck {
  if (check === undefined) return findNothing;
  return (value) => {
    if (!Array.isArray(value)) return undefined;
    for (let i = 0; i < value.length; i++) {
      const misfit = check(value[i]);
      if (misfit !== undefined) return { ...misfit, path: `[${i}]${misfit.path}` };
    }
    return undefined;
  };
}

function entriesCheck(check: LenientCheck | undefined): ObjectCheck {
  if (check === undefined) return findNothing;
  return (value) => {
    for (const key of Object.keys(value)) {
      const misfit = check(value[key]);
      if (misfit !== undefined) return { ...misfit, path: fieldPath(key) + misfit.path };
    }
    return undefined;
  };
}

function fieldsCheck(all: readonly (readonly [string, LenientCheck | undefined])[]): ObjectCheck {
  const fields = all.filter(([, check]) => check !== undefined);
  return (value) => {
    for (const [name, check] of fields) {
      const field = value[name];
      const misfit = field === undefined ? undefined : check!(field);
      if (misfit !== undefined) return { ...misfit, path: fieldPath(name) + misfit.path };
    }
    return undefined;
  };
}

/** Of the branches of an unwrapped union one at most is an array, and one at most has fields. */
function branchCheck(branches: readonly AvroType[], made: Map<AvroType, LenientCheck>): ObjectCheck {
  const array = branches.find((branch) => branch.typeName === 'array');
  const object = branches.find((branch) => branch.typeName === 'map' || isRecord(branch));
  const arrayCheck = array === undefined ? undefined : lenientCheckOf(array, made);
  const objectCheck = object === undefined ? undefined : lenientCheckOf(object, made);
  return (value) => {
    if (Array.isArray(value)) return arrayCheck?.(value);
    return Buffer.isBuffer(value) ? undefined : objectCheck?.(value);
  };
}
