/**
 * Emits the code that copies values without bytes. Strings are shared, which makes copying cheaper than reading.
 *
 * - A value that `decode` gave: the copy is what decoding again would give (TypeSerializer#copy in Flink).
 * - A value that the user gave, which may be anything: the copy is what encoding and decoding would give. Where encoding
 *   would refuse the value, or where it is large, there is no copy.
 *
 * A copy shares nothing with its original that can be changed.
 */
import type { CodeBody } from './code-body.ts';
import { wrongIf } from './emit-write.ts';
import type { PojoClass } from './pojo-class.ts';
import { type FieldDescription, GIVEN_SIZE_MAX, type TypeDescription } from './type-information.ts';

type Of<K extends TypeDescription['kind']> = Extract<TypeDescription, { readonly kind: K }>;
type Origin = 'decoded' | 'given';

/** The parts of a type that values of it are made of; undefined if there is no code that copies its values. */
function partsOf(
  type: TypeDescription,
  classes: ReadonlyMap<TypeDescription, PojoClass>,
): readonly TypeDescription[] | undefined {
  switch (type.kind) {
    case 'string':
    case 'long':
    case 'int':
    case 'double':
    case 'boolean':
    case 'date':
      return [];
    case 'pojo':
      return classes.has(type) ? undefined : type.fields.map((field) => field.type);
    case 'tuple':
      return type.elements;
    case 'list':
    case 'set':
      return [type.element];
    case 'map':
      return [type.key, type.value];
    case 'optional':
    case 'nullable':
      return [type.value];
    default:
      return undefined;
  }
}

/** True if there is code that copies values of the type. */
export function canCopy(type: TypeDescription, classes: ReadonlyMap<TypeDescription, PojoClass>): boolean {
  return partsOf(type, classes)?.every((part) => canCopy(part, classes)) ?? false;
}

/** True for a type that can be copied if that is cheaper than reading: if its values have strings. */
export function isCheaperCopied(
  type: TypeDescription,
  classes: ReadonlyMap<TypeDescription, PojoClass>,
): boolean {
  if (type.kind === 'string') return true;
  return partsOf(type, classes)?.some((part) => isCheaperCopied(part, classes)) ?? false;
}

/** Emits a function's body that returns a copy of `root`; of a given one perhaps undefined. */
export function emitCopy(body: CodeBody, type: TypeDescription, origin: Origin): void {
  if (origin === 'given') body.line('let size = 0;');
  const copy = emitValue(body, type, 'root', origin);
  body.line(`return ${copy};`);
}

/** Emits the copying of the variable `x`; returns an expression for the copy, to be evaluated once. */
function emitValue(body: CodeBody, type: TypeDescription, x: string, origin: Origin): string {
  if (origin === 'given') emitAcceptance(body, type, x);
  switch (type.kind) {
    case 'int':
      // -0 is written as 0.
      return origin === 'given' ? `${x} | 0` : x;
    case 'date':
      return `new Date(${x}.getTime())`;
    case 'pojo':
      return emitPojo(body, type, x, origin);
    case 'tuple':
      return `[${type.elements.map((element, i) => emitPart(body, element, `${x}[${i}]`, origin)).join(', ')}]`;
    case 'list':
      return emitList(body, type, x, origin);
    case 'set':
      return emitElements(body, [type.element], x, origin);
    case 'map':
      return emitElements(body, [type.key, type.value], x, origin);
    case 'optional':
    case 'nullable':
      return emitAbsence(body, type, x, origin);
    default:
      return x;
  }
}

/** Emits the end of the function for what is not of the type, in the words of `encode`, or large. */
function emitAcceptance(body: CodeBody, type: TypeDescription, x: string): void {
  const wrong = wrongIf(type, x);
  if (wrong !== undefined) body.line(`if (${wrong}) return undefined;`);
  const size = type.kind === 'string' ? `${x}.length` : '1';
  body.line(`if ((size += ${size}) > ${GIVEN_SIZE_MAX}) return undefined;`);
}

function emitPart(body: CodeBody, type: TypeDescription, from: string, origin: Origin): string {
  return emitConstant(body, emitValue(body, type, emitConstant(body, from), origin));
}

function emitConstant(body: CodeBody, expression: string): string {
  const x = body.unit.name('x');
  body.line(`const ${x} = ${expression};`);
  return x;
}

function emitAbsence(body: CodeBody, type: Of<'optional' | 'nullable'>, x: string, origin: Origin): string {
  const copy = body.unit.name('x');
  body.line(`let ${copy} = ${x};`);
  body.line(`if (${x} !== ${type.kind === 'optional' ? 'undefined' : 'null'}) {`);
  body.line(`${copy} = ${emitValue(body, type.value, x, origin)};`);
  body.line('}');
  return copy;
}

/** Makes objects in the way of `decode`, so that copies have the shapes of values that were read. */
function emitPojo(body: CodeBody, { fields }: Of<'pojo'>, x: string, origin: Origin): string {
  const values = fields.map(({ name, type }) =>
    emitPart(body, type, `${x}[${JSON.stringify(name)}]`, origin),
  );
  const textOf = ({ name }: FieldDescription, i: number): string => `${JSON.stringify(name)}: ${values[i]}`;
  const firstOptional = fields.findIndex((field) => field.type.kind === 'optional');
  if (firstOptional < 0) return `{ ${fields.map(textOf).join(', ')} }`;
  const copy = emitConstant(body, `{ ${fields.slice(0, firstOptional).map(textOf).join(', ')} }`);
  fields.slice(firstOptional).forEach(({ name, type }, i) => {
    const value = values[firstOptional + i]!;
    const text = JSON.stringify(name);
    // A field that is missing stays missing.
    const condition = type.kind === 'optional' ? `if (${value} !== undefined || ${text} in ${x}) ` : '';
    body.line(`${condition}${copy}[${text}] = ${value};`);
  });
  return copy;
}

function emitList(body: CodeBody, type: Of<'list'>, x: string, origin: Origin): string {
  const copy = emitConstant(body, '[]');
  const length = emitConstant(body, `${x}.length`);
  const i = body.unit.name('i');
  body.line(`for (let ${i} = 0; ${i} < ${length}; ${i}++) {`);
  body.line(`${copy}.push(${emitPart(body, type.element, `${x}[${i}]`, origin)});`);
  body.line('}');
  return copy;
}

/** Sets and maps. */
function emitElements(body: CodeBody, parts: readonly TypeDescription[], x: string, origin: Origin): string {
  const isMap = parts.length > 1;
  const copy = emitConstant(body, isMap ? 'new Map()' : 'new Set()');
  const names = parts.map(() => body.unit.name('x'));
  body.line(`for (const ${isMap ? `[${names.join(', ')}]` : names[0]} of ${x}) {`);
  const copies = parts.map((part, i) => emitConstant(body, emitValue(body, part, names[i]!, origin)));
  body.line(`${copy}.${isMap ? 'set' : 'add'}(${copies.join(', ')});`);
  body.line('}');
  return copy;
}
