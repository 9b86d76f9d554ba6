/**
 * sum, min, max, minBy and maxBy of one field as reduce functions (org.apache.flink.streaming.api.functions.aggregation:
 * SumAggregator, ComparableAggregator). Keyed streams and windows make them when the job is written.
 *
 * sum, min and max keep the other fields of the first record; minBy and maxBy give a whole record. What is NaN, an invalid
 * date, missing or of another type than before is an error: it could not be ordered or added.
 */
import { MillraceError } from '../../base/index.ts';
import type { ReduceFunction } from '../../state/index.ts';
import { formatType, type TypeDescription, type TypeInformation } from '../../types/index.ts';
import { specialise } from '../specialise.ts';
import { describe } from '../user-result.ts';
import { type FieldAccess, fieldAccess, fieldType } from './field-path.ts';

export type Aggregation = 'sum' | 'min' | 'max' | 'minBy' | 'maxBy';

/** What min and max can order. */
export type ComparableValue = number | bigint | string | boolean | Date;

/**
 * The fields of T whose values are of type V: their names, nested ones as 'a.b' (three levels); the positions of a tuple;
 * 0 if T is such a value itself. A field that may be undefined is none of them, nor is one with a dot in its name.
 */
export type FieldOf<T, V, Depth extends 0 | 1 | 2 | 3 = 3> = [T] extends [V]
  ? 0
  : [T] extends [readonly unknown[]]
    ? PositionOf<T, V>
    : [T] extends [object]
      ? { [K in keyof T & string]: NameOf<K, T[K], V, Depth> }[keyof T & string]
      : never;

/** A field that can be added up. */
export type NumericField<T> = FieldOf<T, number | bigint>;

/** A field whose values have an order. */
export type ComparableField<T> = FieldOf<T, ComparableValue>;

type PositionOf<T extends readonly unknown[], V> = number extends T['length']
  ? [T[number]] extends [V]
    ? number
    : never
  : {
      [I in keyof T]: I extends `${infer N extends number}` ? ([T[I]] extends [V] ? N : never) : never;
    }[number];

type Shallower = { 3: 2; 2: 1; 1: 0; 0: 0 };

type NameOf<K extends string, Value, V, Depth extends 0 | 1 | 2 | 3> = K extends `${string}.${string}`
  ? never
  : [Value] extends [V]
    ? K
    : Depth extends 0
      ? never
      : [Value] extends [readonly unknown[]]
        ? never
        : `${K}.${FieldOf<Value, V, Shallower[Depth]> & string}`;

/** A field's aggregation, as the operators of reduce take it. */
export interface FieldAggregation<T> {
  readonly reduce: ReduceFunction<T>;
  /** Throws if the field of `record` cannot be aggregated: for the first record, which is reduced with nothing. */
  check(record: T): void;
}

export interface FieldAggregationOptions {
  /** Of the records; undefined: undescribed. */
  readonly type?: TypeInformation<unknown>;
  /** minBy, maxBy: which of the records with the same value to keep. The first if undefined. */
  readonly first?: boolean;
}

/**
 * Throws INVALID_ARGUMENT if the type of the records says that the field is not there or cannot be aggregated. What the
 * functions throw is plain errors that name call and field: operators add their name.
 */
export function fieldAggregation<T>(
  aggregation: Aggregation,
  field: string | number,
  { type, first = true }: FieldAggregationOptions = {},
): FieldAggregation<T> {
  const call = `${aggregation}(${JSON.stringify(field)})`;
  if (!(typeof field === 'string' && field !== '') && !(Number.isInteger(field) && Number(field) >= 0)) {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `${call}: expected the name of a field, or its position in a tuple, found ${describe(field)}`,
    );
  }
  const isSum = aggregation === 'sum';
  const path = typeof field === 'number' ? [field] : field.split('.');
  checkType(call, fieldType(call, path, type)?.description, isSum);
  const allowed = isSum ? SUMMABLE : COMPARABLE;
  const env: AggregationEnv<T> = {
    access: fieldAccess(path, type, call),
    isMin: aggregation === 'min' || aggregation === 'minBy',
    isWhole: aggregation === 'minBy' || aggregation === 'maxBy',
    first,
    allowed: new Set(allowed),
    notAllowed: (found) => new TypeError(`${call}: ${expected(allowed)}, found ${shown(found)}`),
    notAlike: (one, other) =>
      new TypeError(
        `${call}: the values of one key must be of one type, found ${shown(one)} and ${shown(other)}`,
      ),
  };
  const check = specialise(makeCheck<T>, call)(env);
  const make = isSum ? makeSum<T> : makeExtreme<T>;
  return { reduce: specialise(make, call)({ ...env, check }), check };
}

/** By typeof; a Date is an object. */
const SUMMABLE: readonly string[] = ['number', 'bigint'];
const COMPARABLE: readonly string[] = ['number', 'bigint', 'string', 'boolean', 'object'];

const SUMMABLE_KINDS: readonly TypeDescription['kind'][] = ['int', 'long', 'double', 'bigint'];
const COMPARABLE_KINDS: readonly TypeDescription['kind'][] = [
  ...SUMMABLE_KINDS,
  'string',
  'boolean',
  'date',
  'enum',
];

interface AggregationEnv<T> {
  readonly access: FieldAccess;
  readonly isMin: boolean;
  /** The record with the extreme value, rather than the first with that value. */
  readonly isWhole: boolean;
  readonly first: boolean;
  readonly allowed: ReadonlySet<string>;
  readonly notAllowed: (found: unknown) => Error;
  readonly notAlike: (one: unknown, other: unknown) => Error;
  /** The value of the field, checked. */
  readonly check?: (record: T) => unknown;
}

const makeCheck = <T>({ access, allowed, notAllowed }: AggregationEnv<T>) => {
  return (record: T): number => {
    const value = access.get(record);
    if (!allowed.has(typeof value)) throw notAllowed(value);
    if (typeof value === 'object') {
      if (!(value instanceof Date) || Number.isNaN(value.getTime())) throw notAllowed(value);
    } else if (Number.isNaN(value)) throw notAllowed(value);
    return value as number;
  };
};

const makeSum = <T>({ access, check, notAlike }: AggregationEnv<T>): ReduceFunction<T> => {
  return (current, next) => {
    const sum = check!(current) as number;
    const added = check!(next) as number;
    if (typeof sum !== typeof added) throw notAlike(sum, added);
    return access.with(current, sum + added) as T;
  };
};

const makeExtreme = <T>({
  access,
  check,
  notAlike,
  isMin,
  isWhole,
  first,
}: AggregationEnv<T>): ReduceFunction<T> => {
  return (current, next) => {
    const one = check!(current) as number;
    const other = check!(next) as number;
    if (typeof one !== typeof other) throw notAlike(one, other);
    const isBetter = isMin ? other < one : other > one;
    if (isWhole) return isBetter || (!first && !(isMin ? one < other : one > other)) ? next : current;
    return isBetter ? (access.with(current, other) as T) : current;
  };
};

function checkType(call: string, description: TypeDescription | undefined, isSum: boolean): void {
  if (description === undefined || mayBe(description, isSum ? SUMMABLE_KINDS : COMPARABLE_KINDS)) return;
  const allowed = isSum ? SUMMABLE : COMPARABLE;
  throw new MillraceError(
    'INVALID_ARGUMENT',
    `${call}: ${expected(allowed)}, but it is described as ${formatType(description)}`,
    { details: { type: formatType(description) } },
  );
}

/** True if some values of the type are of these kinds; of the others each record is refused by itself. */
function mayBe(type: TypeDescription, kinds: readonly TypeDescription['kind'][]): boolean {
  switch (type.kind) {
    case 'generic':
    case 'avro':
    case 'custom':
      return true;
    case 'optional':
    case 'nullable':
      return mayBe(type.value, kinds);
    case 'either':
      return type.types.some((each) => mayBe(each, kinds));
    case 'literal':
      // A sum would be none of the values.
      return kinds === COMPARABLE_KINDS && type.values.some((value) => value !== null);
    default:
      return kinds.includes(type.kind);
  }
}

function expected(allowed: readonly string[]): string {
  return allowed === SUMMABLE
    ? 'the field must be a number or a bigint'
    : 'the field must be a number, a bigint, a string, a boolean or a Date';
}

function shown(value: unknown): string {
  if (value === undefined) return 'undefined (is the name of the field right?)';
  return value instanceof Date && Number.isNaN(value.getTime()) ? 'an invalid Date' : describe(value);
}
