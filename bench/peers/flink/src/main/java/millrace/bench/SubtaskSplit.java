package millrace.bench;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** How far one subtask of a {@link SubtaskSource} has come. */
record SubtaskSplit(int subtask, long next) implements SourceSplit {
  @Override
  public String splitId() {
    return Integer.toString(subtask);
  }

  /** Of one split, for the readers. */
  static final class Serializer implements SimpleVersionedSerializer<SubtaskSplit> {
    private final ListSerializer list = new ListSerializer();

    @Override
    public int getVersion() {
      return 1;
    }

    @Override
    public byte[] serialize(SubtaskSplit split) throws IOException {
      return list.serialize(List.of(split));
    }

    @Override
    public SubtaskSplit deserialize(int version, byte[] bytes) throws IOException {
      return list.deserialize(version, bytes).get(0);
    }
  }

  /** Of those that no reader has, for the enumerator. */
  static final class ListSerializer implements SimpleVersionedSerializer<List<SubtaskSplit>> {
    @Override
    public int getVersion() {
      return 1;
    }

    @Override
    public byte[] serialize(List<SubtaskSplit> splits) throws IOException {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      DataOutputStream out = new DataOutputStream(bytes);
      out.writeInt(splits.size());
      for (SubtaskSplit split : splits) {
        out.writeInt(split.subtask);
        out.writeLong(split.next);
      }
      return bytes.toByteArray();
    }

    @Override
    public List<SubtaskSplit> deserialize(int version, byte[] bytes) throws IOException {
      DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
      int size = in.readInt();
      List<SubtaskSplit> splits = new ArrayList<>(size);
      for (int i = 0; i < size; i++) splits.add(new SubtaskSplit(in.readInt(), in.readLong()));
      return splits;
    }
  }
}
