/**
 * Types.POJO: objects with a name, or the instances of a class. The TypeScript side of the rules of pojo-class.ts: a class
 * is described by all its fields.
 */
import { checkPojoClass, type PojoClass } from './pojo-class.ts';
import { invalid } from './type-description.ts';
import { type FieldTypes, type ObjectOf, object } from './type-factories.ts';
import type { TypeInformation } from './type-information.ts';

/** Methods are no fields. They are left out by name: a `toString` of the class would clash with that of the literal. */
type Method = (...args: never[]) => unknown;

type DataKeys<C> = { [K in keyof C]-?: NonNullable<C[K]> extends Method ? never : K }[keyof C];

type IsSame<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Fields that can be assigned; a getter without setter is computed from them. */
type WritableKeys<C> = {
  [K in DataKeys<C>]: IsSame<Pick<C, K>, Mutable<Pick<C, K>>> extends true ? K : never;
}[DataKeys<C>];

/** The types of the fields of a class: of all that can be assigned and are not transient. */
export type ClassFields<C extends object, N extends string> = {
  readonly [K in Exclude<WritableKeys<C>, N>]: TypeInformation<C[K]>;
} & { readonly [K in Exclude<DataKeys<C>, N>]?: TypeInformation<C[K]> };

/** What is said about a class beside its fields. */
export interface PojoOptions<N extends string> {
  /** Fields that are not part of values: when one is read, they have what the constructor gives them. */
  readonly transient: readonly N[];
}

/** See Types.POJO. */
export function pojo<C extends object, const N extends string = never>(
  pojoClass: PojoClass<C>,
  fields: ClassFields<C, N>,
  options?: PojoOptions<N>,
): TypeInformation<C>;
export function pojo<F extends FieldTypes>(name: string, fields: F): TypeInformation<ObjectOf<F>>;
export function pojo(
  nameOrClass: string | PojoClass,
  fields: object,
  options?: PojoOptions<string>,
): TypeInformation<object> {
  const byName = fields as FieldTypes;
  if (typeof nameOrClass === 'function') {
    const info = object<object>(`Types.POJO(${nameOrClass.name})`, nameOrClass.name, byName, nameOrClass);
    checkPojoClass(nameOrClass, Object.keys(byName), options?.transient ?? []);
    return info;
  }
  if (typeof nameOrClass !== 'string' || nameOrClass === '') {
    throw invalid(
      'Types.POJO',
      'the first argument is a name or a class; Types.ROW makes a type without a name',
    );
  }
  return object(`Types.POJO(${nameOrClass})`, nameOrClass, byName);
}
