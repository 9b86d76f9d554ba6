package millrace.bench;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/** Sums up what it sees; the summary of each subtask goes to a file of the directory, at the end. */
final class SummarySink<T> implements Sink<T> {
  /** Makes the summary of a subtask, where it runs. */
  interface SummaryFactory<T> extends Supplier<Summary<T>>, Serializable {}

  private final String directory;
  private final SummaryFactory<T> factory;

  SummarySink(String directory, SummaryFactory<T> factory) {
    this.directory = directory;
    this.factory = factory;
  }

  @Override
  public SinkWriter<T> createWriter(WriterInitContext context) {
    int subtask = context.getTaskInfo().getIndexOfThisSubtask();
    return new Writer<>(Path.of(directory, "totals-" + subtask + ".json"), factory.get());
  }

  private static final class Writer<T> implements SinkWriter<T> {
    private final Path file;
    private final Summary<T> summary;

    Writer(Path file, Summary<T> summary) {
      this.file = file;
      this.summary = summary;
    }

    @Override
    public void write(T result, Context context) {
      summary.add(result);
    }

    @Override
    public void flush(boolean endOfInput) {}

    @Override
    public void close() throws IOException {
      Files.writeString(file, summary.json());
    }
  }
}
