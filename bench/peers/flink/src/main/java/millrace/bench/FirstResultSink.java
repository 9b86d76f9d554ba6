package millrace.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/** Leaves a file with the time, in milliseconds since the epoch, at the first result of each attempt; drops everything. */
final class FirstResultSink implements Sink<Long> {
  private final String directory;

  FirstResultSink(String directory) {
    this.directory = directory;
  }

  @Override
  public SinkWriter<Long> createWriter(WriterInitContext context) {
    return new Writer(Path.of(directory));
  }

  private static final class Writer implements SinkWriter<Long> {
    private final Path directory;
    private boolean isThere;

    Writer(Path directory) {
      this.directory = directory;
    }

    @Override
    public void write(Long result, Context context) throws IOException {
      if (!isThere) leaveFile();
    }

    /** Under another name first, so that nobody reads it half written. */
    private void leaveFile() throws IOException {
      isThere = true;
      Path written = Files.createTempFile(directory, "first-result", ".tmp");
      Files.writeString(written, Long.toString(System.currentTimeMillis()));
      Files.move(written, directory.resolve("first-result"), StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    public void flush(boolean endOfInput) {}

    @Override
    public void close() {}
  }
}
