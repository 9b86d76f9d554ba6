export { ByteView, type NativeBuffer } from './byte-view.ts';
export type { CustomSerializer, SerializerCompatibility } from './custom-type.ts';
export type { DataInput } from './data-input.ts';
export type { DataOutput } from './data-output.ts';
export { defaultValueOf } from './default-value.ts';
export { murmur } from './hash-code.ts';
export { createKeySerializer } from './key-serializer.ts';
export type { PojoClass } from './pojo-class.ts';
export { resolveSchema } from './schema-compatibility.ts';
export type { Convert, SchemaResolution } from './schema-resolution.ts';
export { createSerializer, decodeFromBytes, encodeToBytes } from './serializer.ts';
export {
  type SchemaOutput,
  type StandardSchemaV1,
  type StandardTypedV1,
  validated,
} from './standard-schema.ts';
export { checkTypeDescription } from './type-check.ts';
export { fixedSizeOf, formatType } from './type-description.ts';
export type { FieldTypes, ObjectOf, TupleOf } from './type-factories.ts';
export type {
  FieldDescription,
  Infer,
  KeySerializer,
  LiteralValue,
  PrimitiveKind,
  TypeDescription,
  TypeInformation,
  TypeSerializer,
} from './type-information.ts';
export { Types } from './types.ts';
export { branchesByTag } from './union-branches.ts';
export { KEY_TAG_NUMBER, KEY_TAG_STRING } from './value-tags.ts';
