/**
 * The results of the queries: their fields, their declared types, and what the checksum covers of them (QUERIES.md). Both the
 * jobs and the plain computations that they are compared with use the hashes; nothing else of the two is shared.
 */
import { type TypeInformation, Types } from '@millrace/engine';
import { type Checksum, mix, mixLong, textDigest } from './checksum.ts';
import type { Auction, Bid, Person } from './generator.ts';

const { LONG, ROW, STRING } = Types;

/** What most queries use of a bid. */
export type BidPart = Omit<Bid, 'channel' | 'url'>;

export const BID_PART_TYPE: TypeInformation<BidPart> = ROW({
  auction: LONG,
  bidder: LONG,
  price: LONG,
  dateTime: LONG,
  extra: STRING,
});

export function addBidPart({ auction, bidder, price, dateTime, extra }: BidPart, checksum: Checksum): void {
  const h = mixLong(mix(mix(mix(0, auction), bidder), price), dateTime);
  checksum.add(mix(h, textDigest(extra)));
}

export type SelectedBid = Pick<Bid, 'auction' | 'price'>;

export const SELECTED_BID_TYPE: TypeInformation<SelectedBid> = ROW({ auction: LONG, price: LONG });

export function addSelectedBid({ auction, price }: SelectedBid, checksum: Checksum): void {
  checksum.add(mix(mix(0, auction), price));
}

/** An auction near its seller. */
export type LocalItem = Pick<Person, 'name' | 'city' | 'state'> & Pick<Auction, 'id'>;

export const LOCAL_ITEM_TYPE: TypeInformation<LocalItem> = ROW({
  name: STRING,
  city: STRING,
  state: STRING,
  id: LONG,
});

export function addLocalItem({ name, city, state, id }: LocalItem, checksum: Checksum): void {
  const h = mix(mix(mix(0, textDigest(name)), textDigest(city)), textDigest(state));
  checksum.add(mix(h, id));
}

export interface CategoryPrice {
  readonly category: number;
  readonly average: number;
  /** Of the window. */
  readonly end: number;
}

export const CATEGORY_PRICE_TYPE: TypeInformation<CategoryPrice> = ROW({
  category: LONG,
  average: LONG,
  end: LONG,
});

export function addCategoryPrice({ category, average, end }: CategoryPrice, checksum: Checksum): void {
  checksum.add(mixLong(mix(mix(0, category), average), end));
}

/** How many bids an auction had in a window. */
export interface HotItem {
  readonly auction: number;
  readonly count: number;
  readonly end: number;
}

export const HOT_ITEM_TYPE: TypeInformation<HotItem> = ROW({ auction: LONG, count: LONG, end: LONG });

export function addHotItem({ auction, count, end }: HotItem, checksum: Checksum): void {
  checksum.add(mixLong(mix(mix(0, auction), count), end));
}

export interface NewUser {
  readonly id: number;
  readonly name: string;
  /** Of the window. */
  readonly start: number;
}

export const NEW_USER_TYPE: TypeInformation<NewUser> = ROW({ id: LONG, name: STRING, start: LONG });

export function addNewUser({ id, name, start }: NewUser, checksum: Checksum): void {
  checksum.add(mixLong(mix(mix(0, id), textDigest(name)), start));
}

/** An auction with the bid that won it. */
export interface WinningBid extends Auction {
  readonly bidder: number;
  readonly price: number;
  readonly bidDateTime: number;
  readonly bidExtra: string;
}

export const WINNING_BID_TYPE: TypeInformation<WinningBid> = ROW({
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
  bidder: LONG,
  price: LONG,
  bidDateTime: LONG,
  bidExtra: STRING,
});

export function addWinningBid(result: WinningBid, checksum: Checksum): void {
  let h = mix(0, result.id);
  h = mix(mix(h, textDigest(result.itemName)), textDigest(result.description));
  h = mix(mix(h, result.initialBid), result.reserve);
  h = mixLong(mixLong(h, result.dateTime), result.expires);
  h = mix(mix(h, result.seller), result.category);
  h = mix(h, textDigest(result.extra));
  h = mixLong(mix(mix(h, result.bidder), result.price), result.bidDateTime);
  checksum.add(mix(h, textDigest(result.bidExtra)));
}

export interface UserSession {
  readonly bidder: number;
  readonly count: number;
  readonly start: number;
  readonly end: number;
}

export const USER_SESSION_TYPE: TypeInformation<UserSession> = ROW({
  bidder: LONG,
  count: LONG,
  start: LONG,
  end: LONG,
});

export function addUserSession({ bidder, count, start, end }: UserSession, checksum: Checksum): void {
  checksum.add(mixLong(mixLong(mix(mix(0, bidder), count), start), end));
}

export interface BidderCount {
  readonly bidder: number;
  readonly count: number;
}

export const BIDDER_COUNT_TYPE: TypeInformation<BidderCount> = ROW({ bidder: LONG, count: LONG });

/** However the bids of a bidder are split into windows. */
export function addBidderCount({ bidder, count }: BidderCount, checksum: Checksum): void {
  checksum.addTimes(mix(0, bidder), count);
}

/** A bid with what the side input has for it. */
export type ExplainedBid = Omit<BidPart, 'extra'> & { readonly value: string };

export const EXPLAINED_BID_TYPE: TypeInformation<ExplainedBid> = ROW({
  auction: LONG,
  bidder: LONG,
  price: LONG,
  dateTime: LONG,
  value: STRING,
});

export function addExplainedBid(result: ExplainedBid, checksum: Checksum): void {
  const { auction, bidder, price, dateTime, value } = result;
  const h = mixLong(mix(mix(mix(0, auction), bidder), price), dateTime);
  checksum.add(mix(h, textDigest(value)));
}

/** 1: the row is valid from now on; -1: not any more. */
export type Change = 1 | -1;

/** The bids of an auction on a day. */
export interface AuctionReport {
  readonly change: Change;
  readonly auction: number;
  readonly day: number;
  readonly bids: number;
  /** Cheap, middling and expensive ones. */
  readonly rank1: number;
  readonly rank2: number;
  readonly rank3: number;
  readonly min: number;
  readonly max: number;
  readonly average: number;
  readonly sum: number;
}

export const AUCTION_REPORT_TYPE: TypeInformation<AuctionReport> = ROW({
  change: LONG as TypeInformation<Change>,
  auction: LONG,
  day: LONG,
  bids: LONG,
  rank1: LONG,
  rank2: LONG,
  rank3: LONG,
  min: LONG,
  max: LONG,
  average: LONG,
  sum: LONG,
});

export function addAuctionReport(report: AuctionReport, checksum: Checksum): void {
  let h = mix(mix(mix(0, report.auction), report.day), report.bids);
  h = mix(mix(mix(h, report.rank1), report.rank2), report.rank3);
  h = mix(mix(h, report.min), report.max);
  checksum.addTimes(mixLong(mixLong(h, report.average), report.sum), report.change);
}

/** The last bid of a bidder for an auction. */
export interface LastBid {
  readonly change: Change;
  readonly bid: Bid;
}

export function addLastBid({ change, bid }: LastBid, checksum: Checksum): void {
  checksum.addTimes(bidHash(0, bid), change);
}

/** A bid among the first ten of its auction. */
export interface RankedBid {
  readonly change: Change;
  readonly bid: Bid;
  /** From 1. */
  readonly rank: number;
}

export function addRankedBid({ change, bid, rank }: RankedBid, checksum: Checksum): void {
  checksum.addTimes(mix(bidHash(0, bid), rank), change);
}

/** A bid with its auction. */
export interface ExpandedBid {
  readonly bid: Bid;
  readonly auction: Auction;
}

export function addExpandedBid({ bid, auction }: ExpandedBid, checksum: Checksum): void {
  let h = bidHash(0, bid);
  h = mix(mix(h, textDigest(auction.itemName)), textDigest(auction.description));
  h = mix(mix(h, auction.initialBid), auction.reserve);
  h = mixLong(mixLong(h, auction.dateTime), auction.expires);
  h = mix(mix(h, auction.seller), auction.category);
  checksum.add(mix(h, textDigest(auction.extra)));
}

/** All fields of a bid. */
function bidHash(start: number, { auction, bidder, price, channel, url, dateTime, extra }: Bid): number {
  let h = mix(mix(mix(start, auction), bidder), price);
  h = mix(mix(h, textDigest(channel)), textDigest(url));
  h = mixLong(h, dateTime);
  return mix(h, textDigest(extra));
}
