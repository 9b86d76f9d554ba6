package millrace.bench;

/** Which of two bids comes first. */
final class BidOrder {
  private BidOrder() {}

  /** Higher price first, then earlier dateTime, lower bidder, lower extra, lower url. */
  static boolean isBetter(Bid left, Bid right) {
    int order = Long.compare(right.price, left.price);
    if (order == 0) order = Long.compare(left.dateTime, right.dateTime);
    if (order == 0) order = Long.compare(left.bidder, right.bidder);
    if (order == 0) order = left.extra.compareTo(right.extra);
    if (order == 0) order = left.url.compareTo(right.url);
    return order < 0;
  }

  /** Later dateTime; of the same millisecond higher price, then higher extra, then higher url. */
  static boolean isLater(Bid left, Bid right) {
    int order = Long.compare(left.dateTime, right.dateTime);
    if (order == 0) order = Long.compare(left.price, right.price);
    if (order == 0) order = left.extra.compareTo(right.extra);
    if (order == 0) order = left.url.compareTo(right.url);
    return order > 0;
  }
}
