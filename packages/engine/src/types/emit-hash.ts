/**
 * Emits the code that computes Java's hashCode of a described key. The rules of composites:
 *
 *     list           31 * h + hash(element), from 1            java.util.List
 *     tuple          31 * h + hash(element), from the first    Flink's Tuple1, Tuple2, ...
 *     pojo, row      31 * h + hash(field), from 1              java.util.Objects.hash(fields in order)
 *     enum           the hash of the value's name              (Java's own is different in every process)
 *     literal        the hash of the value (a number as in an undescribed key)
 *     union, EITHER  the hash of the value as its type has it
 *     custom         what the serializer says; else java.util.Arrays.hashCode of the bytes
 *     null, absent   0
 */
import type { CodeBody, Path } from './code-body.ts';
import { serializerOf } from './custom-type.ts';
import { emitBranch, emitCheck } from './emit-write.ts';
import { hashValue } from './hash-value.ts';
import type { TypeDescription } from './type-information.ts';
import { fieldPath } from './type-mismatch.ts';
import type { Branching } from './union-branches.ts';

/** Emits the hashing of the variable `x`; returns an expression for the result. Types that are not allowed in keys have none. */
export function emitHash(body: CodeBody, type: TypeDescription, x: string, path: Path): string {
  emitCheck(body, type, x, path);
  switch (type.kind) {
    case 'void':
    case 'map':
    case 'set':
    case 'record':
    case 'avro':
    case 'typed-array':
      return '0';
    case 'string':
      return `hashString(${x})`;
    case 'long':
      return `hashLong(${x})`;
    case 'int':
      return `(${x} | 0)`;
    case 'double':
      return `hashDouble(${x})`;
    case 'boolean':
      return `hashBoolean(${x})`;
    case 'bytes':
      return `hashBytes(${x})`;
    case 'bigint':
      return `hashBigInt(${x})`;
    case 'date':
      return `hashDate(${x})`;
    case 'enum':
    case 'literal': {
      const values: readonly unknown[] = type.values;
      const hashes = body.unit.constant(new Map(values.map((value) => [value, hashValue(value)])));
      const h = emitConstant(body, `${hashes}.get(${x})`);
      body.line(`if (${h} === undefined) throw ${body.unit.mismatch(type, x, path)};`);
      return h;
    }
    case 'custom': {
      const h = emitConstant(body, `hashCustom(${body.unit.constant(serializerOf(type))}, ${x})`);
      body.line(`if (${h} === undefined) throw ${body.unit.refusal(type, path)};`);
      return h;
    }
    case 'union':
    case 'either':
      return emitBranches(body, type, x, path);
    case 'generic': {
      const h = emitConstant(body, `hashValue(${x})`);
      body.line(`if (${h} === undefined) throw ${body.unit.refusal(type, path)};`);
      return h;
    }
    case 'optional':
    case 'nullable': {
      const h = body.unit.name('h');
      body.line(`let ${h} = 0;`);
      body.line(`if (${x} !== ${type.kind === 'optional' ? 'undefined' : 'null'}) {`);
      body.line(`${h} = ${emitHash(body, type.value, x, path)};`);
      body.line('}');
      return h;
    }
    case 'list':
      return emitList(body, type.element, x, path);
    case 'tuple':
      return emitMembers(
        body,
        0,
        type.elements.map((element, i) => ({ type: element, from: `${x}[${i}]`, path: [...path, `[${i}]`] })),
      );
    case 'pojo':
      return emitMembers(
        body,
        1,
        type.fields.map(({ name, type: fieldType }) => {
          return { type: fieldType, from: `${x}[${JSON.stringify(name)}]`, path: [...path, fieldPath(name)] };
        }),
      );
  }
}

function emitConstant(body: CodeBody, expression: string): string {
  const x = body.unit.name('h');
  body.line(`const ${x} = ${expression};`);
  return x;
}

function emitBranches(body: CodeBody, type: Branching, x: string, path: Path): string {
  const h = body.unit.name('h');
  const branch = emitBranch(body, type, x, path);
  body.line(`let ${h} = 0;`);
  type.types.forEach((each, i) => {
    body.line(`${i === 0 ? '' : 'else '}if (${branch} === ${i}) {`);
    body.line(`${h} = ${emitHash(body, each, x, path)};`);
    body.line('}');
  });
  return h;
}

function emitList(body: CodeBody, element: TypeDescription, x: string, path: Path): string {
  const h = body.unit.name('h');
  const i = body.unit.name('i');
  const each = body.unit.name('v');
  body.line(`let ${h} = 1;`);
  body.line(`for (let ${i} = 0; ${i} < ${x}.length; ${i}++) {`);
  body.line(`const ${each} = ${x}[${i}];`);
  const hash = emitHash(body, element, each, [...path, { kind: 'index', variable: i }]);
  body.line(`${h} = (Math.imul(31, ${h}) + ${hash}) | 0;`);
  body.line('}');
  return h;
}

interface Member {
  readonly type: TypeDescription;
  readonly from: string;
  readonly path: Path;
}

function emitMembers(body: CodeBody, seed: number, members: readonly Member[]): string {
  const h = body.unit.name('h');
  // 31 * 0 + hash of the first is the hash of the first.
  body.line(`let ${h} = ${seed};`);
  for (const { type, from, path } of members) {
    const each = body.unit.name('v');
    body.line(`const ${each} = ${from};`);
    body.line(`${h} = (Math.imul(31, ${h}) + ${emitHash(body, type, each, path)}) | 0;`);
  }
  return h;
}
