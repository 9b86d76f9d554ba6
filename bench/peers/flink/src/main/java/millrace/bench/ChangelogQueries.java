package millrace.bench;

import static millrace.bench.Checksum.mix;
import static millrace.bench.Checksum.mixLong;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Queries whose results replace others: q17, q18 and q19. A row is taken back before the one that replaces it is emitted. */
final class ChangelogQueries {
  private static final long DAY_MS = 86_400_000;
  private static final long CHEAP_BELOW = 10_000;
  private static final long EXPENSIVE_FROM = 1_000_000;
  private static final int RANKS = 10;
  private static final TypeInformation<Tuple2<Long, Long>> PAIR =
      Types.TUPLE(Types.LONG, Types.LONG);

  private ChangelogQueries() {}

  /** The bids of an auction on a day; in state the key, the average and the change are not kept. */
  public static class Statistics {
    public long bids;
    public long rank1;
    public long rank2;
    public long rank3;
    public long min = Long.MAX_VALUE;
    public long max;
    public long sum;

    void add(long price) {
      bids++;
      if (price < CHEAP_BELOW) rank1++;
      else if (price < EXPENSIVE_FROM) rank2++;
      else rank3++;
      min = Math.min(min, price);
      max = Math.max(max, price);
      sum += price;
    }
  }

  /** A row of q17. */
  public static class Report {
    public int change;
    public long auction;
    public long day;
    public long bids;
    public long rank1;
    public long rank2;
    public long rank3;
    public long min;
    public long max;
    public long average;
    public long sum;

    void fill(int change, Tuple2<Long, Long> key, Statistics statistics) {
      this.change = change;
      auction = key.f0;
      day = key.f1;
      bids = statistics.bids;
      rank1 = statistics.rank1;
      rank2 = statistics.rank2;
      rank3 = statistics.rank3;
      min = statistics.min;
      max = statistics.max;
      average = statistics.sum / statistics.bids;
      sum = statistics.sum;
    }

    int hash() {
      int h = mix(mix(mix(0, auction), day), bids);
      h = mix(mix(mix(h, rank1), rank2), rank3);
      return mixLong(mixLong(mix(mix(h, min), max), average), sum);
    }
  }

  /** q17. */
  static void auctionReports(EventStreams input, Nexmark.Results results) {
    KeySelector<Tuple3<Long, Long, Long>, Tuple2<Long, Long>> auctionDay =
        offer -> Tuple2.of(offer.f0, offer.f2 / DAY_MS);
    results.take(
        input
            .bids()
            .map(new ClosingQueries.Offer())
            .keyBy(auctionDay, PAIR)
            .process(new AuctionReports()),
        Report::hash,
        report -> report.change);
  }

  private static final class AuctionReports
      extends KeyedProcessFunction<Tuple2<Long, Long>, Tuple3<Long, Long, Long>, Report> {
    private transient Report report;
    private transient ValueState<Statistics> statistics;

    @Override
    public void open(OpenContext context) {
      report = new Report();
      statistics =
          getRuntimeContext()
              .getState(
                  new ValueStateDescriptor<>("statistics", Types.POJO(Statistics.class)));
    }

    @Override
    public void processElement(
        Tuple3<Long, Long, Long> offer, Context context, Collector<Report> out) throws Exception {
      Tuple2<Long, Long> key = context.getCurrentKey();
      Statistics known = statistics.value();
      if (known == null) {
        known = new Statistics();
      } else {
        report.fill(-1, key, known);
        out.collect(report);
      }
      known.add(offer.f1);
      statistics.update(known);
      report.fill(1, key, known);
      out.collect(report);
    }
  }

  /** q18. */
  static void lastBids(EventStreams input, Nexmark.Results results) {
    KeySelector<Bid, Tuple2<Long, Long>> bidderAuction =
        bid -> Tuple2.of(bid.bidder, bid.auction);
    results.take(
        input.bids().keyBy(bidderAuction, PAIR).process(new LastBids()),
        result -> Hashes.bid(result.f1),
        result -> result.f0);
  }

  /** change, bid. */
  private static final class LastBids
      extends KeyedProcessFunction<Tuple2<Long, Long>, Bid, Tuple2<Integer, Bid>> {
    private final Tuple2<Integer, Bid> result = new Tuple2<>();
    private transient ValueState<Bid> last;

    @Override
    public void open(OpenContext context) {
      last = getRuntimeContext().getState(new ValueStateDescriptor<>("last", EventStreams.BID));
    }

    @Override
    public void processElement(Bid bid, Context context, Collector<Tuple2<Integer, Bid>> out)
        throws Exception {
      Bid known = last.value();
      if (known != null) {
        if (!BidOrder.isLater(bid, known)) return;
        result.setFields(-1, known);
        out.collect(result);
      }
      last.update(bid);
      result.setFields(1, bid);
      out.collect(result);
    }
  }

  /** q19. */
  static void topBids(EventStreams input, Nexmark.Results results) {
    results.take(
        input.bids().keyBy(bid -> bid.auction, Types.LONG).process(new TopBids()),
        result -> mix(Hashes.bid(result.f1), result.f2),
        result -> result.f0);
  }

  /** change, bid, rank. */
  private static final class TopBids
      extends KeyedProcessFunction<Long, Bid, Tuple3<Integer, Bid, Integer>> {
    private final Tuple3<Integer, Bid, Integer> result = new Tuple3<>();

    /** The best first. */
    private transient ValueState<List<Bid>> top;

    @Override
    public void open(OpenContext context) {
      top =
          getRuntimeContext()
              .getState(new ValueStateDescriptor<>("top", Types.LIST(EventStreams.BID)));
    }

    @Override
    public void processElement(
        Bid bid, Context context, Collector<Tuple3<Integer, Bid, Integer>> out) throws Exception {
      List<Bid> bids = top.value();
      if (bids == null) bids = new ArrayList<>(RANKS + 1);
      int place = bids.size();
      while (place > 0 && BidOrder.isBetter(bid, bids.get(place - 1))) place--;
      if (place == RANKS) return;
      for (int i = place; i < bids.size(); i++) {
        emit(-1, bids.get(i), i + 1, out);
        if (i + 1 < RANKS) emit(1, bids.get(i), i + 2, out);
      }
      emit(1, bid, place + 1, out);
      bids.add(place, bid);
      if (bids.size() > RANKS) bids.remove(RANKS);
      top.update(bids);
    }

    private void emit(int change, Bid bid, int rank, Collector<Tuple3<Integer, Bid, Integer>> out) {
      result.setFields(change, bid, rank);
      out.collect(result);
    }
  }
}
