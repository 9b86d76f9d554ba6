package millrace.bench;

import java.time.Duration;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Makes the environment of every job, with the settings for throughput that Flink's documentation recommends; what belongs
 * to the processes is in flink-settings.ts.
 *
 * <p>Options: --parallelism N --directory PATH --checkpoint-ms N (0: none) --buffer-timeout-ms N (-1: buffers are sent when
 * they are full) --restarts N (without it a job that fails is not restarted).
 */
final class Environments {
  private Environments() {}

  static StreamExecutionEnvironment create(Options options) {
    Configuration settings = new Configuration();
    settings.set(PipelineOptions.OBJECT_REUSE, true);
    // What is not serialized by a serializer made for it fails instead of going through Kryo.
    settings.set(PipelineOptions.GENERIC_TYPES, false);
    settings.set(StateBackendOptions.STATE_BACKEND, "hashmap");
    long bufferTimeoutMs = options.has("buffer-timeout-ms") ? options.count("buffer-timeout-ms") : -1;
    settings.set(ExecutionOptions.BUFFER_TIMEOUT_ENABLED, bufferTimeoutMs >= 0);
    if (bufferTimeoutMs >= 0) {
      settings.set(ExecutionOptions.BUFFER_TIMEOUT, Duration.ofMillis(bufferTimeoutMs));
    }
    // Otherwise the end of a job would wait for the next checkpoint.
    settings.set(CheckpointingOptions.ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH, false);
    settings.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
    settings.set(
        CheckpointingOptions.CHECKPOINTS_DIRECTORY,
        "file://" + options.text("directory") + "/checkpoints");
    settings.set(
        RestartStrategyOptions.RESTART_STRATEGY, options.has("restarts") ? "fixed-delay" : "none");
    if (options.has("restarts")) {
      settings.set(
          RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, options.number("restarts"));
      settings.set(
          RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
    }
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(settings);
    env.setParallelism(options.number("parallelism"));
    long checkpointMs = options.count("checkpoint-ms");
    if (checkpointMs > 0) env.enableCheckpointing(checkpointMs);
    return env;
  }
}
