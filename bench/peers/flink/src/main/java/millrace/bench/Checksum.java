package millrace.bench;

import java.io.Serializable;

/** The checksum of bench/nexmark/checksum.ts, bit by bit: a count and two words that do not depend on the order. */
final class Checksum<T> implements Summary<T> {
  /** The hash of a result over its fields. */
  interface Hash<T> extends Serializable {
    int of(T result);
  }

  /** How often a result counts: -1 takes it back. */
  interface Times<T> extends Serializable {
    long of(T result);
  }

  private final Hash<T> hash;
  private final Times<T> times;
  private long count;
  private int low;
  private int high;

  Checksum(Hash<T> hash, Times<T> times) {
    this.hash = hash;
    this.times = times;
  }

  @Override
  public void add(T result) {
    addTimes(hash.of(result), times.of(result));
  }

  void addTimes(int h, long n) {
    count += n;
    low += (int) n * finish(h);
    high += (int) n * finish(h ^ 0x5bd1e995);
  }

  @Override
  public String json() {
    return "{\"count\":"
        + count
        + ",\"low\":"
        + Integer.toUnsignedString(low)
        + ",\"high\":"
        + Integer.toUnsignedString(high)
        + "}";
  }

  static int mix(int h, int x) {
    int product = (h ^ x) * 0x9e3779b1;
    return product ^ (product >>> 15);
  }

  /** For numbers that are declared as long but fit into 32 bits. */
  static int mix(int h, long x) {
    return mix(h, (int) x);
  }

  static int mixLong(int h, long value) {
    return mix(mix(h, (int) value), (int) (value >>> 32));
  }

  static int textDigest(String text) {
    int length = text.length();
    if (length == 0) return 0;
    return length * 961 + text.charAt(0) * 31 + text.charAt(length - 1);
  }

  static int finish(int word) {
    int h = word;
    h = (h ^ (h >>> 16)) * 0x85ebca6b;
    h = (h ^ (h >>> 13)) * 0xc2b2ae35;
    return h ^ (h >>> 16);
  }
}
