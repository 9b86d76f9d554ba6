/** What TypeScript infers from descriptions. Checked by the compiler; at run time nothing happens. */
import { it } from 'node:test';
import { toJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { type Infer, Types, validated } from './index.ts';

/** True if the two types are the same, optional and readonly marks included. */
type Same<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false;

/** Does not compile unless the type argument is true. */
function expectTrue<T extends true>(..._proof: T extends true ? [] : [never]): void {}

it('descriptions have the TypeScript types of their values', () => {
  expectTrue<Same<Infer<typeof Types.STRING>, string>>();
  expectTrue<Same<Infer<typeof Types.LONG>, number>>();
  expectTrue<Same<Infer<typeof Types.BIGINT>, bigint>>();
  expectTrue<Same<Infer<typeof Types.DATE>, Date>>();
  expectTrue<Same<Infer<typeof Types.VOID>, undefined>>();

  const list = Types.LIST(Types.MAP(Types.STRING, Types.NULLABLE(Types.INT)));
  expectTrue<Same<Infer<typeof list>, Map<string, number | null>[]>>();

  const tuple = Types.TUPLE(Types.STRING, Types.LONG, Types.OPTIONAL(Types.BOOLEAN));
  expectTrue<Same<Infer<typeof tuple>, [string, number, boolean | undefined]>>();

  const status = Types.ENUM('Status', ['NEW', 'PAID']);
  expectTrue<Same<Infer<typeof status>, 'NEW' | 'PAID'>>();
  const anonymous = Types.enum(['a', 'b']);
  expectTrue<Same<Infer<typeof anonymous>, 'a' | 'b'>>();

  const generic = Types.GENERIC<{ readonly x: number }>();
  expectTrue<Same<Infer<typeof generic>, { readonly x: number }>>();
});

it('optional fields of rows and pojos may be missing', () => {
  const order = Types.POJO('Order', {
    id: Types.STRING,
    items: Types.LIST(Types.ROW({ price: Types.DOUBLE, count: Types.INT })),
    note: Types.OPTIONAL(Types.STRING),
    parent: Types.NULLABLE(Types.STRING),
  });
  type Expected = {
    id: string;
    items: { price: number; count: number }[];
    note?: string | undefined;
    parent: string | null;
  };
  expectTrue<Same<Infer<typeof order>, Expected>>();
  // @ts-expect-error: a required field is missing.
  const missing: Infer<typeof order> = { id: 'a', items: [] };
  // @ts-expect-error: the type of a field is another one.
  const wrong: Infer<typeof order> = { id: 1, items: [], parent: null };
  void [missing, wrong];
});

it('a class is described by types that fit its fields', () => {
  class Point {
    x = 0;
    label?: string;
    length(): number {
      return this.x;
    }
  }
  const point = Types.POJO(Point, { x: Types.DOUBLE, label: Types.OPTIONAL(Types.STRING) });
  expectTrue<Same<Infer<typeof point>, Point>>();
  const check = () => {
    // @ts-expect-error: x is a number.
    Types.POJO(Point, { x: Types.STRING });
    // @ts-expect-error: there is no field y.
    Types.POJO(Point, { y: Types.STRING });
    class Named {
      readonly name: string;
      constructor(name: string) {
        this.name = name;
      }
    }
    // @ts-expect-error: the constructor needs an argument.
    Types.POJO(Named, { name: Types.STRING });
    class Talking {
      text = '';
      toString(): string {
        return this.text;
      }
    }
    Types.POJO(Talking, { text: Types.STRING });
    // @ts-expect-error: values of an enum are strings.
    Types.ENUM([1, 2]);
    // @ts-expect-error: a list has an element type.
    Types.LIST();
  };
  void check;
});

it('every kind of type has the TypeScript type of its values', () => {
  const set = Types.SET(Types.RECORD(Types.INT));
  expectTrue<Same<Infer<typeof set>, Set<Record<string, number>>>>();
  const literal = Types.LITERAL('a', 1, true, null);
  expectTrue<Same<Infer<typeof literal>, 'a' | 1 | true | null>>();
  const array = Types.TYPED_ARRAY(Float64Array);
  expectTrue<Same<Infer<typeof array>, Float64Array>>();
  const either = Types.EITHER(Types.STRING, Types.LIST(Types.INT));
  expectTrue<Same<Infer<typeof either>, string | number[]>>();
  const union = Types.UNION(
    'kind',
    Types.ROW({ kind: Types.LITERAL('a'), n: Types.INT }),
    Types.ROW({ kind: Types.LITERAL('b') }),
  );
  expectTrue<Same<Infer<typeof union>, { kind: 'a'; n: number } | { kind: 'b' }>>();
  const custom = Types.CUSTOM<URL>({
    name: 'url',
    version: 1,
    serialize: (value, out) => out.writeString(value.href),
    deserialize: (input) => new URL(input.readString()),
  });
  expectTrue<Same<Infer<typeof custom>, URL>>();
  const both = Types.ROW({ o: Types.OPTIONAL(Types.NULLABLE(Types.INT)), n: Types.NULLABLE(Types.INT) });
  expectTrue<Same<Infer<typeof both>, { n: number | null; o?: number | null | undefined }>>();
  const check = () => {
    // @ts-expect-error: the types of a union have the field.
    Types.UNION('kind', Types.ROW({ kind: Types.LITERAL('a') }), Types.ROW({ type: Types.LITERAL('b') }));
    // @ts-expect-error: a literal is JSON.
    Types.LITERAL(1n);
    // @ts-expect-error: a plain array is no typed array.
    Types.TYPED_ARRAY(Array);
    // @ts-expect-error: what is written is read.
    Types.CUSTOM<string>({ name: 'x', version: 1, serialize: (_, out) => out.writeInt(1), deserialize: (input) => input.readInt() }); // biome-ignore format: one line
    // @ts-expect-error: there is no such answer.
    Types.CUSTOM<number>({ name: 'x', version: 1, serialize: (v, out) => out.writeInt(v), deserialize: (input) => input.readInt(), compatibility: () => 'yes' }); // biome-ignore format: one line
  };
  void check;
});

it('all fields of a class are described, those of its base class too', () => {
  class Base {
    id = '';
  }
  class Account extends Base {
    owner?: string;
    cents = 0;
    cache = new Map<string, number>();
    readonly kind = 'account';
    get euros(): number {
      return this.cents / 100;
    }
  }
  const fields = { id: Types.STRING, owner: Types.OPTIONAL(Types.STRING), cents: Types.LONG };
  const check = () => {
    const account = Types.POJO(Account, fields, { transient: ['cache', 'kind'] });
    expectTrue<Same<Infer<typeof account>, Account>>();
    // @ts-expect-error: the field cache is not described.
    Types.POJO(Account, fields);
    // @ts-expect-error: the field id of the base class is not described.
    Types.POJO(Account, { owner: Types.OPTIONAL(Types.STRING), cents: Types.LONG }, { transient: ['cache'] });
    // @ts-expect-error: the type of cents is another one.
    Types.POJO(Account, { ...fields, cents: Types.STRING }, { transient: ['cache', 'kind'] });
  };
  void check;
});

it('a schema has the type of its output', () => {
  const schema = z.object({
    at: z.coerce.date(),
    state: z.enum(['a', 'b']).default('a'),
    n: z.int().optional(),
  });
  const described = Types.SCHEMA(schema);
  expectTrue<Same<Infer<typeof described>, z.output<typeof schema>>>();
  const check = validated(schema);
  expectTrue<Same<ReturnType<typeof check>, z.output<typeof schema>>>();
  const ark = Types.SCHEMA(type({ id: 'string', 'n?': 'number' }));
  expectTrue<Same<Infer<typeof ark>, { id: string; n?: number }>>();
  const valibot = v.object({ id: v.string(), length: v.pipe(v.string(), v.transform(Number), v.number()) });
  const valid = Types.SCHEMA(valibot, toJsonSchema(valibot, { typeMode: 'output' }));
  expectTrue<Same<Infer<typeof valid>, { id: string; length: number }>>();
});
