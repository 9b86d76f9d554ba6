package millrace.bench;

import static millrace.bench.Checksum.mix;
import static millrace.bench.Checksum.mixLong;
import static millrace.bench.Checksum.textDigest;

import org.apache.flink.api.java.tuple.Tuple5;

/** Hashes of results that several queries have. */
final class Hashes {
  private Hashes() {}

  /** Of auction, bidder, price, dateTime, and a text. */
  static int bidPart(Tuple5<Long, Long, Long, Long, String> bid) {
    int h = mixLong(mix(mix(mix(0, bid.f0), bid.f1), bid.f2), bid.f3);
    return mix(h, textDigest(bid.f4));
  }

  static int bid(Bid bid) {
    int h = mix(mix(mix(0, bid.auction), bid.bidder), bid.price);
    h = mix(mix(h, textDigest(bid.channel)), textDigest(bid.url));
    return mix(mixLong(h, bid.dateTime), textDigest(bid.extra));
  }

  /** All fields but the id. */
  static int auctionFields(int start, Auction auction) {
    int h = mix(mix(start, textDigest(auction.itemName)), textDigest(auction.description));
    h = mix(mix(h, auction.initialBid), auction.reserve);
    h = mixLong(mixLong(h, auction.dateTime), auction.expires);
    h = mix(mix(h, auction.seller), auction.category);
    return mix(h, textDigest(auction.extra));
  }
}
