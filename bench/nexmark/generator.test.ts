import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Checksum } from './checksum.ts';
import { BASE_TIME_MS, EVENTS_10_000, eventOf, eventsChecksum, SEED } from './generator.ts';

const events = Array.from({ length: 100_000 }, (_, number) => eventOf(number));
const persons = events.flatMap(({ person }) => person ?? []);
const auctions = events.flatMap(({ auction }) => auction ?? []);
const bids = events.flatMap(({ bid }) => bid ?? []);

const share = (count: number, all: number): number => Math.round((100 * count) / all);

it('the first events have the checksum that twins in other languages are compared with', () => {
  assert.deepEqual(eventsChecksum(0, 10_000).value(), EVENTS_10_000);
  assert.notDeepEqual(eventsChecksum(0, 10_000, SEED + 1).value(), EVENTS_10_000);
});

it('any split of the numbers gives the same events', () => {
  const parts = new Checksum();
  parts.merge(eventsChecksum(3000, 10_000).value());
  parts.merge(eventsChecksum(0, 3000).value());
  assert.deepEqual(parts.value(), EVENTS_10_000);
});

it('of fifty events one is a person, three are auctions and the others bids, each with the next id', () => {
  assert.deepEqual([persons.length, auctions.length, bids.length], [2000, 6000, 92_000]);
  assert.ok(persons.every(({ id }, i) => id === 1000 + i));
  assert.ok(auctions.every(({ id }, i) => id === 1000 + i));
});

it('ten events have the same time', () => {
  const times = events.map(({ person, auction, bid }) => (person ?? auction ?? bid)!.dateTime);
  assert.ok(times.every((time, number) => time === BASE_TIME_MS + Math.floor(number / 10)));
});

it('half of the bids go to the hot auction, three quarters come from the hot bidder, and sell for the hot seller', () => {
  const hot = (ids: readonly number[], place: number): number =>
    ids.filter((id) => id % 100 === place).length / ids.length;
  // One in a hundred of the others is a hot one as well.
  const auctionsOfBids = bids.map(({ auction }) => auction);
  assert.ok(Math.abs(hot(auctionsOfBids, 0) - 0.505) < 0.01);
  const bidders = bids.map(({ bidder }) => bidder);
  assert.ok(Math.abs(hot(bidders, 1) - 0.7525) < 0.01);
  const sellers = auctions.map(({ seller }) => seller);
  assert.ok(Math.abs(hot(sellers, 0) - 0.7525) < 0.02);
});

it('prices are spread evenly over six decades, and half of the bids have one of four channels', () => {
  for (let decade = 2; decade < 8; decade++) {
    const within = bids.filter(({ price }) => price >= 10 ** decade && price < 10 ** (decade + 1));
    assert.equal(share(within.length, bids.length), 17);
  }
  assert.equal(share(bids.filter(({ channel }) => !channel.startsWith('c')).length, bids.length), 50);
});

it('auctions close after they opened, within a third of a second', () => {
  const lengths = auctions.map(({ dateTime, expires }) => expires - dateTime);
  assert.equal(Math.min(...lengths), 1);
  assert.equal(Math.max(...lengths), 332);
});

it('referred ids are of those that are active, or come soon', () => {
  for (const [number, { bid }] of events.entries()) {
    if (bid === null) continue;
    const epoch = Math.floor(number / 50);
    assert.ok(bid.auction <= 1000 + epoch * 3 + 2 + 10 && bid.auction >= 1000 + epoch * 3 + 2 - 199);
    assert.ok(bid.bidder <= 1000 + epoch + 10 && bid.bidder >= 1000 + epoch - 1000);
  }
});
