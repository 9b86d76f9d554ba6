/** Types of the schemas of validators: Types.SCHEMA and Types.JSON_SCHEMA, typed by what the schema gives. */
import { typeOfJsonSchema } from './json-schema.ts';
import { shapeOf } from './schema-shape.ts';
import type { SchemaOutput, StandardTypedV1 } from './standard-schema.ts';
import type { TypeInformation } from './type-information.ts';

/** See Types.SCHEMA. */
export function schemaType<S extends StandardTypedV1>(
  schema: S,
  jsonSchema?: object,
): TypeInformation<SchemaOutput<S>> {
  const at = 'Types.SCHEMA';
  return typeOfJsonSchema(jsonSchema ?? shapeOf(schema, at), at) as TypeInformation<SchemaOutput<S>>;
}

/** See Types.JSON_SCHEMA. */
export function jsonSchemaType<T = unknown>(jsonSchema: object | boolean): TypeInformation<T> {
  return typeOfJsonSchema(jsonSchema, 'Types.JSON_SCHEMA') as TypeInformation<T>;
}
