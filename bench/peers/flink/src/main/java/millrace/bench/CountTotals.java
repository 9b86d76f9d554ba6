package millrace.bench;

import org.apache.flink.api.java.tuple.Tuple2;

/** How many counts there were, and their sum. */
final class CountTotals<K> implements Summary<Tuple2<K, Long>> {
  private long results;
  private long sum;

  @Override
  public void add(Tuple2<K, Long> count) {
    results++;
    sum += count.f1;
  }

  @Override
  public String json() {
    return "{\"results\":" + results + ",\"sum\":" + sum + "}";
  }
}
