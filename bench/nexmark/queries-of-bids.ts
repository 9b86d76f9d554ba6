/** Queries that look at each bid by itself: q0, q1, q2, and q13 with a file beside. */
import { readFileSync } from 'node:fs';
import { type Collector, type DataStream, RichFlatMapFunction } from '@millrace/engine';
import type { Bid } from './generator.ts';
import {
  BID_PART_TYPE,
  type BidPart,
  EXPLAINED_BID_TYPE,
  type ExplainedBid,
  SELECTED_BID_TYPE,
  type SelectedBid,
} from './results.ts';
import { bidsOf, type QueryInput } from './streams.ts';

/** q0. */
export function passThrough(input: QueryInput): DataStream<Bid> {
  return bidsOf(input);
}

/** q1. */
export function currency(input: QueryInput): DataStream<BidPart> {
  return bidsOf(input).map(
    ({ auction, bidder, price, dateTime, extra }) => ({
      auction,
      bidder,
      price: Math.floor((price * 908) / 1000),
      dateTime,
      extra,
    }),
    BID_PART_TYPE,
  );
}

/** q2. */
export function selection(input: QueryInput): DataStream<SelectedBid> {
  return bidsOf(input)
    .filter(({ auction }) => auction % 123 === 0)
    .map(({ auction, price }) => ({ auction, price }), SELECTED_BID_TYPE);
}

/** q13. */
export function sideInputJoin(input: QueryInput): DataStream<ExplainedBid> {
  return bidsOf(input).flatMap(new SideInputJoin(input.sideInput), EXPLAINED_BID_TYPE);
}

class SideInputJoin extends RichFlatMapFunction<Bid, ExplainedBid> {
  private readonly path: string;
  private values: ReadonlyMap<number, string> = new Map();

  constructor(path: string) {
    super();
    this.path = path;
  }

  override open(): void {
    const lines = readFileSync(this.path, 'utf8').trimEnd().split('\n');
    this.values = new Map(
      lines.map((line) => {
        const [key, value] = line.split(',') as [string, string];
        return [Number(key), value];
      }),
    );
  }

  override flatMap({ auction, bidder, price, dateTime }: Bid, out: Collector<ExplainedBid>): void {
    const value = this.values.get(auction % SIDE_KEYS);
    if (value !== undefined) out.collect({ auction, bidder, price, dateTime, value });
  }
}

const SIDE_KEYS = 10_000;

/** The lines of the side input's file. */
export function sideInputLines(): string {
  let lines = '';
  for (let key = 0; key < SIDE_KEYS; key++) {
    if (key % 10 !== 9) lines += `${key},value-${(key * 31) % 9973}\n`;
  }
  return lines;
}
