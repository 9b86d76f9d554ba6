/** The end of a stream, and its settings (org.apache.flink.streaming.api.datastream.DataStreamSink). */
import { MillraceError } from '../../base/index.ts';
import type { StreamNode, StreamOrigin } from '../../graph/index.ts';
import { SinkOperator } from '../../operators/index.ts';
import type { AnyOperator, Sink } from '../../runtime/index.ts';
import { addOperator, type JobBuilder } from '../job-builder.ts';

/** The end of a stream, and the settings of its sink. */
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

  /** Subtasks of the sink; 1 to 32768. */
  setParallelism(parallelism: number): this {
    this.#node.parallelism = parallelism;
    return this;
  }

  /** The highest parallelism that the sink's state can be restored with. */
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

/** What is needed of the stream. */
export interface EndedStream {
  readonly job: JobBuilder;
  readonly origins: readonly StreamOrigin[];
}

/** Ends a stream in the operator that `create` makes. */
export function endIn({ job, origins }: EndedStream, name: string, create: () => unknown): DataStreamSink {
  const spec = { kind: 'sink', name, inputs: [origins], create: create as () => AnyOperator, isSink: true };
  return new DataStreamSink(addOperator(job, spec));
}

/** Makes the operator of a sink. Throws INVALID_ARGUMENT for what is none. */
export function sinkOperator<T, CommT, StateT>(sink: Sink<T, CommT, StateT>): () => unknown {
  if (typeof (sink as Partial<typeof sink> | undefined)?.createWriter === 'function')
    return () => new SinkOperator(sink);
  throw new MillraceError(
    'INVALID_ARGUMENT',
    'sinkTo(…): expected a sink, an object with a method createWriter; functions go to addSink(…)',
  );
}
