/** Queries with windows: q5, q7, q8, q11 and q12. */
import {
  type AggregateFunction,
  type DataStream,
  EventTimeSessionWindows,
  MAX_WATERMARK,
  SlidingEventTimeWindows,
  Time,
  type TimeWindow,
  Trigger,
  type TriggerContext,
  type TriggerResult,
  TumblingEventTimeWindows,
  TumblingProcessingTimeWindows,
  Types,
} from '@millrace/engine';
import {
  BID_PART_TYPE,
  BIDDER_COUNT_TYPE,
  type BidderCount,
  type BidPart,
  HOT_ITEM_TYPE,
  type HotItem,
  NEW_USER_TYPE,
  type NewUser,
  USER_SESSION_TYPE,
  type UserSession,
} from './results.ts';
import { auctionsOf, bidPartsOf, bidsOf, personsOf, type QueryInput } from './streams.ts';

const WINDOW = Time.seconds(10);
const WINDOW_MS = 10_000;
const SLIDE = Time.seconds(2);

const COUNT: AggregateFunction<unknown, number, number> = {
  createAccumulator: () => 0,
  add: (_, count) => count + 1,
  getResult: (count) => count,
  merge: (left, right) => left + right,
};

/** Those with the highest count so far. */
interface Hottest {
  readonly count: number;
  readonly auctions: number[];
}

const HOTTEST_TYPE = Types.ROW({ count: Types.LONG, auctions: Types.LIST(Types.LONG) });

const HOTTEST: AggregateFunction<HotItem, Hottest, Hottest> = {
  createAccumulator: () => ({ count: 0, auctions: [] }),
  add({ auction, count }, hottest) {
    if (count < hottest.count) return hottest;
    return count > hottest.count
      ? { count, auctions: [auction] }
      : { count, auctions: [...hottest.auctions, auction] };
  },
  getResult: (hottest) => hottest,
  merge(left, right) {
    if (left.count !== right.count) return left.count > right.count ? left : right;
    return { count: left.count, auctions: [...left.auctions, ...right.auctions] };
  },
};

/** q5. */
export function hotItems(input: QueryInput): DataStream<HotItem> {
  return bidsOf(input)
    .map(({ auction }) => auction, Types.LONG)
    .keyBy((auction) => auction, Types.LONG)
    .window(SlidingEventTimeWindows.of(WINDOW, SLIDE))
    .aggregate(
      COUNT,
      {
        process(auction, context, [count], out) {
          out.collect({ auction, count: count!, end: context.window().end });
        },
      },
      { accumulator: Types.LONG, result: HOT_ITEM_TYPE },
    )
    .keyBy(({ end }) => end, Types.LONG)
    .window(TumblingEventTimeWindows.of(SLIDE))
    .aggregate(
      HOTTEST,
      {
        process(end, _context, [hottest], out) {
          const { count, auctions } = hottest!;
          for (const auction of auctions) out.collect({ auction, count, end });
        },
      },
      { accumulator: HOTTEST_TYPE, result: HOT_ITEM_TYPE },
    );
}

/** q7. */
export function highestBids(input: QueryInput): DataStream<BidPart> {
  const highest = bidsOf(input)
    .map(({ price }) => price, Types.LONG)
    .windowAll(TumblingEventTimeWindows.of(WINDOW))
    .reduce((left, right) => Math.max(left, right));
  return bidPartsOf(input)
    .join(highest)
    .where(({ price }) => price, Types.LONG)
    .equalTo((price) => price, Types.LONG)
    .window(TumblingEventTimeWindows.of(WINDOW))
    .apply((bid, _price) => bid, BID_PART_TYPE);
}

interface NamedPerson {
  readonly id: number;
  readonly name: string;
  readonly dateTime: number;
}

const NAMED_PERSON_TYPE = Types.ROW({ id: Types.LONG, name: Types.STRING, dateTime: Types.LONG });

/** q8. */
export function newUsers(input: QueryInput): DataStream<NewUser> {
  const persons = personsOf(input).map(
    ({ id, name, dateTime }): NamedPerson => ({ id, name, dateTime }),
    NAMED_PERSON_TYPE,
  );
  const sellers = auctionsOf(input).map(({ seller }) => seller, Types.LONG);
  return persons
    .coGroup(sellers)
    .where(({ id }) => id, Types.LONG)
    .equalTo((seller) => seller, Types.LONG)
    .window(TumblingEventTimeWindows.of(WINDOW))
    .apply((found, auctions, out) => {
      if ([...auctions].length === 0) return;
      for (const { id, name, dateTime } of found) {
        out.collect({ id, name, start: dateTime - (dateTime % WINDOW_MS) });
      }
    }, NEW_USER_TYPE);
}

/** q11. */
export function userSessions(input: QueryInput): DataStream<UserSession> {
  return bidsOf(input)
    .map(({ bidder }) => bidder, Types.LONG)
    .keyBy((bidder) => bidder, Types.LONG)
    .window(EventTimeSessionWindows.withGap(WINDOW))
    .aggregate(
      COUNT,
      {
        process(bidder, context, [count], out) {
          const { start, end } = context.window();
          out.collect({ bidder, count: count!, start, end });
        },
      },
      { accumulator: Types.LONG, result: USER_SESSION_TYPE },
    );
}

/** q12. */
export function processingTimeCounts(input: QueryInput): DataStream<BidderCount> {
  return bidsOf(input)
    .map(({ bidder }) => bidder, Types.LONG)
    .keyBy((bidder) => bidder, Types.LONG)
    .window(TumblingProcessingTimeWindows.of(WINDOW))
    .trigger(new ProcessingTimeOrEndTrigger())
    .aggregate(
      COUNT,
      {
        process(bidder, _context, [count], out) {
          out.collect({ bidder, count: count! });
        },
      },
      { accumulator: Types.LONG, result: BIDDER_COUNT_TYPE },
    );
}

/** At the end of the window, or of the input: timers of processing time do not fire any more when it is over. */
class ProcessingTimeOrEndTrigger extends Trigger<unknown, TimeWindow> {
  onElement(
    _value: unknown,
    _timestampMs: number,
    window: TimeWindow,
    context: TriggerContext,
  ): TriggerResult {
    context.registerProcessingTimeTimer(window.maxTimestamp());
    context.registerEventTimeTimer(MAX_WATERMARK);
    return 'CONTINUE';
  }

  onEventTime(): TriggerResult {
    return 'FIRE_AND_PURGE';
  }

  onProcessingTime(): TriggerResult {
    return 'FIRE_AND_PURGE';
  }

  clear(window: TimeWindow, context: TriggerContext): void {
    context.deleteProcessingTimeTimer(window.maxTimestamp());
    context.deleteEventTimeTimer(MAX_WATERMARK);
  }
}
