package millrace.bench;

import static millrace.bench.Checksum.mix;
import static millrace.bench.Checksum.mixLong;
import static millrace.bench.Checksum.textDigest;

import java.time.Duration;
import java.util.Arrays;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.CoGroupFunction;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.api.java.tuple.Tuple5;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.assigners.SlidingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingProcessingTimeWindows;
import org.apache.flink.streaming.api.windowing.triggers.Trigger;
import org.apache.flink.streaming.api.windowing.triggers.TriggerResult;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/** Queries with windows: q5, q7, q8, q11 and q12. */
final class WindowQueries {
  static final Duration WINDOW = Duration.ofSeconds(10);
  static final Duration SLIDE = Duration.ofSeconds(2);

  private WindowQueries() {}

  private static final class Count<T> implements AggregateFunction<T, Long, Long> {
    @Override
    public Long createAccumulator() {
      return 0L;
    }

    @Override
    public Long add(T value, Long count) {
      return count + 1;
    }

    @Override
    public Long getResult(Long count) {
      return count;
    }

    @Override
    public Long merge(Long left, Long right) {
      return left + right;
    }
  }

  /** q5. */
  static void hotItems(EventStreams input, Nexmark.Results results) {
    results.take(
        input
            .bids()
            .map(bid -> bid.auction)
            .returns(Types.LONG)
            .keyBy(auction -> auction, Types.LONG)
            .window(SlidingEventTimeWindows.of(WINDOW, SLIDE))
            .aggregate(
                new Count<Long>(),
                new WindowCount(),
                Types.LONG,
                Types.LONG,
                Types.TUPLE(Types.LONG, Types.LONG, Types.LONG))
            .keyBy(count -> count.f2, Types.LONG)
            .window(TumblingEventTimeWindows.of(SLIDE))
            .aggregate(
                new HottestItems(),
                new HottestWindow(),
                Types.POJO(Hottest.class),
                Types.POJO(Hottest.class),
                Types.TUPLE(Types.LONG, Types.LONG, Types.LONG)),
        result -> mixLong(mix(mix(0, result.f0), result.f1), result.f2));
  }

  /** auction, count, end. */
  private static final class WindowCount
      extends ProcessWindowFunction<Long, Tuple3<Long, Long, Long>, Long, TimeWindow> {
    @Override
    public void process(
        Long auction, Context context, Iterable<Long> counts, Collector<Tuple3<Long, Long, Long>> out) {
      out.collect(Tuple3.of(auction, counts.iterator().next(), context.window().getEnd()));
    }
  }

  /** The highest count so far, and the auctions that have it. */
  public static class Hottest {
    public long count;
    public long[] auctions = {};
  }

  private static final class HottestItems
      implements AggregateFunction<Tuple3<Long, Long, Long>, Hottest, Hottest> {
    @Override
    public Hottest createAccumulator() {
      return new Hottest();
    }

    @Override
    public Hottest add(Tuple3<Long, Long, Long> item, Hottest hottest) {
      if (item.f1 < hottest.count) return hottest;
      int known = item.f1 > hottest.count ? 0 : hottest.auctions.length;
      hottest.count = item.f1;
      hottest.auctions = Arrays.copyOf(hottest.auctions, known + 1);
      hottest.auctions[known] = item.f0;
      return hottest;
    }

    @Override
    public Hottest getResult(Hottest hottest) {
      return hottest;
    }

    @Override
    public Hottest merge(Hottest left, Hottest right) {
      throw new UnsupportedOperationException("tumbling windows do not merge");
    }
  }

  private static final class HottestWindow
      extends ProcessWindowFunction<Hottest, Tuple3<Long, Long, Long>, Long, TimeWindow> {
    @Override
    public void process(
        Long end, Context context, Iterable<Hottest> all, Collector<Tuple3<Long, Long, Long>> out) {
      Hottest hottest = all.iterator().next();
      for (long auction : hottest.auctions) out.collect(Tuple3.of(auction, hottest.count, end));
    }
  }

  /** q7. */
  static void highestBids(EventStreams input, Nexmark.Results results) {
    DataStream<Long> highest =
        input
            .bids()
            .map(bid -> bid.price)
            .returns(Types.LONG)
            .windowAll(TumblingEventTimeWindows.of(WINDOW))
            .reduce((left, right) -> Math.max(left, right));
    JoinFunction<
            Tuple5<Long, Long, Long, Long, String>, Long, Tuple5<Long, Long, Long, Long, String>>
        first = (bid, price) -> bid;
    results.take(
        input
            .bidParts()
            .join(highest)
            .where(bid -> bid.f2, Types.LONG)
            .equalTo(price -> price, Types.LONG)
            .window(TumblingEventTimeWindows.of(WINDOW))
            .apply(first, EventStreams.BID_PART),
        Hashes::bidPart);
  }

  /** q8. */
  static void newUsers(EventStreams input, Nexmark.Results results) {
    results.take(
        input
            .persons()
            .map(new NamedPerson())
            .coGroup(input.auctions().map(auction -> auction.seller).returns(Types.LONG))
            .where(person -> person.f0, Types.LONG)
            .equalTo(seller -> seller, Types.LONG)
            .window(TumblingEventTimeWindows.of(WINDOW))
            .apply(new NewUsers()),
        result -> mixLong(mix(mix(0, result.f0), textDigest(result.f1)), result.f2));
  }

  /** id, name, dateTime. */
  private static final class NamedPerson implements MapFunction<Person, Tuple3<Long, String, Long>> {
    @Override
    public Tuple3<Long, String, Long> map(Person person) {
      return Tuple3.of(person.id, person.name, person.dateTime);
    }
  }

  /** id, name, start. */
  private static final class NewUsers
      implements CoGroupFunction<Tuple3<Long, String, Long>, Long, Tuple3<Long, String, Long>> {
    @Override
    public void coGroup(
        Iterable<Tuple3<Long, String, Long>> persons,
        Iterable<Long> sellers,
        Collector<Tuple3<Long, String, Long>> out) {
      if (!sellers.iterator().hasNext()) return;
      for (Tuple3<Long, String, Long> person : persons) {
        out.collect(Tuple3.of(person.f0, person.f1, person.f2 - person.f2 % WINDOW.toMillis()));
      }
    }
  }

  /** q11. */
  static void userSessions(EventStreams input, Nexmark.Results results) {
    results.take(
        input
            .bids()
            .map(bid -> bid.bidder)
            .returns(Types.LONG)
            .keyBy(bidder -> bidder, Types.LONG)
            .window(EventTimeSessionWindows.withGap(WINDOW))
            .aggregate(
                new Count<Long>(),
                new SessionCount(),
                Types.LONG,
                Types.LONG,
                Types.TUPLE(Types.LONG, Types.LONG, Types.LONG, Types.LONG)),
        result -> mixLong(mixLong(mix(mix(0, result.f0), result.f1), result.f2), result.f3));
  }

  /** bidder, count, start, end. */
  private static final class SessionCount
      extends ProcessWindowFunction<Long, Tuple4<Long, Long, Long, Long>, Long, TimeWindow> {
    @Override
    public void process(
        Long bidder,
        Context context,
        Iterable<Long> counts,
        Collector<Tuple4<Long, Long, Long, Long>> out) {
      TimeWindow window = context.window();
      out.collect(
          Tuple4.of(bidder, counts.iterator().next(), window.getStart(), window.getEnd()));
    }
  }

  /** q12. */
  static void processingTimeCounts(EventStreams input, Nexmark.Results results) {
    results.take(
        input
            .bids()
            .map(bid -> bid.bidder)
            .returns(Types.LONG)
            .keyBy(bidder -> bidder, Types.LONG)
            .window(TumblingProcessingTimeWindows.of(WINDOW))
            .trigger(new ProcessingTimeOrEndTrigger())
            .aggregate(
                new Count<Long>(),
                new BidderCount(),
                Types.LONG,
                Types.LONG,
                Types.TUPLE(Types.LONG, Types.LONG)),
        result -> mix(0, result.f0),
        result -> result.f1);
  }

  /** bidder, count. */
  private static final class BidderCount
      extends ProcessWindowFunction<Long, Tuple2<Long, Long>, Long, TimeWindow> {
    @Override
    public void process(
        Long bidder, Context context, Iterable<Long> counts, Collector<Tuple2<Long, Long>> out) {
      out.collect(Tuple2.of(bidder, counts.iterator().next()));
    }
  }

  /** At the end of the window, or of the input: timers of processing time do not fire any more when it is over. */
  private static final class ProcessingTimeOrEndTrigger extends Trigger<Long, TimeWindow> {
    @Override
    public TriggerResult onElement(
        Long bidder, long timestamp, TimeWindow window, TriggerContext context) {
      context.registerProcessingTimeTimer(window.maxTimestamp());
      context.registerEventTimeTimer(Long.MAX_VALUE);
      return TriggerResult.CONTINUE;
    }

    @Override
    public TriggerResult onEventTime(long time, TimeWindow window, TriggerContext context) {
      return TriggerResult.FIRE_AND_PURGE;
    }

    @Override
    public TriggerResult onProcessingTime(long time, TimeWindow window, TriggerContext context) {
      return TriggerResult.FIRE_AND_PURGE;
    }

    @Override
    public void clear(TimeWindow window, TriggerContext context) {
      context.deleteProcessingTimeTimer(window.maxTimestamp());
      context.deleteEventTimeTimer(Long.MAX_VALUE);
    }
  }
}
