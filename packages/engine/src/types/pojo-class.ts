/**
 * The rules for a class whose instances are to come back as instances: constructible without arguments, each described
 * field writable, or an accessor with getter and setter, and no field left out by accident. Checked once, when the type
 * is described. (Flink's TypeExtractor.analyzePojo.)
 */

import { invalid } from './type-description.ts';
import { fieldPath } from './type-mismatch.ts';

/** A class that can be made without arguments. */
export type PojoClass<C extends object = object> = new () => C;

/**
 * Makes one instance and checks the fields of it: those that are described can be assigned, and those that are not are
 * `transient`. Decoding does the same for each value: `new Class()`, then the described fields are assigned, so that
 * private and transient fields have what the constructor gives them. Throws TYPE_INVALID naming class and field.
 */
export function checkPojoClass(
  pojoClass: PojoClass,
  fieldNames: readonly string[],
  transient: readonly string[],
): void {
  const className = pojoClass.name;
  const at = `Types.POJO(${className === '' ? 'class' : className})`;
  if (className === '') throw invalid(at, 'the class has no name; saved state is found by it');
  const instance = makeInstance(pojoClass, at);
  for (const name of fieldNames) {
    const why = whyNotAssignable(instance, name);
    if (why !== undefined) throw invalid(`${at}${fieldPath(name)}`, why);
    if (transient.includes(name)) {
      throw invalid(`${at}${fieldPath(name)}`, 'the field is described and transient; it can be one of both');
    }
  }
  const known = new Set([...fieldNames, ...transient]);
  const unknown = dataFieldsOf(instance).find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw invalid(
    `${at}${fieldPath(unknown)}`,
    `the type of the field is not described. Add it to the fields; if it is not part of values, list it: { transient: [${JSON.stringify(unknown)}] }`,
  );
}

function makeInstance(pojoClass: PojoClass, at: string): object {
  try {
    return new pojoClass();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw invalid(
      at,
      `the class cannot be made without arguments (${why}); give every parameter a default`,
      cause,
    );
  }
}

/** What values of the class hold as far as it can be seen: own fields, and accessors with getter and setter. */
function dataFieldsOf(instance: object): readonly string[] {
  const own = Object.keys(instance).filter(
    (name) => typeof (instance as Readonly<Record<string, unknown>>)[name] !== 'function',
  );
  return [...own, ...accessorsOf(Object.getPrototypeOf(instance) as object | null)];
}

function accessorsOf(prototype: object | null): readonly string[] {
  if (prototype === null || prototype === Object.prototype) return [];
  const own = Object.entries(Object.getOwnPropertyDescriptors(prototype));
  const names = own.flatMap(([name, { get, set }]) => (get !== undefined && set !== undefined ? [name] : []));
  return [...names, ...accessorsOf(Object.getPrototypeOf(prototype) as object | null)];
}

function whyNotAssignable(instance: object, name: string): string | undefined {
  if (name.startsWith('#')) {
    return 'a private field cannot be seen from outside the class; describe an accessor with getter and setter for it';
  }
  const property = findProperty(instance, name);
  if (property === undefined) {
    if (Object.isExtensible(instance)) return undefined;
    return 'the class has no such field, and its instances are sealed';
  }
  if (property.get !== undefined || property.set !== undefined) {
    if (property.set === undefined) return 'the field has a getter but no setter';
    if (property.get === undefined) return 'the field has a setter but no getter';
    return undefined;
  }
  if (typeof property.value === 'function') return 'this is a method of the class, not a field';
  return property.writable === true ? undefined : 'the field is not writable';
}

function findProperty(instance: object, name: string): PropertyDescriptor | undefined {
  for (
    let each: object | null = instance;
    each !== null;
    each = Object.getPrototypeOf(each) as object | null
  ) {
    const property = Object.getOwnPropertyDescriptor(each, name);
    if (property !== undefined) return property;
  }
  return undefined;
}
