import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict';
import { it } from 'node:test';
import { Types } from '../../types/index.ts';
import { fieldAccess, fieldType } from './field-path.ts';

const type = Types.ROW({ id: Types.STRING, at: Types.OPTIONAL(Types.TUPLE(Types.LONG, Types.INT)) });

it('a named field has the type that the records say', () => {
  strictEqual(fieldType('keyBy("id")', ['id'], type)?.description.kind, 'string');
  strictEqual(fieldType('sum("at.1")', ['at', '1'], type)?.description.kind, 'int');
  throws(() => fieldType('keyBy("di")', ['di'], type), {
    code: 'INVALID_ARGUMENT',
    message: /^keyBy\("di"\): records of type ROW\(id, at\) have no field "di"; did you mean "id"\?/,
  });
});

it('a field of undescribed and of Avro records is what the record holds', () => {
  const avro = Types.AVRO({ type: 'record', name: 'R', fields: [{ name: 'id', type: 'string' }] });
  strictEqual(fieldType('keyBy("id")', ['id'], avro), undefined);
  strictEqual(fieldType('keyBy("id")', ['id'], undefined), undefined);
  strictEqual(fieldType('sum("a.b")', ['a', 'b'], Types.ROW({ a: Types.GENERIC() })), undefined);
});

it('a field of a union has the type of those that have it, and none where they differ', () => {
  const union = Types.UNION(
    'kind',
    Types.ROW({ kind: Types.LITERAL('a'), id: Types.LONG, n: Types.INT }),
    Types.ROW({ kind: Types.LITERAL('b'), id: Types.LONG }),
  );
  strictEqual(fieldType('keyBy("id")', ['id'], union)?.description.kind, 'long');
  strictEqual(fieldType('keyBy("kind")', ['kind'], union), undefined);
  strictEqual(fieldType('keyBy("n")', ['n'], union)?.description.kind, 'int');
  throws(() => fieldType('keyBy("m")', ['m'], union), /records of type UNION.* have no field "m"/);
  strictEqual(
    fieldType('sum("a.b")', ['a', 'b'], Types.ROW({ a: Types.RECORD(Types.INT) }))?.description.kind,
    'int',
  );
});

it('a field is read, and replaced in a copy, where there is one', () => {
  const access = fieldAccess(['at', 1], type, 'test');
  const record = { id: 'x', at: [1, 2] };
  strictEqual(access.get(record), 2);
  deepStrictEqual(access.with(record, 3), { id: 'x', at: [1, 3] });
  deepStrictEqual(record, { id: 'x', at: [1, 2] });
  for (const without of [{ id: 'x' }, { at: null }, {}, null, undefined])
    strictEqual(access.get(without), undefined);
});
