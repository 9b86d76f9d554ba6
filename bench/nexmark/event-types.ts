/** The declared types of the events: integers and times are LONG, as in Nexmark. */
import { type TypeInformation, Types } from '@millrace/engine';
import type { Auction, Bid, NexmarkEvent, Person } from './generator.ts';

const { LONG, NULLABLE, ROW, STRING } = Types;

export const PERSON_TYPE: TypeInformation<Person> = ROW({
  id: LONG,
  name: STRING,
  emailAddress: STRING,
  creditCard: STRING,
  city: STRING,
  state: STRING,
  dateTime: LONG,
  extra: STRING,
});

export const AUCTION_TYPE: TypeInformation<Auction> = ROW({
  id: LONG,
  itemName: STRING,
  description: STRING,
  initialBid: LONG,
  reserve: LONG,
  dateTime: LONG,
  expires: LONG,
  seller: LONG,
  category: LONG,
  extra: STRING,
});

export const BID_TYPE: TypeInformation<Bid> = ROW({
  auction: LONG,
  bidder: LONG,
  price: LONG,
  channel: STRING,
  url: STRING,
  dateTime: LONG,
  extra: STRING,
});

export const EVENT_TYPE: TypeInformation<NexmarkEvent> = ROW({
  person: NULLABLE(PERSON_TYPE),
  auction: NULLABLE(AUCTION_TYPE),
  bid: NULLABLE(BID_TYPE),
});
