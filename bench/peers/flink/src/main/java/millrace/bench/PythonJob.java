package millrace.bench;

import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** What pyflink/keyed_count.py takes from the Java job; it finds the methods by name. */
public final class PythonJob {
  private final Options options;

  public PythonJob(String[] args) {
    options = new Options(args);
  }

  public StreamExecutionEnvironment environment() {
    StreamExecutionEnvironment env = Environments.create(options);
    Configuration settings = new Configuration();
    settings.setString("python.execution-mode", options.text("mode"));
    // All keys. It is 1,000, and each miss is a call to the JVM.
    settings.setString("python.state.cache-size", "100000");
    env.configure(settings);
    return env;
  }

  public Source<?, ?, ?> source() {
    return KeyedCount.source(options);
  }

  public Sink<?> sink() {
    return KeyedCount.sink(options);
  }
}
