package millrace.bench;

/** The events of bench/nexmark/generator.ts, bit by bit; the algorithm is described there. */
final class EventGenerator {
  static final int SEED = 42;
  static final int FIRST_CATEGORY = 10;

  private static final long BASE_TIME_MS = 1_700_000_000_000L;
  private static final int EVENTS_PER_MS = 10;
  private static final int EVENTS_PER_EPOCH = 50;
  private static final int FIRST_ID = 1000;
  private static final int ACTIVE_PEOPLE = 1000;
  private static final int IN_FLIGHT_AUCTIONS = 100;
  private static final int ID_LEAD = 10;
  private static final int HOT_EACH = 100;
  private static final int CATEGORIES = 5;
  private static final int AUCTION_LENGTH_MS = 332;
  private static final int OTHER_CHANNELS = 10_000;

  private static final String[] FIRST_NAMES =
      "Peter,Paul,Luke,John,Saul,Vicky,Kate,Julie,Sarah,Deiter,Walter".split(",");
  private static final String[] LAST_NAMES =
      "Shultz,Abrams,Spencer,White,Bartels,Walton,Smith,Jones,Noris".split(",");
  private static final String[] HOSTS =
      "mail.com,post.org,example.com,example.org,inbox.net".split(",");
  private static final String[] CITIES =
      "Phoenix,Los Angeles,San Francisco,Boise,Portland,Bend,Redmond,Seattle,Kent,Cheyenne"
          .split(",");
  private static final String[] STATES = "AZ,CA,ID,OR,WA,WY".split(",");
  private static final String[] HOT_CHANNELS = {"Google", "Facebook", "Baidu", "Apple"};
  private static final String[] NAMES = new String[FIRST_NAMES.length * LAST_NAMES.length];
  private static final String[] AT_HOSTS = new String[HOSTS.length];
  private static final String[] CARD_GROUPS = new String[9000];
  private static final String[] CARD_GROUPS_BEFORE = new String[9000];
  private static final String[] ITEMS = new String[1000];
  private static final String[] LOTS = new String[10_000];
  private static final String[] LAST_DIGITS = new String[10_000];
  private static final String[] EXTRAS = new String[100];
  private static final String[] CHANNELS = new String[HOT_CHANNELS.length + OTHER_CHANNELS];
  private static final String[] URLS = new String[HOT_CHANNELS.length + OTHER_CHANNELS];
  private static final int[] DECADES = {100, 1000, 10_000, 100_000, 1_000_000, 10_000_000};

  static {
    for (int i = 0; i < NAMES.length; i++) {
      NAMES[i] = FIRST_NAMES[i / LAST_NAMES.length] + " " + LAST_NAMES[i % LAST_NAMES.length];
    }
    for (int i = 0; i < HOSTS.length; i++) AT_HOSTS[i] = "@" + HOSTS[i];
    for (int i = 0; i < CARD_GROUPS.length; i++) {
      CARD_GROUPS[i] = Integer.toString(1000 + i);
      CARD_GROUPS_BEFORE[i] = CARD_GROUPS[i] + " ";
    }
    for (int i = 0; i < ITEMS.length; i++) ITEMS[i] = "item-" + i;
    for (int i = 0; i < LOTS.length; i++) {
      LOTS[i] = "lot " + i;
      LAST_DIGITS[i] = String.format("%04d", i);
    }
    for (int i = 0; i < EXTRAS.length; i++) EXTRAS[i] = "extra-" + i;
    for (int i = 0; i < CHANNELS.length; i++) {
      int other = i - HOT_CHANNELS.length;
      CHANNELS[i] = other < 0 ? HOT_CHANNELS[i] : "channel-" + other;
      URLS[i] =
          other < 0
              ? "https://www.nexmark.com/hot/item-" + i + "/item.htm?query=1"
              : "https://www.nexmark.com/item.htm?query=1&channel_id=" + other;
    }
  }

  private EventGenerator() {}

  static long timeOf(int number) {
    return BASE_TIME_MS + number / EVENTS_PER_MS;
  }

  static boolean isPerson(int number) {
    return number % EVENTS_PER_EPOCH == 0;
  }

  static boolean isBid(int number) {
    return number % EVENTS_PER_EPOCH > 3;
  }

  /** Fills all fields. */
  static void fillPerson(Person person, int number) {
    int base = baseOf(number);
    person.id = FIRST_ID + lastPerson(number);
    person.name = NAMES[below(word(base, 1), 11) * LAST_NAMES.length + below(word(base, 2), 9)];
    person.emailAddress = "user" + person.id + AT_HOSTS[below(word(base, 3), 5)];
    person.creditCard =
        before(base, 4)
            + before(base, 5)
            + before(base, 6)
            + CARD_GROUPS[below(word(base, 7), 9000)];
    person.city = CITIES[below(word(base, 8), 10)];
    person.state = STATES[below(word(base, 9), 6)];
    person.dateTime = timeOf(number);
    person.extra = EXTRAS[below(word(base, 10), 100)];
  }

  /** Fills all fields. */
  static void fillAuction(Auction auction, int number) {
    int base = baseOf(number);
    int person = lastPerson(number);
    int seller =
        below(word(base, 8), 4) > 0 ? person - person % HOT_EACH : somePerson(base, 9, person);
    auction.id = FIRST_ID + lastAuction(number);
    auction.itemName = ITEMS[below(word(base, 1), 1000)];
    auction.description = lot(word(base, 2) >>> 8);
    auction.initialBid = price(base, 3);
    auction.reserve = auction.initialBid + price(base, 5);
    auction.dateTime = timeOf(number);
    auction.expires = auction.dateTime + 1 + below(word(base, 7), AUCTION_LENGTH_MS);
    auction.seller = FIRST_ID + seller;
    auction.category = FIRST_CATEGORY + below(word(base, 10), CATEGORIES);
    auction.extra = EXTRAS[below(word(base, 11), 100)];
  }

  /** Fills all fields. */
  static void fillBid(Bid bid, int number) {
    int base = baseOf(number);
    int w = word(base, 1);
    int auction = lastAuction(number);
    int person = lastPerson(number);
    int channel = (w & 8) != 0 ? (w >>> 4) & 3 : 4 + below(word(base, 6), OTHER_CHANNELS);
    bid.auction =
        FIRST_ID + ((w & 1) != 0 ? auction - auction % HOT_EACH : someAuction(base, 2, auction));
    bid.bidder =
        FIRST_ID + ((w & 6) != 0 ? person - person % HOT_EACH + 1 : somePerson(base, 3, person));
    bid.price = price(base, 4);
    bid.channel = CHANNELS[channel];
    bid.url = URLS[channel];
    bid.dateTime = timeOf(number);
    bid.extra = EXTRAS[(w >>> 8) % 100];
  }

  private static int baseOf(int number) {
    return number * 0x9e3779b1 + SEED;
  }

  private static int word(int base, int k) {
    return Checksum.finish(base + k * 0x7f4a7c15);
  }

  private static int below(int word, int bound) {
    return (word >>> 1) % bound;
  }

  private static String before(int base, int k) {
    return CARD_GROUPS_BEFORE[below(word(base, k), 9000)];
  }

  private static String lot(int number) {
    return number < LOTS.length
        ? LOTS[number]
        : LOTS[number / LOTS.length] + LAST_DIGITS[number % LOTS.length];
  }

  private static int price(int base, int k) {
    int decade = DECADES[below(word(base, k), 6)];
    return decade + below(word(base, k + 1), 9 * decade);
  }

  private static int lastPerson(int number) {
    return number / EVENTS_PER_EPOCH;
  }

  private static int lastAuction(int number) {
    return number / EVENTS_PER_EPOCH * 3 + Math.min(number % EVENTS_PER_EPOCH, 3) - 1;
  }

  private static int somePerson(int base, int k, int last) {
    int active = Math.min(last + 1, ACTIVE_PEOPLE);
    return last + 1 - active + below(word(base, k), active + ID_LEAD);
  }

  private static int someAuction(int base, int k, int last) {
    int first = Math.max(last - IN_FLIGHT_AUCTIONS, 0);
    return first + below(word(base, k), last - first + 1 + ID_LEAD);
  }
}
