/**
 * Where a job begins and ends (org.apache.flink.streaming.api.environment.StreamExecutionEnvironment): sources, settings,
 * execution. It collects the job's graph and configuration and hands both to an executor.
 */
import {
  Configuration,
  DEFAULT_PARALLELISM,
  type Duration,
  GLOBAL_JOB_PARAMETERS,
  JOB_NAME,
  MAX_PARALLELISM,
  MillraceError,
  OPERATOR_CHAINING,
  SAVEPOINT_DIR,
} from '../base/index.ts';
import {
  AsyncIterableSource,
  type AsyncIterableSourceOptions,
  CollectionSource,
  type IterableContext,
  type IterableFactory,
  type ReadableLike,
  SequenceSource,
} from '../connectors/index.ts';
import { createJobGraph, describePlan, StreamGraph } from '../graph/index.ts';
import { createNodePlatform } from '../platform/node/index.ts';
import type { JobGraph, Source, SourceSplit, WatermarkStrategySpec } from '../runtime/index.ts';
import type { TypeInformation } from '../types/index.ts';
import { setChecked } from './checked-setting.ts';
import { CheckpointConfig } from './checkpoint-config.ts';
import type { CheckpointingMode } from './checkpointing-mode.ts';
import { ExecutionConfig } from './execution-config.ts';
import { applyOptions, type ExecutionOptions } from './execution-options.ts';
import { resolveSettings } from './execution-settings.ts';
import { addOperator, type JobBuilder, type ResultReceiver } from './job-builder.ts';
import type { Deliver, JobClient, JobExecutionResult, JobExecutor } from './job-executor.ts';
import { LocalExecutor } from './local-executor.ts';
import type { RestartStrategyConfiguration } from './restart-strategies.ts';
import type { StateBackend } from './state-backend.ts';
import { SingleOutputStreamOperator } from './streams/data-stream.ts';
import type { WatermarkStrategy } from './watermark-strategy.ts';

const DEFAULT_JOB_NAME = 'Millrace job';

/** One for all environments of a thread: it counts executions, by which a worker finds the job that it runs. */
let processExecutor: JobExecutor | undefined;

/** Where a job is written and started: it has the sources and the settings, and runs what was built of them. */
export class StreamExecutionEnvironment {
  readonly #configuration: Configuration;
  readonly #executor: JobExecutor;
  readonly #checkpointConfig: CheckpointConfig;
  readonly #job: JobBuilder & { graph: StreamGraph };
  /** Of the job that is being written, by channel. */
  #receivers = new Map<string, ResultReceiver>();

  /** For hosts and tests; users call {@link StreamExecutionEnvironment.getExecutionEnvironment}. @internal */
  constructor(executor: JobExecutor, configuration = new Configuration()) {
    this.#executor = executor;
    this.#configuration = configuration;
    this.#checkpointConfig = new CheckpointConfig(configuration);
    this.#job = {
      graph: new StreamGraph(),
      configuration,
      collect: (channelId, receiver) => void this.#receivers.set(channelId, receiver),
      start: (jobName) => this.executeAsync(jobName),
    };
  }

  /** An environment that runs jobs in this process. Throws CONFIG_INVALID for wrong options. */
  static getExecutionEnvironment(options: ExecutionOptions | Configuration = {}): StreamExecutionEnvironment {
    processExecutor ??= new LocalExecutor(createNodePlatform());
    return new StreamExecutionEnvironment(processExecutor).configure(options);
  }

  /** Sets what is there and leaves the rest. Throws CONFIG_INVALID naming what is wrong; nothing is set then. */
  configure(options: ExecutionOptions | Configuration): this {
    if (options instanceof Configuration) this.#configuration.addAll(options);
    else applyOptions(this.#configuration, options);
    return this;
  }

  /** The configuration that all setters write. */
  getConfiguration(): Configuration {
    return this.#configuration;
  }

  /**
   * Takes a checkpoint every `interval` (milliseconds or text, at least 10 ms). Without `mode` it stays as it is:
   * exactly-once unless it was set.
   */
  enableCheckpointing(interval: Duration = 500, mode?: CheckpointingMode): this {
    if (mode !== undefined) this.#checkpointConfig.setCheckpointingMode(mode);
    this.#checkpointConfig.setCheckpointInterval(interval);
    return this;
  }

  /** Settings that belong to no operator: job parameters, watermarks. */
  getConfig(): ExecutionConfig {
    return new ExecutionConfig(this.#configuration);
  }

  /** The settings of checkpoints, with Flink's setters. */
  getCheckpointConfig(): CheckpointConfig {
    return this.#checkpointConfig;
  }

  /** Milliseconds; -1 if checkpoints are off. */
  getCheckpointInterval(): number {
    return this.#checkpointConfig.getCheckpointInterval();
  }

  /** Exactly-once, unless at-least-once was set. */
  getCheckpointingMode(): CheckpointingMode {
    return this.#checkpointConfig.getCheckpointingMode();
  }

  /** Where working state lives, and for the old classes where snapshots go. */
  setStateBackend(backend: StateBackend): this {
    if (typeof (backend as Partial<StateBackend> | undefined)?.applyTo !== 'function') {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        'setStateBackend: expected a state backend, such as new FsStateBackend(uri)',
      );
    }
    backend.applyTo(this.#configuration);
    return this;
  }

  /** Where savepoints go that are given no directory. */
  setDefaultSavepointDirectory(directory: string | URL): this {
    setChecked(this.#configuration, SAVEPOINT_DIR, String(directory), 'setDefaultSavepointDirectory');
    return this;
  }

  /** What happens when the job fails: see `RestartStrategies`. */
  setRestartStrategy(strategy: RestartStrategyConfiguration): this {
    strategy.applyTo(this.#configuration);
    return this;
  }

  /** Subtasks of each operator that sets none itself. */
  getParallelism(): number {
    return this.#configuration.get(DEFAULT_PARALLELISM);
  }

  /** Subtasks of each operator that sets none itself; 1 to 32768. */
  setParallelism(parallelism: number): this {
    setChecked(this.#configuration, DEFAULT_PARALLELISM, parallelism, 'setParallelism');
    return this;
  }

  /** -1 if it follows from the parallelism. */
  getMaxParallelism(): number {
    return this.#configuration.get(MAX_PARALLELISM) ?? -1;
  }

  /** Key groups of each operator that sets none itself; 1 to 32768. */
  setMaxParallelism(maxParallelism: number): this {
    setChecked(this.#configuration, MAX_PARALLELISM, maxParallelism, 'setMaxParallelism');
    return this;
  }

  /** Every operator is a task of its own. */
  disableOperatorChaining(): this {
    this.#configuration.set(OPERATOR_CHAINING, false);
    return this;
  }

  /** False after `disableOperatorChaining`. */
  isChainingEnabled(): boolean {
    return this.#configuration.get(OPERATOR_CHAINING);
  }

  /** The records of `source`. `type` describes them, if the source does not. */
  fromSource<T, SplitT extends SourceSplit, EnumT>(
    source: Source<T, SplitT, EnumT>,
    watermarks: WatermarkStrategy<NoInfer<T>>,
    name: string,
    type?: TypeInformation<NoInfer<T>>,
  ): SingleOutputStreamOperator<T> {
    if (typeof (source as Partial<typeof source> | undefined)?.createReader !== 'function') {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        'fromSource: expected a source, an object with a method createReader',
      );
    }
    return this.#addSource(source, watermarks.toSpec(), name, type, undefined);
  }

  /** These elements, in order; parallelism 1 unless it is set. */
  fromElements<T>(...elements: readonly T[]): SingleOutputStreamOperator<T> {
    return this.fromCollection(elements);
  }

  /** The elements of a collection, in order; parallelism 1 unless it is set. */
  fromCollection<T>(elements: Iterable<T>, type?: TypeInformation<T>): SingleOutputStreamOperator<T> {
    return this.#addSource(new CollectionSource(elements, { type }), undefined, 'Collection Source', type, 1);
  }

  /** The whole numbers from `from` to `to`, both included. */
  fromSequence(from: number, to: number): SingleOutputStreamOperator<number> {
    return this.#addSource(new SequenceSource(from, to), undefined, 'Sequence Source', undefined, undefined);
  }

  /**
   * What an async iterable gives: an async generator, a ReadableStream, the lines of `readline`. One subtask reads it, in
   * order; the job ends when it ends. Given a function that makes it, each attempt to run the job opens it anew; given the
   * iterable itself, the job cannot be restarted after a failure in the same process. The second parameter is the type of
   * the records, or options with it.
   *
   * Guarantee: at-most-once. After a failure the job goes on from its last checkpoint, and what the iterable had given since
   * is lost, unless the function uses `context.position` to begin there. The log says so.
   */
  fromAsyncIterable<T>(
    iterable: AsyncIterable<T> | IterableFactory<T>,
    typeOrOptions: TypeInformation<T> | AsyncIterableSourceOptions<T> = {},
  ): SingleOutputStreamOperator<T> {
    const options = 'description' in typeOrOptions ? { type: typeOrOptions } : typeOrOptions;
    const source = new AsyncIterableSource<T>(iterable, options);
    return this.#addSource(source, undefined, 'Iterable Source', options.type, 1);
  }

  /**
   * The chunks of a Readable of Node.js, or of one that a function opens for each attempt to run the job: objects if it is
   * in object mode, otherwise Buffers, or strings after `setEncoding`. Chunks end anywhere: for the lines of a text give
   * `readline.createInterface({ input })` to {@link fromAsyncIterable}. Guarantee: at-most-once, as there.
   */
  fromReadable<T = unknown>(
    readable: ReadableLike | ((context: IterableContext) => ReadableLike | PromiseLike<ReadableLike>),
    type?: TypeInformation<T>,
  ): SingleOutputStreamOperator<T> {
    const source = new AsyncIterableSource<T>(readable as AsyncIterable<T> | IterableFactory<T>, { type });
    return this.#addSource(source, undefined, 'Readable Source', type, 1);
  }

  /** Runs the job to its end. Rejects with what it failed of. Needs a source and a sink. */
  async execute(jobName?: string): Promise<JobExecutionResult> {
    const client = await this.executeAsync(jobName);
    return client.getJobExecutionResult();
  }

  /** Starts the job. The environment is then empty: what is added belongs to the next job. */
  async executeAsync(jobName?: string): Promise<JobClient> {
    const receivers = this.#receivers;
    const client = this.#start(jobName, (channelId, values) => receivers.get(channelId)?.accept(values));
    for (const receiver of receivers.values()) receiver.follow(client);
    return client;
  }

  /** The job as JSON: operators, uids, types, parallelism, exchanges. */
  getExecutionPlan(): string {
    return JSON.stringify(describePlan(this.#createJobGraph(undefined)), undefined, 2);
  }

  #addSource<T, SplitT extends SourceSplit, EnumT>(
    source: Source<T, SplitT, EnumT>,
    watermarks: WatermarkStrategySpec<T> | undefined,
    name: string,
    type: TypeInformation<T> | undefined,
    defaultParallelism: number | undefined,
  ): SingleOutputStreamOperator<T> {
    const node = addOperator(this.#job, {
      kind: 'source',
      name,
      inputs: [],
      create: undefined,
      source: {
        source: source as unknown as Source<unknown>,
        watermarks: watermarks as WatermarkStrategySpec | undefined,
      },
      outputType: type ?? source.outputType,
      defaultParallelism,
    });
    return new SingleOutputStreamOperator<T>(this.#job, node);
  }

  async #start(jobName: string | undefined, deliver: Deliver): Promise<JobClient> {
    const settings = resolveSettings(this.#configuration);
    const graph = this.#createJobGraph(jobName);
    this.#job.graph = new StreamGraph();
    this.#receivers = new Map();
    return this.#executor.execute(graph, settings, deliver);
  }

  #createJobGraph(jobName: string | undefined): JobGraph {
    return createJobGraph(this.#job.graph, {
      jobName: jobName ?? this.#configuration.get(JOB_NAME) ?? DEFAULT_JOB_NAME,
      parallelism: this.#configuration.get(DEFAULT_PARALLELISM),
      maxParallelism: this.#configuration.get(MAX_PARALLELISM),
      globalJobParameters: this.#configuration.get(GLOBAL_JOB_PARAMETERS),
      chainingEnabled: this.#configuration.get(OPERATOR_CHAINING),
      hash: this.#executor.hash,
    });
  }
}
