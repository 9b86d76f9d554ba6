package millrace.bench;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * A count for each of many keys, for ever: for starts, snapshots, memory and recovery. Keys come round by round, in one of four
 * orders, none of which is that in which their state was laid out. The sink leaves a file at its first result.
 *
 * <p>Options: --keys N, and those of {@link Environments}.
 */
public final class StateJob {
  private static final int ORDERS = 4;

  private StateJob() {}

  public static void main(String[] args) throws Exception {
    Options options = new Options(args);
    StreamExecutionEnvironment env = Environments.create(options);
    int keys = options.number("keys");
    DataStream<Long> records =
        env.fromSource(
            new SubtaskSource<>(
                Types.LONG, (subtask, subtasks) -> new Keys(keys, subtask, subtasks)),
            WatermarkStrategy.noWatermarks(),
            "keys");
    records
        .keyBy(key -> key, Types.LONG)
        .process(new Count())
        .sinkTo(new FirstResultSink(options.text("directory")));
    env.execute("state");
  }

  /** Subtask i of P emits places i, i + P, i + 2 P, ... of the endless sequence. */
  private static final class Keys implements SubtaskSource.Sequence<Long> {
    private final int keys;
    private final int subtask;
    private final int subtasks;
    private final long[] strides = new long[ORDERS];

    Keys(int keys, int subtask, int subtasks) {
      this.keys = keys;
      this.subtask = subtask;
      this.subtasks = subtasks;
      long stride = (long) (keys * 0.618_034) | 1;
      for (int i = 0; i < ORDERS; stride += 2) {
        if (CountRecords.greatestCommonDivisor(stride, keys) == 1) strides[i++] = stride;
      }
    }

    @Override
    public long size() {
      return Long.MAX_VALUE / subtasks;
    }

    @Override
    public void emit(ReaderOutput<Long> output, long first, int count) {
      for (int i = 0; i < count; i++) {
        long place = subtask + (first + i) * subtasks;
        output.collect(place % keys * strides[(int) (place / keys % ORDERS)] % keys);
      }
    }
  }

  private static final class Count extends KeyedProcessFunction<Long, Long, Long> {
    private transient ValueState<Long> count;

    @Override
    public void open(OpenContext context) {
      count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
    }

    @Override
    public void processElement(Long key, Context context, Collector<Long> out) throws Exception {
      Long before = count.value();
      Long after = before == null ? 1 : before + 1;
      count.update(after);
      out.collect(after);
    }
  }
}
