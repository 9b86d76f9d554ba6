/** What the queries read: the events, split into persons, auctions and bids in the chain of the source. */
import type { DataStream } from '@millrace/engine';
import { AUCTION_TYPE, BID_TYPE, PERSON_TYPE } from './event-types.ts';
import type { Auction, Bid, NexmarkEvent, Person } from './generator.ts';
import { BID_PART_TYPE, type BidPart } from './results.ts';

export interface QueryInput {
  readonly events: DataStream<NexmarkEvent>;
  /** The file of the side input. */
  readonly sideInput: string;
}

export function personsOf({ events }: QueryInput): DataStream<Person> {
  return events
    .filter((event): event is NexmarkEvent & { person: Person } => event.person !== null)
    .map((event) => event.person, PERSON_TYPE);
}

export function auctionsOf({ events }: QueryInput): DataStream<Auction> {
  return events
    .filter((event): event is NexmarkEvent & { auction: Auction } => event.auction !== null)
    .map((event) => event.auction, AUCTION_TYPE);
}

export function bidsOf({ events }: QueryInput): DataStream<Bid> {
  return events
    .filter((event): event is NexmarkEvent & { bid: Bid } => event.bid !== null)
    .map((event) => event.bid, BID_TYPE);
}

/** Without channel and url. */
export function bidPartsOf(input: QueryInput): DataStream<BidPart> {
  return bidsOf(input).map(
    ({ auction, bidder, price, dateTime, extra }) => ({ auction, bidder, price, dateTime, extra }),
    BID_PART_TYPE,
  );
}
