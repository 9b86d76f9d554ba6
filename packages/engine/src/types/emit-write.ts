/**
 * Emits the code that checks a value and writes it. One inlined sequence of statements a type; values are read once.
 *
 * With `canonical` the code writes keys: numbers that are equal get equal bytes (0 for -0, one NaN), and a field that
 * is undefined counts as missing.
 */
import { avroWriterOf } from './avro-codec.ts';
import type { CodeBody, Path } from './code-body.ts';
import { serializerOf } from './custom-type.ts';
import { kindsOf } from './js-kind.ts';
import { LearnedWriter } from './learned-codec.ts';
import { fixedSizeOf, listedIndexBytes } from './type-description.ts';
import type { FieldDescription, TypeDescription } from './type-information.ts';
import { fieldPath, KEYS_PATH } from './type-mismatch.ts';
import { type Branching, branchesByTag } from './union-branches.ts';

/** In the byte before an optional or nullable value. */
export const FLAG_ABSENT = 0;
export const FLAG_PRESENT = 1;
/** A field of a pojo that is there and undefined; 0 means that it is missing. */
export const FLAG_UNDEFINED = 2;

type Of<K extends TypeDescription['kind']> = Extract<TypeDescription, { readonly kind: K }>;

/** How values are written: as they are, or as keys. */
export interface WriteMode {
  readonly canonical: boolean;
}

/** Emits the writing of the variable `x`. */
export function emitWrite(
  body: CodeBody,
  mode: WriteMode,
  type: TypeDescription,
  x: string,
  path: Path,
): void {
  emitCheck(body, type, x, path);
  switch (type.kind) {
    case 'void':
      return;
    case 'string':
      return emitCall(body, `writeString(view, u8, ${x}, p, limit)`);
    case 'bytes':
      return emitCall(body, `writeBytes(view, ${x}, p, limit)`);
    case 'bigint':
      return emitCall(body, `writeBigInt(view, ${x}, p, limit)`);
    case 'long':
      // A sum with 0 turns -0 into 0; NaN does not get here.
      return body.line(`dv.setFloat64(${body.take(8)}, ${mode.canonical ? `${x} + 0` : x}, true);`);
    case 'double':
      return emitDouble(body, mode, x);
    case 'date':
      return emitDate(body, mode, x);
    case 'int':
      return body.line(`dv.setInt32(${body.take(4)}, ${x}, true);`);
    case 'boolean':
      return body.line(`u8[${body.take(1)}] = ${x} ? 1 : 0;`);
    case 'enum':
    case 'literal':
      return emitListed(body, type, x, path);
    case 'typed-array':
      return emitCall(body, `writeTypedArray(view, ${x}, p, limit)`);
    case 'custom':
      return emitCustom(body, type, x, path);
    case 'set':
      return emitSet(body, mode, type, x, path);
    case 'record':
      return emitRecord(body, mode, type, x, path);
    case 'union':
    case 'either':
      return emitBranches(body, type, x, path, (each) => emitWrite(body, mode, each, x, path));
    case 'generic':
      return emitGeneric(body, mode, type, x, path);
    case 'avro':
      return emitAvro(body, type, x, path);
    case 'list':
      return emitList(body, mode, type, x, path);
    case 'map':
      return emitMap(body, mode, type, x, path);
    case 'tuple':
      return type.elements.forEach((element, i) => {
        emitMember(body, mode, element, `${x}[${i}]`, [...path, `[${i}]`]);
      });
    case 'pojo':
      return type.fields.forEach((field) => {
        emitField(body, mode, field, x, [...path, fieldPath(field.name)]);
      });
    case 'optional':
      return emitAbsence(body, mode, type, x, path, 'undefined', `${FLAG_ABSENT}`);
    case 'nullable':
      return emitAbsence(body, mode, type, x, path, 'null', `${FLAG_ABSENT}`);
  }
}

/** Emits the check that `x` is of the type, as far as it goes without looking inside. */
export function emitCheck(body: CodeBody, type: TypeDescription, x: string, path: Path): void {
  const wrong = wrongIf(type, x);
  if (wrong !== undefined) body.line(`if (${wrong}) throw ${body.unit.mismatch(type, x, path)};`);
}

/** The condition under which `x` is not of the type, as far as that is seen without looking inside. */
export function wrongIf(type: TypeDescription, x: string): string | undefined {
  switch (type.kind) {
    case 'void':
      return `${x} !== undefined`;
    case 'string':
    case 'boolean':
    case 'bigint':
      return `typeof ${x} !== '${type.kind}'`;
    case 'double':
      return `typeof ${x} !== 'number'`;
    case 'long':
      return `!Number.isSafeInteger(${x})`;
    case 'int':
      return `typeof ${x} !== 'number' || (${x} | 0) !== ${x}`;
    case 'bytes':
      return `!(${x} instanceof Uint8Array)`;
    case 'date':
      return `!(${x} instanceof Date)`;
    case 'map':
      return `!(${x} instanceof Map)`;
    case 'list':
      return `!Array.isArray(${x})`;
    case 'tuple':
      return `!Array.isArray(${x}) || ${x}.length !== ${type.elements.length}`;
    case 'set':
      return `!(${x} instanceof Set)`;
    case 'typed-array':
      return `!(${x} instanceof ${type.array})`;
    case 'record':
      return `kindOf(${x}) !== 'object'`;
    case 'pojo':
      // Of a Map, an array or a promise nothing would be left, and no field would be missed.
      if (type.fields.every((field) => mayBeMissing(field.type))) return `kindOf(${x}) !== 'object'`;
      return `typeof ${x} !== 'object' || ${x} === null`;
    case 'union':
      return `typeof ${x} !== 'object' || ${x} === null`;
    case 'enum':
    case 'literal':
    case 'either':
    case 'generic':
    case 'avro':
    case 'custom':
    case 'optional':
    case 'nullable':
      return undefined;
  }
}

function mayBeMissing(type: TypeDescription): boolean {
  return kindsOf(type)?.includes('undefined') !== false;
}

function emitCall(body: CodeBody, call: string): void {
  body.endRun();
  body.line(`p = ${call};`);
  body.line(`if (p < 0) return false;`);
}

function emitDouble(body: CodeBody, mode: WriteMode, x: string): void {
  const at = body.take(8);
  if (!mode.canonical) return body.line(`dv.setFloat64(${at}, ${x}, true);`);
  body.line(`writeKeyNumber(dv, ${at}, ${x});`);
}

function emitDate(body: CodeBody, mode: WriteMode, x: string): void {
  const time = body.unit.name('t');
  body.line(`const ${time} = ${x}.getTime();`);
  emitDouble(body, mode, time);
}

function emitListed(body: CodeBody, type: Of<'enum' | 'literal'>, x: string, path: Path): void {
  const size = listedIndexBytes(type);
  if (size === 0) {
    const only = JSON.stringify((type as Of<'literal'>).values[0]);
    return body.line(`if (${x} !== ${only}) throw ${body.unit.mismatch(type, x, path)};`);
  }
  const values: readonly unknown[] = type.values;
  const index = emitIndex(body, new Map(values.map((value, i) => [value, i])), x);
  body.line(`if (${index} === undefined) throw ${body.unit.mismatch(type, x, path)};`);
  const at = body.take(size);
  body.line(size === 1 ? `u8[${at}] = ${index};` : `dv.setUint16(${at}, ${index}, true);`);
}

function emitIndex(body: CodeBody, indexes: ReadonlyMap<unknown, number>, expression: string): string {
  const index = body.unit.name('e');
  body.line(`const ${index} = ${body.unit.constant(indexes)}.get(${expression});`);
  return index;
}

/** Emits the choice of a type, its position, and `emit` for each of the types. */
function emitBranches(
  body: CodeBody,
  type: Branching,
  x: string,
  path: Path,
  emit: (each: TypeDescription) => void,
): void {
  const branch = emitBranch(body, type, x, path);
  body.line(`u8[${body.take(1)}] = ${branch};`);
  body.endRun();
  type.types.forEach((each, i) => {
    body.line(`${i === 0 ? '' : 'else '}if (${branch} === ${i}) {`);
    emit(each);
    body.endRun();
    body.line('}');
  });
}

/** Emits the choice of the type of `x`, checked; returns the variable that holds its position. */
export function emitBranch(body: CodeBody, type: Branching, x: string, path: Path): string {
  const byTag = branchesByTag(type);
  if (type.kind === 'either') {
    const index = emitIndex(body, byTag, `kindOf(${x})`);
    body.line(`if (${index} === undefined) throw ${body.unit.mismatch(type, x, path)};`);
    return index;
  }
  const tag = `${x}[${JSON.stringify(type.field)}]`;
  const index = emitIndex(body, byTag, tag);
  // Read again only for the message.
  const expected = { kind: 'literal', values: [...byTag.keys()] } as TypeDescription;
  const mismatch = body.unit.mismatch(expected, tag, [...path, fieldPath(type.field)]);
  body.line(`if (${index} === undefined) throw ${mismatch};`);
  return index;
}

function emitGeneric(body: CodeBody, mode: WriteMode, type: TypeDescription, x: string, path: Path): void {
  body.endRun();
  // The fields of keys are sorted, which learned code does not do.
  if (mode.canonical) body.line(`p = writeValue(view, ${x}, p, limit, true);`);
  else {
    const writer = body.unit.constantOfUse((usedBy) => new LearnedWriter(usedBy));
    if (path.length === 0) body.unit.undescribed = writer;
    body.line(`p = ${writer}.write(view, ${x}, p, limit);`);
  }
  body.line(`if (p < 0) { if (p === -1) return false; throw ${body.unit.refusal(type, path)}; }`);
}

function emitAvro(body: CodeBody, type: Of<'avro'>, x: string, path: Path): void {
  body.endRun();
  const writer = body.unit.constant(avroWriterOf(type.schema));
  body.line(`p = writeAvro(view, ${writer}, ${x}, p, limit);`);
  body.line(`if (p < 0) { if (p === -1) return false; throw ${body.unit.refusal(type, path)}; }`);
}

function emitCustom(body: CodeBody, type: Of<'custom'>, x: string, path: Path): void {
  body.endRun();
  const serializer = body.unit.constant(serializerOf(type));
  body.line(`p = writeCustom(view, ${serializer}, ${x}, p, limit);`);
  body.line(`if (p < 0) { if (p === -1) return false; throw ${body.unit.refusal(type, path)}; }`);
}

function emitMember(body: CodeBody, mode: WriteMode, type: TypeDescription, from: string, path: Path): void {
  const x = body.unit.name('v');
  body.line(`const ${x} = ${from};`);
  emitWrite(body, mode, type, x, path);
}

function emitField(
  body: CodeBody,
  mode: WriteMode,
  field: FieldDescription,
  object: string,
  path: Path,
): void {
  const name = JSON.stringify(field.name);
  if (field.type.kind !== 'optional') return emitMember(body, mode, field.type, `${object}[${name}]`, path);
  const x = body.unit.name('v');
  body.line(`const ${x} = ${object}[${name}];`);
  const absent = mode.canonical
    ? `${FLAG_ABSENT}`
    : `${name} in ${object} ? ${FLAG_UNDEFINED} : ${FLAG_ABSENT}`;
  emitAbsence(body, mode, field.type, x, path, 'undefined', absent);
}

function emitAbsence(
  body: CodeBody,
  mode: WriteMode,
  type: Of<'optional' | 'nullable'>,
  x: string,
  path: Path,
  absence: 'undefined' | 'null',
  absentFlag: string,
): void {
  const at = body.take(1);
  body.line(`u8[${at}] = ${x} === ${absence} ? ${absentFlag} : ${FLAG_PRESENT};`);
  body.endRun();
  body.line(`if (${x} !== ${absence}) {`);
  emitWrite(body, mode, type.value, x, path);
  body.endRun();
  body.line('}');
}

function emitList(body: CodeBody, mode: WriteMode, type: Of<'list'>, x: string, path: Path): void {
  const length = body.unit.name('n');
  const i = body.unit.name('i');
  body.line(`const ${length} = ${x}.length;`);
  body.line(`dv.setUint32(${body.take(4)}, ${length}, true);`);
  body.endRun();
  const size = fixedSizeOf(type.element);
  const loop = () => {
    body.line(`for (let ${i} = 0; ${i} < ${length}; ${i}++) {`);
    emitMember(body, mode, type.element, `${x}[${i}]`, [...path, { kind: 'index', variable: i }]);
    body.endRun();
    body.line('}');
  };
  if (size === undefined) loop();
  else body.checkedOnce(`${length} * ${size}`, loop);
}

function emitMap(body: CodeBody, mode: WriteMode, type: Of<'map'>, x: string, path: Path): void {
  const key = body.unit.name('k');
  const value = body.unit.name('v');
  body.line(`dv.setUint32(${body.take(4)}, ${x}.size, true);`);
  body.endRun();
  body.line(`for (const [${key}, ${value}] of ${x}) {`);
  emitWrite(body, mode, type.key, key, [...path, KEYS_PATH]);
  emitWrite(body, mode, type.value, value, [...path, { kind: 'key', variable: key }]);
  body.endRun();
  body.line('}');
}

function emitSet(body: CodeBody, mode: WriteMode, type: Of<'set'>, x: string, path: Path): void {
  const element = body.unit.name('v');
  body.line(`dv.setUint32(${body.take(4)}, ${x}.size, true);`);
  body.endRun();
  body.line(`for (const ${element} of ${x}) {`);
  emitWrite(body, mode, type.element, element, [...path, KEYS_PATH]);
  body.endRun();
  body.line('}');
}

function emitRecord(body: CodeBody, mode: WriteMode, type: Of<'record'>, x: string, path: Path): void {
  const names = body.unit.name('n');
  const name = body.unit.name('k');
  body.line(`const ${names} = Object.keys(${x});`);
  body.line(`dv.setUint32(${body.take(4)}, ${names}.length, true);`);
  body.endRun();
  body.line(`for (const ${name} of ${names}) {`);
  emitCall(body, `writeString(view, u8, ${name}, p, limit)`);
  emitMember(body, mode, type.value, `${x}[${name}]`, [...path, { kind: 'key', variable: name }]);
  body.endRun();
  body.line('}');
}
