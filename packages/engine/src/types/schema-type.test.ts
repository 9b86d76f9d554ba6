/** Types of the schemas of Zod, Valibot and ArkType, and of JSON Schemas, with the real libraries. */
import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toJsonSchema, toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import {
  createSerializer,
  decodeFromBytes,
  encodeToBytes,
  formatType,
  type TypeInformation,
  Types,
  validated,
} from './index.ts';

function roundTrip<T>(described: TypeInformation<T>, value: T): T {
  const serializer = createSerializer(described, 'the test');
  return decodeFromBytes(serializer, encodeToBytes(serializer, value));
}

/** The fields of a described object, as messages write them. */
function fieldsOf({ description }: TypeInformation<unknown>): Record<string, string> {
  if (description.kind !== 'pojo') throw new Error(description.kind);
  return Object.fromEntries(description.fields.map((field) => [field.name, formatType(field.type)]));
}

const invalid = (make: () => unknown, message: RegExp) => throws(make, { code: 'TYPE_INVALID', message });

describe('a schema of Zod', () => {
  const Order = z.object({
    id: z.string().min(3).brand('OrderId'),
    count: z.int().positive(),
    price: z.number().refine((price) => price < 1000),
    at: z.coerce.date(),
    total: z.bigint(),
    note: z.string().optional(),
    parent: z.string().nullable(),
    both: z.string().nullish(),
    state: z.enum(['NEW', 'PAID']).default('NEW'),
    tags: z.array(z.string().trim()),
    place: z.tuple([z.number(), z.number()]),
    extra: z.record(z.string(), z.boolean()),
    mixed: z.union([z.string(), z.number(), z.null()]),
    length: z
      .string()
      .transform((text) => text.length)
      .pipe(z.int()),
    version: z.literal([1, 'x', true, null]),
    anything: z.unknown(),
    event: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('created'), at: z.date() }),
      z.object({ kind: z.enum(['paid', 'refunded']), amount: z.number() }),
    ]),
  });

  it('is the type of its output', () => {
    deepStrictEqual(fieldsOf(Types.SCHEMA(Order)), {
      id: 'STRING',
      count: 'LONG',
      price: 'DOUBLE',
      at: 'DATE',
      total: 'BIGINT',
      note: 'OPTIONAL(STRING)',
      parent: 'NULLABLE(STRING)',
      both: 'OPTIONAL(NULLABLE(STRING))',
      state: 'ENUM(NEW, PAID)',
      tags: 'LIST(STRING)',
      place: 'TUPLE(DOUBLE, DOUBLE)',
      extra: 'RECORD(BOOLEAN)',
      mixed: 'NULLABLE(EITHER(STRING, DOUBLE))',
      length: 'LONG',
      version: 'LITERAL(1, "x", true, null)',
      anything: 'GENERIC',
      event: 'UNION(kind: created, paid, refunded)',
    });
  });

  it('gives the values back that it parses, after validation', () => {
    const order = validated(Order)({
      id: 'o-1',
      count: 2,
      price: 1.5,
      at: '2024-01-01T00:00:00Z',
      total: 5n,
      parent: null,
      tags: [' a '],
      place: [1, 2],
      extra: { a: true },
      mixed: 5,
      length: 'four',
      version: 'x',
      anything: { b: [1] },
      event: { kind: 'paid', amount: 3 },
    });
    strictEqual(order.state, 'NEW');
    strictEqual(order.length, 4);
    deepStrictEqual(order.tags, ['a']);
    deepStrictEqual(roundTrip(Types.SCHEMA(Order), order), order);
  });

  it('that cannot be encoded exactly is refused with the path and what is there', () => {
    const nested = (inner: z.ZodType) => z.object({ a: z.array(z.object({ b: inner })) });
    const refused = (inner: z.ZodType, message: RegExp) =>
      invalid(() => Types.SCHEMA(nested(inner)), message);
    refused(z.map(z.string(), z.number()), /^Types\.SCHEMA\.a\[\]\.b: .*Map cannot be represented/);
    refused(
      z.string().transform((s) => s.length),
      /a\[\]\.b: .*Transforms cannot be represented/,
    );
    refused(z.custom<Uint8Array>(), /a\[\]\.b: .*Custom types cannot be represented/);
    refused(z.looseObject({ c: z.string() }), /a\[\]\.b: .*declared fields and others beside them/);
    refused(z.tuple([z.string()], z.number()), /a\[\]\.b: .*a tuple with a rest/);
    refused(z.never(), /a\[\]\.b: .*'not'/);
    refused(
      z.union([z.object({ c: z.string() }), z.object({ d: z.string() })]),
      /a\[\]\.b: the alternatives cannot be told apart.*UNION/,
    );
    const Tree = z.object({
      value: z.int(),
      get children() {
        return z.array(Tree);
      },
    });
    invalid(() => Types.SCHEMA(Tree), /^Types\.SCHEMA\.children\[\]: the schema contains itself \('#'\)/);
  });

  it('is shared by reference where it has an id', () => {
    const Place = z.object({ x: z.int() }).meta({ id: 'Place' });
    const described = Types.SCHEMA(z.object({ from: Place, to: Place }));
    deepStrictEqual(fieldsOf(described), { from: 'ROW(x)', to: 'ROW(x)' });
  });
});

describe('a schema of ArkType', () => {
  it('is the type of its output', () => {
    const Order = type({
      id: 'string > 2',
      count: 'number.integer',
      at: 'Date',
      total: 'bigint',
      'note?': 'string',
      parent: 'string | null',
      either: 'string | undefined',
      state: "'NEW' | 'PAID'",
      place: ['number', 'number'],
      parsed: 'string.integer.parse',
      narrowed: type('string').narrow((text) => text !== 'x'),
      event: type({ kind: "'a'", x: 'number' }).or({ kind: "'b'" }),
      prices: { '[string]': 'number' },
      flag: 'boolean',
    });
    deepStrictEqual(fieldsOf(Types.SCHEMA(Order)), {
      id: 'STRING',
      count: 'LONG',
      at: 'DATE',
      total: 'BIGINT',
      note: 'OPTIONAL(STRING)',
      parent: 'NULLABLE(STRING)',
      either: 'OPTIONAL(STRING)',
      state: 'ENUM(NEW, PAID)',
      place: 'TUPLE(DOUBLE, DOUBLE)',
      parsed: 'LONG',
      narrowed: 'STRING',
      event: 'UNION(kind: a, b)',
      prices: 'RECORD(DOUBLE)',
      flag: 'BOOLEAN',
    });
    const value = validated(type({ at: 'Date', 'note?': 'string' }))({ at: new Date(5) });
    deepStrictEqual(roundTrip(Types.SCHEMA(type({ at: 'Date', 'note?': 'string' })), value), {
      at: new Date(5),
    });
  });

  it('with instances of classes is refused', () => {
    invalid(() => Types.SCHEMA(type({ a: 'Map' })), /^Types\.SCHEMA\.a: .*instances of Map/);
  });
});

describe('a schema of Valibot', () => {
  const Order = v.object({
    id: v.pipe(
      v.string(),
      v.trim(),
      v.minLength(3),
      v.check((id) => id !== 'xxx'),
    ),
    count: v.pipe(v.number(), v.integer()),
    at: v.date(),
    total: v.bigint(),
    note: v.optional(v.string()),
    parent: v.nullable(v.string()),
    state: v.picklist(['NEW', 'PAID']),
    place: v.strictTuple([v.number(), v.number()]),
    event: v.variant('kind', [
      v.object({ kind: v.literal('a'), x: v.number() }),
      v.object({ kind: v.literal('b') }),
    ]),
    both: v.intersect([v.object({ a: v.string() }), v.object({ b: v.string() })]),
    later: v.lazy(() => v.string()),
  });

  it('is the type of its output, with the converter to JSON Schema', () => {
    const described = Types.SCHEMA(toStandardJsonSchema(Order));
    deepStrictEqual(fieldsOf(described), {
      id: 'STRING',
      count: 'LONG',
      at: 'DATE',
      total: 'BIGINT',
      note: 'OPTIONAL(STRING)',
      parent: 'NULLABLE(STRING)',
      state: 'ENUM(NEW, PAID)',
      place: 'TUPLE(DOUBLE, DOUBLE)',
      event: 'UNION(kind: a, b)',
      both: 'ROW(a, b)',
      later: 'STRING',
    });
  });

  it('may come with its JSON Schema, of draft 7 too', () => {
    const schema = v.object({ pair: v.tuple([v.string(), v.nullable(v.number())]) });
    const described = Types.SCHEMA(schema, toJsonSchema(schema, { typeMode: 'output' }));
    deepStrictEqual(fieldsOf(described), { pair: 'TUPLE(STRING, NULLABLE(DOUBLE))' });
    deepStrictEqual(roundTrip(described, { pair: ['a', null] }), { pair: ['a', null] });
  });

  it('without either is refused, with what to do', () => {
    invalid(() => Types.SCHEMA(Order), /a schema of 'valibot' does not tell its shape.*toJsonSchema\(schema/);
    invalid(() => Types.SCHEMA({} as never), /this is not a Standard Schema/);
    const transformed = v.object({
      a: v.pipe(
        v.string(),
        v.transform((text) => text.length),
      ),
    });
    invalid(() => Types.SCHEMA(toStandardJsonSchema(transformed)), /^Types\.SCHEMA\.a: .*"transform"/);
  });
});

describe('a JSON Schema', () => {
  const text = (schema: object | boolean) => formatType(Types.JSON_SCHEMA(schema).description);

  it('is the type of the values that it describes', () => {
    strictEqual(text(true), 'GENERIC');
    strictEqual(text({}), 'GENERIC');
    strictEqual(text({ type: ['integer', 'null'] }), 'NULLABLE(LONG)');
    strictEqual(text({ enum: ['a', 'b', null] }), 'LITERAL("a", "b", null)');
    strictEqual(text({ anyOf: [{ const: 'a' }, { const: 'b' }, { type: 'null' }] }), 'NULLABLE(ENUM(a, b))');
    strictEqual(text({ anyOf: [{ type: 'string', format: 'email' }, { type: 'string' }] }), 'STRING');
    strictEqual(text({ anyOf: [{ type: 'integer' }, { type: 'number' }, { const: 1 }] }), 'DOUBLE');
    strictEqual(text({ anyOf: [{ type: 'string' }, {}] }), 'GENERIC');
    strictEqual(text({ type: 'array' }), 'LIST(GENERIC)');
    strictEqual(text({ type: 'object' }), 'GENERIC');
    strictEqual(
      text({ type: 'object', patternProperties: { '^.*$': { type: 'string' } } }),
      'RECORD(STRING)',
    );
    strictEqual(text({ 'x-millrace-type': 'int' }), 'INT');
    strictEqual(text({ $defs: { a: { type: 'string' } }, items: { $ref: '#/$defs/a' } }), 'LIST(STRING)');
  });

  it('has the fields of all parts that stand side by side', () => {
    const text = (schema: object) => formatType(Types.JSON_SCHEMA(schema).description);
    const a = { properties: { a: { type: 'string' } }, required: ['a'] };
    const b = { properties: { b: { type: 'integer' } }, required: ['b'] };
    const both = formatType(Types.ROW({ a: Types.STRING, b: Types.LONG }).description);
    strictEqual(text({ allOf: [a, b] }), both);
    strictEqual(text({ $defs: { a }, $ref: '#/$defs/a', ...b }), both);
    strictEqual(text({ anyOf: [a], ...b }), both);
    strictEqual(text({ ...a, anyOf: [{ required: ['a'] }, { required: ['b'] }] }), text(a));
    strictEqual(text({ type: 'string', anyOf: [{ pattern: 'x' }, { format: 'date' }] }), 'STRING');
  });

  it('that says what is not understood is refused with its path', () => {
    const refused = (schema: object, message: RegExp) =>
      invalid(() => Types.JSON_SCHEMA({ type: 'object', properties: { a: schema } }), message);
    refused({ not: { type: 'string' } }, /^Types\.JSON_SCHEMA\.a: .*'not'/);
    refused({ type: 'float' }, /\.a: a JSON Schema has no type 'float'/);
    refused({ $ref: '#/$defs/none' }, /\.a: there is nothing at the reference/);
    refused({ $ref: 'https://example.com/a' }, /\.a: .*another document/);
    refused({ enum: [{ b: 1 }] }, /\.a: .*enum or const with objects/);
    refused({ 'x-millrace-type': 'decimal' }, /\.a: x-millrace-type is one of bigint, .*not 'decimal'/);
    refused({ allOf: [{ type: 'string' }, { type: 'integer' }] }, /\.a: .*allOf/);
    refused({ anyOf: [{ type: 'string' }], properties: { b: {} } }, /\.a: .*intersection/);
    refused({ $ref: '#/a%zz' }, /\.a: 'a%zz' of a reference is not escaped/);
    refused({ prefixItems: [{}, {}], minItems: 1, items: false }, /\.a: .*last elements may be missing/);
    invalid(() => Types.JSON_SCHEMA(5 as never), /a JSON Schema is an object/);
  });
});

describe('validated', () => {
  const check = validated(z.object({ id: z.string(), items: z.array(z.object({ n: z.int() })) }));

  it('refuses a record that does not fit, naming the fields', () => {
    throws(() => check({ id: 5, items: [{ n: 1 }, { n: 'x' }] }), {
      code: 'TYPE_MISMATCH',
      message: /The record does not fit its schema: record\.id: .*; record\.items\[1\]\.n: /,
    });
  });

  it('refuses a schema that validates asynchronously', () => {
    const later = validated(
      v.pipeAsync(
        v.string(),
        v.checkAsync(async () => true),
      ),
    );
    throws(() => later('x'), { code: 'PROMISE_NOT_EXPECTED' });
  });
});
