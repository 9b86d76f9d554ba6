/** The end of a stream, and its settings (org.apache.flink.streaming.api.datastream.DataStreamSink). */
import type { StreamNode } from '../../graph/index.ts';

export class DataStreamSink {
  readonly #node: StreamNode;

  constructor(node: StreamNode) {
    this.#node = node;
  }

  /** What the sink's state is found by. Unique in the job: UID_DUPLICATE. */
  uid(uid: string): this {
    this.#node.uid = uid;
    return this;
  }

  /** For people: plans, logs, metrics. */
  name(name: string): this {
    this.#node.name = name;
    return this;
  }

  setParallelism(parallelism: number): this {
    this.#node.parallelism = parallelism;
    return this;
  }

  setMaxParallelism(maxParallelism: number): this {
    this.#node.maxParallelism = maxParallelism;
    return this;
  }

  /** The sink is a task of its own. */
  disableChaining(): this {
    this.#node.chaining = 'never';
    return this;
  }
}
