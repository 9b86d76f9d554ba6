/**
 * Emits the code that writes undescribed values of a learned shape: the bytes of the general encoding (write-value.ts),
 * from values that it makes sure to be of the shape. Called by learned-codec.ts when a place has learned one.
 *
 * The function answers the position behind the value, or MISSED: the value is of another shape, is to be refused, or does
 * not fit below the limit. Which of them it is the general codec says, which is asked again from the start.
 *
 * Invariants:
 * I1 What the code takes it writes as the general codec would. So a plain object has exactly the names of its shape, in
 *    their order, none named by a symbol; other arrays and objects are not taken; an element that is undefined is not.
 * I2 Nothing is written at or beyond the limit.
 */
import { generateCode } from '../base/index.ts';
import { writeBigInt } from './binary-codec.ts';
import type { ByteView } from './byte-view.ts';
import { writeString } from './string-codec.ts';
import { TemplateCode } from './template-code.ts';
import {
  encodedName,
  encodedObjectSizeOf,
  type ObjectShape,
  type SimpleKind,
  type ValueShape,
} from './value-shape.ts';
import {
  HEAD_BYTES,
  TAG_ARRAY,
  TAG_BIGINT,
  TAG_DATE,
  TAG_FALSE,
  TAG_NULL,
  TAG_NUMBER,
  TAG_OBJECT,
  TAG_STRING,
  TAG_TRUE,
  TAG_UNDEFINED,
} from './value-tags.ts';
import { writePart } from './write-value.ts';

/** Writes `value` at `p`; see writeValue. */
export type WriteUndescribed = (view: ByteView, value: unknown, p: number, limit: number) => number;

/** What code of a shape is connected with. */
export interface LearnedPlace {
  /** Values that the code took. */
  hits: number;
}

/** What the checks of a shape refer to. */
export const SHAPE_CHECKS = {
  arrayPrototype: Array.prototype,
  datePrototype: Date.prototype,
  objectPrototype: Object.prototype,
  isArray: Array.isArray,
  prototypeOf: Object.getPrototypeOf,
  symbolsOf: Object.getOwnPropertySymbols,
};

const BINDINGS = {
  ...SHAPE_CHECKS,
  writeBigInt,
  writePart,
  writeString,
};

/** Makes the writer of a shape. What it does not take goes to `missed`, whose answer is the writer's. */
export function compileLearnedWriter(
  what: string,
  shape: ValueShape,
  place: LearnedPlace,
  missed: WriteUndescribed,
): WriteUndescribed {
  const code = new TemplateCode('write');
  code.miss = 'break known;';
  emitValue(code, shape, 'value', 0);
  code.endRun();
  const source = `return function writeLearned(view, value, start, limit) {
const u8 = view.u8, dv = view.dv;
let p = start;
known: {
${code.text()}
place.hits++;
return p;
}
return missed(view, value, start, limit);
};`;
  return generateCode(`writer of ${what}`, { ...BINDINGS, place, missed }, source);
}

/** Emits the writing of the variable `x`, which lies `depth` deep. */
function emitValue(code: TemplateCode, shape: ValueShape, x: string, depth: number): void {
  const { simple, objects, element, others } = shape;
  const [onlySimple, onlyObject] = [simple[0], objects[0]];
  if (!others && element === undefined && simple.length + objects.length === 1) {
    if (onlySimple !== undefined) return emitOnlySimple(code, onlySimple, x);
    code.line(`if (!(${isPlain(x)})) ${code.miss}`);
    return emitObject(code, onlyObject!, x, depth);
  }
  code.endRun();
  const done = code.name('done');
  const taken = () => {
    code.endRun();
    code.line(`break ${done};`);
  };
  code.line(`${done}: {`);
  for (const kind of simple) {
    code.line(`if (${testOf(kind, x)}) {`);
    emitSimple(code, kind, x);
    taken();
    code.line('}');
  }
  if (objects.length > 0) {
    code.line(`if (${isPlain(x)}) {`);
    for (const object of objects) {
      code.attempt(() => {
        emitObject(code, object, x, depth);
        taken();
      });
    }
    code.line('}');
  }
  if (element !== undefined) {
    code.line(`if (isArray(${x}) && prototypeOf(${x}) === arrayPrototype) {`);
    code.attempt(() => {
      emitArray(code, element, x, depth);
      taken();
    });
    code.line('}');
  }
  if (others) code.line(`p = writePart(view, ${x}, p, limit, ${depth});\nif (p < 0) ${code.miss}`);
  else code.line(code.miss);
  code.line('}');
}

function emitOnlySimple(code: TemplateCode, kind: SimpleKind, x: string): void {
  code.line(`if (!(${testOf(kind, x)})) ${code.miss}`);
  emitSimple(code, kind, x);
}

/** The condition that `x` is an object as literals make them. */
export function isPlain(x: string): string {
  return `typeof ${x} === 'object' && ${x} !== null && prototypeOf(${x}) === objectPrototype`;
}

/** The condition that `x` is of the kind. */
export function testOf(kind: SimpleKind, x: string): string {
  if (kind === 'null' || kind === 'undefined') return `${x} === ${kind}`;
  if (kind !== 'date') return `typeof ${x} === '${kind}'`;
  return `typeof ${x} === 'object' && ${x} !== null && prototypeOf(${x}) === datePrototype`;
}

function emitSimple(code: TemplateCode, kind: SimpleKind, x: string): void {
  switch (kind) {
    case 'number':
      code.bytes([TAG_NUMBER]);
      return code.value(8, (at) => `dv.setFloat64(${at}, ${x}, true);`);
    case 'date':
      code.bytes([TAG_DATE]);
      return code.value(8, (at) => `dv.setFloat64(${at}, ${x}.getTime(), true);`);
    case 'boolean':
      return code.value(1, (at) => `u8[${at}] = ${x} ? ${TAG_TRUE} : ${TAG_FALSE};`);
    case 'null':
      return code.bytes([TAG_NULL]);
    case 'undefined':
      return code.bytes([TAG_UNDEFINED]);
    case 'string':
      code.bytes([TAG_STRING]);
      return emitCall(code, `writeString(view, u8, ${x}, p, limit)`);
    case 'bigint':
      code.bytes([TAG_BIGINT]);
      return emitCall(code, `writeBigInt(view, ${x}, p, limit)`);
  }
}

function emitCall(code: TemplateCode, call: string): void {
  code.endRun();
  code.line(`p = ${call};\nif (p < 0) ${code.miss}`);
}

/** Emits the writing of a plain object: checked to be one, its names are not. */
function emitObject(code: TemplateCode, shape: ObjectShape, x: string, depth: number): void {
  const { names, values } = shape;
  emitNamesCheck(code, names, x);
  const size = encodedObjectSizeOf(shape);
  const finish = size === undefined ? emitHead(code, TAG_OBJECT) : undefined;
  if (size !== undefined) {
    code.bytes([TAG_OBJECT]);
    code.uint32(size - HEAD_BYTES);
  }
  for (const [i, name] of names.entries()) {
    const value = code.name('v');
    code.line(`const ${value} = ${x}[${JSON.stringify(name)}];`);
    code.bytes(encodedName(name));
    emitValue(code, values[i]!, value, depth + 1);
  }
  finish?.();
}

/** A loop over what V8 keeps for the hidden class is the cheapest way to see all names in their order. */
export function emitNamesCheck(code: TemplateCode, names: readonly string[], x: string): void {
  const n = code.name('n');
  const name = code.name('k');
  const cases = names.map(
    (each, i) => `case ${i}: if (${name} !== ${JSON.stringify(each)}) ${code.miss} break;`,
  );
  code.line(`if (symbolsOf(${x}).length !== 0) ${code.miss}`);
  code.line(`let ${n} = 0;`);
  code.line(`for (const ${name} in ${x}) switch (${n}++) {\n${cases.join('\n')}\ndefault: ${code.miss}\n}`);
  code.line(`if (${n} !== ${names.length}) ${code.miss}`);
}

/** Emits tag and length; the length is written by what is returned, which emits the end of the contents. */
function emitHead(code: TemplateCode, tag: number): () => void {
  const start = code.name('s');
  code.bytes([tag]);
  code.value(4, (at) => `const ${start} = ${at};`);
  return () => {
    code.endRun();
    code.line(`dv.setInt32(${start}, p - ${start} - 4, true);`);
  };
}

function emitArray(code: TemplateCode, element: ValueShape, x: string, depth: number): void {
  const finish = emitHead(code, TAG_ARRAY);
  code.endRun();
  const i = code.name('i');
  const value = code.name('v');
  code.line(`for (let ${i} = 0; ${i} < ${x}.length; ${i}++) {`);
  code.line(`const ${value} = ${x}[${i}];`);
  code.line(`if (${value} === undefined) ${code.miss}`);
  emitValue(code, element, value, depth + 1);
  code.endRun();
  code.line('}');
  finish();
}
