/** Keys that are named instead of selected: the field of a described pojo or row. */
import { MillraceError, nearestName } from '../base/index.ts';
import type { TypeInformation } from '../types/index.ts';

/**
 * The type of field `name`, or undefined if the records are not described, or by an Avro schema. Throws
 * INVALID_ARGUMENT if they are described and have no such field.
 */
export function fieldType(
  name: string,
  type: TypeInformation<unknown> | undefined,
): TypeInformation<unknown> | undefined {
  const description = type?.description;
  if (description === undefined || description.kind === 'generic') return undefined;
  // Fields of an Avro schema have no types of their own: keys are what the record holds there.
  if (description.kind === 'avro') return undefined;
  const fields = description.kind === 'pojo' ? description.fields : [];
  const field = fields.find((candidate) => candidate.name === name);
  if (field !== undefined) return { description: field.type, classes: type?.classes };
  const names = fields.map((candidate) => candidate.name);
  const nearest = nearestName(name, names);
  const what =
    description.kind === 'pojo'
      ? `the record type ${description.name} has`
      : `records of type ${description.kind} have`;
  throw new MillraceError(
    'INVALID_ARGUMENT',
    `keyBy("${name}"): ${what} no field "${name}"` +
      (nearest === undefined
        ? names.length > 0
          ? `; fields are ${names.join(', ')}`
          : ''
        : `; did you mean "${nearest}"?`),
    { details: { field: name, nearest } },
  );
}
