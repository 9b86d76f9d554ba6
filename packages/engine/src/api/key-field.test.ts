import { strictEqual, throws } from 'node:assert/strict';
import { it } from 'node:test';
import { Types } from '../types/index.ts';
import { fieldType } from './key-field.ts';

it('a named key has the type of its field', () => {
  const type = Types.ROW({ id: Types.STRING });
  strictEqual(fieldType('id', type)?.description.kind, 'string');
  throws(() => fieldType('di', type), { code: 'INVALID_ARGUMENT', message: /did you mean "id"/ });
});

it('a named key of undescribed and of Avro records is what the record holds', () => {
  const type = Types.AVRO({ type: 'record', name: 'R', fields: [{ name: 'id', type: 'string' }] });
  strictEqual(fieldType('id', type), undefined);
  strictEqual(fieldType('id', undefined), undefined);
});
