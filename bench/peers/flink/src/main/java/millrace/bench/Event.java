package millrace.bench;

/** One of the three is there. */
public class Event {
  public Person person;
  public Auction auction;
  public Bid bid;
}
