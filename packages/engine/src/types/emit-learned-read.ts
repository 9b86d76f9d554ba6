/**
 * Emits the code that reads undescribed values of a learned shape: it compares the bytes with those that such a value has
 * in the general encoding (read-value.ts), and makes the value. Called by learned-codec.ts when a place has learned one.
 *
 * Bytes of anything else are left to the general codec, which is asked from the start.
 *
 * Invariants:
 * I1 What the code takes it reads as the general codec would. So all bytes that are not values are compared, and each
 *    object and array must end where its length says.
 * I2 Nothing is read beyond the buffer.
 */
import { generateCode } from '../base/index.ts';
import { readBigInt } from './binary-codec.ts';
import type { ByteView } from './byte-view.ts';
import type { LearnedPlace } from './emit-learned-write.ts';
import { readValue } from './read-value.ts';
import { readString } from './string-codec.ts';
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
  TAG_HOLE,
  TAG_NULL,
  TAG_NUMBER,
  TAG_OBJECT,
  TAG_STRING,
  TAG_TRUE,
  TAG_UNDEFINED,
} from './value-tags.ts';

/** Reads the value at `p` and sets `view.pos` behind it; see readValue. */
export type ReadUndescribed = (view: ByteView, p: number) => unknown;

/** Makes the reader of a shape. What it does not take goes to `missed`, whose answer is the reader's. */
export function compileLearnedReader(
  what: string,
  shape: ValueShape,
  place: LearnedPlace,
  missed: ReadUndescribed,
): ReadUndescribed {
  const code = new TemplateCode('read');
  code.miss = 'break known;';
  const value = emitValue(code, shape);
  code.endRun();
  const source = `return function readLearned(view, start) {
const u8 = view.u8, dv = view.dv;
let p = start;
known: {
${code.text()}
view.pos = p;
place.hits++;
return ${value};
}
return missed(view, start);
};`;
  return generateCode(`reader of ${what}`, { readBigInt, readString, readValue, place, missed }, source);
}

/** Emits the reading of a value; returns an expression for it that may be evaluated once, behind the run. */
function emitValue(code: TemplateCode, shape: ValueShape): string {
  const { simple, objects, element, others } = shape;
  if (!others && element === undefined && simple.length + objects.length === 1) {
    return objects.length === 1 ? emitObject(code, objects[0]!) : emitSimple(code, simple[0]!);
  }
  code.endRun();
  const x = code.name('x');
  const tag = code.name('t');
  const done = code.name('done');
  const take = (expression: string) => {
    code.endRun();
    code.line(`${x} = ${expression};\nbreak ${done};`);
  };
  code.line(`let ${x};\n${done}: { const ${tag} = u8[p];`);
  for (const kind of simple) {
    code.line(`if (${testOf(kind, tag)}) {`);
    take(emitSimple(code, kind));
    code.line('}');
  }
  if (objects.length > 0) {
    code.line(`if (${tag} === ${TAG_OBJECT}) {`);
    for (const object of objects) code.attempt(() => take(emitObject(code, object)));
    code.line('}');
  }
  if (element !== undefined) {
    code.line(`if (${tag} === ${TAG_ARRAY}) {`);
    code.attempt(() => take(emitArray(code, element)));
    code.line('}');
  }
  code.line(others ? `${x} = readValue(view, p);\np = view.pos;` : code.miss);
  code.line('}');
  return x;
}

function testOf(kind: SimpleKind, tag: string): string {
  return kind === 'boolean'
    ? `${tag} === ${TAG_FALSE} || ${tag} === ${TAG_TRUE}`
    : `${tag} === ${TAGS[kind]}`;
}

const TAGS = {
  number: TAG_NUMBER,
  string: TAG_STRING,
  null: TAG_NULL,
  undefined: TAG_UNDEFINED,
  bigint: TAG_BIGINT,
  date: TAG_DATE,
} as const;

function emitSimple(code: TemplateCode, kind: SimpleKind): string {
  if (kind === 'boolean') return emitBoolean(code);
  code.bytes([TAGS[kind]]);
  switch (kind) {
    case 'null':
    case 'undefined':
      return kind;
    case 'string':
      return emitCall(code, 'readString(view, u8, p)');
    case 'bigint':
      return emitCall(code, 'readBigInt(view, p)');
    case 'number':
    case 'date': {
      const x = code.name('x');
      code.value(8, (at) => `const ${x} = dv.getFloat64(${at}, true);`);
      return kind === 'number' ? x : `new Date(${x})`;
    }
  }
}

function emitBoolean(code: TemplateCode): string {
  const x = code.name('x');
  const { miss } = code;
  code.value(
    1,
    (at) => `const ${x} = u8[${at}] === ${TAG_TRUE};\nif (!${x} && u8[${at}] !== ${TAG_FALSE}) ${miss}`,
  );
  return x;
}

function emitCall(code: TemplateCode, call: string): string {
  code.endRun();
  const x = code.name('x');
  code.line(`const ${x} = ${call};\np = view.pos;`);
  return x;
}

function emitObject(code: TemplateCode, shape: ObjectShape): string {
  const { names, values } = shape;
  const size = encodedObjectSizeOf(shape);
  code.bytes([TAG_OBJECT]);
  const end = size === undefined ? emitLength(code) : undefined;
  if (size !== undefined) code.uint32(size - HEAD_BYTES);
  const fields = names.map((name, i) => {
    code.bytes(encodedName(name));
    return `${JSON.stringify(name)}: ${emitValue(code, values[i]!)}`;
  });
  if (end !== undefined) emitEnd(code, end);
  return `{ ${fields.join(', ')} }`;
}

/** Emits the reading of a length; returns the variable that holds the position behind what has it. */
function emitLength(code: TemplateCode): string {
  const end = code.name('e');
  code.value(4, (at) => `const ${end} = ${at} + 4 + dv.getInt32(${at}, true);`);
  return end;
}

/** Equal names and kinds may still be grouped in another way: what has parts ends where it says. */
function emitEnd(code: TemplateCode, end: string): void {
  code.endRun();
  code.line(`if (p !== ${end}) ${code.miss}`);
}

function emitArray(code: TemplateCode, element: ValueShape): string {
  code.bytes([TAG_ARRAY]);
  const end = emitLength(code);
  code.endRun();
  const array = code.name('a');
  code.line(`const ${array} = [];\nwhile (p < ${end}) {`);
  if (element.others) code.line(`if (u8[p] === ${TAG_HOLE}) ${code.miss}`);
  const value = emitValue(code, element);
  code.endRun();
  code.line(`${array}.push(${value});\n}`);
  emitEnd(code, end);
  return array;
}
