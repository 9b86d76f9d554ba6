/**
 * The streams that users build jobs of (org.apache.flink.streaming.api.datastream): each call adds an operator to the
 * job's graph and answers with the stream of its results. Nothing runs until the environment executes the job.
 *
 *     DataStream ──keyBy──> KeyedStream ──window──> WindowedStream
 *         └────connect────> ConnectedStreams (with or without keys); join, coGroup, intervalJoin
 *     all of them ──map, process, reduce, …──> SingleOutputStreamOperator (uid, name, parallelism, side outputs)
 *
 * Each of these classes makes the others, so the files of this folder import each other; the classes that extend another
 * stand in its file, so that no class is needed before it is there. They know the graph and the operators, not the engine.
 */
import { AUTO_WATERMARK_INTERVAL } from '../../base/index.ts';
import {
  type ChunkEncoder,
  PrintSink,
  type WritableFactory,
  WritableSink,
  type WritableSinkOptions,
} from '../../connectors/index.ts';
import type { StreamNode, StreamOrigin } from '../../graph/index.ts';
import {
  type Aggregation,
  type AnyMapStateDescriptor,
  type AsyncFlatMapFunction,
  type AsyncMapFunction,
  assertSynchronous,
  type ComparableField,
  type FilterFunction,
  FilterOperator,
  type FlatMapFunction,
  FlatMapOperator,
  type FunctionOrFactory,
  fieldAggregation,
  fieldType,
  type GlobalWindow,
  GlobalWindows,
  type KeyedProcessFunction,
  KeyedProcessOperator,
  type KeySelector,
  type MapFunction,
  MapOperator,
  type NumericField,
  type OutputTag,
  type ProcessFunction,
  ProcessOperator,
  ReduceOperator,
  type RichSinkFunction,
  type SinkFunction,
  SinkFunctionOperator,
  TimestampsAndWatermarksOperator,
  type Window,
  type WindowAssigner,
} from '../../operators/index.ts';
import type { KeySpec, Sink } from '../../runtime/index.ts';
import type { ReduceFunction } from '../../state/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { exchanged, type JobBuilder, originOf, typeOf } from '../job-builder.ts';
import { type Partitioner, partitionFunction } from '../partitioner.ts';
import {
  asProcessFunction,
  type FunctionObject,
  isPlainFunction,
  type RichFilterFunction,
  type RichFlatMapFunction,
  type RichMapFunction,
} from '../rich-function.ts';
import type { WatermarkStrategy } from '../watermark-strategy.ts';
import { AllWindowedStream } from './all-windowed-stream.ts';
import {
  type AsyncFlatMapOptions,
  type AsyncMapOptions,
  flatMapAsync,
  mapAsync,
} from './async-data-stream.ts';
import {
  BroadcastConnectedStream,
  BroadcastStream,
  KeyedBroadcastConnectedStream,
} from './broadcast-stream.ts';
import { CoGroupedStreams } from './co-grouped-streams.ts';
import { CollectedList, CollectedStream, collectInto } from './collecting.ts';
import { ConnectedStreams, KeyedConnectedStreams } from './connected-streams.ts';
import { type DataStreamSink, endIn, sinkOperator } from './data-stream-sink.ts';
import { IntervalJoin } from './interval-join.ts';
import { JoinedStreams } from './joined-streams.ts';
import { countWindows } from './stream-windows.ts';
import { type Transformation, transform } from './transformation.ts';
import { WindowedStream } from './windowed-stream.ts';

/** A stream of records of type T. */
export class DataStream<T> {
  /** For the classes of this file. @internal */
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
    fn: MapFunction<T, NoInfer<R>> | FunctionObject<RichMapFunction<T, NoInfer<R>>>,
    type: TypeInformation<R> | undefined,
  ): SingleOutputStreamOperator<R>;
  map<R>(fn: MapFunction<T, R> | FunctionObject<RichMapFunction<T, R>>): SingleOutputStreamOperator<R>;
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

  /** Keeps the records for which `fn` answers true. If `fn` is a type guard, the results have the type that it guards. */
  filter<S extends T>(fn: (value: T) => value is S): SingleOutputStreamOperator<S>;
  filter(fn: FilterFunction<T> | FunctionObject<RichFilterFunction<T>>): SingleOutputStreamOperator<T>;
  filter(fn: FilterFunction<T> | FunctionObject<RichFilterFunction<T>>): SingleOutputStreamOperator<T> {
    const what = { kind: 'filter', name: 'Filter', type: this.getType() };
    if (!isPlainFunction(fn)) return this.addRich(fn, 'filter', what);
    return transform(this.job, [this.origins], { ...what, create: () => new FilterOperator(fn) });
  }

  /** Any number of results for each record: collected, or returned as an iterable. */
  flatMap<R>(
    fn: FlatMapFunction<T, NoInfer<R>> | FunctionObject<RichFlatMapFunction<T, NoInfer<R>>>,
    type: TypeInformation<R> | undefined,
  ): SingleOutputStreamOperator<R>;
  flatMap<R>(
    fn: FlatMapFunction<T, R> | FunctionObject<RichFlatMapFunction<T, R>>,
  ): SingleOutputStreamOperator<R>;
  flatMap<R>(
    fn: FlatMapFunction<T, R> | FunctionObject<RichFlatMapFunction<T, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    const what = { kind: 'flat-map', name: 'Flat Map', type };
    if (!isPlainFunction(fn)) return this.addRich(fn, 'flatMap', what);
    return transform(this.job, [this.origins], { ...what, create: () => new FlatMapOperator(fn) });
  }

  /**
   * One result for each record, which comes later: the result of `fn`, mostly an async function. Up to `options.capacity`
   * records are in flight at a time. What was not answered when a snapshot was taken is asked for again after a restore from it.
   */
  mapAsync<R>(
    fn: AsyncMapFunction<T, NoInfer<R>>,
    options: AsyncMapOptions<T, NoInfer<R>> & { readonly type: TypeInformation<R> },
  ): SingleOutputStreamOperator<R>;
  mapAsync<R>(
    fn: AsyncMapFunction<T, R>,
    options?: AsyncMapOptions<T, NoInfer<R>> & { readonly type?: undefined },
  ): SingleOutputStreamOperator<R>;
  mapAsync<R>(
    fn: AsyncMapFunction<T, R>,
    options: AsyncMapOptions<T, R> = {},
  ): SingleOutputStreamOperator<R> {
    return mapAsync(this, fn, options);
  }

  /** As `mapAsync`, with any number of results for each record: those of the iterable that `fn` answers with. */
  flatMapAsync<R>(
    fn: AsyncFlatMapFunction<T, NoInfer<R>>,
    options: AsyncFlatMapOptions<T, NoInfer<R>> & { readonly type: TypeInformation<R> },
  ): SingleOutputStreamOperator<R>;
  flatMapAsync<R>(
    fn: AsyncFlatMapFunction<T, R>,
    options?: AsyncFlatMapOptions<T, NoInfer<R>> & { readonly type?: undefined },
  ): SingleOutputStreamOperator<R>;
  flatMapAsync<R>(
    fn: AsyncFlatMapFunction<T, R>,
    options: AsyncFlatMapOptions<T, R> = {},
  ): SingleOutputStreamOperator<R> {
    return flatMapAsync(this, fn, options);
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
  keyBy<K>(key: KeySelector<T, NoInfer<K>>, type: TypeInformation<K> | undefined): KeyedStream<T, K>;
  keyBy<K>(key: KeySelector<T, K>): KeyedStream<T, K>;
  keyBy<F extends keyof T & string>(key: F): KeyedStream<T, T[F]>;
  keyBy<K>(key: KeySelector<T, K> | string, type?: TypeInformation<K>): KeyedStream<T, K> {
    if (typeof key === 'string') {
      const field = this.fieldOf<K>('keyBy', key);
      return new KeyedStream<T, K>(this.job, this.origins, field.selector, field.type);
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

  /** Two streams that share an operator. With a broadcast stream, one whose records all subtasks of the operator get. */
  connect<U>(other: BroadcastStream<U>): BroadcastConnectedStream<T, U>;
  connect<U>(other: DataStream<U>): ConnectedStreams<T, U>;
  connect<U>(
    other: DataStream<U> | BroadcastStream<U>,
  ): ConnectedStreams<T, U> | BroadcastConnectedStream<T, U> {
    return other instanceof BroadcastStream
      ? new BroadcastConnectedStream(this, other)
      : new ConnectedStreams(this, other);
  }

  /** Each record of this stream with each of `other` that has its key and window: `.where(…).equalTo(…).window(…).apply(…)`. */
  join<U>(other: DataStream<U>): JoinedStreams<T, U> {
    return new JoinedStreams(this, other);
  }

  /** As `join`, with a function that sees all records of both sides that have one key and window. */
  coGroup<U>(other: DataStream<U>): CoGroupedStreams<T, U> {
    return new CoGroupedStreams(this, other);
  }

  /** Collects the records of the whole stream in windows. One subtask does it: with keys, `keyBy(…).window(…)` is parallel. */
  windowAll<W extends Window>(assigner: WindowAssigner<T, W>): AllWindowedStream<T, W> {
    return new AllWindowedStream(this, assigner);
  }

  /** As `countWindow` after `keyBy`, for the whole stream, in one subtask. */
  countWindowAll(size: number, slide?: number): AllWindowedStream<T, GlobalWindow> {
    return countWindows(this.windowAll(GlobalWindows.create()), 'countWindowAll', size, slide);
  }

  /** Records stay in their subtask; both sides must have the same parallelism. */
  forward(): DataStream<T> {
    return new DataStream(this.job, exchanged(this.origins, 'forward'));
  }

  /** Records go to all subtasks in turn. */
  rebalance(): DataStream<T> {
    return new DataStream(this.job, exchanged(this.origins, 'rebalance'));
  }

  /**
   * Records go in turn to a part of the subtasks: with 2 subtasks before and 4 after, each of the 2 sends to 2 of its own;
   * with 4 before and 2 after, each of the 4 to one. Fewer channels than `rebalance`, but no balance between the parts.
   */
  rescale(): DataStream<T> {
    return new DataStream(this.job, exchanged(this.origins, 'rescale'));
  }

  /** Records go to subtasks at random, to all equally often. */
  shuffle(): DataStream<T> {
    return new DataStream(this.job, exchanged(this.origins, 'shuffle'));
  }

  /** All records go to the first subtask: the others get none. */
  global(): DataStream<T> {
    return new DataStream(this.job, exchanged(this.origins, 'global'));
  }

  /**
   * Records go to the subtask that `partitioner` names for their key: a whole number from 0 to one less than the number of
   * subtasks (RESULT_NOT_ALLOWED). `key` is a pure function of the record, or the name of a field. What follows has no keyed
   * state. Not asked between operators of one subtask each. Both must answer the same each time: when a job starts with
   * another parallelism from a checkpoint whose barriers overtook records, all subtasks ask for each of these, and one that
   * no subtask finds its own is lost.
   */
  partitionCustom<F extends keyof T & string>(partitioner: Partitioner<T[F]>, key: F): DataStream<T>;
  partitionCustom<K>(partitioner: Partitioner<K>, key: KeySelector<T, K>): DataStream<T>;
  partitionCustom(partitioner: Partitioner<never>, key: KeySelector<T, unknown> | string): DataStream<T> {
    const selector = typeof key === 'string' ? this.fieldOf('partitionCustom', key).selector : key;
    assertSynchronous(selector, 'key selector');
    const choose = partitionFunction(partitioner);
    return new DataStream(this.job, exchanged(this.origins, 'custom', { selector, type: undefined }, choose));
  }

  /**
   * Every record goes to every subtask. With descriptors of map states: the stream may be connected with another, whose
   * operator keeps what these records say in those states, the same in all subtasks.
   */
  broadcast(): DataStream<T>;
  broadcast(...descriptors: readonly [AnyMapStateDescriptor, ...AnyMapStateDescriptor[]]): BroadcastStream<T>;
  broadcast(...descriptors: readonly AnyMapStateDescriptor[]): DataStream<T> | BroadcastStream<T> {
    return descriptors.length > 0
      ? new BroadcastStream(this, descriptors)
      : new DataStream(this.job, exchanged(this.origins, 'broadcast'));
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
    return endIn(this, 'Sink', sinkOperator(sink));
  }

  /**
   * The stream ends in a function, sync or async, that is called for each record. Guarantee: at-least-once; a snapshot waits
   * for the promises of the records before it. In order, one record at a time, unless more may be under way
   * (`maxInFlightRequests`, default 1). Nothing is retried; a failure fails the job.
   */
  addSink(
    fn: SinkFunction<T> | FunctionObject<RichSinkFunction<T>>,
    { maxInFlightRequests = 1 }: { readonly maxInFlightRequests?: number } = {},
  ): DataStreamSink {
    const given = isPlainFunction(fn) ? { invoke: fn } : fn;
    return endIn(this, 'Sink', () => new SinkFunctionOperator<T>(given, maxInFlightRequests));
  }

  /**
   * Writes the records to a Writable of Node.js that `open` gives, one for each subtask: strings as lines, bytes as they
   * are, anything else by `encode`. Waits when the stream is full. Guarantee: at-least-once.
   */
  writeTo(
    open: WritableFactory,
    options: WritableSinkOptions<T> & { readonly encode: ChunkEncoder<T> },
  ): DataStreamSink;
  writeTo<S extends string | Uint8Array>(
    this: DataStream<S>,
    open: WritableFactory,
    options?: WritableSinkOptions<S>,
  ): DataStreamSink;
  writeTo(open: WritableFactory, options: WritableSinkOptions<T> = {}): DataStreamSink {
    return endIn(this, 'Writable', sinkOperator(new WritableSink<T>(open, options)));
  }

  /** Prints each record as a line, after `identifier` if there is one. */
  print(identifier?: string): DataStreamSink {
    return endIn(this, identifier ?? 'Print to Std. Out', sinkOperator(new PrintSink<T>({ identifier })));
  }

  /** As `print`, to the standard error. */
  printToErr(identifier?: string): DataStreamSink {
    const sink = new PrintSink<T>({ identifier, stdErr: true });
    return endIn(this, identifier ?? 'Print to Std. Err', sinkOperator(sink));
  }

  /**
   * Executes the job and answers with the records of this stream; with a limit, as soon as there are so many (the job is
   * then cancelled). For results that fit into memory.
   */
  executeAndCollect(limit?: number): Promise<T[]>;
  executeAndCollect(jobName: string, limit?: number): Promise<T[]>;
  async executeAndCollect(nameOrLimit?: string | number, limitAfterName?: number): Promise<T[]> {
    const [jobName, limit] =
      typeof nameOrLimit === 'string'
        ? [nameOrLimit, limitAfterName]
        : [undefined, nameOrLimit ?? limitAfterName];
    const results = collectInto(this, new CollectedList<T>(limit));
    await this.job.start(jobName);
    return results.values();
  }

  /**
   * The records of this stream, for `for await` after `env.executeAsync()`. The loop ends with the job; leaving it cancels the
   * job.
   */
  collectAsync(): AsyncIterableIterator<T, undefined> {
    return collectInto(this, new CollectedStream<T>());
  }

  /** The keys that operators after this stream have; undefined without `keyBy`. */
  protected get keySpec(): KeySpec | undefined {
    return undefined;
  }

  /** The field `name` as a key. Throws INVALID_ARGUMENT if the records are described and have no such field. */
  private fieldOf<K>(
    method: string,
    name: string,
  ): { readonly selector: KeySelector<unknown, K>; readonly type: TypeInformation<K> | undefined } {
    const type = fieldType(`${method}(${JSON.stringify(name)})`, [name], this.getType());
    return {
      selector: (value) => (value as Record<string, K>)[name]!,
      type: type as TypeInformation<K> | undefined,
    };
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

  /** Subtasks of this operator; 1 to 32768. */
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
  /** For the classes of this folder. @internal */
  readonly selector: KeySelector<T, K>;
  /** For the classes of this folder. @internal */
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

  /**
   * For each record the first record of its key with the sum of this field so far: the name of a number or bigint, nested
   * as 'a.b', or a position in a tuple. Throws INVALID_ARGUMENT if the records are described and have no such field.
   */
  sum(field: NumericField<T>): SingleOutputStreamOperator<T> {
    return this.aggregate('sum', field);
  }

  /** For each record the first record of its key with the least value of this field so far. */
  min(field: ComparableField<T>): SingleOutputStreamOperator<T> {
    return this.aggregate('min', field);
  }

  /** For each record the first record of its key with the greatest value of this field so far. */
  max(field: ComparableField<T>): SingleOutputStreamOperator<T> {
    return this.aggregate('max', field);
  }

  /** For each record the record of its key with the least value of this field; the last of equals if not the `first`. */
  minBy(field: ComparableField<T>, first = true): SingleOutputStreamOperator<T> {
    return this.aggregate('minBy', field, first);
  }

  /** For each record the record of its key with the greatest value of this field; the last of equals if not the `first`. */
  maxBy(field: ComparableField<T>, first = true): SingleOutputStreamOperator<T> {
    return this.aggregate('maxBy', field, first);
  }

  /** Collects the records of each key in windows. */
  window<W extends Window>(assigner: WindowAssigner<T, W>): WindowedStream<T, K, W> {
    return new WindowedStream(this, assigner);
  }

  /**
   * Windows of `size` records of each key, one after the other; with `slide`, each time so many have come, one of the last
   * `size` records. Records that do not fill a window are not evaluated. Throws INVALID_ARGUMENT.
   */
  countWindow(size: number, slide?: number): WindowedStream<T, K, GlobalWindow> {
    return countWindows(this.window(GlobalWindows.create()), 'countWindow', size, slide);
  }

  /** As without keys; with a stream that has keys of the same type, both sides of the operator share keyed state. */
  override connect<U>(other: BroadcastStream<U>): KeyedBroadcastConnectedStream<T, U, K>;
  override connect<U>(other: KeyedStream<U, K>): KeyedConnectedStreams<T, U, K>;
  override connect<U>(other: DataStream<U>): ConnectedStreams<T, U>;
  override connect<U>(
    other: DataStream<U> | KeyedStream<U, K> | BroadcastStream<U>,
  ): ConnectedStreams<T, U> | KeyedConnectedStreams<T, U, K> | KeyedBroadcastConnectedStream<T, U, K> {
    if (other instanceof BroadcastStream) return new KeyedBroadcastConnectedStream(this, other);
    return other instanceof KeyedStream
      ? new KeyedConnectedStreams(this, other)
      : new ConnectedStreams(this, other);
  }

  /**
   * Each record of this stream with the records of `other` that have its key and a time near its own:
   * `.between(lower, upper).process(…)`.
   */
  intervalJoin<U>(other: KeyedStream<U, K>): IntervalJoin<T, U, K> {
    return new IntervalJoin(this, other);
  }

  private aggregate(
    aggregation: Aggregation,
    field: string | number,
    first?: boolean,
  ): SingleOutputStreamOperator<T> {
    const type = this.getType();
    const { reduce, check } = fieldAggregation<T>(aggregation, field, { type, first });
    const create = (): unknown => new ReduceOperator(reduce, type, check);
    return this.addKeyed({ kind: 'reduce', name: 'Keyed Aggregation', create, type });
  }

  /** For the classes of this file. @internal */
  addKeyed<R>(transformation: Transformation<R>): SingleOutputStreamOperator<R> {
    return transform(this.job, [this.origins], { ...transformation, keyed: this.keySpec });
  }
}
