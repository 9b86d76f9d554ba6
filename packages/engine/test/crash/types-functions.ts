/**
 * A record of every type that there is, made of an order, and a function that keeps such records in every kind of state
 * and says whether what comes back is what went in. Used by the job of the types.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type Collector,
  type CustomSerializer,
  type Infer,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type ListState,
  ListStateDescriptor,
  type MapState,
  MapStateDescriptor,
  type RuntimeContext,
  Types,
  type ValueState,
  ValueStateDescriptor,
} from '@millrace/engine';
import { z } from 'zod';
import { type Order, orderOf } from './orders.ts';

/** A class with a private field. */
class Account {
  owner = '';
  #cents = 0;
  readonly opened = 'by constructor';

  get cents(): number {
    return this.#cents;
  }
  set cents(value: number) {
    this.#cents = value;
  }
}

interface Money {
  readonly cents: bigint;
  readonly currency: string;
}

const money: CustomSerializer<Money> = {
  name: 'money',
  version: 1,
  canonical: true,
  serialize(value, out) {
    out.writeBigInt(value.cents);
    out.writeString(value.currency);
  },
  deserialize: (input) => ({ cents: input.readBigInt(), currency: input.readString() }),
};
const moneyType = Types.CUSTOM(money);

const Checked = z.object({
  at: z.date(),
  tags: z.array(z.enum(['even', 'odd'])),
  size: z.union([z.string(), z.int()]),
  parent: z.int().nullable(),
});

const eventType = Types.UNION(
  'kind',
  Types.ROW({ kind: Types.LITERAL('created'), at: Types.DATE }),
  Types.ROW({ kind: Types.LITERAL('paid', 'refunded'), amount: moneyType }),
);

export const keyType = Types.TUPLE(Types.STRING, moneyType, Types.EITHER(Types.INT, Types.BOOLEAN));
type Key = Infer<typeof keyType>;

export const everythingType = Types.ROW({
  id: Types.LONG,
  key: keyType,
  int: Types.INT,
  double: Types.DOUBLE,
  bigint: Types.BIGINT,
  bytes: Types.BYTES,
  account: Types.POJO(Account, { owner: Types.STRING, cents: Types.LONG }, { transient: ['opened'] }),
  byPlace: Types.MAP(Types.TUPLE(Types.INT, Types.BOOLEAN), Types.LIST(moneyType)),
  set: Types.SET(Types.NULLABLE(Types.STRING)),
  record: Types.RECORD(Types.OPTIONAL(Types.DOUBLE)),
  numbers: Types.TYPED_ARRAY(Float32Array),
  event: eventType,
  either: Types.EITHER(Types.STRING, Types.LIST(Types.INT), Types.DATE, Types.VOID),
  note: Types.OPTIONAL(Types.NULLABLE(Types.STRING)),
  checked: Types.SCHEMA(Checked),
  avro: Types.AVRO<{ a: number }>({ type: 'record', name: 'A', fields: [{ name: 'a', type: 'int' }] }),
  any: Types.GENERIC(),
});
type Everything = Infer<typeof everythingType>;

/** The record of an order: a pure function. */
export function everythingOf({ id, customer, amount, category }: Order): Everything {
  const price = { cents: BigInt(amount) * 2n ** 40n, currency: 'EUR' };
  const account = new Account();
  account.owner = customer;
  account.cents = amount;
  const eithers = ['text', [id, amount], new Date(id), undefined] as const;
  return {
    id,
    key: [customer, { cents: BigInt(id % 3), currency: category }, id % 2 === 0 ? id % 5 : id % 3 === 0],
    int: 0 - amount,
    double: amount / 7,
    bigint: 3n ** BigInt(amount),
    bytes: Uint8Array.of(amount, id & 255),
    account,
    byPlace: new Map([[[amount, true], [price, price]]]), // biome-ignore format: one line
    set: new Set([customer, null]),
    record: { a: amount, [customer]: undefined },
    numbers: Float32Array.of(amount, 0.5),
    event: id % 2 === 0 ? { kind: 'created', at: new Date(id) } : { kind: 'refunded', amount: price },
    either: eithers[id % 4] as Everything['either'],
    ...(id % 3 === 0 ? {} : { note: [undefined, null, 'note'][amount % 3] }),
    checked: {
      at: new Date(id),
      tags: [id % 2 === 0 ? 'even' : 'odd'],
      size: id % 2 === 0 ? 'big' : amount,
      parent: id % 5 === 0 ? null : id,
    },
    avro: { a: amount },
    any: { nested: [new Map([['a', new Date(id)]]), null] },
  };
}

/** What is said of a record: `agree` if it, and everything that was kept before it, came back as it was. */
export interface Agreement {
  readonly id: number;
  readonly count: number;
  readonly agree: boolean;
}

export class KeepEverything extends KeyedProcessFunction<Key, Everything, Agreement> {
  private last!: ValueState<Everything>;
  private all!: ListState<Everything['event']>;
  private byId!: MapState<Key, Everything>;

  override open(context: RuntimeContext): void {
    this.last = context.getState(new ValueStateDescriptor('last', everythingType));
    this.all = context.getListState(new ListStateDescriptor('all', eventType));
    this.byId = context.getMapState(new MapStateDescriptor('byId', keyType, everythingType));
  }

  override processElement(
    record: Everything,
    context: KeyedProcessContext<Key>,
    out: Collector<Agreement>,
  ): void {
    const before = this.last.value();
    const events = this.all.get();
    const mapped = this.byId.get(record.key);
    const agree =
      isEverything(record) &&
      isDeepStrictEqual(context.getCurrentKey(), record.key) &&
      (before === undefined || isEverything(before)) &&
      isDeepStrictEqual(before, mapped) &&
      (before === undefined ? events.length === 0 : isDeepStrictEqual(events.at(-1), before.event));
    this.last.update(record);
    this.all.add(record.event);
    this.byId.put(record.key, record);
    out.collect({ id: record.id, count: events.length + 1, agree });
  }
}

function isEverything(record: Everything): boolean {
  return isDeepStrictEqual(record, everythingOf(orderOf(record.id)));
}
