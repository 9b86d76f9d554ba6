/**
 * What validators such as Zod, Valibot and ArkType have in common (https://standardschema.dev): the interface, so that
 * none of them is a dependency, and validation as a step of a job.
 */
import { ignoreRejection, MillraceError } from '../base/index.ts';
import { fieldPath, PROMISE_ADVICE } from './type-mismatch.ts';

/** What has the types of a schema: a schema itself, or what tells its shape. */
export interface StandardTypedV1<Input = unknown, Output = Input> {
  readonly '~standard': StandardTypedProps<Input, Output>;
}

export interface StandardTypedProps<Input, Output> {
  readonly version: 1;
  readonly vendor: string;
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
}

/** A schema of any validator that follows the standard. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly '~standard': StandardTypedProps<Input, Output> & {
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The values that a schema gives after validation: its output, not its input. */
export type SchemaOutput<S extends StandardTypedV1> = NonNullable<S['~standard']['types']>['output'];

const ISSUES_MAX = 5;

/**
 * A function for `map` that checks records by a schema and gives what the schema makes of them: defaults filled in,
 * transforms done. It throws TYPE_MISMATCH for a record that does not fit, naming the fields; schemas that validate
 * asynchronously are refused.
 *
 * ```ts
 * import { StreamExecutionEnvironment, Types, validated } from 'millrace';
 * import { z } from 'zod';
 *
 * const Order = z.object({ id: z.string() });
 * const lines = StreamExecutionEnvironment.getExecutionEnvironment().fromElements('{"id":"o1"}');
 * const orders = lines.map((line) => JSON.parse(line)).map(validated(Order), Types.SCHEMA(Order));
 * ```
 */
export function validated<S extends StandardSchemaV1>(schema: S): (value: unknown) => SchemaOutput<S> {
  const { validate } = schema['~standard'];
  return (value) => {
    const result = validate(value);
    if (result instanceof Promise) {
      ignoreRejection(result);
      throw new MillraceError(
        'PROMISE_NOT_EXPECTED',
        `validated(schema): the schema validates asynchronously. ${PROMISE_ADVICE}.`,
      );
    }
    if (result.issues !== undefined) throw invalidRecord(result.issues);
    return result.value as SchemaOutput<S>;
  };
}

function invalidRecord(issues: readonly StandardIssue[]): MillraceError {
  const texts = issues.slice(0, ISSUES_MAX).map(({ path, message }) => `record${pathText(path)}: ${message}`);
  const more = issues.length > ISSUES_MAX ? `; ${issues.length - ISSUES_MAX} more` : '';
  return new MillraceError(
    'TYPE_MISMATCH',
    `The record does not fit its schema: ${texts.join('; ')}${more}.`,
    {
      details: { issues: texts },
    },
  );
}

function pathText(path: StandardIssue['path']): string {
  const steps = (path ?? []).map((step) => (typeof step === 'object' ? step.key : step));
  return steps.map((key) => (typeof key === 'number' ? `[${key}]` : fieldPath(String(key)))).join('');
}
