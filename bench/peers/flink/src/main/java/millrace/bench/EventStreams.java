package millrace.bench;

import org.apache.flink.api.common.typeinfo.TypeHint;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple5;
import org.apache.flink.streaming.api.datastream.DataStream;

/** What the queries read: the events, split into persons, auctions and bids in the chain of the source. */
record EventStreams(DataStream<Event> events, String sideInput) {
  static final TypeInformation<Person> PERSON = Types.POJO(Person.class);
  static final TypeInformation<Auction> AUCTION = Types.POJO(Auction.class);
  static final TypeInformation<Bid> BID = Types.POJO(Bid.class);

  /** A bid without channel and url: auction, bidder, price, dateTime, extra. */
  static final TypeInformation<Tuple5<Long, Long, Long, Long, String>> BID_PART =
      new TypeHint<Tuple5<Long, Long, Long, Long, String>>() {}.getTypeInfo();

  DataStream<Person> persons() {
    return events.filter(event -> event.person != null).map(event -> event.person).returns(PERSON);
  }

  DataStream<Auction> auctions() {
    return events
        .filter(event -> event.auction != null)
        .map(event -> event.auction)
        .returns(AUCTION);
  }

  DataStream<Bid> bids() {
    return events.filter(event -> event.bid != null).map(event -> event.bid).returns(BID);
  }

  DataStream<Tuple5<Long, Long, Long, Long, String>> bidParts() {
    return bids()
        .map(bid -> Tuple5.of(bid.auction, bid.bidder, bid.price, bid.dateTime, bid.extra))
        .returns(BID_PART);
  }
}
