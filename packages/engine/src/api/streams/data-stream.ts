/**
 * The streams that users build jobs of (org.apache.flink.streaming.api.datastream): each call adds an operator to the
 * job's graph and answers with the stream of its results. Nothing runs until the environment executes the job.
 *
 *     DataStream ──keyBy──> KeyedStream ──window──> WindowedStream
 *         └────connect────> ConnectedStreams (with or without keys)
 *     all of them ──map, process, reduce, …──> SingleOutputStreamOperator (uid, name, parallelism, side outputs)
 *
 * Each of these classes makes the others, so the files of this folder import each other; the classes that extend another
 * stand in its file, so that no class is needed before it is there. They know the graph and the operators, not the engine.
 */
import { AUTO_WATERMARK_INTERVAL, MillraceError } from '../../base/index.ts';
import { CollectedResults, CollectSink, PrintSink, type ResultBatch } from '../../connectors/index.ts';
import type { StreamNode, StreamNodeSpec, StreamOrigin } from '../../graph/index.ts';
import {
  assertSynchronous,
  type FilterFunction,
  FilterOperator,
  type FlatMapFunction,
  FlatMapOperator,
  type FunctionOrFactory,
  type KeyedProcessFunction,
  KeyedProcessOperator,
  type KeySelector,
  type MapFunction,
  MapOperator,
  type OutputTag,
  type ProcessFunction,
  ProcessOperator,
  ReduceOperator,
  SinkOperator,
  TimestampsAndWatermarksOperator,
  type WindowAssigner,
} from '../../operators/index.ts';
import type { AnyOperator, KeySpec, Sink } from '../../runtime/index.ts';
import type { ReduceFunction } from '../../state/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { addOperator, exchanged, type JobBuilder, originOf, typeOf } from '../job-builder.ts';
import { fieldType } from '../key-field.ts';
import {
  asProcessFunction,
  type FunctionObject,
  isPlainFunction,
  type RichFilterFunction,
  type RichFlatMapFunction,
  type RichMapFunction,
} from '../rich-function.ts';
import type { WatermarkStrategy } from '../watermark-strategy.ts';
import { ConnectedStreams, KeyedConnectedStreams } from './connected-streams.ts';
import { DataStreamSink } from './data-stream-sink.ts';
import { WindowedStream } from './windowed-stream.ts';

/** How the operator of a call is made: `kind` and name for plans, a factory, the type of its results. */
export interface Transformation<R> {
  readonly kind: string;
  readonly name: string;
  readonly create: () => unknown;
  readonly type: TypeInformation<R> | undefined;
  readonly keyed?: KeySpec;
}

/** A stream of records of type T. */
export class DataStream<T> {
  /** For the classes of this file. */
  readonly job: JobBuilder;
  readonly origins: readonly StreamOrigin[];

  constructor(job: JobBuilder, origins: readonly StreamOrigin[]) {
    this.job = job;
    this.origins = origins;
  }

  /** The type of the records; undefined: undescribed. */
  getType(): TypeInformation<T> | undefined {
    return typeOf(this.origins) as TypeInformation<T> | undefined;
  }

  /** One result for each record. `type` describes the results: faster exchanges and state. */
  map<R>(
    fn: MapFunction<T, R> | FunctionObject<RichMapFunction<T, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    if (!isPlainFunction(fn)) return this.addRich(fn, 'map', { kind: 'map', name: 'Map', type });
    return transform(this.job, [this.origins], {
      kind: 'map',
      name: 'Map',
      create: () => new MapOperator(fn),
      type,
    });
  }

  /** Keeps the records for which `fn` answers true. */
  filter(fn: FilterFunction<T> | FunctionObject<RichFilterFunction<T>>): SingleOutputStreamOperator<T> {
    const what = { kind: 'filter', name: 'Filter', type: this.getType() };
    if (!isPlainFunction(fn)) return this.addRich(fn, 'filter', what);
    return transform(this.job, [this.origins], { ...what, create: () => new FilterOperator(fn) });
  }

  /** Any number of results for each record: collected, or returned as an iterable. */
  flatMap<R>(
    fn: FlatMapFunction<T, R> | FunctionObject<RichFlatMapFunction<T, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    const what = { kind: 'flat-map', name: 'Flat Map', type };
    if (!isPlainFunction(fn)) return this.addRich(fn, 'flatMap', what);
    return transform(this.job, [this.origins], { ...what, create: () => new FlatMapOperator(fn) });
  }

  /** Any number of results for each record, side outputs, timestamps. An object, its class, or a function that makes one. */
  process<R>(
    fn: FunctionOrFactory<ProcessFunction<T, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    const create = (): unknown => new ProcessOperator(fn);
    return transform(this.job, [this.origins], { kind: 'process', name: 'Process', create, type });
  }

  /**
   * Records with the same key go to the same subtask, and what follows has state of that key. `key` is a pure function
   * of the record, or the name of a field; `type` describes the key.
   */
  keyBy<K>(key: KeySelector<T, K>, type?: TypeInformation<K>): KeyedStream<T, K>;
  keyBy<F extends keyof T & string>(key: F): KeyedStream<T, T[F]>;
  keyBy(key: KeySelector<T, unknown> | string, type?: TypeInformation<unknown>): KeyedStream<T, unknown> {
    if (typeof key === 'string') {
      const selector: KeySelector<T, unknown> = (value) => (value as Record<string, unknown>)[key];
      return new KeyedStream(this.job, this.origins, selector, fieldType(key, this.getType()));
    }
    assertSynchronous(key, 'key selector');
    return new KeyedStream(this.job, this.origins, key, type);
  }

  /** The records of all these streams, in no particular order. */
  union(...others: readonly DataStream<T>[]): DataStream<T> {
    return new DataStream(
      this.job,
      [this, ...others].flatMap((stream) => stream.origins),
    );
  }

  /** Two streams that share an operator. */
  connect<U>(other: DataStream<U>): ConnectedStreams<T, U> {
    return new ConnectedStreams(this, other);
  }

  /** Records stay in their subtask; both sides must have the same parallelism. */
  forward(): DataStream<T> {
    return new DataStream(this.job, exchanged(this.origins, 'forward'));
  }

  /** Records go to all subtasks in turn. */
  rebalance(): DataStream<T> {
    return new DataStream(this.job, exchanged(this.origins, 'rebalance'));
  }

  /** Records go to all subtasks; here in turn rather than at random. */
  shuffle(): DataStream<T> {
    return this.rebalance();
  }

  /** Every record goes to every subtask. */
  broadcast(): DataStream<T> {
    return new DataStream(this.job, exchanged(this.origins, 'broadcast'));
  }

  /** Gives records timestamps and makes watermarks, where the source did not. */
  assignTimestampsAndWatermarks(strategy: WatermarkStrategy<T>): SingleOutputStreamOperator<T> {
    const { configuration } = this.job;
    const spec = strategy.toSpec();
    return transform(this.job, [this.origins], {
      kind: 'timestamps',
      name: 'Timestamps/Watermarks',
      create: () => new TimestampsAndWatermarksOperator(spec, configuration.get(AUTO_WATERMARK_INTERVAL)),
      type: this.getType(),
    });
  }

  /** The stream ends in `sink`. */
  sinkTo<CommT, StateT>(sink: Sink<T, CommT, StateT>): DataStreamSink {
    return this.addSink(sink, 'Sink');
  }

  /** Prints each record as a line, after `identifier` if there is one. */
  print(identifier?: string): DataStreamSink {
    return this.addSink(new PrintSink<T>({ identifier }), identifier ?? 'Print to Std. Out');
  }

  /**
   * Executes the job and answers with the records of this stream; with a limit, as soon as there are so many (the job is
   * then cancelled). For results that fit into memory.
   */
  executeAndCollect(limit?: number): Promise<T[]>;
  executeAndCollect(jobName: string, limit?: number): Promise<T[]>;
  async executeAndCollect(nameOrLimit?: string | number, limitAfterName?: number): Promise<T[]> {
    const jobName = typeof nameOrLimit === 'string' ? nameOrLimit : undefined;
    const limit = typeof nameOrLimit === 'number' ? nameOrLimit : limitAfterName;
    const channelId = `collect-${this.job.graph.nodes.length}`;
    this.addSink(new CollectSink<T>(channelId, { type: this.getType() }), 'Collect');
    const results = new CollectedResults<T>();
    const reached = Promise.withResolvers<void>();
    const client = await this.job.start(jobName, (channel, batches) => {
      if (channel !== channelId) return;
      results.accept(batches as readonly ResultBatch<T>[]);
      if (limit !== undefined && results.values.length >= limit) reached.resolve();
    });
    const ended = client.getJobExecutionResult();
    const first = await Promise.race([ended.then(() => 'ended'), reached.promise.then(() => 'reached')]);
    if (first === 'reached') {
      ended.catch(() => {});
      await client.cancel();
    }
    return results.values.slice(0, limit);
  }

  /** The keys that operators after this stream have; undefined without `keyBy`. */
  protected get keySpec(): KeySpec | undefined {
    return undefined;
  }

  private addRich<R>(
    fn: object,
    method: 'map' | 'filter' | 'flatMap',
    what: { readonly kind: string; readonly name: string; readonly type: TypeInformation<R> | undefined },
  ): SingleOutputStreamOperator<R> {
    const given = asProcessFunction<T, R>(fn, method);
    const keyed = this.keySpec;
    const create = (): unknown =>
      keyed === undefined ? new ProcessOperator(given) : new KeyedProcessOperator(given);
    return transform(this.job, [this.origins], { ...what, create, keyed });
  }

  private addSink<CommT, StateT>(sink: Sink<T, CommT, StateT>, name: string): DataStreamSink {
    if (typeof (sink as Partial<typeof sink> | undefined)?.createWriter !== 'function') {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        'sinkTo(…): expected a sink, an object with a method createWriter',
      );
    }
    const create = (): AnyOperator => new SinkOperator(sink) as AnyOperator;
    return new DataStreamSink(
      addOperator(this.job, { kind: 'sink', name, inputs: [this.origins], create, isSink: true }),
    );
  }
}

/** The results of an operator, and the operator's settings. */
export class SingleOutputStreamOperator<T> extends DataStream<T> {
  readonly #node: StreamNode;

  constructor(job: JobBuilder, node: StreamNode) {
    super(job, [originOf(node)]);
    this.#node = node;
  }

  /** What the operator's state is found by when the job starts again. Unique in the job: UID_DUPLICATE. */
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

  /** The number of key groups: the highest parallelism that the operator's state can be restored with. */
  setMaxParallelism(maxParallelism: number): this {
    this.#node.maxParallelism = maxParallelism;
    return this;
  }

  /** The operator is a task of its own. */
  disableChaining(): this {
    this.#node.chaining = 'never';
    return this;
  }

  /** The operator begins a task; others may follow in it. */
  startNewChain(): this {
    this.#node.chaining = 'head';
    return this;
  }

  /** Describes the results: faster exchanges and state. */
  returns(type: TypeInformation<T>): this {
    this.#node.outputType = type;
    return this;
  }

  /** What the operator emitted to `tag`. */
  getSideOutput<X>(tag: OutputTag<X>): DataStream<X> {
    return new DataStream<X>(this.job, [{ ...originOf(this.#node), sideTag: tag.id, sideType: tag.type }]);
  }
}

/** A stream whose records have keys. */
export class KeyedStream<T, K> extends DataStream<T> {
  readonly selector: KeySelector<T, K>;
  readonly keyType: TypeInformation<K> | undefined;

  constructor(
    job: JobBuilder,
    origins: readonly StreamOrigin[],
    selector: KeySelector<T, K>,
    keyType: TypeInformation<K> | undefined,
  ) {
    super(job, exchanged(origins, 'hash', { selector, type: keyType }));
    this.selector = selector;
    this.keyType = keyType;
  }

  override get keySpec(): KeySpec {
    return { selectors: [this.selector], type: this.keyType };
  }

  /** As without keys, with state and timers of the current key. */
  override process<R>(
    fn: FunctionOrFactory<KeyedProcessFunction<K, T, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    const create = (): unknown => new KeyedProcessOperator(fn);
    return this.addKeyed({ kind: 'keyed-process', name: 'KeyedProcess', create, type });
  }

  /** For each record the result of all records of its key so far. */
  reduce(fn: ReduceFunction<T>): SingleOutputStreamOperator<T> {
    const type = this.getType();
    return this.addKeyed({
      kind: 'reduce',
      name: 'Keyed Reduce',
      create: () => new ReduceOperator(fn, type),
      type,
    });
  }

  /** Collects the records of each key in windows. */
  window(assigner: WindowAssigner<T>): WindowedStream<T, K> {
    return new WindowedStream(this, assigner);
  }

  override connect<U>(other: KeyedStream<U, K>): KeyedConnectedStreams<T, U, K>;
  override connect<U>(other: DataStream<U>): ConnectedStreams<T, U>;
  override connect<U>(
    other: DataStream<U> | KeyedStream<U, K>,
  ): ConnectedStreams<T, U> | KeyedConnectedStreams<T, U, K> {
    return other instanceof KeyedStream
      ? new KeyedConnectedStreams(this, other)
      : new ConnectedStreams(this, other);
  }

  /** For the classes of this file. */
  addKeyed<R>(transformation: Transformation<R>): SingleOutputStreamOperator<R> {
    return transform(this.job, [this.origins], { ...transformation, keyed: this.keySpec });
  }
}

/** Adds an operator to the job: the one way in which all streams grow. */
export function transform<R>(
  job: JobBuilder,
  inputs: readonly (readonly StreamOrigin[])[],
  { kind, name, create, type, keyed }: Transformation<R>,
): SingleOutputStreamOperator<R> {
  const spec: StreamNodeSpec = {
    kind,
    name,
    inputs,
    create: create as () => AnyOperator,
    keyed,
    outputType: type,
  };
  return new SingleOutputStreamOperator<R>(job, addOperator(job, spec));
}
