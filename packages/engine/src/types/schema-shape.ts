/**
 * The shape of a validator's schema as JSON Schema, from the validator itself (the part `jsonSchema` of the standard).
 * What JSON Schema has no words for is asked for in the way of each library and marked by the keyword
 * `x-millrace-type`, which json-schema.ts reads. No library is imported: what is not there is not asked.
 */
import type { StandardTypedV1 } from './standard-schema.ts';
import { invalid } from './type-description.ts';

/** A JSON Schema, as far as it is looked at. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** Says what values are where JSON Schema cannot: 'date', 'bigint', 'undefined', ... */
export const TYPE_KEYWORD = 'x-millrace-type';
/** Beside a type of 'unsupported': what is meant. */
export const REASON_KEYWORD = 'x-millrace-reason';

/** A schema with the newer part of the standard. Not every validator has it. */
interface Shaped {
  readonly '~standard': StandardTypedV1['~standard'] & {
    readonly jsonSchema?: {
      readonly output: (options: {
        readonly target: 'draft-2020-12';
        readonly libraryOptions: Readonly<Record<string, unknown>>;
      }) => unknown;
    };
  };
}

/**
 * The JSON Schema of a schema's output. Throws TYPE_INVALID if the validator does not tell it. `at` begins the message.
 */
export function shapeOf(schema: StandardTypedV1, at: string): unknown {
  const standard = (schema as Partial<Shaped> | null | undefined)?.['~standard'];
  if (standard === undefined) {
    throw invalid(at, 'this is not a Standard Schema, such as those of Zod, Valibot and ArkType');
  }
  if (standard.jsonSchema === undefined) {
    throw invalid(
      at,
      `a schema of '${standard.vendor}' does not tell its shape. Give what its converter to JSON Schema makes of it as the second argument (for Valibot: toJsonSchema(schema, { typeMode: 'output' }) of @valibot/to-json-schema)`,
    );
  }
  try {
    return standard.jsonSchema.output({ target: 'draft-2020-12', libraryOptions: LIBRARY_OPTIONS });
  } catch (cause) {
    throw invalid(
      at,
      `the validator '${standard.vendor}' cannot tell its shape: ${(cause as Error).message}`,
      cause,
    );
  }
}

function marked(type: unknown, reason: string): JsonSchema {
  const known = type === 'date' || type === 'bigint' || type === 'undefined' || type === 'void';
  return known
    ? { [TYPE_KEYWORD]: type === 'void' ? 'undefined' : type }
    : { [TYPE_KEYWORD]: 'unsupported', [REASON_KEYWORD]: reason };
}

interface ZodCase {
  readonly zodSchema?: { readonly _zod?: { readonly def?: { readonly type?: unknown } } };
  readonly message?: unknown;
}

interface ArkCase {
  readonly code: string;
  readonly base: JsonSchema;
  readonly domain?: unknown;
  readonly proto?: { readonly name?: unknown };
  readonly out?: JsonSchema | null;
  readonly unit?: unknown;
}

interface ValibotSchemaCase {
  readonly valibotSchema: { readonly type: string };
  readonly errors: readonly string[] | undefined;
}

interface ValibotActionCase {
  readonly valibotAction: { readonly kind: string; readonly type: string };
  readonly jsonSchema: JsonSchema;
  readonly errors: readonly string[] | undefined;
}

/** Transformations of Valibot that keep the type. */
const KEEPS_TYPE: ReadonlySet<string> = new Set([
  'brand',
  'flavor',
  'normalize',
  'readonly',
  'to_lower_case',
  'to_max_value',
  'to_min_value',
  'to_upper_case',
  'trim',
  'trim_end',
  'trim_start',
]);

function ofArkType(context: ArkCase): JsonSchema | undefined {
  switch (context.code) {
    case 'predicate':
    case 'patternIntersection':
    case 'defaultValue':
      // What narrows a type or fills it in does not change it.
      return context.base;
    case 'date':
      return marked('date', '');
    case 'domain':
      return marked(context.domain, `values of the domain ${String(context.domain)}`);
    case 'unit':
      return marked(context.unit === undefined ? 'undefined' : '', `the value ${String(context.unit)}`);
    case 'morph':
      return context.out ?? marked('', 'the result of a morph; say what it is by .to(...)');
    case 'proto':
      return marked('', `instances of ${String(context.proto?.name)}`);
    default:
      return marked('', `ArkType's ${context.code}`);
  }
}

/** Every library looks at its own. */
const LIBRARY_OPTIONS: Readonly<Record<string, unknown>> = {
  // Zod
  unrepresentable: ({ zodSchema, message }: ZodCase) => marked(zodSchema?._zod?.def?.type, String(message)),
  // ArkType
  fallback: ofArkType,
  // Valibot
  overrideSchema: ({ valibotSchema, errors }: ValibotSchemaCase) =>
    errors === undefined ? undefined : marked(valibotSchema.type, errors.join(' ')),
  overrideAction: ({ valibotAction, jsonSchema, errors }: ValibotActionCase) => {
    if (errors === undefined) return undefined;
    const { kind, type } = valibotAction;
    return kind !== 'transformation' || KEEPS_TYPE.has(type) ? jsonSchema : marked('', errors.join(' '));
  },
};
