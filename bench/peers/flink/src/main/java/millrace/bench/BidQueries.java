package millrace.bench;

import static millrace.bench.Checksum.mix;
import static millrace.bench.Checksum.mixLong;
import static millrace.bench.Checksum.textDigest;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple5;
import org.apache.flink.util.Collector;

/** Queries that look at each bid by itself: q0, q1, q2, and q13 with a file beside. */
final class BidQueries {
  private static final int SIDE_KEYS = 10_000;

  private BidQueries() {}

  /** q0. */
  static void passThrough(EventStreams input, Nexmark.Results results) {
    results.take(
        input.bids(),
        bid -> {
          int h = mixLong(mix(mix(mix(0, bid.auction), bid.bidder), bid.price), bid.dateTime);
          return mix(h, textDigest(bid.extra));
        });
  }

  /** q1. */
  static void currency(EventStreams input, Nexmark.Results results) {
    results.take(input.bids().map(new Currency()), Hashes::bidPart);
  }

  private static final class Currency
      implements MapFunction<Bid, Tuple5<Long, Long, Long, Long, String>> {
    private final Tuple5<Long, Long, Long, Long, String> result = new Tuple5<>();

    @Override
    public Tuple5<Long, Long, Long, Long, String> map(Bid bid) {
      result.setFields(
          bid.auction, bid.bidder, bid.price * 908 / 1000, bid.dateTime, bid.extra);
      return result;
    }
  }

  /** q2. */
  static void selection(EventStreams input, Nexmark.Results results) {
    results.take(
        input.bids().filter(bid -> bid.auction % 123 == 0).map(new Selected()),
        result -> mix(mix(0, result.f0), result.f1));
  }

  private static final class Selected implements MapFunction<Bid, Tuple2<Long, Long>> {
    @Override
    public Tuple2<Long, Long> map(Bid bid) {
      return Tuple2.of(bid.auction, bid.price);
    }
  }

  /** q13. */
  static void sideInputJoin(EventStreams input, Nexmark.Results results) {
    results.take(input.bids().flatMap(new SideInputJoin(input.sideInput())), Hashes::bidPart);
  }

  private static final class SideInputJoin
      extends RichFlatMapFunction<Bid, Tuple5<Long, Long, Long, Long, String>> {
    private final String path;
    private final Tuple5<Long, Long, Long, Long, String> result = new Tuple5<>();
    private transient Map<Long, String> values;

    SideInputJoin(String path) {
      this.path = path;
    }

    @Override
    public void open(OpenContext context) throws Exception {
      values = new HashMap<>();
      for (String line : Files.readAllLines(Path.of(path))) {
        int comma = line.indexOf(',');
        values.put(Long.valueOf(line.substring(0, comma)), line.substring(comma + 1));
      }
    }

    @Override
    public void flatMap(Bid bid, Collector<Tuple5<Long, Long, Long, Long, String>> out) {
      String value = values.get(bid.auction % SIDE_KEYS);
      if (value == null) return;
      result.setFields(bid.auction, bid.bidder, bid.price, bid.dateTime, value);
      out.collect(result);
    }
  }
}
