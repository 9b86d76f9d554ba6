package millrace.bench;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * A source whose subtasks each emit a sequence of their own that is a function of the record's number: what is remembered
 * in a checkpoint is one number a subtask.
 */
final class SubtaskSource<T>
    implements Source<T, SubtaskSplit, List<SubtaskSplit>>, ResultTypeQueryable<T> {
  /** Records a poll: fewer calls than with one each, which is what Flink's own readers do. */
  private static final int POLL_RECORDS = 64;

  /** The sequence of one subtask. */
  interface Sequence<T> {
    /** How many records it has. */
    long size();

    /** Emits records `first` to `first + count - 1`. */
    void emit(ReaderOutput<T> output, long first, int count) throws Exception;
  }

  /** Makes the sequence of a subtask, where it runs. */
  interface SequenceFactory<T> extends Serializable {
    Sequence<T> create(int subtask, int subtasks);
  }

  private final TypeInformation<T> type;
  private final SequenceFactory<T> factory;

  SubtaskSource(TypeInformation<T> type, SequenceFactory<T> factory) {
    this.type = type;
    this.factory = factory;
  }

  @Override
  public Boundedness getBoundedness() {
    return Boundedness.BOUNDED;
  }

  @Override
  public TypeInformation<T> getProducedType() {
    return type;
  }

  @Override
  public SplitEnumerator<SubtaskSplit, List<SubtaskSplit>> createEnumerator(
      SplitEnumeratorContext<SubtaskSplit> context) {
    List<SubtaskSplit> all = new ArrayList<>();
    for (int subtask = 0; subtask < context.currentParallelism(); subtask++) {
      all.add(new SubtaskSplit(subtask, 0));
    }
    return new Enumerator(context, all);
  }

  @Override
  public SplitEnumerator<SubtaskSplit, List<SubtaskSplit>> restoreEnumerator(
      SplitEnumeratorContext<SubtaskSplit> context, List<SubtaskSplit> unassigned) {
    return new Enumerator(context, new ArrayList<>(unassigned));
  }

  @Override
  public SourceReader<T, SubtaskSplit> createReader(SourceReaderContext context) {
    return new Reader<>(
        factory.create(context.getIndexOfSubtask(), context.currentParallelism()));
  }

  @Override
  public SimpleVersionedSerializer<SubtaskSplit> getSplitSerializer() {
    return new SubtaskSplit.Serializer();
  }

  @Override
  public SimpleVersionedSerializer<List<SubtaskSplit>> getEnumeratorCheckpointSerializer() {
    return new SubtaskSplit.ListSerializer();
  }

  private static final class Enumerator
      implements SplitEnumerator<SubtaskSplit, List<SubtaskSplit>> {
    private final SplitEnumeratorContext<SubtaskSplit> context;
    private final List<SubtaskSplit> unassigned;

    Enumerator(SplitEnumeratorContext<SubtaskSplit> context, List<SubtaskSplit> unassigned) {
      this.context = context;
      this.unassigned = unassigned;
    }

    @Override
    public void start() {}

    @Override
    public void addReader(int subtask) {
      for (SubtaskSplit split : List.copyOf(unassigned)) {
        if (split.subtask() != subtask) continue;
        unassigned.remove(split);
        context.assignSplit(split, subtask);
      }
      context.signalNoMoreSplits(subtask);
    }

    @Override
    public void handleSplitRequest(int subtask, String host) {}

    @Override
    public void addSplitsBack(List<SubtaskSplit> splits, int subtask) {
      unassigned.addAll(splits);
    }

    @Override
    public List<SubtaskSplit> snapshotState(long checkpointId) {
      return List.copyOf(unassigned);
    }

    @Override
    public void close() {}
  }

  private static final class Reader<T> implements SourceReader<T, SubtaskSplit> {
    private final Sequence<T> sequence;
    private final CompletableFuture<Void> available = new CompletableFuture<>();
    private int subtask = -1;
    private long next;
    private boolean noMoreSplits;

    Reader(Sequence<T> sequence) {
      this.sequence = sequence;
    }

    @Override
    public void start() {}

    @Override
    public InputStatus pollNext(ReaderOutput<T> output) throws Exception {
      if (subtask < 0) {
        return noMoreSplits ? InputStatus.END_OF_INPUT : InputStatus.NOTHING_AVAILABLE;
      }
      int count = (int) Math.min(POLL_RECORDS, sequence.size() - next);
      sequence.emit(output, next, count);
      next += count;
      return next < sequence.size() ? InputStatus.MORE_AVAILABLE : InputStatus.END_OF_INPUT;
    }

    @Override
    public List<SubtaskSplit> snapshotState(long checkpointId) {
      return subtask < 0 ? List.of() : List.of(new SubtaskSplit(subtask, next));
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
      return available;
    }

    @Override
    public void addSplits(List<SubtaskSplit> splits) {
      for (SubtaskSplit split : splits) {
        subtask = split.subtask();
        next = split.next();
      }
      available.complete(null);
    }

    @Override
    public void notifyNoMoreSplits() {
      noMoreSplits = true;
      available.complete(null);
    }

    @Override
    public void close() {}
  }
}
