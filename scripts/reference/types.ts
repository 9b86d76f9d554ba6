/**
 * Descriptions of records, from which encoders are generated and TypeScript types are inferred.
 *
 * @packageDocumentation
 */
export {
  type CustomSerializer,
  type DataInput,
  type DataOutput,
  type Infer,
  type SerializerCompatibility,
  type StandardSchemaV1,
  type TypeInformation,
  Types,
  validated,
} from 'millrace';
