package millrace.bench;

/**
 * The records of the keyed count: what bench/lib/count-records.ts makes, number by number. Each subtask has a buffer of its
 * own: a shuffled sequence in which every key occurs equally often, and, at every twentieth place, a record that does not
 * pass the filter.
 */
final class CountRecords {
  private static final int DROPPED_EACH = 20;
  private static final int PASSING_MIN = 65_536;

  private CountRecords() {}

  private static int passingRecords(int keys) {
    return (PASSING_MIN + keys - 1) / keys * keys;
  }

  /** Records in the buffer of one subtask. */
  static int bufferRecords(int keys) {
    int passing = passingRecords(keys);
    return passing + (passing + DROPPED_EACH - 2) / (DROPPED_EACH - 1);
  }

  /** The number of the key at each place of the buffer of a subtask; -1 where the filter drops the record. */
  static int[] keyNumbers(int keys, int subtask) {
    int[] order = new int[passingRecords(keys)];
    for (int i = 0; i < order.length; i++) order[i] = i % keys;
    int state = 12_345 + subtask;
    for (int i = order.length - 1; i > 0; i--) {
      state = state * 1_664_525 + 1_013_904_223;
      int other = (int) Math.floor(((state & 0xffff_ffffL) / 4_294_967_296.0) * (i + 1));
      int held = order[i];
      order[i] = order[other];
      order[other] = held;
    }
    int[] numbers = new int[bufferRecords(keys)];
    for (int i = 0, next = 0; i < numbers.length; i++) {
      numbers[i] = i % DROPPED_EACH == 0 ? -1 : order[next++];
    }
    return numbers;
  }

  static long keyOf(int number) {
    return 10_000_000L + Math.max(0, number);
  }

  static double valueOf(int number, int index) {
    return number < 0 ? 1 : 100 + (index & 1023);
  }

  static long timestampOf(int index) {
    return 1_700_000_000_000L + index;
  }

  /** In the first round the buffer is read in another order: place = index * stride % records. */
  static long firstRoundStride(int records) {
    long stride = (long) Math.floor(records * 0.618_034) | 1;
    while (greatestCommonDivisor(stride, records) != 1) stride += 2;
    return stride;
  }

  static long greatestCommonDivisor(long a, long b) {
    return b == 0 ? a : greatestCommonDivisor(b, a % b);
  }
}
