/**
 * May what one version of a user's serializer wrote be read by the one that the program has now: the serializer itself is
 * asked (Flink's resolveSchemaCompatibility). Called by the evolution of state. Never throws.
 */
import { readOldCustom } from './custom-codec.ts';
import { type AnyCustomSerializer, type EncodedCustom, serializerOf } from './custom-type.ts';
import type { SchemaResolution } from './schema-resolution.ts';
import { formatType } from './type-description.ts';
import type { TypeDescription } from './type-information.ts';
import { describeValue } from './type-mismatch.ts';

type Custom = Extract<TypeDescription, { readonly kind: 'custom' }>;

/** Compares the serializer that wrote with the one that reads. */
export function resolveCustom(saved: Custom, current: Custom, path: string): SchemaResolution {
  const refuse = (reason: string): SchemaResolution => {
    return { result: 'incompatible', path, saved: formatType(saved), current: formatType(current), reason };
  };
  if (saved.name !== current.name) {
    return refuse(`saved values need the serializer '${saved.name}', and the program has '${current.name}'`);
  }
  if (saved.version === current.version) return { result: 'same' };
  const serializer = serializerOf(current);
  if (serializer === undefined) return refuse(`the serializer '${current.name}' is not there`);
  return resolveVersion(serializer, saved.version, refuse);
}

function resolveVersion(
  serializer: AnyCustomSerializer,
  savedVersion: number,
  refuse: (reason: string) => SchemaResolution,
): SchemaResolution {
  if (serializer.compatibility === undefined) {
    return refuse('the serializer has no method compatibility, so that it reads its own version only');
  }
  let answer: unknown;
  try {
    answer = serializer.compatibility(savedVersion);
  } catch (error) {
    return refuse(
      `its compatibility(${savedVersion}) threw: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  switch (answer) {
    case 'as-is':
      return { result: 'same' };
    case 'migrate':
      if (serializer.readOld === undefined) {
        return refuse(`its compatibility(${savedVersion}) is 'migrate', but it has no method readOld`);
      }
      return {
        result: 'migrate',
        convert: (old) => readOldCustom(serializer, savedVersion, old as EncodedCustom),
      };
    case 'incompatible':
      return refuse('the serializer says that it cannot read that version');
    default:
      return refuse(
        `its compatibility(${savedVersion}) gave ${describeValue(answer)}, not 'as-is', 'migrate' or 'incompatible'`,
      );
  }
}
