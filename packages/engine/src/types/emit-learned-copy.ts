/**
 * Emits the code that copies undescribed values of a learned shape without bytes, as emit-copy.ts does for declared types: a
 * copy is what the general codec makes of the value when it writes and reads it. Called by learned-codec.ts.
 *
 * The function answers undefined for a value that is of another shape, that is large, or that has parts whose size is not
 * seen. Such a value is to be written: then it is counted, and refused if it is no data.
 *
 * Invariants:
 * I1 What the code takes, the code that writes takes as well: it makes the same checks.
 */
import { generateCode } from '../base/index.ts';
import { emitNamesCheck, isPlain, type LearnedPlace, SHAPE_CHECKS, testOf } from './emit-learned-write.ts';
import { TemplateCode } from './template-code.ts';
import { GIVEN_SIZE_MAX } from './type-information.ts';
import type { ObjectShape, SimpleKind, ValueShape } from './value-shape.ts';

/** Copies `value`, or answers undefined. */
export type CopyUndescribed = (value: unknown) => unknown;

/** Makes the function for a shape. */
export function compileLearnedCopier(what: string, shape: ValueShape, place: LearnedPlace): CopyUndescribed {
  const code = new TemplateCode('read');
  code.miss = 'return undefined;';
  const copy = emitValue(code, shape, 'value');
  // Where the code of a reader has its position, this has the size of what was copied.
  const source = `return function copyLearned(value) {
let p = 0;
${code.text()}
place.hits++;
return ${copy};
};`;
  return generateCode(`copier of ${what}`, { ...SHAPE_CHECKS, place }, source);
}

/** Emits the copying of the variable `x`; returns an expression for the copy, to be evaluated once. */
function emitValue(code: TemplateCode, shape: ValueShape, x: string): string {
  const { simple, objects, element, others } = shape;
  if (!others && element === undefined && simple.length + objects.length === 1) {
    const [kind] = simple;
    code.line(`if (!(${kind === undefined ? isPlain(x) : testOf(kind, x)})) ${code.miss}`);
    return kind === undefined ? emitObject(code, objects[0]!, x) : emitSimple(code, kind, x);
  }
  const copy = code.name('x');
  const done = code.name('done');
  const take = (expression: string) => code.line(`${copy} = ${expression};\nbreak ${done};`);
  code.line(`let ${copy};\n${done}: {`);
  for (const kind of simple) {
    code.line(`if (${testOf(kind, x)}) {`);
    take(emitSimple(code, kind, x));
    code.line('}');
  }
  if (objects.length > 0) {
    code.line(`if (${isPlain(x)}) {`);
    for (const object of objects) code.attempt(() => take(emitObject(code, object, x)));
    code.line('}');
  }
  if (element !== undefined) {
    code.line(`if (isArray(${x}) && prototypeOf(${x}) === arrayPrototype) {`);
    code.attempt(() => take(emitArray(code, element, x)));
    code.line('}');
  }
  code.line(`${code.miss}\n}`);
  return copy;
}

function emitSimple(code: TemplateCode, kind: SimpleKind, x: string): string {
  switch (kind) {
    case 'date':
      return `new Date(${x}.getTime())`;
    case 'string':
      emitSize(code, `${x}.length`);
      return x;
    case 'bigint':
      code.line(code.miss);
      return x;
    default:
      return x;
  }
}

function emitSize(code: TemplateCode, size: string): void {
  code.line(`if ((p += ${size}) > ${GIVEN_SIZE_MAX}) ${code.miss}`);
}

function emitObject(code: TemplateCode, { names, values }: ObjectShape, x: string): string {
  emitNamesCheck(code, names, x);
  emitSize(code, `${names.length + 1}`);
  const fields = names.map((each, i) => {
    const name = JSON.stringify(each);
    return `${name}: ${emitConstant(code, emitValue(code, values[i]!, emitConstant(code, `${x}[${name}]`)))}`;
  });
  return `{ ${fields.join(', ')} }`;
}

function emitConstant(code: TemplateCode, expression: string): string {
  const name = code.name('v');
  code.line(`const ${name} = ${expression};`);
  return name;
}

function emitArray(code: TemplateCode, element: ValueShape, x: string): string {
  const copy = emitConstant(code, '[]');
  const i = code.name('i');
  code.line(`for (let ${i} = 0; ${i} < ${x}.length; ${i}++) {`);
  emitSize(code, '1');
  const value = emitConstant(code, `${x}[${i}]`);
  // A hole, or undefined: only the general codec tells them apart.
  code.line(`if (${value} === undefined) ${code.miss}`);
  code.line(`${copy}.push(${emitValue(code, element, value)});\n}`);
  return copy;
}
