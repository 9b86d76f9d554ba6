/** Queries whose results replace others: q17, q18 and q19. A row is taken back before the one that replaces it is emitted. */
import {
  type Collector,
  type DataStream,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type RuntimeContext,
  type TypeInformation,
  Types,
  type ValueState,
  ValueStateDescriptor,
} from '@millrace/engine';
import { isBetterInFull, isLater } from './bid-order.ts';
import { BID_TYPE } from './event-types.ts';
import type { Bid } from './generator.ts';
import {
  AUCTION_REPORT_TYPE,
  type AuctionReport,
  type Change,
  type LastBid,
  type RankedBid,
} from './results.ts';
import { bidsOf, type QueryInput } from './streams.ts';

const DAY_MS = 86_400_000;
const CHEAP_BELOW = 10_000;
const EXPENSIVE_FROM = 1_000_000;
const CHANGE_TYPE = Types.LONG as TypeInformation<Change>;

type Offer = Pick<Bid, 'auction' | 'price' | 'dateTime'>;
type AuctionDay = [auction: number, day: number];

const OFFER_TYPE = Types.ROW({ auction: Types.LONG, price: Types.LONG, dateTime: Types.LONG });

type Statistics = Pick<AuctionReport, 'bids' | 'rank1' | 'rank2' | 'rank3' | 'min' | 'max' | 'sum'>;

const STATISTICS_TYPE = Types.ROW({
  bids: Types.LONG,
  rank1: Types.LONG,
  rank2: Types.LONG,
  rank3: Types.LONG,
  min: Types.LONG,
  max: Types.LONG,
  sum: Types.LONG,
});

const NO_BIDS: Statistics = {
  bids: 0,
  rank1: 0,
  rank2: 0,
  rank3: 0,
  min: Number.MAX_SAFE_INTEGER,
  max: 0,
  sum: 0,
};

/** q17. */
export function auctionReports(input: QueryInput): DataStream<AuctionReport> {
  return bidsOf(input)
    .map(({ auction, price, dateTime }): Offer => ({ auction, price, dateTime }), OFFER_TYPE)
    .keyBy(
      ({ auction, dateTime }): AuctionDay => [auction, Math.floor(dateTime / DAY_MS)],
      Types.TUPLE(Types.LONG, Types.LONG),
    )
    .process(AuctionReports, AUCTION_REPORT_TYPE);
}

class AuctionReports extends KeyedProcessFunction<AuctionDay, Offer, AuctionReport> {
  private statistics!: ValueState<Statistics>;

  override open(context: RuntimeContext): void {
    this.statistics = context.getState(new ValueStateDescriptor<Statistics>('statistics', STATISTICS_TYPE));
  }

  override processElement(
    { price }: Offer,
    context: KeyedProcessContext<AuctionDay>,
    out: Collector<AuctionReport>,
  ): void {
    const key = context.getCurrentKey();
    const before = this.statistics.value();
    if (before !== undefined) out.collect(reportOf(-1, key, before));
    const after = withPrice(before ?? NO_BIDS, price);
    this.statistics.update(after);
    out.collect(reportOf(1, key, after));
  }
}

function withPrice({ bids, rank1, rank2, rank3, min, max, sum }: Statistics, price: number): Statistics {
  const isCheap = price < CHEAP_BELOW;
  const isExpensive = price >= EXPENSIVE_FROM;
  return {
    bids: bids + 1,
    rank1: isCheap ? rank1 + 1 : rank1,
    rank2: isCheap || isExpensive ? rank2 : rank2 + 1,
    rank3: isExpensive ? rank3 + 1 : rank3,
    min: Math.min(min, price),
    max: Math.max(max, price),
    sum: sum + price,
  };
}

function reportOf(
  change: Change,
  [auction, day]: AuctionDay,
  { bids, rank1, rank2, rank3, min, max, sum }: Statistics,
): AuctionReport {
  const average = Math.floor(sum / bids);
  return { change, auction, day, bids, rank1, rank2, rank3, min, max, average, sum };
}

type BidderAuction = [bidder: number, auction: number];

/** q18. */
export function lastBids(input: QueryInput): DataStream<LastBid> {
  return bidsOf(input)
    .keyBy(({ bidder, auction }): BidderAuction => [bidder, auction], Types.TUPLE(Types.LONG, Types.LONG))
    .process(LastBids, Types.ROW({ change: CHANGE_TYPE, bid: BID_TYPE }));
}

class LastBids extends KeyedProcessFunction<BidderAuction, Bid, LastBid> {
  private last!: ValueState<Bid>;

  override open(context: RuntimeContext): void {
    this.last = context.getState(new ValueStateDescriptor('last', BID_TYPE));
  }

  override processElement(
    bid: Bid,
    _context: KeyedProcessContext<BidderAuction>,
    out: Collector<LastBid>,
  ): void {
    const before = this.last.value();
    if (before !== undefined) {
      if (!isLater(bid, before)) return;
      out.collect({ change: -1, bid: before });
    }
    this.last.update(bid);
    out.collect({ change: 1, bid });
  }
}

const RANKS = 10;

/** q19. */
export function topBids(input: QueryInput): DataStream<RankedBid> {
  return bidsOf(input)
    .keyBy(({ auction }) => auction, Types.LONG)
    .process(TopBids, Types.ROW({ change: CHANGE_TYPE, bid: BID_TYPE, rank: Types.LONG }));
}

class TopBids extends KeyedProcessFunction<number, Bid, RankedBid> {
  /** The best first. */
  private top!: ValueState<Bid[]>;

  override open(context: RuntimeContext): void {
    this.top = context.getState(new ValueStateDescriptor('top', Types.LIST(BID_TYPE)));
  }

  override processElement(bid: Bid, _context: KeyedProcessContext<number>, out: Collector<RankedBid>): void {
    const top = this.top.value() ?? [];
    let place = top.length;
    while (place > 0 && isBetterInFull(bid, top[place - 1]!)) place--;
    if (place === RANKS) return;
    for (let i = place; i < top.length; i++) {
      const moved = top[i]!;
      out.collect({ change: -1, bid: moved, rank: i + 1 });
      if (i + 1 < RANKS) out.collect({ change: 1, bid: moved, rank: i + 2 });
    }
    out.collect({ change: 1, bid, rank: place + 1 });
    top.splice(place, 0, bid);
    if (top.length > RANKS) top.pop();
    this.top.update(top);
  }
}
