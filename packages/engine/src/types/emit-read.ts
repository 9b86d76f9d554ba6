/**
 * Emits the code that reads a value, and the code that only steps over one. Reads trust the bytes.
 *
 * A type's code leaves the value in an expression that is evaluated once; everything that moves `p` is a statement, so
 * that parts are read in the order of their bytes.
 */
import { avroTypeOf } from './avro-schema.ts';
import { typedArrayOf } from './binary-kinds.ts';
import type { CodeBody } from './code-body.ts';
import { serializerOf } from './custom-type.ts';
import { FLAG_ABSENT, FLAG_PRESENT } from './emit-write.ts';
import { LearnedReader } from './learned-codec.ts';
import type { PojoClass } from './pojo-class.ts';
import { fixedSizeOf, listedIndexBytes } from './type-description.ts';
import type { FieldDescription, TypeDescription } from './type-information.ts';
import type { Branching } from './union-branches.ts';

type Of<K extends TypeDescription['kind']> = Extract<TypeDescription, { readonly kind: K }>;
type Classes = ReadonlyMap<TypeDescription, PojoClass>;

/** Emits the reading of a value; returns an expression for it that may be evaluated once, before `p` is moved. */
export function emitRead(body: CodeBody, classes: Classes, type: TypeDescription): string {
  switch (type.kind) {
    case 'void':
      return 'undefined';
    case 'string':
      return emitCall(body, 'readString(view, u8, p)');
    case 'bytes':
      return emitCall(body, 'readBytes(view, p)');
    case 'bigint':
      return emitCall(body, 'readBigInt(view, p)');
    case 'generic':
      return emitCall(
        body,
        `${body.unit.constantOfUse((usedBy) => new LearnedReader(usedBy))}.read(view, p)`,
      );
    case 'avro':
      return emitCall(body, `readAvro(view, ${body.unit.constant(avroTypeOf(type.schema))}, p)`);
    case 'long':
    case 'double':
      return emitConstant(body, `dv.getFloat64(${body.take(8)}, true)`);
    case 'date':
      return emitConstant(body, `new Date(dv.getFloat64(${body.take(8)}, true))`);
    case 'int':
      return emitConstant(body, `dv.getInt32(${body.take(4)}, true)`);
    case 'boolean':
      return emitConstant(body, `u8[${body.take(1)}] === 1`);
    case 'custom': {
      // The description of saved state may be the very node of a type: its values are kept as bytes all the same.
      const serializer = body.unit.constant(classes.has(type) ? serializerOf(type) : undefined);
      return emitCall(body, `readCustom(view, ${serializer}, p, usedBy)`);
    }
    case 'typed-array':
      return emitCall(body, `readTypedArray(view, ${typedArrayOf(type.array).kind}, p)`);
    case 'enum':
    case 'literal':
      return emitListed(body, type);
    case 'set':
      return emitSet(body, classes, type);
    case 'record':
      return emitRecord(body, classes, type);
    case 'union':
    case 'either':
      return emitBranches(body, classes, type);
    case 'list':
      return emitList(body, classes, type);
    case 'map':
      return emitMap(body, classes, type);
    case 'tuple':
      return `[${type.elements.map((element) => emitRead(body, classes, element)).join(', ')}]`;
    case 'pojo':
      return emitPojo(body, classes, type);
    case 'optional':
    case 'nullable':
      return emitAbsence(body, classes, type).value;
  }
}

function emitConstant(body: CodeBody, expression: string): string {
  const x = body.unit.name('x');
  body.line(`const ${x} = ${expression};`);
  return x;
}

function emitCall(body: CodeBody, call: string): string {
  body.endRun();
  const x = emitConstant(body, call);
  body.line('p = view.pos;');
  return x;
}

function emitListed(body: CodeBody, type: Of<'enum' | 'literal'>): string {
  const size = listedIndexBytes(type);
  if (size === 0) return JSON.stringify(type.values[0]);
  const at = body.take(size);
  const index = size === 1 ? `u8[${at}]` : `dv.getUint16(${at}, true)`;
  return emitConstant(body, `${body.unit.constant(type.values)}[${index}]`);
}

function emitBranches(body: CodeBody, classes: Classes, type: Branching): string {
  const branch = emitConstant(body, `u8[${body.take(1)}]`);
  body.endRun();
  const value = body.unit.name('x');
  body.line(`let ${value};`);
  type.types.forEach((each, i) => {
    body.line(`${i === 0 ? '' : 'else '}if (${branch} === ${i}) {`);
    const read = emitRead(body, classes, each);
    body.endRun();
    body.line(`${value} = ${read};`);
    body.line('}');
  });
  return value;
}

function emitAbsence(
  body: CodeBody,
  classes: Classes,
  type: Of<'optional' | 'nullable'>,
): { flag: string; value: string } {
  const flag = emitConstant(body, `u8[${body.take(1)}]`);
  body.endRun();
  const value = body.unit.name('x');
  body.line(`let ${value} = ${type.kind === 'optional' ? 'undefined' : 'null'};`);
  body.line(`if (${flag} === ${FLAG_PRESENT}) {`);
  const read = emitRead(body, classes, type.value);
  body.endRun();
  body.line(`${value} = ${read};`);
  body.line('}');
  return { flag, value };
}

interface FieldRead {
  readonly name: string;
  readonly value: string;
  /** The variable that says whether an optional field was there at all. */
  readonly flag: string | undefined;
}

function emitPojo(body: CodeBody, classes: Classes, type: Of<'pojo'>): string {
  const fields = type.fields.map((field) => emitField(body, classes, field));
  const pojoClass = classes.get(type);
  if (pojoClass !== undefined) return emitInstance(body, body.unit.constant(pojoClass), fields);
  // One literal gives all objects one shape. From the first optional field on, fields are added one by one.
  const firstOptional = fields.findIndex((field) => field.flag !== undefined);
  const fixed = firstOptional < 0 ? fields : fields.slice(0, firstOptional);
  const literal = `{ ${fixed.map((field) => `${field.name}: ${field.value}`).join(', ')} }`;
  if (firstOptional < 0) return literal;
  const object = emitConstant(body, literal);
  for (const { name, value, flag } of fields.slice(firstOptional)) {
    body.line(
      `${flag === undefined ? '' : `if (${flag} !== ${FLAG_ABSENT}) `}${object}[${name}] = ${value};`,
    );
  }
  return object;
}

function emitField(body: CodeBody, classes: Classes, field: FieldDescription): FieldRead {
  const name = JSON.stringify(field.name);
  if (field.type.kind === 'optional') return { name, ...emitAbsence(body, classes, field.type) };
  return { name, value: emitRead(body, classes, field.type), flag: undefined };
}

function emitInstance(body: CodeBody, pojoClass: string, fields: readonly FieldRead[]): string {
  const object = emitConstant(body, `new ${pojoClass}()`);
  for (const { name, value, flag } of fields) {
    // A missing field stays missing, unless the constructor gives it a value that was not there.
    const condition =
      flag === undefined ? '' : `if (${flag} !== ${FLAG_ABSENT} || ${object}[${name}] !== undefined) `;
    body.line(`${condition}${object}[${name}] = ${value};`);
  }
  return object;
}

function emitList(body: CodeBody, classes: Classes, type: Of<'list'>): string {
  const length = emitConstant(body, `dv.getUint32(${body.take(4)}, true)`);
  body.endRun();
  const list = emitConstant(body, '[]');
  const i = body.unit.name('i');
  body.line(`for (let ${i} = 0; ${i} < ${length}; ${i}++) {`);
  const element = emitRead(body, classes, type.element);
  body.line(`${list}.push(${element});`);
  body.endRun();
  body.line('}');
  return list;
}

function emitMap(body: CodeBody, classes: Classes, type: Of<'map'>): string {
  const size = emitConstant(body, `dv.getUint32(${body.take(4)}, true)`);
  body.endRun();
  const map = emitConstant(body, 'new Map()');
  const i = body.unit.name('i');
  body.line(`for (let ${i} = 0; ${i} < ${size}; ${i}++) {`);
  const key = emitRead(body, classes, type.key);
  const value = emitRead(body, classes, type.value);
  body.line(`${map}.set(${key}, ${value});`);
  body.endRun();
  body.line('}');
  return map;
}

function emitSet(body: CodeBody, classes: Classes, type: Of<'set'>): string {
  const size = emitConstant(body, `dv.getUint32(${body.take(4)}, true)`);
  body.endRun();
  const set = emitConstant(body, 'new Set()');
  const i = body.unit.name('i');
  body.line(`for (let ${i} = 0; ${i} < ${size}; ${i}++) {`);
  const element = emitRead(body, classes, type.element);
  body.line(`${set}.add(${element});`);
  body.endRun();
  body.line('}');
  return set;
}

function emitRecord(body: CodeBody, classes: Classes, type: Of<'record'>): string {
  const size = emitConstant(body, `dv.getUint32(${body.take(4)}, true)`);
  body.endRun();
  const record = emitConstant(body, '{}');
  const i = body.unit.name('i');
  body.line(`for (let ${i} = 0; ${i} < ${size}; ${i}++) {`);
  const name = emitCall(body, 'readString(view, u8, p)');
  const value = emitRead(body, classes, type.value);
  // Assigning to __proto__ would change the prototype.
  body.line(`if (${name} === '__proto__') defineField(${record}, ${name}, ${value});`);
  body.line(`else ${record}[${name}] = ${value};`);
  body.endRun();
  body.line('}');
  return record;
}

/** Emits the stepping over a value. */
export function emitSkip(body: CodeBody, type: TypeDescription): void {
  const size = fixedSizeOf(type);
  if (size !== undefined) {
    if (size > 0) body.take(size);
    return;
  }
  switch (type.kind) {
    case 'string':
      return emitStep(body, 'skipString(view, p)');
    case 'bytes':
    case 'avro':
    case 'custom':
    case 'typed-array':
      // All begin with their length.
      return emitStep(body, 'skipBytes(view, p)');
    case 'bigint':
      return emitStep(body, 'skipBigInt(view, p)');
    case 'generic':
      return emitStep(body, 'skipValue(view, p)');
    case 'tuple':
      return type.elements.forEach((element) => {
        emitSkip(body, element);
      });
    case 'pojo':
      return type.fields.forEach((field) => {
        emitSkip(body, field.type);
      });
    case 'list':
    case 'set':
      return emitSkipLoop(body, [type.element]);
    case 'record':
      return emitSkipLoop(body, [{ kind: 'string' }, type.value]);
    case 'union':
    case 'either':
      return emitSkipBranches(body, type);
    case 'map':
      return emitSkipLoop(body, [type.key, type.value]);
    case 'optional':
    case 'nullable': {
      const flag = emitConstant(body, `u8[${body.take(1)}]`);
      body.endRun();
      body.line(`if (${flag} === ${FLAG_PRESENT}) {`);
      emitSkip(body, type.value);
      body.endRun();
      return body.line('}');
    }
    default:
      // The other kinds have a fixed size.
      return;
  }
}

function emitStep(body: CodeBody, call: string): void {
  body.endRun();
  body.line(`p = ${call};`);
}

function emitSkipBranches(body: CodeBody, type: Branching): void {
  const branch = emitConstant(body, `u8[${body.take(1)}]`);
  body.endRun();
  type.types.forEach((each, i) => {
    body.line(`${i === 0 ? '' : 'else '}if (${branch} === ${i}) {`);
    emitSkip(body, each);
    body.endRun();
    body.line('}');
  });
}

function emitSkipLoop(body: CodeBody, parts: readonly TypeDescription[]): void {
  const count = emitConstant(body, `dv.getUint32(${body.take(4)}, true)`);
  body.endRun();
  const sizes = parts.map(fixedSizeOf);
  if (sizes.every((size) => size !== undefined)) {
    return body.line(`p += ${count} * ${sizes.reduce((sum, size) => sum + size, 0)};`);
  }
  const i = body.unit.name('i');
  body.line(`for (let ${i} = 0; ${i} < ${count}; ${i}++) {`);
  for (const part of parts) emitSkip(body, part);
  body.endRun();
  body.line('}');
}
