/** Queries that join without windows: q3 and q20. */
import {
  type Collector,
  type DataStream,
  KeyedCoProcessFunction,
  type KeyedProcessContext,
  type ListState,
  ListStateDescriptor,
  type RuntimeContext,
  Types,
  type ValueState,
  ValueStateDescriptor,
} from '@millrace/engine';
import { AUCTION_TYPE, BID_TYPE } from './event-types.ts';
import type { Auction, Bid, Person } from './generator.ts';
import { type ExpandedBid, LOCAL_ITEM_TYPE, type LocalItem } from './results.ts';
import { auctionsOf, bidsOf, personsOf, type QueryInput } from './streams.ts';

const CATEGORY = 10;
const STATES: ReadonlySet<string> = new Set(['OR', 'ID', 'CA']);

type Seller = Pick<Person, 'id' | 'name' | 'city' | 'state'>;
type Item = Pick<Auction, 'id' | 'seller'>;

const SELLER_TYPE = Types.ROW({
  id: Types.LONG,
  name: Types.STRING,
  city: Types.STRING,
  state: Types.STRING,
});
const ITEM_TYPE = Types.ROW({ id: Types.LONG, seller: Types.LONG });

/** q3. */
export function localItems(input: QueryInput): DataStream<LocalItem> {
  const items = auctionsOf(input)
    .filter(({ category }) => category === CATEGORY)
    .map(({ id, seller }): Item => ({ id, seller }), ITEM_TYPE)
    .keyBy(({ seller }) => seller, Types.LONG);
  const sellers = personsOf(input)
    .filter(({ state }) => STATES.has(state))
    .map(({ id, name, city, state }): Seller => ({ id, name, city, state }), SELLER_TYPE)
    .keyBy(({ id }) => id, Types.LONG);
  return items.connect(sellers).process(LocalItems, LOCAL_ITEM_TYPE);
}

class LocalItems extends KeyedCoProcessFunction<number, Item, Seller, LocalItem> {
  private seller!: ValueState<Seller>;
  private waiting!: ListState<number>;

  override open(context: RuntimeContext): void {
    this.seller = context.getState(new ValueStateDescriptor<Seller>('seller', SELLER_TYPE));
    this.waiting = context.getListState(new ListStateDescriptor('waiting', Types.LONG));
  }

  override processElement1(
    item: Item,
    _context: KeyedProcessContext<number>,
    out: Collector<LocalItem>,
  ): void {
    const seller = this.seller.value();
    if (seller === undefined) this.waiting.add(item.id);
    else out.collect(localItem(seller, item.id));
  }

  override processElement2(
    seller: Seller,
    _context: KeyedProcessContext<number>,
    out: Collector<LocalItem>,
  ): void {
    this.seller.update(seller);
    for (const id of this.waiting.get()) out.collect(localItem(seller, id));
    this.waiting.clear();
  }
}

function localItem({ name, city, state }: Seller, id: number): LocalItem {
  return { name, city, state, id };
}

const EXPANDED_BID_TYPE = Types.ROW({ bid: BID_TYPE, auction: AUCTION_TYPE });

/** q20. */
export function expandedBids(input: QueryInput): DataStream<ExpandedBid> {
  return bidsOf(input)
    .keyBy(({ auction }) => auction, Types.LONG)
    .connect(auctionsOf(input).keyBy(({ id }) => id, Types.LONG))
    .process(ExpandBids, EXPANDED_BID_TYPE);
}

class ExpandBids extends KeyedCoProcessFunction<number, Bid, Auction, ExpandedBid> {
  private auction!: ValueState<Auction>;
  private waiting!: ListState<Bid>;

  override open(context: RuntimeContext): void {
    this.auction = context.getState(new ValueStateDescriptor('auction', AUCTION_TYPE));
    this.waiting = context.getListState(new ListStateDescriptor('waiting', BID_TYPE));
  }

  override processElement1(
    bid: Bid,
    _context: KeyedProcessContext<number>,
    out: Collector<ExpandedBid>,
  ): void {
    const auction = this.auction.value();
    if (auction === undefined) this.waiting.add(bid);
    else if (auction.category === CATEGORY) out.collect({ bid, auction });
  }

  override processElement2(
    auction: Auction,
    _context: KeyedProcessContext<number>,
    out: Collector<ExpandedBid>,
  ): void {
    this.auction.update(auction);
    if (auction.category === CATEGORY) {
      for (const bid of this.waiting.get()) out.collect({ bid, auction });
    }
    this.waiting.clear();
  }
}
