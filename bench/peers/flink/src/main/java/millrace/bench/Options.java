package millrace.bench;

import java.util.HashMap;
import java.util.Map;

/** The options of a job: pairs of `--name value`. */
final class Options {
  private final Map<String, String> values = new HashMap<>();

  Options(String[] args) {
    for (int i = 0; i + 1 < args.length; i += 2) values.put(args[i].substring(2), args[i + 1]);
  }

  String text(String name) {
    String value = values.get(name);
    if (value == null) throw new IllegalArgumentException("--" + name + " is missing");
    return value;
  }

  int number(String name) {
    return Integer.parseInt(text(name));
  }

  long count(String name) {
    return Long.parseLong(text(name));
  }

  boolean has(String name) {
    return values.containsKey(name);
  }
}
