package millrace.bench;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Source, map, filter, hash exchange, count in keyed state, sink: the job of bench/lib/keyed-count-job.ts. Records are
 * tuples of key, value and timestamp.
 *
 * <p>Options: --key-kind string|number --keys N --records-each N, and those of {@link Environments}.
 */
public final class KeyedCount {
  private KeyedCount() {}

  public static void main(String[] args) throws Exception {
    Options options = new Options(args);
    if (hasStrings(options)) run(options, sourceOfStrings(options), Types.STRING);
    else run(options, sourceOfNumbers(options), Types.LONG);
  }

  static SubtaskSource<?> source(Options options) {
    return hasStrings(options) ? sourceOfStrings(options) : sourceOfNumbers(options);
  }

  static <K> SummarySink<Tuple2<K, Long>> sink(Options options) {
    return new SummarySink<>(options.text("directory"), () -> new CountTotals<K>());
  }

  private static boolean hasStrings(Options options) {
    return options.text("key-kind").equals("string");
  }

  private static SubtaskSource<Tuple3<String, Double, Long>> sourceOfStrings(Options options) {
    int keys = options.number("keys");
    long size = options.count("records-each");
    return new SubtaskSource<>(
        recordType(Types.STRING),
        (subtask, subtasks) -> new CountSequence.OfStrings(keys, subtask, size));
  }

  private static SubtaskSource<Tuple3<Long, Double, Long>> sourceOfNumbers(Options options) {
    int keys = options.number("keys");
    long size = options.count("records-each");
    return new SubtaskSource<>(
        recordType(Types.LONG),
        (subtask, subtasks) -> new CountSequence.OfNumbers(keys, subtask, size));
  }

  private static <K> TypeInformation<Tuple3<K, Double, Long>> recordType(
      TypeInformation<K> keyType) {
    return Types.TUPLE(keyType, Types.DOUBLE, Types.LONG);
  }

  private static <K> void run(
      Options options, SubtaskSource<Tuple3<K, Double, Long>> source, TypeInformation<K> keyType)
      throws Exception {
    StreamExecutionEnvironment env = Environments.create(options);
    env.fromSource(source, WatermarkStrategy.noWatermarks(), "records")
        .map(new Twice<K>())
        .returns(recordType(keyType))
        .filter(record -> record.f1 > 100)
        .keyBy(record -> record.f0, keyType)
        .process(new Count<K>())
        .returns(Types.TUPLE(keyType, Types.LONG))
        .sinkTo(sink(options));
    env.execute("keyed count");
  }

  /** Fills one tuple again and again, as object reuse allows. */
  private static final class Twice<K>
      implements MapFunction<Tuple3<K, Double, Long>, Tuple3<K, Double, Long>> {
    private final Tuple3<K, Double, Long> mapped = new Tuple3<>();

    @Override
    public Tuple3<K, Double, Long> map(Tuple3<K, Double, Long> record) {
      mapped.setFields(record.f0, record.f1 * 2, record.f2);
      return mapped;
    }
  }

  /** Emits each key with 1, 2, 3, … */
  private static final class Count<K>
      extends KeyedProcessFunction<K, Tuple3<K, Double, Long>, Tuple2<K, Long>> {
    private final Tuple2<K, Long> result = new Tuple2<>();
    private transient ValueState<Long> count;

    @Override
    public void open(OpenContext context) {
      count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
    }

    @Override
    public void processElement(
        Tuple3<K, Double, Long> record, Context context, Collector<Tuple2<K, Long>> out)
        throws Exception {
      Long before = count.value();
      Long after = before == null ? 1 : before + 1;
      count.update(after);
      result.setFields(record.f0, after);
      out.collect(result);
    }
  }
}
