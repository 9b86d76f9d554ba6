package millrace.bench;

import static millrace.bench.Checksum.mix;
import static millrace.bench.Checksum.mixLong;
import static millrace.bench.Checksum.textDigest;

import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.api.java.tuple.Tuple5;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.SlidingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/** Queries that wait until auctions close: q4 and q9. */
final class ClosingQueries {
  private ClosingQueries() {}

  /** q4. */
  static void categoryPrices(EventStreams input, Nexmark.Results results) {
    results.take(
        input
            .auctions()
            .map(new Lot())
            .keyBy(lot -> lot.f0, Types.LONG)
            .connect(input.bids().map(new Offer()).keyBy(offer -> offer.f0, Types.LONG))
            .process(new FinalPrices())
            .returns(Types.TUPLE(Types.LONG, Types.LONG))
            .keyBy(price -> price.f0, Types.LONG)
            .window(
                SlidingEventTimeWindows.of(WindowQueries.WINDOW, WindowQueries.SLIDE))
            .aggregate(new Average(), new CategoryPrice()),
        result -> mixLong(mix(mix(0, result.f0), result.f1), result.f2));
  }

  /** id, dateTime, expires, category. */
  private static final class Lot implements MapFunction<Auction, Tuple4<Long, Long, Long, Long>> {
    @Override
    public Tuple4<Long, Long, Long, Long> map(Auction auction) {
      return Tuple4.of(auction.id, auction.dateTime, auction.expires, auction.category);
    }
  }

  /** auction, price, dateTime. */
  static final class Offer implements MapFunction<Bid, Tuple3<Long, Long, Long>> {
    private final Tuple3<Long, Long, Long> offer = new Tuple3<>();

    @Override
    public Tuple3<Long, Long, Long> map(Bid bid) {
      offer.setFields(bid.auction, bid.price, bid.dateTime);
      return offer;
    }
  }

  /** category, price. */
  private static final class FinalPrices
      extends CloseAuctions<
          Tuple4<Long, Long, Long, Long>, Tuple3<Long, Long, Long>, Tuple2<Long, Long>> {
    FinalPrices() {
      super(
          Types.TUPLE(Types.LONG, Types.LONG, Types.LONG, Types.LONG),
          Types.TUPLE(Types.LONG, Types.LONG, Types.LONG));
    }

    @Override
    long startOf(Tuple4<Long, Long, Long, Long> lot) {
      return lot.f1;
    }

    @Override
    long expiryOf(Tuple4<Long, Long, Long, Long> lot) {
      return lot.f2;
    }

    @Override
    long timeOf(Tuple3<Long, Long, Long> offer) {
      return offer.f2;
    }

    @Override
    boolean isBetter(Tuple3<Long, Long, Long> left, Tuple3<Long, Long, Long> right) {
      return left.f1 > right.f1;
    }

    @Override
    Tuple2<Long, Long> result(
        Tuple4<Long, Long, Long, Long> lot, Tuple3<Long, Long, Long> best) {
      return Tuple2.of(lot.f3, best.f1);
    }
  }

  private static final class Average
      implements AggregateFunction<Tuple2<Long, Long>, Tuple2<Long, Long>, Long> {
    @Override
    public Tuple2<Long, Long> createAccumulator() {
      return Tuple2.of(0L, 0L);
    }

    @Override
    public Tuple2<Long, Long> add(Tuple2<Long, Long> price, Tuple2<Long, Long> sum) {
      sum.setFields(sum.f0 + price.f1, sum.f1 + 1);
      return sum;
    }

    @Override
    public Long getResult(Tuple2<Long, Long> sum) {
      return sum.f0 / sum.f1;
    }

    @Override
    public Tuple2<Long, Long> merge(Tuple2<Long, Long> left, Tuple2<Long, Long> right) {
      return Tuple2.of(left.f0 + right.f0, left.f1 + right.f1);
    }
  }

  /** category, average, end. */
  private static final class CategoryPrice
      extends ProcessWindowFunction<Long, Tuple3<Long, Long, Long>, Long, TimeWindow> {
    @Override
    public void process(
        Long category,
        Context context,
        Iterable<Long> averages,
        Collector<Tuple3<Long, Long, Long>> out) {
      out.collect(Tuple3.of(category, averages.iterator().next(), context.window().getEnd()));
    }
  }

  /** q9. */
  static void winningBids(EventStreams input, Nexmark.Results results) {
    results.take(
        input
            .auctions()
            .keyBy(auction -> auction.id, Types.LONG)
            .connect(input.bidParts().keyBy(bid -> bid.f0, Types.LONG))
            .process(new WinningBids())
            .returns(Types.TUPLE(EventStreams.AUCTION, EventStreams.BID_PART)),
        result -> {
          Tuple5<Long, Long, Long, Long, String> bid = result.f1;
          int h = Hashes.auctionFields(mix(0, result.f0.id), result.f0);
          h = mixLong(mix(mix(h, bid.f1), bid.f2), bid.f3);
          return mix(h, textDigest(bid.f4));
        });
  }

  private static final class WinningBids
      extends CloseAuctions<
          Auction,
          Tuple5<Long, Long, Long, Long, String>,
          Tuple2<Auction, Tuple5<Long, Long, Long, Long, String>>> {
    WinningBids() {
      super(EventStreams.AUCTION, EventStreams.BID_PART);
    }

    @Override
    long startOf(Auction auction) {
      return auction.dateTime;
    }

    @Override
    long expiryOf(Auction auction) {
      return auction.expires;
    }

    @Override
    long timeOf(Tuple5<Long, Long, Long, Long, String> bid) {
      return bid.f3;
    }

    /** Higher price first, then earlier dateTime, lower bidder, lower extra; the rest is not emitted. */
    @Override
    boolean isBetter(
        Tuple5<Long, Long, Long, Long, String> left, Tuple5<Long, Long, Long, Long, String> right) {
      int order = Long.compare(right.f2, left.f2);
      if (order == 0) order = Long.compare(left.f3, right.f3);
      if (order == 0) order = Long.compare(left.f1, right.f1);
      if (order == 0) order = left.f4.compareTo(right.f4);
      return order < 0;
    }

    @Override
    Tuple2<Auction, Tuple5<Long, Long, Long, Long, String>> result(
        Auction auction, Tuple5<Long, Long, Long, Long, String> best) {
      return Tuple2.of(auction, best);
    }
  }
}
