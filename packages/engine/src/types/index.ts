export { ByteView, type NativeBuffer } from './byte-view.ts';
export { murmur } from './hash-code.ts';
export { createKeySerializer } from './key-serializer.ts';
export type { PojoClass } from './pojo-class.ts';
export { defaultValueOf, resolveSchema } from './schema-compatibility.ts';
export type { Convert, SchemaResolution } from './schema-resolution.ts';
export { createSerializer, decodeFromBytes, encodeToBytes } from './serializer.ts';
export { checkTypeDescription, fixedSizeOf, formatType } from './type-description.ts';
export type {
  FieldDescription,
  Infer,
  KeySerializer,
  PrimitiveKind,
  TypeDescription,
  TypeInformation,
  TypeSerializer,
} from './type-information.ts';
export { type FieldTypes, type ObjectOf, type TupleOf, Types } from './types.ts';
export { KEY_TAG_NUMBER, KEY_TAG_STRING } from './value-tags.ts';
