/** What TypeScript infers from descriptions. Checked by the compiler; at run time nothing happens. */
import { it } from 'node:test';
import { type Infer, Types } from './index.ts';

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
