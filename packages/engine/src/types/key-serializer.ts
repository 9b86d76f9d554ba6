/**
 * Serializers of keys: of keyed streams, of map states, of namespaces. Equal keys have equal bytes, and the hash agrees
 * with Flink's for the Java types that correspond (hash-code.ts, emit-hash.ts say to what).
 */
import { generateCode } from '../base/index.ts';
import type { ByteView } from './byte-view.ts';
import { serializerOf } from './custom-type.ts';
import { generateKeyCodec } from './generate-codec.ts';
import { hashNumber, hashString, murmur } from './hash-code.ts';
import { hashValue } from './hash-value.ts';
import { LearnedReader } from './learned-codec.ts';
import { skipValue } from './read-value.ts';
import { typeOrGeneric } from './serializer.ts';
import { writeString } from './string-codec.ts';
import { checkTypeDescription } from './type-check.ts';
import { fixedSizeOf, formatType, invalid } from './type-description.ts';
import type { KeySerializer, TypeDescription, TypeInformation } from './type-information.ts';
import { mismatchError } from './type-mismatch.ts';
import { FULL, takeRefusal } from './value-refusal.ts';
import { KEY_TAG_NUMBER, KEY_TAG_STRING } from './value-tags.ts';
import { writeKeyNumber, writeValue } from './write-value.ts';

/**
 * Makes a key serializer for one place of use, such as `key of operator 'count'`. Throws TYPE_INVALID if the
 * description is not allowed for keys (maps have no order to compare by, the hash of Avro is not defined).
 *
 * Described keys: encode and hash throw TYPE_MISMATCH for a key of another type; a key of an OPTIONAL or NULLABLE type
 * may be undefined or null. Undescribed keys: they throw KEY_NOT_ALLOWED for undefined and null (within a key both are
 * allowed, and differ) and for what is not data: functions, symbols, promises, class instances, cycles.
 */
export function createKeySerializer<K>(
  type: TypeInformation<K> | undefined,
  usedBy: string,
): KeySerializer<K> {
  const known = typeOrGeneric(type);
  const { description } = known;
  checkTypeDescription(description, usedBy);
  checkKeyType(description, usedBy);
  if (description.kind === 'generic') return undescribedKeySerializer(usedBy);
  const { encode, decode, skip, hash } = generateKeyCodec(known, usedBy);
  const shortcut = shortcutOf(description);
  return {
    description,
    fixedSizeBytes: shortcut === 'number' ? 8 : fixedSizeOf(description),
    encode,
    decode,
    skip,
    hash,
    shortcut,
  };
}

function shortcutOf(type: TypeDescription): 'string' | 'number' | 'none' {
  switch (type.kind) {
    case 'string':
      return 'string';
    case 'int':
    case 'long':
    case 'double':
      return 'number';
    default:
      return 'none';
  }
}

function checkKeyType(type: TypeDescription, at: string): void {
  switch (type.kind) {
    case 'map':
    case 'record':
    case 'set':
      throw invalid(
        at,
        `a ${type.kind.toUpperCase()} cannot be (part of) a key: describe a LIST of what it holds in a fixed order`,
      );
    case 'typed-array':
      throw invalid(at, 'a TYPED_ARRAY cannot be (part of) a key: describe a LIST of its numbers, or BYTES');
    case 'custom':
      return checkCustomKey(type, at);
    case 'union':
    case 'either':
      return type.types.forEach((each) => {
        checkKeyType(each, at);
      });
    case 'avro':
      throw invalid(
        at,
        'an AVRO type cannot be (part of) a key, its hash is not defined: describe the fields of the key by Types.ROW',
      );
    case 'list':
      return checkKeyType(type.element, at);
    case 'tuple':
      return type.elements.forEach((element) => {
        checkKeyType(element, at);
      });
    case 'pojo':
      return type.fields.forEach((field) => {
        checkKeyType(field.type, `${at}, field ${field.name}`);
      });
    case 'optional':
    case 'nullable':
      return checkKeyType(type.value, at);
    default:
      return;
  }
}

function checkCustomKey(type: TypeDescription, at: string): void {
  const serializer = serializerOf(type);
  if (serializer === undefined || serializer.canonical === true) return;
  throw invalid(
    at,
    `${formatType(type)} cannot be (part of) a key: keys are compared by their bytes. If equal values are always written as equal bytes, say so by canonical: true`,
  );
}

/**
 * Strings and numbers, which are most keys, are written and hashed by code that is generated for the place of use; the
 * general codec serves all others.
 */
function undescribedKeySerializer<K>(usedBy: string): KeySerializer<K> {
  const { encode, hash } = generateCode<Pick<KeySerializer<K>, 'encode' | 'hash'>>(
    `key codec of ${usedBy}`,
    { hashNumber, hashString, murmur, writeKeyNumber, writeString, ...otherKeys(usedBy) },
    UNDESCRIBED_KEYS,
  );
  const reader = new LearnedReader(usedBy);
  return {
    description: { kind: 'generic' },
    fixedSizeBytes: undefined,
    shortcut: 'tagged',
    encode,
    hash,
    decode(view: ByteView): K {
      return reader.read(view, view.pos) as K;
    },
    skip(view: ByteView): void {
      view.pos = skipValue(view, view.pos);
    },
  };
}

const UNDESCRIBED_KEYS = `return {
encode(view, key) {
const p = view.pos, limit = view.limit;
if (typeof key === 'string') {
if (p >= limit) return false;
view.u8[p] = ${KEY_TAG_STRING};
const end = writeString(view, view.u8, key, p + 1, limit);
if (end < 0) return false;
view.pos = end;
return true;
}
if (typeof key === 'number') {
if (p + 9 > limit) return false;
view.u8[p] = ${KEY_TAG_NUMBER};
writeKeyNumber(view.dv, p + 1, key);
view.pos = p + 9;
return true;
}
return encodeOther(view, key);
},
hash(key) {
if (typeof key === 'string') return murmur(hashString(key));
if (typeof key === 'number') return murmur(hashNumber(key));
return hashOther(key);
}
};`;

/** Encodes and hashes keys that are neither strings nor numbers. */
function otherKeys(usedBy: string): {
  encodeOther: (view: ByteView, key: unknown) => boolean;
  hashOther: (key: unknown) => number;
} {
  const notAllowed = (): Error => {
    const { path, found, advice } = takeRefusal();
    return mismatchError('KEY_NOT_ALLOWED', {
      usedBy,
      path: `the key${path}`,
      expected: 'plain data',
      found,
      advice,
    });
  };
  const notThere = (key: unknown): Error => {
    const advice = 'A key selector must return a value; check the name of the field that it reads';
    return mismatchError('KEY_NOT_ALLOWED', {
      usedBy,
      path: 'the key',
      expected: 'a value',
      found: String(key),
      advice,
    });
  };
  return {
    encodeOther(view, key) {
      if (key === undefined || key === null) throw notThere(key);
      const end = writeValue(view, key, view.pos, view.limit, true);
      if (end >= 0) {
        view.pos = end;
        return true;
      }
      if (end === FULL) return false;
      throw notAllowed();
    },
    hashOther(key) {
      if (key === undefined || key === null) throw notThere(key);
      const hash = hashValue(key);
      if (hash === undefined) throw notAllowed();
      return murmur(hash);
    },
  };
}
