package millrace.bench;

import org.apache.flink.api.connector.source.ReaderOutput;

/**
 * The events of one subtask: numbers i, i + P, i + 2 P, ... below N. Objects are filled again for each event, as object
 * reuse allows.
 */
final class EventSequence implements SubtaskSource.Sequence<Event> {
  private final int subtask;
  private final int subtasks;
  private final int events;
  private final Event event = new Event();
  private final Person person = new Person();
  private final Auction auction = new Auction();
  private final Bid bid = new Bid();

  EventSequence(int subtask, int subtasks, int events) {
    this.subtask = subtask;
    this.subtasks = subtasks;
    this.events = events;
  }

  @Override
  public long size() {
    return (events - subtask + subtasks - 1) / subtasks;
  }

  @Override
  public void emit(ReaderOutput<Event> output, long first, int count) {
    int number = (int) (subtask + first * subtasks);
    for (int i = 0; i < count; i++, number += subtasks) {
      fill(number);
      output.collect(event, EventGenerator.timeOf(number));
    }
  }

  private void fill(int number) {
    event.person = null;
    event.auction = null;
    event.bid = null;
    if (EventGenerator.isBid(number)) {
      EventGenerator.fillBid(bid, number);
      event.bid = bid;
    } else if (EventGenerator.isPerson(number)) {
      EventGenerator.fillPerson(person, number);
      event.person = person;
    } else {
      EventGenerator.fillAuction(auction, number);
      event.auction = auction;
    }
  }
}
