/**
 * Makes the functions of one serializer from the description of its type, as text. Called once for each place
 * of use: V8 keeps type feedback by source text, so that two places that shared code would share (and spoil) it. A
 * number in a comment makes each text unique.
 */
import { generateCode } from '../base/index.ts';
import { readAvro, writeAvro } from './avro-codec.ts';
import {
  readBigInt,
  readBytes,
  readTypedArray,
  skipBigInt,
  skipBytes,
  writeBigInt,
  writeBytes,
  writeTypedArray,
} from './binary-codec.ts';
import type { ByteView } from './byte-view.ts';
import { CodeBody, CodeUnit, type MismatchSite } from './code-body.ts';
import { hashCustom, readCustom, writeCustom } from './custom-codec.ts';
import { canCopy, emitCopy, isCheaperCopied } from './emit-copy.ts';
import { emitHash } from './emit-hash.ts';
import { emitRead, emitSkip } from './emit-read.ts';
import { emitCheck, emitWrite, type WriteMode } from './emit-write.ts';
import {
  hashBigInt,
  hashBoolean,
  hashBytes,
  hashDate,
  hashDouble,
  hashLong,
  hashString,
  murmur,
} from './hash-code.ts';
import { hashValue } from './hash-value.ts';
import { kindOf } from './js-kind.ts';
import type { PojoClass } from './pojo-class.ts';
import { defineField, skipValue } from './read-value.ts';
import { readString, skipString, writeString } from './string-codec.ts';
import type { TypeDescription, TypeInformation, TypeSerializer } from './type-information.ts';
import { entryPath, mismatchError, rootPath, typeMismatch } from './type-mismatch.ts';
import { takeRefusal } from './value-refusal.ts';
import { writeKeyNumber, writeValue } from './write-value.ts';

/** What generated code calls, by the name under which it calls it. */
const LIBRARY = {
  defineField,
  hashBigInt,
  hashBoolean,
  hashBytes,
  hashCustom,
  hashDate,
  hashDouble,
  hashLong,
  hashString,
  hashValue,
  kindOf,
  murmur,
  readAvro,
  readBigInt,
  readBytes,
  readCustom,
  readString,
  readTypedArray,
  skipBigInt,
  skipBytes,
  skipString,
  skipValue,
  writeAvro,
  writeBigInt,
  writeBytes,
  writeCustom,
  writeKeyNumber,
  writeString,
  writeTypedArray,
  writeValue,
};

/** The generated functions: those of TypeSerializer and, for keys, `hash`. */
export interface GeneratedCodec<T> {
  encode(view: ByteView, value: T): boolean;
  decode(view: ByteView): T;
  skip(view: ByteView): void;
  /** Murmur of Java's hashCode. */
  hash(value: T): number;
  /** Those that only some types have. */
  readonly copies: Pick<TypeSerializer<T>, 'copy' | 'copyGiven'>;
}

/** Generates for values: they come back as they were. */
export function generateValueCodec<T>(type: TypeInformation<T>, usedBy: string): GeneratedCodec<T> {
  return generate(type, type.description, { canonical: false }, usedBy);
}

/** Generates for keys: equal keys have equal bytes. An INT key is written as a float64, as all numbers are. */
export function generateKeyCodec<K>(type: TypeInformation<K>, usedBy: string): GeneratedCodec<K> {
  const wire: TypeDescription = type.description.kind === 'int' ? { kind: 'long' } : type.description;
  return generate(type, wire, { canonical: true }, usedBy);
}

/** The text of a codec, and what it refers to. */
interface CodecText {
  readonly source: string;
  readonly unit: CodeUnit;
}

/** By type: subtasks, and attempts of one job, ask for the same again and again. */
const valueTexts = new WeakMap<TypeInformation<unknown>, CodecText>();
const keyTexts = new WeakMap<TypeInformation<unknown>, CodecText>();

function textOf(type: TypeInformation<unknown>, wire: TypeDescription, mode: WriteMode): CodecText {
  const texts = mode.canonical ? keyTexts : valueTexts;
  let text = texts.get(type);
  if (text === undefined) texts.set(type, (text = writeText(type, wire, mode)));
  return text;
}

function writeText(type: TypeInformation<unknown>, wire: TypeDescription, mode: WriteMode): CodecText {
  const unit = new CodeUnit();
  const classes = type.classes ?? new Map();
  const source = `const { ${Object.keys(LIBRARY).join(', ')} } = library;
return {
${encodeSource(unit, type.description, wire, mode)},
${decodeSource(unit, wire, classes)},
${skipSource(unit, wire)},
${mode.canonical ? hashSource(unit, type.description) : 'hash() { return 0; }'},
copies: {${mode.canonical ? '' : copiesSource(unit, wire, classes)}}
};`;
  return { source, unit };
}

function generate<T>(
  type: TypeInformation<T>,
  wire: TypeDescription,
  mode: WriteMode,
  usedBy: string,
): GeneratedCodec<T> {
  const { source, unit } = textOf(type, wire, mode);
  const root = rootPath(type.description);
  return generateCode(
    `codec of ${usedBy}`,
    {
      library: LIBRARY,
      constants: unit.constantsOf(usedBy),
      usedBy,
      mismatch: (site: number, found: unknown, value: unknown, ...steps: unknown[]): Error => {
        const { path, expected } = unit.sites[site]!;
        return typeMismatch(usedBy, root + pathText(path, steps), expected, found, value);
      },
      refusal: (site: number, _value: unknown, ...steps: unknown[]): Error => {
        const { path, expected, found, advice } = takeRefusal();
        const where = root + pathText(unit.sites[site]!.path, steps) + path;
        const code = mode.canonical ? 'KEY_NOT_ALLOWED' : 'TYPE_MISMATCH';
        return mismatchError(code, { usedBy, path: where, expected, found, advice });
      },
    },
    source,
  );
}

function encodeSource(unit: CodeUnit, type: TypeDescription, wire: TypeDescription, mode: WriteMode): string {
  const body = new CodeBody(unit, { bounded: true });
  if (wire !== type) emitCheck(body, type, 'root', []);
  emitWrite(body, mode, wire, 'root', []);
  body.endRun();
  return `encode(view, root) {
const u8 = view.u8, dv = view.dv, limit = view.limit;
let p = view.pos;
${body.text()}
view.pos = p;
return true;
}`;
}

function decodeSource(
  unit: CodeUnit,
  wire: TypeDescription,
  classes: ReadonlyMap<TypeDescription, PojoClass>,
): string {
  const body = new CodeBody(unit, { bounded: false });
  const value = emitRead(body, classes, wire);
  body.endRun();
  return `decode(view) {
const u8 = view.u8, dv = view.dv;
let p = view.pos;
${body.text()}
view.pos = p;
return ${value};
}`;
}

function skipSource(unit: CodeUnit, wire: TypeDescription): string {
  const body = new CodeBody(unit, { bounded: false });
  emitSkip(body, wire);
  body.endRun();
  return `skip(view) {
const u8 = view.u8, dv = view.dv;
let p = view.pos;
${body.text()}
view.pos = p;
}`;
}

function copiesSource(
  unit: CodeUnit,
  wire: TypeDescription,
  classes: ReadonlyMap<TypeDescription, PojoClass>,
): string {
  if (wire.kind === 'generic') return `copyGiven(root) { return ${unit.undescribed}.copy(root); }`;
  if (!canCopy(wire, classes)) return '';
  const given = new CodeBody(unit, { bounded: false });
  emitCopy(given, wire, 'given');
  const copyGiven = `copyGiven(root) {
${given.text()}
}`;
  if (!isCheaperCopied(wire, classes)) return copyGiven;
  const decoded = new CodeBody(unit, { bounded: false });
  emitCopy(decoded, wire, 'decoded');
  return `${copyGiven},
copy(root) {
${decoded.text()}
}`;
}

function hashSource(unit: CodeUnit, type: TypeDescription): string {
  const body = new CodeBody(unit, { bounded: false });
  const hash = emitHash(body, type, 'root', []);
  return `hash(root) {
${body.text()}
return murmur(${hash});
}`;
}

function pathText(path: MismatchSite['path'], steps: readonly unknown[]): string {
  let next = 0;
  let text = '';
  for (const step of path) {
    if (typeof step === 'string') text += step;
    else text += step.kind === 'index' ? `[${steps[next++]}]` : entryPath(steps[next++]);
  }
  return text;
}
