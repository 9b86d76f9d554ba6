/** The answer to the question whether saved state can be read as another type. Plain data and one function. */

/** Turns a value as the saved type has it into one of the current type. Does not change `old`. */
export type Convert = (old: unknown) => unknown;

/** What the comparison of two schemas says: of whole types (resolveSchema) and of Avro schemas within them. */
export type SchemaResolution =
  /** The bytes are the same: nothing to do. */
  | { readonly result: 'same' }
  /**
   * Read by a serializer of the saved type (without classes), convert, write by one of the current type. `convert`
   * throws STATE_ENUM_VALUE_REMOVED for a value that holds what its enum or union has no longer, and SERIALIZER_FAILED
   * where the user's own serializer cannot read what its older version wrote.
   */
  | { readonly result: 'migrate'; readonly convert: Convert }
  /** `path` is where in the value; saved and current are the types there, as messages write them. */
  | {
      readonly result: 'incompatible';
      readonly path: string;
      readonly saved: string;
      readonly current: string;
      readonly reason: string;
    };
