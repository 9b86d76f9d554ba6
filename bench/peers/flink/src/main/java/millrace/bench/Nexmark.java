package millrace.bench;

import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * One query of Nexmark, as bench/nexmark/QUERIES.md defines it. What is not needed is left out before an exchange, as there.
 *
 * <p>Options: --query NAME --events N --side-input PATH, and those of {@link Environments}.
 */
public final class Nexmark {
  /** Builds the job from its input to its sink. */
  private interface Query {
    void build(EventStreams input, Results results);
  }

  private static final Map<String, Query> QUERIES =
      Map.ofEntries(
          Map.entry("q0", BidQueries::passThrough),
          Map.entry("q1", BidQueries::currency),
          Map.entry("q2", BidQueries::selection),
          Map.entry("q3", JoinQueries::localItems),
          Map.entry("q4", ClosingQueries::categoryPrices),
          Map.entry("q5", WindowQueries::hotItems),
          Map.entry("q7", WindowQueries::highestBids),
          Map.entry("q8", WindowQueries::newUsers),
          Map.entry("q9", ClosingQueries::winningBids),
          Map.entry("q11", WindowQueries::userSessions),
          Map.entry("q12", WindowQueries::processingTimeCounts),
          Map.entry("q13", BidQueries::sideInputJoin),
          Map.entry("q17", ChangelogQueries::auctionReports),
          Map.entry("q18", ChangelogQueries::lastBids),
          Map.entry("q19", ChangelogQueries::topBids),
          Map.entry("q20", JoinQueries::expandedBids));

  private Nexmark() {}

  public static void main(String[] args) throws Exception {
    Options options = new Options(args);
    int events = options.number("events");
    StreamExecutionEnvironment env = Environments.create(options);
    DataStream<Event> stream =
        env.fromSource(
            new SubtaskSource<>(
                Types.POJO(Event.class),
                (subtask, subtasks) -> new EventSequence(subtask, subtasks, events)),
            WatermarkStrategy.forMonotonousTimestamps(),
            "events");
    EventStreams input = new EventStreams(stream, options.text("side-input"));
    QUERIES.get(options.text("query")).build(input, new Results(options.text("directory")));
    env.execute("nexmark " + options.text("query"));
  }

  /** Where results go: only their checksum is kept. */
  record Results(String directory) {
    <T> void take(DataStream<T> results, Checksum.Hash<T> hash) {
      take(results, hash, result -> 1);
    }

    <T> void take(DataStream<T> results, Checksum.Hash<T> hash, Checksum.Times<T> times) {
      results.sinkTo(new SummarySink<>(directory, () -> new Checksum<>(hash, times)));
    }
  }
}
