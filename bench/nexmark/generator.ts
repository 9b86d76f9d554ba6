/**
 * The events of the Nexmark benchmark: a pure function of (seed, number), so that any split of the numbers over sources
 * gives the same events. Integers of 32 bits only: a twin in another language gives the same bits (`Math.imul` is the
 * product of two ints in Java, `>>>` the same shift; all remainders are of numbers that are not negative).
 *
 * Proportions, skew, and fields are those of Nexmark: 1 person, 3 auctions, and 46 bids of 50 events; most bids go to one
 * hot auction and come from one hot bidder, and most auctions are offered by one hot seller, who change over time; the
 * others go to what is in flight or active, a little of which is still to come. Ten events a millisecond.
 *
 *     word(k)        = finish(number * 0x9E3779B1 + seed + k * 0x7F4A7C15)            all modulo 2^32
 *     finish(h)      : h ^= h >>> 16; h *= 0x85EBCA6B; h ^= h >>> 13; h *= 0xC2B2AE35; h ^= h >>> 16
 *     below(w, b)    = (w >>> 1) % b
 *     price(k)       = d + below(word(k + 1), 9 * d)       with d = 100 * 10 ** below(word(k), 6)
 *
 *     epoch = number / 50 (without the rest), place = number % 50: 0 is a person, 1 to 3 are auctions, the others bids
 *     time        = BASE_TIME_MS + number / 10 (without the rest)
 *     lastPerson  = epoch
 *     lastAuction = epoch * 3 + min(place, 3) - 1
 *     somePerson(k)  = p - a + below(word(k), a + 10)      with p = lastPerson + 1, a = min(p, 1000)
 *     someAuction(k) = m + below(word(k), lastAuction - m + 11)         with m = max(lastAuction - 100, 0)
 *
 *     person:  id = 1000 + lastPerson, name = FIRST_NAMES[below(word(1), 11)] + ' ' + LAST_NAMES[below(word(2), 9)],
 *              emailAddress = 'user' + id + '@' + HOSTS[below(word(3), 5)],
 *              creditCard = four groups 1000 + below(word(4 to 7), 9000) with blanks between them,
 *              city = CITIES[below(word(8), 10)], state = STATES[below(word(9), 6)], extra = 'extra-' + below(word(10), 100)
 *     auction: id = 1000 + lastAuction, itemName = 'item-' + below(word(1), 1000), description = 'lot ' + word(2) >>> 8,
 *              initialBid = price(3), reserve = initialBid + price(5), expires = time + 1 + below(word(7), 332),
 *              seller = 1000 + (below(word(8), 4) > 0 ? lastPerson - lastPerson % 100 : somePerson(9)),
 *              category = 10 + below(word(10), 5), extra = 'extra-' + below(word(11), 100)
 *     bid:     w = word(1),
 *              auction = 1000 + ((w & 1) != 0 ? lastAuction - lastAuction % 100 : someAuction(2)),
 *              bidder = 1000 + ((w & 6) != 0 ? lastPerson - lastPerson % 100 + 1 : somePerson(3)), price = price(4),
 *              c = (w & 8) != 0 ? (w >>> 4) & 3 : 4 + below(word(6), 10000), channel = CHANNELS[c], url = URLS[c],
 *              extra = 'extra-' + (w >>> 8) % 100
 *
 * The tables of names and channels are below. With seed 42, `eventsChecksum` gives (the high word first):
 *
 *     events 0             53d27234433690f9
 *     events 0 to 49       a78bbc051e119653
 *     events 0 to 9,999    1fc5c7c9fd8e413c
 */
import { Checksum, type ChecksumValue, mix, mixLong, textHash } from './checksum.ts';

export interface Person {
  readonly id: number;
  readonly name: string;
  readonly emailAddress: string;
  readonly creditCard: string;
  readonly city: string;
  readonly state: string;
  readonly dateTime: number;
  readonly extra: string;
}

export interface Auction {
  readonly id: number;
  readonly itemName: string;
  readonly description: string;
  readonly initialBid: number;
  readonly reserve: number;
  readonly dateTime: number;
  readonly expires: number;
  readonly seller: number;
  readonly category: number;
  readonly extra: string;
}

export interface Bid {
  readonly auction: number;
  readonly bidder: number;
  readonly price: number;
  readonly channel: string;
  readonly url: string;
  readonly dateTime: number;
  readonly extra: string;
}

/** One of the three is there. */
export interface NexmarkEvent {
  readonly person: Person | null;
  readonly auction: Auction | null;
  readonly bid: Bid | null;
}

export const SEED = 42;
/** Of the first 10,000 events: what a twin in another language must find (1fc5c7c9fd8e413c). */
export const EVENTS_10_000: ChecksumValue = { count: 10_000, low: 4_253_958_460, high: 533_055_433 };
/** A multiple of all sizes of windows. */
export const BASE_TIME_MS = 1_700_000_000_000;
export const EVENTS_PER_MS = 10;
export const EVENTS_PER_EPOCH = 50;

const FIRST_ID = 1000;
const ACTIVE_PEOPLE = 1000;
const IN_FLIGHT_AUCTIONS = 100;
/** Ids that are referred to before they come. */
const ID_LEAD = 10;
/** The hot one is the last of which the number is a multiple. */
const HOT_EACH = 100;
const FIRST_CATEGORY = 10;
const CATEGORIES = 5;
/** Twice the time in which as many auctions come as are in flight. */
const AUCTION_LENGTH_MS = 332;

const FIRST_NAMES = 'Peter,Paul,Luke,John,Saul,Vicky,Kate,Julie,Sarah,Deiter,Walter'.split(',');
const LAST_NAMES = 'Shultz,Abrams,Spencer,White,Bartels,Walton,Smith,Jones,Noris'.split(',');
const HOSTS = 'mail.com,post.org,example.com,example.org,inbox.net'.split(',');
const CITIES = 'Phoenix,Los Angeles,San Francisco,Boise,Portland,Bend,Redmond,Seattle,Kent,Cheyenne'.split(
  ',',
);
const STATES = 'AZ,CA,ID,OR,WA,WY'.split(',');
const HOT_CHANNELS = ['Google', 'Facebook', 'Baidu', 'Apple'];

// What is made once need not be made for each event: the benchmark is not about putting strings together.
const textsOf = (count: number, text: (i: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => text(i));
const NAMES = FIRST_NAMES.flatMap((first) => LAST_NAMES.map((last) => `${first} ${last}`));
const AT_HOSTS = HOSTS.map((host) => `@${host}`);
const CARD_GROUPS = textsOf(9000, (i) => `${1000 + i}`);
const CARD_GROUPS_BEFORE = textsOf(9000, (i) => `${1000 + i} `);
const ITEMS = textsOf(1000, (i) => `item-${i}`);
const LOTS = textsOf(10_000, (i) => `lot ${i}`);
const LAST_DIGITS = textsOf(10_000, (i) => `${i}`.padStart(4, '0'));
const EXTRAS = textsOf(100, (i) => `extra-${i}`);
const CHANNELS = [...HOT_CHANNELS, ...textsOf(10_000, (i) => `channel-${i}`)];
const URLS = [
  ...textsOf(HOT_CHANNELS.length, (i) => `https://www.nexmark.com/hot/item-${i}/item.htm?query=1`),
  ...textsOf(10_000, (i) => `https://www.nexmark.com/item.htm?query=1&channel_id=${i}`),
];
const DECADES = Int32Array.of(100, 1000, 10_000, 100_000, 1_000_000, 10_000_000);

/** @returns event `number`, from 0; numbers are below 2^31. */
export function eventOf(number: number, seed = SEED): NexmarkEvent {
  const base = (Math.imul(number, 0x9e3779b1) + seed) | 0;
  const place = number % EVENTS_PER_EPOCH;
  if (place > 3) return { person: null, auction: null, bid: bidOf(number, base) };
  return place === 0
    ? { person: personOf(number, base), auction: null, bid: null }
    : { person: null, auction: auctionOf(number, base), bid: null };
}

function personOf(number: number, base: number): Person {
  const id = FIRST_ID + lastPerson(number);
  const before = (k: number): string => CARD_GROUPS_BEFORE[below(word(base, k), 9000)]!;
  return {
    id,
    name: NAMES[below(word(base, 1), 11) * LAST_NAMES.length + below(word(base, 2), 9)]!,
    emailAddress: `user${id}${AT_HOSTS[below(word(base, 3), 5)]}`,
    creditCard: before(4) + before(5) + before(6) + CARD_GROUPS[below(word(base, 7), 9000)]!,
    city: CITIES[below(word(base, 8), 10)]!,
    state: STATES[below(word(base, 9), 6)]!,
    dateTime: timeOf(number),
    extra: EXTRAS[below(word(base, 10), 100)]!,
  };
}

function auctionOf(number: number, base: number): Auction {
  const initialBid = price(base, 3);
  const dateTime = timeOf(number);
  const person = lastPerson(number);
  const seller = below(word(base, 8), 4) > 0 ? person - (person % HOT_EACH) : somePerson(base, 9, person);
  return {
    id: FIRST_ID + lastAuction(number),
    itemName: ITEMS[below(word(base, 1), 1000)]!,
    description: lot(word(base, 2) >>> 8),
    initialBid,
    reserve: initialBid + price(base, 5),
    dateTime,
    expires: dateTime + 1 + below(word(base, 7), AUCTION_LENGTH_MS),
    seller: FIRST_ID + seller,
    category: FIRST_CATEGORY + below(word(base, 10), CATEGORIES),
    extra: EXTRAS[below(word(base, 11), 100)]!,
  };
}

function bidOf(number: number, base: number): Bid {
  const w = word(base, 1);
  const auction = lastAuction(number);
  const person = lastPerson(number);
  const channel = (w & 8) !== 0 ? (w >>> 4) & 3 : 4 + below(word(base, 6), 10_000);
  return {
    auction: FIRST_ID + ((w & 1) !== 0 ? auction - (auction % HOT_EACH) : someAuction(base, 2, auction)),
    bidder: FIRST_ID + ((w & 6) !== 0 ? person - (person % HOT_EACH) + 1 : somePerson(base, 3, person)),
    price: price(base, 4),
    channel: CHANNELS[channel]!,
    url: URLS[channel]!,
    dateTime: timeOf(number),
    extra: EXTRAS[(w >>> 8) % 100]!,
  };
}

function lot(number: number): string {
  return number < LOTS.length
    ? LOTS[number]!
    : LOTS[(number / LOTS.length) | 0]! + LAST_DIGITS[number % LOTS.length]!;
}

function word(base: number, k: number): number {
  let h = (base + Math.imul(k, 0x7f4a7c15)) | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

function below(w: number, bound: number): number {
  return (w >>> 1) % bound;
}

/** Each decade is as likely as any other; evenly within it. */
function price(base: number, k: number): number {
  const decade = DECADES[below(word(base, k), 6)]!;
  return decade + below(word(base, k + 1), 9 * decade);
}

function timeOf(number: number): number {
  return BASE_TIME_MS + ((number / EVENTS_PER_MS) | 0);
}

function lastPerson(number: number): number {
  return (number / EVENTS_PER_EPOCH) | 0;
}

function lastAuction(number: number): number {
  return ((number / EVENTS_PER_EPOCH) | 0) * 3 + Math.min(number % EVENTS_PER_EPOCH, 3) - 1;
}

function somePerson(base: number, k: number, last: number): number {
  const active = Math.min(last + 1, ACTIVE_PEOPLE);
  return last + 1 - active + below(word(base, k), active + ID_LEAD);
}

function someAuction(base: number, k: number, last: number): number {
  const first = Math.max(last - IN_FLIGHT_AUCTIONS, 0);
  return first + below(word(base, k), last - first + 1 + ID_LEAD);
}

/** Of events `from` to `to - 1`: all fields in the order of their declarations, strings in full. */
export function eventsChecksum(from: number, to: number, seed = SEED): Checksum {
  const checksum = new Checksum();
  for (let number = from; number < to; number++) {
    const { person, auction, bid } = eventOf(number, seed);
    if (person !== null) checksum.add(personHash(person));
    else if (auction !== null) checksum.add(auctionHash(auction));
    else checksum.add(bidHash(bid!));
  }
  return checksum;
}

function personHash(person: Person): number {
  let h = mix(1, person.id);
  h = mix(h, textHash(person.name));
  h = mix(h, textHash(person.emailAddress));
  h = mix(h, textHash(person.creditCard));
  h = mix(h, textHash(person.city));
  h = mix(h, textHash(person.state));
  h = mixLong(h, person.dateTime);
  return mix(h, textHash(person.extra));
}

function auctionHash(auction: Auction): number {
  let h = mix(2, auction.id);
  h = mix(h, textHash(auction.itemName));
  h = mix(h, textHash(auction.description));
  h = mix(h, auction.initialBid);
  h = mix(h, auction.reserve);
  h = mixLong(h, auction.dateTime);
  h = mixLong(h, auction.expires);
  h = mix(h, auction.seller);
  h = mix(h, auction.category);
  return mix(h, textHash(auction.extra));
}

function bidHash(bid: Bid): number {
  let h = mix(3, bid.auction);
  h = mix(h, bid.bidder);
  h = mix(h, bid.price);
  h = mix(h, textHash(bid.channel));
  h = mix(h, textHash(bid.url));
  h = mixLong(h, bid.dateTime);
  return mix(h, textHash(bid.extra));
}
