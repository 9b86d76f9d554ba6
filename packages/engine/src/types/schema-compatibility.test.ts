import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  createSerializer,
  decodeFromBytes,
  defaultValueOf,
  encodeToBytes,
  resolveSchema,
  type TypeInformation,
  Types,
} from './index.ts';

/** Writes by the saved type, migrates as a restore does, reads by the current type. */
function migrate<S, C>(saved: TypeInformation<S>, current: TypeInformation<C>, value: S): C {
  const savedSerializer = createSerializer<unknown>({ description: saved.description }, 'saved state');
  const currentSerializer = createSerializer(current, 'current state');
  const bytes = encodeToBytes(savedSerializer, value);
  const resolution = resolveSchema(saved.description, current.description);
  if (resolution.result === 'same') return decodeFromBytes(currentSerializer, bytes);
  ok(resolution.result === 'migrate', JSON.stringify(resolution));
  const converted = resolution.convert(decodeFromBytes(savedSerializer, bytes)) as C;
  return decodeFromBytes(currentSerializer, encodeToBytes(currentSerializer, converted));
}

function refused(saved: TypeInformation<unknown>, current: TypeInformation<unknown>) {
  const resolution = resolveSchema(saved.description, current.description);
  ok(resolution.result === 'incompatible', resolution.result);
  return resolution;
}

const result = (saved: TypeInformation<unknown>, current: TypeInformation<unknown>) =>
  resolveSchema(saved.description, current.description).result;

const fields = { id: Types.STRING, n: Types.INT, tags: Types.LIST(Types.STRING) };
const V1 = Types.POJO('Item', fields);
const value = { id: 'a', n: 5, tags: ['x', 'y'] };

describe('fields of a pojo', () => {
  it('that are added get the default of their type', () => {
    const v2 = Types.POJO('Item', { ...fields, m: Types.INT });
    deepStrictEqual(migrate(V1, v2, value), { ...value, m: 0 });
    const optional = Types.POJO('Item', { extra: Types.OPTIONAL(Types.INT), ...fields });
    deepStrictEqual(migrate(V1, optional, value), value);
  });

  it('that are removed are dropped', () => {
    const v2 = Types.POJO('Item', { id: Types.STRING, n: Types.INT });
    deepStrictEqual(migrate(V1, v2, value), { id: 'a', n: 5 });
  });

  it('may be in another order', () => {
    const v2 = Types.POJO('Item', { tags: fields.tags, n: fields.n, id: fields.id });
    strictEqual(result(V1, v2), 'migrate');
    deepStrictEqual(migrate(V1, v2, value), value);
  });

  it('may not change their type: the answer names field, old and new type', () => {
    const v2 = Types.POJO('Item', { ...fields, n: Types.STRING });
    deepStrictEqual(refused(V1, v2), {
      result: 'incompatible',
      path: 'value.n',
      saved: 'INT',
      current: 'STRING',
      reason: 'the type is another one',
    });
    strictEqual(refused(Types.LIST(V1), Types.LIST(v2)).path, 'value[].n');
    strictEqual(
      refused(Types.MAP(Types.STRING, V1), Types.MAP(Types.STRING, v2)).path,
      'the values of value.n',
    );
  });

  it('may become optional or nullable, but not the other way', () => {
    const optional = Types.POJO('Item', { ...fields, n: Types.OPTIONAL(Types.INT) });
    const nullable = Types.POJO('Item', { ...fields, n: Types.NULLABLE(Types.INT) });
    deepStrictEqual(migrate(V1, optional, value), value);
    deepStrictEqual(migrate(V1, nullable, value), value);
    strictEqual(refused(optional, V1).reason, 'saved values may be absent');
    strictEqual(refused(nullable, optional).path, 'value.n');
  });

  it('that were missing stay missing', () => {
    const saved = Types.ROW({ a: Types.INT, b: Types.OPTIONAL(Types.ENUM(['x'])) });
    const current = Types.ROW({ a: Types.INT, b: Types.OPTIONAL(Types.ENUM(['y', 'x'])) });
    deepStrictEqual(migrate(saved, current, { a: 1 }), { a: 1 });
    deepStrictEqual(migrate(saved, current, { a: 1, b: undefined }), { a: 1, b: undefined });
    deepStrictEqual(migrate(saved, current, { a: 1, b: 'x' }), { a: 1, b: 'x' });
  });
});

describe('names of pojos', () => {
  it('may not change', () => {
    const renamed = Types.POJO('Article', fields);
    deepStrictEqual(refused(V1, renamed), {
      result: 'incompatible',
      path: 'value',
      saved: 'POJO(Item)',
      current: 'POJO(Article)',
      reason: 'the type has another name; give it its old name back',
    });
  });

  it('do not matter if one of the two is a row', () => {
    strictEqual(result(V1, Types.ROW(fields)), 'same');
    strictEqual(result(Types.ROW(fields), V1), 'same');
  });

  it('a class takes the place of a description of its name', () => {
    class Item {
      id = '';
      n = 0;
      tags: string[] = [];
      m = 7;
    }
    const current = Types.POJO(Item, { ...fields, m: Types.INT });
    const back = migrate(V1, current, value);
    ok(back instanceof Item);
    deepStrictEqual({ ...back }, { ...value, m: 0 });
  });
});

describe('enums', () => {
  const v1 = Types.ENUM('Status', ['NEW', 'PAID', 'SENT']);
  const v2 = Types.ENUM('Status', ['NEW', 'CHECKED', 'PAID', 'SENT']);
  const v3 = Types.ENUM('Status', ['NEW', 'CHECKED', 'SENT']);

  it('keep their values by name when others are inserted or moved', () => {
    for (const each of ['NEW', 'PAID', 'SENT'] as const) strictEqual(migrate(v1, v2, each), each);
    strictEqual(migrate(v1, Types.ENUM('Status', ['SENT', 'PAID', 'NEW']), 'PAID'), 'PAID');
  });

  it('fail for entries that hold a removed value, naming it, and only for those', () => {
    const saved = Types.ROW({ all: Types.LIST(v2) });
    const current = Types.ROW({ all: Types.LIST(v3) });
    deepStrictEqual(migrate(saved, current, { all: ['NEW', 'SENT'] }), { all: ['NEW', 'SENT'] });
    throws(() => migrate(saved, current, { all: ['NEW', 'PAID'] }), {
      code: 'STATE_ENUM_VALUE_REMOVED',
      message: /value\.all\[\] is 'PAID' in saved state, but the enum Status has no such value/,
      details: { path: 'value.all[]', value: 'PAID', enum: 'Status' },
    });
  });

  it('may not change their name', () => {
    match(refused(v1, Types.ENUM('State', ['NEW', 'PAID', 'SENT'])).reason, /the enum has another name/);
  });
});

function match(text: string, pattern: RegExp): void {
  ok(pattern.test(text), text);
}

describe('composites', () => {
  const v2 = Types.POJO('Item', { n: Types.INT, m: Types.BIGINT, id: Types.STRING });
  const migrated = { n: 5, m: 0n, id: 'a' };

  it('lists, maps, tuples, optional and nullable values of what migrates migrate', () => {
    deepStrictEqual(migrate(Types.LIST(V1), Types.LIST(v2), [value]), [migrated]);
    deepStrictEqual(
      migrate(Types.MAP(Types.STRING, V1), Types.MAP(Types.STRING, v2), new Map([['k', value]])),
      new Map([['k', migrated]]),
    );
    deepStrictEqual(migrate(Types.TUPLE(Types.INT, V1), Types.TUPLE(Types.INT, v2), [1, value]), [
      1,
      migrated,
    ]);
    deepStrictEqual(migrate(Types.NULLABLE(V1), Types.NULLABLE(v2), value), migrated);
    strictEqual(migrate(Types.NULLABLE(V1), Types.NULLABLE(v2), null), null);
    strictEqual(migrate(Types.OPTIONAL(V1), Types.OPTIONAL(v2), undefined), undefined);
    deepStrictEqual(migrate(Types.LIST(V1), Types.LIST(Types.NULLABLE(v2)), [value]), [migrated]);
  });

  it('keys of maps may not change, except enums', () => {
    const saved = Types.MAP(Types.ROW({ a: Types.INT, b: Types.INT }), Types.INT);
    const current = Types.MAP(Types.ROW({ a: Types.INT }), Types.INT);
    strictEqual(refused(saved, current).path, 'the keys of value');
    const byStatus = Types.MAP(Types.ENUM(['a', 'b']), Types.INT);
    const more = Types.MAP(Types.ENUM(['x', 'b', 'a']), Types.INT);
    deepStrictEqual(migrate(byStatus, more, new Map([['b', 1]])), new Map([['b', 1]]));
  });

  it('tuples may not change their length; kinds may not change', () => {
    match(
      refused(Types.TUPLE(Types.INT), Types.TUPLE(Types.INT, Types.INT)).reason,
      /its length may not change/,
    );
    refused(Types.INT, Types.LONG);
    refused(Types.LONG, Types.DOUBLE);
    refused(Types.GENERIC(), V1);
    refused(V1, Types.GENERIC());
    refused(Types.LIST(Types.INT), Types.TUPLE(Types.INT));
  });
});

describe('defaults', () => {
  it('are what the documentation says', () => {
    const type = Types.ROW({
      s: Types.STRING,
      l: Types.LONG,
      b: Types.BOOLEAN,
      bytes: Types.BYTES,
      big: Types.BIGINT,
      at: Types.DATE,
      list: Types.LIST(V1),
      map: Types.MAP(Types.STRING, V1),
      pair: Types.TUPLE(Types.INT, Types.ENUM(['first', 'second'])),
      optional: Types.OPTIONAL(V1),
      nullable: Types.NULLABLE(V1),
      generic: Types.GENERIC(),
    });
    deepStrictEqual(defaultValueOf(type.description), {
      s: '',
      l: 0,
      b: false,
      bytes: new Uint8Array(0),
      big: 0n,
      at: new Date(0),
      list: [],
      map: new Map(),
      pair: [0, 'first'],
      optional: undefined,
      nullable: null,
      generic: undefined,
    });
  });
});

describe('every type', () => {
  it('is the same as itself, also after JSON, and its default fits it', () => {
    const leaf = fc.constantFrom<TypeInformation<unknown>>(
      ...[
        Types.STRING,
        Types.INT,
        Types.DATE,
        Types.BIGINT,
        Types.BYTES,
        Types.BOOLEAN,
        Types.GENERIC(),
        Types.VOID,
      ],
      Types.ENUM('E', ['a', 'b']),
    );
    const { type } = fc.letrec<{ type: TypeInformation<unknown> }>((tie) => ({
      type: fc.oneof(
        { maxDepth: 4 },
        leaf,
        tie('type').map((t) => Types.LIST(t)),
        tie('type').map((t) => Types.MAP(Types.STRING, t)),
        tie('type').map((t) => Types.OPTIONAL(t)),
        tie('type').map((t) => Types.NULLABLE(t)),
        fc.array(tie('type'), { maxLength: 3 }).map((ts) => Types.TUPLE(...ts)),
        fc.array(tie('type'), { maxLength: 3 }).map((ts) => Types.POJO('P', Object.fromEntries(ts.map((t, i) => [`f${i}`, t])))), // biome-ignore format: one line
      ),
    }));
    fc.assert(
      fc.property(type, (each) => {
        const copy = { description: JSON.parse(JSON.stringify(each.description)) as typeof each.description };
        strictEqual(result(each, copy), 'same');
        const serializer = createSerializer(each, 'x');
        encodeToBytes(serializer, defaultValueOf(each.description));
      }),
      { numRuns: 200 },
    );
  });
});
