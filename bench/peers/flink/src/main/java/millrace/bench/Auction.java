package millrace.bench;

/** As in bench/nexmark/generator.ts. */
public class Auction {
  public long id;
  public String itemName;
  public String description;
  public long initialBid;
  public long reserve;
  public long dateTime;
  public long expires;
  public long seller;
  public long category;
  public String extra;
}
