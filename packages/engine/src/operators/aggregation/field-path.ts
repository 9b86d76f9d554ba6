/**
 * The field of a record that an aggregation or a named key is about
 * (org.apache.flink.streaming.util.typeutils.FieldAccessor): by name, by position in a tuple, a field of a field; 0 of a
 * record that is itself a number or a text is the record.
 *
 * Called when the job is written (what can be known from the type of the records is checked then), and by aggregations for
 * each record.
 */
import { MillraceError, nearestName } from '../../base/index.ts';
import { formatType, type TypeDescription, type TypeInformation } from '../../types/index.ts';
import { specialise } from '../specialise.ts';

/** Reads the field, and makes a record that differs in it alone. Records are not changed. */
export interface FieldAccess {
  /** undefined if it is missing. */
  get(record: unknown): unknown;
  with(record: unknown, value: unknown): unknown;
}

/** A field, and fields within it. Not empty. */
export type FieldPath = readonly (string | number)[];

type Fields = Record<string | number, unknown>;
type Classes = TypeInformation<unknown>['classes'];

/**
 * The type of the field; undefined if the records, or what holds the field, are undescribed or of an Avro schema. Throws
 * INVALID_ARGUMENT, beginning with `call`, if they are described and have no such field.
 */
export function fieldType(
  call: string,
  path: FieldPath,
  type: TypeInformation<unknown> | undefined,
): TypeInformation<unknown> | undefined {
  let description = type?.description;
  for (const name of path) {
    description = description === undefined ? undefined : memberType(call, name, description);
  }
  return description === undefined ? undefined : { description, classes: type?.classes };
}

/** `type` is that of the records: instances of classes that it describes are copied as it says. */
export function fieldAccess(
  path: FieldPath,
  type: TypeInformation<unknown> | undefined,
  label: string,
): FieldAccess {
  return accessOf(path, type?.description, type?.classes, label);
}

function memberType(
  call: string,
  name: string | number,
  holder: TypeDescription,
): TypeDescription | undefined {
  switch (holder.kind) {
    case 'generic':
    case 'avro':
    case 'custom':
    case 'either':
      return undefined;
    case 'optional':
    case 'nullable':
      return memberType(call, name, holder.value);
    case 'record':
      return holder.value;
    case 'union': {
      // Of a stream that a type guard narrowed, only some of the types need have it. Where they differ in it, it is undescribed.
      const types = holder.types.filter((type) => type.kind === 'pojo' && hasField(type, name));
      if (types.length === 0) break;
      const [first, ...others] = types.map((type) => memberType(call, name, type));
      return others.every((each) => JSON.stringify(each) === JSON.stringify(first)) ? first : undefined;
    }
    case 'list':
      if (typeof name === 'number') return holder.element;
      break;
    case 'tuple': {
      const element = holder.elements[Number(name)];
      if (element !== undefined) return element;
      break;
    }
    case 'pojo': {
      const field = holder.fields.find((candidate) => candidate.name === name);
      if (field !== undefined) return field.type;
      break;
    }
    default:
      if (name === 0) return holder;
  }
  throw noSuchField(call, name, holder);
}

function hasField(type: Extract<TypeDescription, { kind: 'pojo' }>, name: string | number): boolean {
  return type.fields.some((field) => field.name === name);
}

function noSuchField(call: string, name: string | number, holder: TypeDescription): MillraceError {
  const names = holder.kind === 'pojo' ? holder.fields.map((field) => field.name) : [];
  const nearest = nearestName(String(name), names);
  const what =
    holder.kind === 'pojo' && holder.name !== ''
      ? `the record type ${holder.name} has`
      : `records of type ${formatType(holder)} have`;
  const listed = names.length > 0 ? `; fields are ${names.join(', ')}` : '';
  const advice = nearest === undefined ? listed : `; did you mean "${nearest}"?`;
  return new MillraceError('INVALID_ARGUMENT', `${call}: ${what} no field ${JSON.stringify(name)}${advice}`, {
    details: { field: name, nearest },
  });
}

function accessOf(
  [name, ...rest]: FieldPath,
  holder: TypeDescription | undefined,
  classes: Classes,
  label: string,
): FieldAccess {
  const copy = copierOf(holder, classes);
  const own = specialise(makeMember, label)({ name: name!, copy });
  if (rest.length === 0) return own;
  const inner = accessOf(rest, innerType(name!, holder), classes, label);
  return {
    get: (record) => inner.get(own.get(record)),
    with: (record, value) => own.with(record, inner.with(own.get(record), value)),
  };
}

interface MemberEnv {
  readonly name: string | number;
  readonly copy: (record: object) => object;
}

const makeMember = ({ name, copy }: MemberEnv): FieldAccess => ({
  get: (record) => {
    if (typeof record === 'object') return record === null ? undefined : (record as Fields)[name];
    return name === 0 ? record : undefined;
  },
  with: (record, value) => {
    if (typeof record !== 'object') return value;
    const changed = copy(record!) as Fields;
    changed[name] = value;
    return changed;
  },
});

/** Described already: `fieldType` refused what does not fit. */
function innerType(name: string | number, holder: TypeDescription | undefined): TypeDescription | undefined {
  return holder === undefined ? undefined : memberType('', name, holder);
}

/** An instance of a described class is made as decoding makes it: its class may have private fields. */
function copierOf(holder: TypeDescription | undefined, classes: Classes): (record: object) => object {
  if (holder?.kind === 'optional' || holder?.kind === 'nullable') return copierOf(holder.value, classes);
  const Made = holder === undefined ? undefined : classes?.get(holder);
  if (Made === undefined || holder?.kind !== 'pojo') return copyRecord;
  const names = holder.fields.map((field) => field.name);
  return (record) => {
    const made = new Made() as Fields;
    for (const name of names) made[name] = (record as Fields)[name];
    return made;
  };
}

function copyRecord(record: object): object {
  if (Array.isArray(record)) return record.slice();
  const prototype = Object.getPrototypeOf(record) as object | null;
  return prototype === Object.prototype
    ? { ...record }
    : Object.assign(Object.create(prototype) as object, record);
}
