/**
 * Queries that wait until auctions close: q4 and q9.
 *
 * Bids may come before their auction, as they come through other channels. Nobody knows yet whether it will come: it may also
 * be closed and forgotten, or begin only after the bid. At the watermark of a bid's own time every auction that was open then
 * has come: a bid that still waits has none.
 */
import {
  type AggregateFunction,
  type Collector,
  type DataStream,
  KeyedCoProcessFunction,
  type KeyedProcessContext,
  type ListState,
  ListStateDescriptor,
  type OnTimerContext,
  type RuntimeContext,
  SlidingEventTimeWindows,
  Time,
  type TypeInformation,
  Types,
  type ValueState,
  ValueStateDescriptor,
} from '@millrace/engine';
import { isBetter } from './bid-order.ts';
import { AUCTION_TYPE } from './event-types.ts';
import type { Auction, Bid } from './generator.ts';
import {
  BID_PART_TYPE,
  type BidPart,
  CATEGORY_PRICE_TYPE,
  type CategoryPrice,
  WINNING_BID_TYPE,
  type WinningBid,
} from './results.ts';
import { auctionsOf, bidPartsOf, bidsOf, type QueryInput } from './streams.ts';

interface Closing<A, B, R> {
  readonly auctionType: TypeInformation<A>;
  readonly bidType: TypeInformation<B>;
  readonly isBetter: (left: B, right: B) => boolean;
  readonly result: (auction: A, bid: B) => R;
}

/** Emits an auction with its best bid when it closes. */
class CloseAuctions<
  A extends Pick<Auction, 'dateTime' | 'expires'>,
  B extends Pick<Bid, 'dateTime'>,
  R,
> extends KeyedCoProcessFunction<number, A, B, R> {
  private readonly closing: Closing<A, B, R>;
  private auction!: ValueState<A>;
  private best!: ValueState<B>;
  private waiting!: ListState<B>;

  constructor(closing: Closing<A, B, R>) {
    super();
    this.closing = closing;
  }

  override open(context: RuntimeContext): void {
    this.auction = context.getState(new ValueStateDescriptor('auction', this.closing.auctionType));
    this.best = context.getState(new ValueStateDescriptor('best', this.closing.bidType));
    this.waiting = context.getListState(new ListStateDescriptor('waiting', this.closing.bidType));
  }

  override processElement1(auction: A, context: KeyedProcessContext<number>): void {
    this.auction.update(auction);
    context.timerService().registerEventTimeTimer(auction.expires);
    for (const bid of this.waiting.get()) this.take(auction, bid);
    this.waiting.clear();
  }

  override processElement2(bid: B, context: KeyedProcessContext<number>): void {
    const auction = this.auction.value();
    if (auction !== undefined) {
      this.take(auction, bid);
      return;
    }
    this.waiting.add(bid);
    context.timerService().registerEventTimeTimer(bid.dateTime);
  }

  override onTimer(timestampMs: number, _context: OnTimerContext<number>, out: Collector<R>): void {
    const auction = this.auction.value();
    if (auction === undefined) {
      this.waiting.update([...this.waiting.get()].filter(({ dateTime }) => dateTime > timestampMs));
    } else if (auction.expires === timestampMs) {
      const best = this.best.value();
      if (best !== undefined) out.collect(this.closing.result(auction, best));
      this.auction.clear();
      this.best.clear();
    }
  }

  private take(auction: A, bid: B): void {
    if (bid.dateTime < auction.dateTime || bid.dateTime > auction.expires) return;
    const best = this.best.value();
    if (best === undefined || this.closing.isBetter(bid, best)) this.best.update(bid);
  }
}

type Lot = Pick<Auction, 'id' | 'dateTime' | 'expires' | 'category'>;
type Offer = Pick<Bid, 'auction' | 'price' | 'dateTime'>;

interface FinalPrice {
  readonly category: number;
  readonly price: number;
}

const LOT_TYPE = Types.ROW({
  id: Types.LONG,
  dateTime: Types.LONG,
  expires: Types.LONG,
  category: Types.LONG,
});
const OFFER_TYPE = Types.ROW({ auction: Types.LONG, price: Types.LONG, dateTime: Types.LONG });
const FINAL_PRICE_TYPE = Types.ROW({ category: Types.LONG, price: Types.LONG });

const FINAL_PRICES: Closing<Lot, Offer, FinalPrice> = {
  auctionType: LOT_TYPE,
  bidType: OFFER_TYPE,
  isBetter: (left, right) => left.price > right.price,
  result: ({ category }, { price }) => ({ category, price }),
};

interface Sum {
  readonly sum: number;
  readonly count: number;
}

const SUM_TYPE = Types.ROW({ sum: Types.LONG, count: Types.LONG });

const AVERAGE: AggregateFunction<FinalPrice, Sum, number> = {
  createAccumulator: () => ({ sum: 0, count: 0 }),
  add: ({ price }, { sum, count }) => ({ sum: sum + price, count: count + 1 }),
  getResult: ({ sum, count }) => Math.floor(sum / count),
  merge: (left, right) => ({ sum: left.sum + right.sum, count: left.count + right.count }),
};

/** q4. */
export function categoryPrices(input: QueryInput): DataStream<CategoryPrice> {
  const lots = auctionsOf(input)
    .map(({ id, dateTime, expires, category }): Lot => ({ id, dateTime, expires, category }), LOT_TYPE)
    .keyBy(({ id }) => id, Types.LONG);
  const offers = bidsOf(input)
    .map(({ auction, price, dateTime }): Offer => ({ auction, price, dateTime }), OFFER_TYPE)
    .keyBy(({ auction }) => auction, Types.LONG);
  return lots
    .connect(offers)
    .process(() => new CloseAuctions(FINAL_PRICES), FINAL_PRICE_TYPE)
    .keyBy(({ category }) => category, Types.LONG)
    .window(SlidingEventTimeWindows.of(Time.seconds(10), Time.seconds(2)))
    .aggregate(
      AVERAGE,
      {
        process(category, context, [average], out) {
          out.collect({ category, average: average!, end: context.window().end });
        },
      },
      { accumulator: SUM_TYPE, result: CATEGORY_PRICE_TYPE },
    );
}

const WINNING_BIDS: Closing<Auction, BidPart, WinningBid> = {
  auctionType: AUCTION_TYPE,
  bidType: BID_PART_TYPE,
  isBetter,
  result: (auction, { bidder, price, dateTime, extra }) => ({
    ...auction,
    bidder,
    price,
    bidDateTime: dateTime,
    bidExtra: extra,
  }),
};

/** q9. */
export function winningBids(input: QueryInput): DataStream<WinningBid> {
  return auctionsOf(input)
    .keyBy(({ id }) => id, Types.LONG)
    .connect(bidPartsOf(input).keyBy(({ auction }) => auction, Types.LONG))
    .process(() => new CloseAuctions(WINNING_BIDS), WINNING_BID_TYPE);
}
