package millrace.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.java.tuple.Tuple3;

/**
 * The records of one subtask of the keyed count, decoded one after the other from a buffer that was filled before, as if
 * they came from a network. The buffer is read again and again, the first time in another order.
 *
 * <p>One tuple is filled again for each record, as object reuse allows.
 */
abstract class CountSequence<K> implements SubtaskSource.Sequence<Tuple3<K, Double, Long>> {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle DOUBLE =
      MethodHandles.byteArrayViewVarHandle(double[].class, ByteOrder.LITTLE_ENDIAN);

  private final long size;
  private final int records;
  private final int keyBytes;
  private final int recordBytes;
  private final long stride;
  private final byte[] buffer;
  private final Tuple3<K, Double, Long> record = new Tuple3<>();

  private CountSequence(int keys, int subtask, long size, int keyBytes) {
    this.size = size;
    this.keyBytes = keyBytes;
    recordBytes = keyBytes + 16;
    records = CountRecords.bufferRecords(keys);
    stride = CountRecords.firstRoundStride(records);
    buffer = new byte[records * recordBytes];
    int[] numbers = CountRecords.keyNumbers(keys, subtask);
    for (int i = 0, position = 0; i < records; i++, position += recordBytes) {
      encodeKey(buffer, position, CountRecords.keyOf(numbers[i]));
      DOUBLE.set(buffer, position + keyBytes, CountRecords.valueOf(numbers[i], i));
      LONG.set(buffer, position + keyBytes + 8, CountRecords.timestampOf(i));
    }
  }

  abstract void encodeKey(byte[] buffer, int position, long key);

  abstract K decodeKey(byte[] buffer, int position);

  @Override
  public long size() {
    return size;
  }

  @Override
  public void emit(ReaderOutput<Tuple3<K, Double, Long>> output, long first, int count) {
    if (first >= records) {
      int place = (int) (first % records);
      for (int i = 0; i < count; i++) {
        emitPlace(output, place);
        if (++place == records) place = 0;
      }
      return;
    }
    for (long i = first; i < first + count; i++) {
      emitPlace(output, (int) (i < records ? i * stride % records : i % records));
    }
  }

  private void emitPlace(ReaderOutput<Tuple3<K, Double, Long>> output, int place) {
    int position = place * recordBytes;
    record.f0 = decodeKey(buffer, position);
    record.f1 = (double) DOUBLE.get(buffer, position + keyBytes);
    record.f2 = (long) LONG.get(buffer, position + keyBytes + 8);
    output.collect(record);
  }

  /** Keys are strings of twelve characters after one byte of length. */
  static final class OfStrings extends CountSequence<String> {
    OfStrings(int keys, int subtask, long size) {
      super(keys, subtask, size, 13);
    }

    @Override
    void encodeKey(byte[] buffer, int position, long key) {
      byte[] text = ("key-" + key).getBytes(ISO_8859_1);
      buffer[position] = (byte) text.length;
      System.arraycopy(text, 0, buffer, position + 1, text.length);
    }

    @Override
    String decodeKey(byte[] buffer, int position) {
      return new String(buffer, position + 1, buffer[position], ISO_8859_1);
    }
  }

  /** Keys are long integers. */
  static final class OfNumbers extends CountSequence<Long> {
    OfNumbers(int keys, int subtask, long size) {
      super(keys, subtask, size, 8);
    }

    @Override
    void encodeKey(byte[] buffer, int position, long key) {
      LONG.set(buffer, position, key);
    }

    @Override
    Long decodeKey(byte[] buffer, int position) {
      return (long) LONG.get(buffer, position);
    }
  }
}
