/** Which of two bids counts more: total orders, so that results do not depend on the order in which bids come (QUERIES.md). */
import type { Bid } from './generator.ts';

type Ranked = Omit<Bid, 'auction' | 'channel' | 'url'>;

/** True if `left` is the better bid: higher price, earlier, lower bidder, lower extra. */
export function isBetter(left: Ranked, right: Ranked): boolean {
  if (left.price !== right.price) return left.price > right.price;
  if (left.dateTime !== right.dateTime) return left.dateTime < right.dateTime;
  if (left.bidder !== right.bidder) return left.bidder < right.bidder;
  return left.extra < right.extra;
}

/** As `isBetter`; if all that is equal, the lower url. */
export function isBetterInFull(left: Bid, right: Bid): boolean {
  if (isBetter(left, right)) return true;
  return !isBetter(right, left) && left.url < right.url;
}

/** True if `left` is the later bid: later, higher price, higher extra, higher url. */
export function isLater(left: Bid, right: Bid): boolean {
  if (left.dateTime !== right.dateTime) return left.dateTime > right.dateTime;
  if (left.price !== right.price) return left.price > right.price;
  if (left.extra !== right.extra) return left.extra > right.extra;
  return left.url > right.url;
}
