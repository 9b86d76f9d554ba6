/**
 * What each query must give, by plain loops and Maps over the same events: no engine code, and nothing of the jobs. Results that
 * depend on both auctions and bids are computed in two passes.
 */
import { isBetter, isBetterInFull, isLater } from './bid-order.ts';
import { Checksum, type ChecksumValue } from './checksum.ts';
import { type Auction, type Bid, eventOf, type Person } from './generator.ts';
import type { QueryName } from './queries.ts';
import {
  type AuctionReport,
  addAuctionReport,
  addBidderCount,
  addBidPart,
  addCategoryPrice,
  addExpandedBid,
  addExplainedBid,
  addHotItem,
  addLastBid,
  addLocalItem,
  addNewUser,
  addRankedBid,
  addSelectedBid,
  addUserSession,
  addWinningBid,
} from './results.ts';

/** The results of `query` over events 0 to `events - 1`. Computed once for a query and size. */
export function expectedChecksum(query: QueryName, events: number): ChecksumValue {
  const known = computed.get(`${query} ${events}`);
  if (known !== undefined) return known;
  const checksum = new Checksum();
  EXPECTED[query](events, checksum);
  const value = checksum.value();
  computed.set(`${query} ${events}`, value);
  return value;
}

const computed = new Map<string, ChecksumValue>();

type Compute = (events: number, checksum: Checksum) => void;

const EXPECTED: Readonly<Record<QueryName, Compute>> = {
  q0: (events, checksum) => {
    for (const bid of bids(events)) addBidPart(bid, checksum);
  },
  q1: (events, checksum) => {
    for (const bid of bids(events)) {
      addBidPart({ ...bid, price: Number((BigInt(bid.price) * 908n) / 1000n) }, checksum);
    }
  },
  q2: (events, checksum) => {
    for (const bid of bids(events)) if (bid.auction % 123 === 0) addSelectedBid(bid, checksum);
  },
  q3: localItems,
  q4: categoryPrices,
  q5: hotItems,
  q7: highestBids,
  q8: newUsers,
  q9: winningBids,
  q11: userSessions,
  q12: (events, checksum) => {
    for (const { bidder } of bids(events)) addBidderCount({ bidder, count: 1 }, checksum);
  },
  q13: (events, checksum) => {
    for (const bid of bids(events)) {
      const key = bid.auction % 10_000;
      const value = `value-${(key * 31) % 9973}`;
      if (key % 10 !== 9) addExplainedBid({ ...bid, value }, checksum);
    }
  },
  q17: auctionReports,
  q18: lastBids,
  q19: topBids,
  q20: (events, checksum) => {
    const byId = auctionsById(events);
    for (const bid of bids(events)) {
      const auction = byId.get(bid.auction);
      if (auction?.category === 10) addExpandedBid({ bid, auction }, checksum);
    }
  },
};

function* bids(events: number): Generator<Bid> {
  for (let number = 0; number < events; number++) {
    const { bid } = eventOf(number);
    if (bid !== null) yield bid;
  }
}

function* auctions(events: number): Generator<Auction> {
  for (let number = 0; number < events; number++) {
    const { auction } = eventOf(number);
    if (auction !== null) yield auction;
  }
}

function* persons(events: number): Generator<Person> {
  for (let number = 0; number < events; number++) {
    const { person } = eventOf(number);
    if (person !== null) yield person;
  }
}

function auctionsById(events: number): Map<number, Auction> {
  return new Map([...auctions(events)].map((auction) => [auction.id, auction]));
}

function localItems(events: number, checksum: Checksum): void {
  const sellers = new Map([...persons(events)].map((person) => [person.id, person]));
  for (const { id, seller, category } of auctions(events)) {
    const person = sellers.get(seller);
    if (category !== 10 || person === undefined || !['OR', 'ID', 'CA'].includes(person.state)) continue;
    addLocalItem({ name: person.name, city: person.city, state: person.state, id }, checksum);
  }
}

/** By auction, the best of the bids that came while it was open. */
function winners(events: number, byId: ReadonlyMap<number, Auction>): Map<number, Bid> {
  const best = new Map<number, Bid>();
  for (const bid of bids(events)) {
    const auction = byId.get(bid.auction);
    if (auction === undefined || bid.dateTime < auction.dateTime || bid.dateTime > auction.expires) continue;
    const other = best.get(bid.auction);
    if (other === undefined || isBetter(bid, other)) best.set(bid.auction, bid);
  }
  return best;
}

function categoryPrices(events: number, checksum: Checksum): void {
  const byId = auctionsById(events);
  const prices = new Map<string, number[]>();
  for (const [id, { price }] of winners(events, byId)) {
    const { category, expires } = byId.get(id)!;
    for (const end of slidingEnds(expires)) {
      const key = `${category} ${end}`;
      const of = prices.get(key);
      if (of === undefined) prices.set(key, [price]);
      else of.push(price);
    }
  }
  for (const [key, of] of prices) {
    const [category, end] = key.split(' ').map(Number) as [number, number];
    const average = Math.floor(of.reduce((sum, price) => sum + price, 0) / of.length);
    addCategoryPrice({ category, average, end }, checksum);
  }
}

/** Of the windows of 10 s each 2 s that a time is in. */
function slidingEnds(timeMs: number): number[] {
  const ends: number[] = [];
  for (let end = (Math.floor(timeMs / 2000) + 1) * 2000; end - 10_000 <= timeMs; end += 2000) ends.push(end);
  return ends;
}

function hotItems(events: number, checksum: Checksum): void {
  const windows = new Map<number, Map<number, number>>();
  for (const { auction, dateTime } of bids(events)) {
    for (const end of slidingEnds(dateTime)) {
      let counts = windows.get(end);
      if (counts === undefined) windows.set(end, (counts = new Map()));
      counts.set(auction, (counts.get(auction) ?? 0) + 1);
    }
  }
  for (const [end, counts] of windows) {
    const highest = [...counts.values()].reduce((left, right) => Math.max(left, right));
    for (const [auction, count] of counts)
      if (count === highest) addHotItem({ auction, count, end }, checksum);
  }
}

function highestBids(events: number, checksum: Checksum): void {
  const windowOf = ({ dateTime }: Bid): number => Math.floor(dateTime / 10_000);
  const highest = new Map<number, number>();
  for (const bid of bids(events)) {
    highest.set(windowOf(bid), Math.max(highest.get(windowOf(bid)) ?? 0, bid.price));
  }
  for (const bid of bids(events)) if (bid.price === highest.get(windowOf(bid))) addBidPart(bid, checksum);
}

function newUsers(events: number, checksum: Checksum): void {
  const startOf = (timeMs: number): number => timeMs - (timeMs % 10_000);
  const sellers = new Set(
    [...auctions(events)].map(({ seller, dateTime }) => `${seller} ${startOf(dateTime)}`),
  );
  for (const { id, name, dateTime } of persons(events)) {
    const start = startOf(dateTime);
    if (sellers.has(`${id} ${start}`)) addNewUser({ id, name, start }, checksum);
  }
}

function winningBids(events: number, checksum: Checksum): void {
  const byId = auctionsById(events);
  for (const [id, { bidder, price, dateTime, extra }] of winners(events, byId)) {
    const bid = { bidder, price, bidDateTime: dateTime, bidExtra: extra };
    addWinningBid({ ...byId.get(id)!, ...bid }, checksum);
  }
}

function userSessions(events: number, checksum: Checksum): void {
  const open = new Map<number, { count: number; start: number; last: number }>();
  const emit = (bidder: number, { count, start, last }: { count: number; start: number; last: number }) =>
    addUserSession({ bidder, count, start, end: last + 10_000 }, checksum);
  for (const { bidder, dateTime } of bids(events)) {
    const session = open.get(bidder);
    // Sessions that touch are one: a window of a single bid ends 10 s after it.
    if (session !== undefined && dateTime <= session.last + 10_000) {
      session.count++;
      session.last = dateTime;
    } else {
      if (session !== undefined) emit(bidder, session);
      open.set(bidder, { count: 1, start: dateTime, last: dateTime });
    }
  }
  for (const [bidder, session] of open) emit(bidder, session);
}

/** Bids by auction; within an auction in the order of their numbers. */
function bidsByAuction(events: number): Map<number, Bid[]> {
  const byAuction = new Map<number, Bid[]>();
  for (const bid of bids(events)) {
    const others = byAuction.get(bid.auction);
    if (others === undefined) byAuction.set(bid.auction, [bid]);
    else others.push(bid);
  }
  return byAuction;
}

function auctionReports(events: number, checksum: Checksum): void {
  const dayOf = (bid: Bid): number => Math.floor(bid.dateTime / 86_400_000);
  for (const [auction, all] of bidsByAuction(events)) {
    for (const [day, ofDay] of Map.groupBy(all, dayOf)) {
      const prices = ofDay.map(({ price }) => price).sort((left, right) => left - right);
      const sum = prices.reduce((left, right) => left + right, 0);
      const report: AuctionReport = {
        change: 1,
        auction,
        day,
        bids: prices.length,
        rank1: prices.filter((price) => price < 10_000).length,
        rank2: prices.filter((price) => price >= 10_000 && price < 1_000_000).length,
        rank3: prices.filter((price) => price >= 1_000_000).length,
        min: prices[0]!,
        max: prices.at(-1)!,
        average: Math.floor(sum / prices.length),
        sum,
      };
      addAuctionReport(report, checksum);
    }
  }
}

function lastBids(events: number, checksum: Checksum): void {
  for (const ofAuction of bidsByAuction(events).values()) {
    for (const ofBoth of Map.groupBy(ofAuction, ({ bidder }) => bidder).values()) {
      const last = ofBoth.reduce((left, right) => (isLater(right, left) ? right : left));
      addLastBid({ change: 1, bid: last }, checksum);
    }
  }
}

function topBids(events: number, checksum: Checksum): void {
  for (const ofAuction of bidsByAuction(events).values()) {
    ofAuction.sort(
      (left, right) => Number(isBetterInFull(right, left)) - Number(isBetterInFull(left, right)),
    );
    for (const [i, bid] of ofAuction.slice(0, 10).entries()) {
      addRankedBid({ change: 1, bid, rank: i + 1 }, checksum);
    }
  }
}
