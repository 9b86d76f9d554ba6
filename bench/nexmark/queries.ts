/** The queries by name, as jobs (QUERIES.md says what each is). */
import type { DataStream } from '@millrace/engine';
import { auctionReports, lastBids, topBids } from './changelogs.ts';
import type { Checksum } from './checksum.ts';
import { checksumSink } from './checksum-sink.ts';
import { categoryPrices, winningBids } from './closing-auctions.ts';
import { expandedBids, localItems } from './joins.ts';
import { currency, passThrough, selection, sideInputJoin } from './queries-of-bids.ts';
import {
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
import type { QueryInput } from './streams.ts';
import { highestBids, hotItems, newUsers, processingTimeCounts, userSessions } from './windows.ts';

/** Builds the job from its input to its sink, which leaves its checksum in the directory. */
export type Query = (input: QueryInput, directory: string) => void;

function query<R>(
  results: (input: QueryInput) => DataStream<R>,
  add: (result: R, checksum: Checksum) => void,
): Query {
  return (input, directory) => {
    results(input).sinkTo(checksumSink(directory, add));
  };
}

export const QUERIES = {
  q0: query(passThrough, addBidPart),
  q1: query(currency, addBidPart),
  q2: query(selection, addSelectedBid),
  q3: query(localItems, addLocalItem),
  q4: query(categoryPrices, addCategoryPrice),
  q5: query(hotItems, addHotItem),
  q7: query(highestBids, addBidPart),
  q8: query(newUsers, addNewUser),
  q9: query(winningBids, addWinningBid),
  q11: query(userSessions, addUserSession),
  q12: query(processingTimeCounts, addBidderCount),
  q13: query(sideInputJoin, addExplainedBid),
  q17: query(auctionReports, addAuctionReport),
  q18: query(lastBids, addLastBid),
  q19: query(topBids, addRankedBid),
  q20: query(expandedBids, addExpandedBid),
} as const satisfies Record<string, Query>;

export type QueryName = keyof typeof QUERIES;

export const QUERY_NAMES = Object.keys(QUERIES) as QueryName[];
