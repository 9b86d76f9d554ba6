/**
 * The data of the crash job: orders and their payments, each a pure function of a number, and what is known of them
 * beforehand. Read by the job and by the tests.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Infer, Types } from '@millrace/engine';

export const orderType = Types.ROW({
  id: Types.LONG,
  customer: Types.STRING,
  amount: Types.INT,
  category: Types.ENUM('category', ['book', 'game', 'tool']),
  at: Types.LONG,
});
export type Order = Infer<typeof orderType>;

export const paymentType = Types.ROW({
  order: Types.LONG,
  customer: Types.STRING,
  amount: Types.INT,
  at: Types.LONG,
});
export type Payment = Infer<typeof paymentType>;

/** Event time between an order and the next. */
const STEP_MS = 10;
/** How much earlier than the newest before it an order may be. */
export const DISORDER_MS = 200;
/** A payment comes that long after its order at most. */
export const PAYMENT_DELAY_MAX_MS = 2000;
const CUSTOMERS = 37;
const CATEGORIES = ['book', 'game', 'tool'] as const;
const PAYMENT_FILES = 3;

/** Order `id`; ids count from 0. */
export function orderOf(id: number): Order {
  const mixed = mix(id);
  return {
    id,
    customer: `customer-${mixed % CUSTOMERS}`,
    amount: mixed % 101,
    category: CATEGORIES[mixed % 3]!,
    at: Math.max(0, id * STEP_MS - ((id * 37) % 20) * STEP_MS),
  };
}

/** The payments of an order: none, one or two. */
export function paymentsOf(order: Order): Payment[] {
  const mixed = mix(order.id + 1_000_003);
  return Array.from({ length: mixed % 3 }, (_, part) => ({
    order: order.id,
    customer: order.customer,
    amount: order.amount + part,
    at: order.at + (mix(order.id * 2 + part) % PAYMENT_DELAY_MAX_MS),
  }));
}

/** Writes the payments of the first `orderCount` orders in the order of their time, to several files that follow one another. */
export function writePayments(directory: string, orderCount: number): number {
  const payments: Payment[] = [];
  for (let id = 0; id < orderCount; id++) payments.push(...paymentsOf(orderOf(id)));
  payments.sort((a, b) => a.at - b.at || a.order - b.order || a.amount - b.amount);
  mkdirSync(directory, { recursive: true });
  const each = Math.ceil(payments.length / PAYMENT_FILES);
  for (let file = 0; file < PAYMENT_FILES; file++) {
    const lines = payments
      .slice(file * each, (file + 1) * each)
      .map((payment) => `${JSON.stringify(payment)}\n`);
    writeFileSync(join(directory, `payments-${file}.jsonl`), lines.join(''));
  }
  return payments.length;
}

/** Spreads consecutive numbers over 31 bits. */
function mix(value: number): number {
  let hash = Math.imul(value ^ 0x9e3779b9, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 1;
}
