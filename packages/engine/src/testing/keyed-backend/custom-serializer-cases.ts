/** The keyed backend contract: state that is written by serializers of the user, and by other versions of them. */
import assert from 'node:assert/strict';
import { hasCode } from '../../base/index.ts';
import {
  type KeyedStateBackend,
  ListStateDescriptor,
  MapStateDescriptor,
  ValueStateDescriptor,
} from '../../state/index.ts';
import { type CustomSerializer, type TypeInformation, Types } from '../../types/index.ts';
import { type BackendCases, useKey, writeSnapshot } from './backend-workbench.ts';

class Money {
  readonly cents: bigint;
  readonly currency: string;

  constructor(cents: bigint, currency: string) {
    this.cents = cents;
    this.currency = currency;
  }
}

/** Version 1 knew one currency. */
const moneyV1: CustomSerializer<Money> = {
  name: 'money',
  version: 1,
  serialize: (value, out) => out.writeBigInt(value.cents),
  deserialize: (input) => new Money(input.readBigInt(), 'EUR'),
};
const moneyV2: CustomSerializer<Money> = {
  name: 'money',
  version: 2,
  serialize(value, out) {
    out.writeString(value.currency);
    out.writeBigInt(value.cents);
  },
  deserialize(input) {
    const currency = input.readString();
    return new Money(input.readBigInt(), currency);
  },
  compatibility: (saved) => (saved === 1 ? 'migrate' : 'incompatible'),
  readOld: (input) => new Money(input.readBigInt(), 'EUR'),
  defaultValue: () => new Money(0n, 'EUR'),
};
/** What moneyV2 writes, by another number. */
const moneyV3: CustomSerializer<Money> = { ...moneyV2, version: 3, compatibility: () => 'as-is' };

const KEYS = 40;

function statesOf(backend: KeyedStateBackend<string>, money: CustomSerializer<Money>) {
  const type = Types.CUSTOM(money);
  const within = Types.LIST(Types.ROW({ price: Types.OPTIONAL(type), of: Types.MAP(Types.STRING, type) }));
  return {
    value: backend.getValueState(new ValueStateDescriptor('value', type)),
    nested: backend.getValueState(new ValueStateDescriptor('nested', within)),
    list: backend.getListState(new ListStateDescriptor('list', type)),
    map: backend.getMapState(new MapStateDescriptor('map', Types.LONG, type)),
  };
}

function fill(backend: KeyedStateBackend<string>, money: CustomSerializer<Money>): void {
  const states = statesOf(backend, money);
  for (let i = 0; i < KEYS; i++) {
    useKey(backend, `k${i}`);
    states.value.update(new Money(BigInt(i), 'EUR'));
    states.nested.update([{ price: new Money(1n, 'EUR'), of: new Map([['a', new Money(2n, 'EUR')]]) }]);
    states.list.addAll([new Money(3n, 'EUR'), new Money(4n, 'EUR')]);
    states.map.put(i, new Money(2n ** 80n, 'EUR'));
  }
}

function check(backend: KeyedStateBackend<string>, money: CustomSerializer<Money>): void {
  const states = statesOf(backend, money);
  for (let i = 0; i < KEYS; i++) {
    useKey(backend, `k${i}`);
    assert.deepEqual(states.value.value(), new Money(BigInt(i), 'EUR'));
    assert.deepEqual(states.nested.value(), [
      { price: new Money(1n, 'EUR'), of: new Map([['a', new Money(2n, 'EUR')]]) },
    ]);
    assert.deepEqual(states.list.get(), [new Money(3n, 'EUR'), new Money(4n, 'EUR')]);
    assert.deepEqual(states.map.get(i), new Money(2n ** 80n, 'EUR'));
  }
}

export const customSerializerCases: BackendCases = {
  'values of an own serializer are restored, migrated and taken as they are, as it says': async (bench) => {
    const first = await bench.create();
    fill(first, moneyV1);
    check(first, moneyV1);
    const v1 = writeSnapshot(first.snapshot());
    check(await bench.create({ restore: [v1] }), moneyV1);
    const second = await bench.create({ restore: [v1] });
    check(second, moneyV2);
    const v2 = writeSnapshot(second.snapshot());
    const written = v2.handle.states.find(({ name }) => name === 'value')?.value;
    assert.deepEqual(written, { kind: 'custom', name: 'money', version: 2 });
    const third = await bench.create({ restore: [v2] });
    check(third, moneyV3);
    check(await bench.restoreOf(third), moneyV3);
  },

  'a pojo that gets a field of an own serializer gets its default': async (bench) => {
    const before = await bench.create();
    const ofId = Types.ROW({ id: Types.LONG }) as TypeInformation<{ id: number; price?: Money }>;
    const state = before.getValueState(new ValueStateDescriptor('v', ofId));
    useKey(before, 'k');
    state.update({ id: 1 });
    const after = await bench.restoreOf(before);
    const withPrice = Types.ROW({ id: Types.LONG, price: Types.CUSTOM(moneyV2) });
    const restored = after.getValueState(new ValueStateDescriptor('v', withPrice));
    useKey(after, 'k');
    assert.deepEqual(restored.value(), { id: 1, price: new Money(0n, 'EUR') });
    const without = Types.ROW({ id: Types.LONG, price: Types.CUSTOM(moneyV1) });
    const other = await bench.restoreOf(before);
    assert.throws(
      () => other.getValueState(new ValueStateDescriptor('v', without)),
      (error) =>
        hasCode(error, 'STATE_SCHEMA_INCOMPATIBLE') &&
        /value\.price .*money, version 1.* has no defaultValue/s.test(String(error)),
    );
  },

  'a serializer that does not read what was saved is refused, naming state, serializers and versions': async (
    bench,
  ) => {
    const before = await bench.create();
    fill(before, moneyV2);
    const saved = writeSnapshot(before.snapshot());
    const after = await bench.create({ restore: [saved] });
    const refused = (money: CustomSerializer<Money>, words: RegExp): void => {
      assert.throws(
        () => after.getValueState(new ValueStateDescriptor('value', Types.CUSTOM(money))),
        (error) => hasCode(error, 'STATE_SCHEMA_INCOMPATIBLE') && words.test(String(error)),
      );
    };
    refused(
      moneyV1,
      /'value'.*CUSTOM\(money, version 2\).*CUSTOM\(money, version 1\).*no method compatibility/s,
    );
    refused({ ...moneyV2, name: 'price' }, /serializer 'money', and the program has 'price'/);
    refused({ ...moneyV2, version: 5 }, /version 5.*says that it cannot read/s);
    refused(
      { ...moneyV2, version: 5, compatibility: () => 'migrate', readOld: undefined },
      /no method readOld/,
    );
    refused({ ...moneyV2, version: 5, compatibility: () => 'maybe' as never }, /gave string "maybe"/);
    assert.throws(
      () => after.getValueState(new ValueStateDescriptor('value', Types.STRING)),
      (error) =>
        hasCode(error, 'STATE_SCHEMA_INCOMPATIBLE') && /CUSTOM\(money, version 2\)/.test(String(error)),
    );
    const broken: CustomSerializer<Money> = {
      ...moneyV2,
      version: 5,
      compatibility: () => 'migrate',
      readOld: (input) => new Money(BigInt(input.readByte()), 'EUR'),
    };
    assert.throws(
      () => after.getValueState(new ValueStateDescriptor('value', Types.CUSTOM(broken))),
      (error) =>
        hasCode(error, 'SERIALIZER_FAILED') &&
        /State 'value'.*money, version 5.*readOld of version 2 left \d+ bytes unread/s.test(String(error)),
    );
    // Nothing was lost by asking in a wrong way.
    check(after, moneyV2);
  },
};
