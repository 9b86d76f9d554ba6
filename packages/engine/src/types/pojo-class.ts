/**
 * The rules for a class whose instances are to come back as instances: constructible without arguments, each declared
 * field writable, or an accessor with getter and setter. Checked once, when the type is described.
 */

import { invalid } from './type-description.ts';
import { fieldPath } from './type-mismatch.ts';

/** A class that can be made without arguments. */
export type PojoClass<C extends object = object> = new () => C;

/**
 * Makes one instance and checks the fields of it. Decoding does the same for each value: `new Class()`, then the
 * declared fields are assigned, so that private fields and fields that are not declared have what the constructor
 * gives them. Throws TYPE_INVALID naming class and field.
 */
export function checkPojoClass(pojoClass: PojoClass, fieldNames: readonly string[]): void {
  const className = pojoClass.name;
  const at = `Types.POJO(${className === '' ? 'class' : className})`;
  if (className === '') throw invalid(at, 'the class has no name; saved state is found by it');
  let instance: object;
  try {
    instance = new pojoClass();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw invalid(
      at,
      `the class cannot be made without arguments (${why}); give every parameter a default`,
      cause,
    );
  }
  for (const name of fieldNames) {
    const why = whyNotAssignable(instance, name);
    if (why !== undefined) throw invalid(`${at}${fieldPath(name)}`, why);
  }
}

function whyNotAssignable(instance: object, name: string): string | undefined {
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
