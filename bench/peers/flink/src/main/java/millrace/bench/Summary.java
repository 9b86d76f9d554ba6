package millrace.bench;

/** What the sink of one subtask keeps of the results that it sees. */
interface Summary<T> {
  void add(T result);

  /** For the process that checks it. */
  String json();
}
