package millrace.bench;

import static millrace.bench.Checksum.mix;
import static millrace.bench.Checksum.textDigest;

import java.util.Set;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.functions.co.KeyedCoProcessFunction;
import org.apache.flink.util.Collector;

/** Queries that join without windows: q3 and q20. */
final class JoinQueries {
  private static final long CATEGORY = EventGenerator.FIRST_CATEGORY;
  private static final Set<String> STATES = Set.of("OR", "ID", "CA");

  /** id, name, city, state. */
  private static final TypeInformation<Tuple4<Long, String, String, String>> SELLER =
      Types.TUPLE(Types.LONG, Types.STRING, Types.STRING, Types.STRING);

  private JoinQueries() {}

  /** q3. */
  static void localItems(EventStreams input, Nexmark.Results results) {
    KeyedStream<Tuple2<Long, Long>, Long> items =
        input
            .auctions()
            .filter(auction -> auction.category == CATEGORY)
            .map(new Item())
            .keyBy(item -> item.f1, Types.LONG);
    KeyedStream<Tuple4<Long, String, String, String>, Long> sellers =
        input
            .persons()
            .filter(person -> STATES.contains(person.state))
            .map(new Seller())
            .keyBy(seller -> seller.f0, Types.LONG);
    results.take(
        items.connect(sellers).process(new LocalItems()),
        result -> {
          int h = mix(mix(0, textDigest(result.f0)), textDigest(result.f1));
          return mix(mix(h, textDigest(result.f2)), result.f3);
        });
  }

  /** id, seller. */
  private static final class Item implements MapFunction<Auction, Tuple2<Long, Long>> {
    @Override
    public Tuple2<Long, Long> map(Auction auction) {
      return Tuple2.of(auction.id, auction.seller);
    }
  }

  private static final class Seller
      implements MapFunction<Person, Tuple4<Long, String, String, String>> {
    @Override
    public Tuple4<Long, String, String, String> map(Person person) {
      return Tuple4.of(person.id, person.name, person.city, person.state);
    }
  }

  private static final class LocalItems
      extends KeyedCoProcessFunction<
          Long,
          Tuple2<Long, Long>,
          Tuple4<Long, String, String, String>,
          Tuple4<String, String, String, Long>> {
    private transient ValueState<Tuple4<Long, String, String, String>> seller;
    private transient ListState<Long> waiting;

    @Override
    public void open(OpenContext context) {
      seller = getRuntimeContext().getState(new ValueStateDescriptor<>("seller", SELLER));
      waiting = getRuntimeContext().getListState(new ListStateDescriptor<>("waiting", Types.LONG));
    }

    @Override
    public void processElement1(
        Tuple2<Long, Long> item, Context context, Collector<Tuple4<String, String, String, Long>> out)
        throws Exception {
      Tuple4<Long, String, String, String> known = seller.value();
      if (known == null) waiting.add(item.f0);
      else out.collect(Tuple4.of(known.f1, known.f2, known.f3, item.f0));
    }

    @Override
    public void processElement2(
        Tuple4<Long, String, String, String> person,
        Context context,
        Collector<Tuple4<String, String, String, Long>> out)
        throws Exception {
      seller.update(person);
      for (Long id : waiting.get()) out.collect(Tuple4.of(person.f1, person.f2, person.f3, id));
      waiting.clear();
    }
  }

  /** q20. */
  static void expandedBids(EventStreams input, Nexmark.Results results) {
    results.take(
        input
            .bids()
            .keyBy(bid -> bid.auction, Types.LONG)
            .connect(input.auctions().keyBy(auction -> auction.id, Types.LONG))
            .process(new ExpandBids()),
        result -> Hashes.auctionFields(Hashes.bid(result.f0), result.f1));
  }

  private static final class ExpandBids
      extends KeyedCoProcessFunction<Long, Bid, Auction, Tuple2<Bid, Auction>> {
    private final Tuple2<Bid, Auction> result = new Tuple2<>();
    private transient ValueState<Auction> auction;
    private transient ListState<Bid> waiting;

    @Override
    public void open(OpenContext context) {
      auction =
          getRuntimeContext().getState(new ValueStateDescriptor<>("auction", EventStreams.AUCTION));
      waiting =
          getRuntimeContext().getListState(new ListStateDescriptor<>("waiting", EventStreams.BID));
    }

    @Override
    public void processElement1(Bid bid, Context context, Collector<Tuple2<Bid, Auction>> out)
        throws Exception {
      Auction known = auction.value();
      if (known == null) waiting.add(bid);
      else emit(bid, known, out);
    }

    @Override
    public void processElement2(Auction known, Context context, Collector<Tuple2<Bid, Auction>> out)
        throws Exception {
      auction.update(known);
      for (Bid bid : waiting.get()) emit(bid, known, out);
      waiting.clear();
    }

    private void emit(Bid bid, Auction known, Collector<Tuple2<Bid, Auction>> out) {
      if (known.category != CATEGORY) return;
      result.setFields(bid, known);
      out.collect(result);
    }
  }
}
