import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { beforeEach, describe, it } from 'node:test';
import { Configuration, hasCode, MillraceError } from '../base/index.ts';
import {
  KeyedProcessFunction,
  OutputTag,
  ProcessFunction,
  TumblingEventTimeWindows,
} from '../operators/index.ts';
import type { JobGraph, OperatorSpec, SourceReader } from '../runtime/index.ts';
import { Types } from '../types/index.ts';
import type { ExecutionSettings } from './execution-settings.ts';
import type { Deliver, JobClient, JobExecutor } from './job-executor.ts';
import { RichFilterFunction, RichMapFunction } from './rich-function.ts';
import { StreamExecutionEnvironment } from './stream-execution-environment.ts';
import type { KeyedStream } from './streams/data-stream.ts';
import { WatermarkStrategy } from './watermark-strategy.ts';

/** Keeps what it is given instead of running it. */
class RecordingExecutor implements JobExecutor {
  readonly executed: { readonly graph: JobGraph; readonly settings: ExecutionSettings }[] = [];
  deliver: Deliver = () => assert.fail('nobody collects');
  cancelled = 0;
  readonly end = Promise.withResolvers<void>();

  hash(text: string): string {
    return createHash('sha256').update(text).digest('hex');
  }

  async execute(graph: JobGraph, settings: ExecutionSettings, deliver?: Deliver): Promise<JobClient> {
    this.executed.push({ graph, settings });
    if (deliver !== undefined) this.deliver = deliver;
    const { jobName } = graph;
    const result = {
      jobId: '1',
      jobName,
      netRuntimeMs: 0,
      recordsRead: 0,
      restarts: 0,
      completedCheckpoints: 0,
      failedCheckpoints: 0,
      lastCheckpoint: undefined,
    };
    return {
      jobId: '1',
      jobName,
      getJobStatus: () => 'RUNNING',
      getJobExecutionResult: () => this.end.promise.then(() => result),
      untilRunning: async () => {},
      stop: async () => ({ path: undefined }),
      stopWithSavepoint: async () => '',
      triggerSavepoint: async () => '',
      progress: () => [],
      cancel: async () => {
        this.cancelled++;
        this.end.reject(new MillraceError('INVALID_ARGUMENT', 'cancelled'));
      },
      suspend: () => assert.fail('not called'),
      triggerCheckpoint: () => assert.fail('not called'),
      metrics: () => ({ job: {}, tasks: [] }),
      explainCheckpoint: () => assert.fail('not called'),
      explainRecovery: () => assert.fail('not called'),
      getCheckpointStatistics: () => assert.fail('not called'),
      getCheckpointDetails: () => assert.fail('not called'),
      getTaskCheckpointDetails: () => assert.fail('not called'),
      getCheckpointConfig: () => assert.fail('not called'),
      getExceptions: () => assert.fail('not called'),
    };
  }
}

let executor: RecordingExecutor;
let env: StreamExecutionEnvironment;

beforeEach(() => {
  executor = new RecordingExecutor();
  env = new StreamExecutionEnvironment(executor);
});

async function operatorsOf(): Promise<readonly OperatorSpec[]> {
  await env.executeAsync();
  return executor.executed.at(-1)!.graph.vertices.flatMap(({ operators }) => operators);
}

class Pass<T> extends ProcessFunction<T, T> {
  processElement(): void {}
}

class KeyedPass extends KeyedProcessFunction<number, number, string> {
  processElement(): void {}
}

describe('a stream', () => {
  it('gets an operator of its kind and a name by each call', async () => {
    const windowed = env
      .fromSequence(1, 10)
      .map((n) => n + 1, Types.LONG)
      .filter((n) => n > 0)
      .flatMap((n) => [n, n], Types.LONG)
      .process(new Pass<number>(), Types.LONG)
      .assignTimestampsAndWatermarks(WatermarkStrategy.forMonotonousTimestamps())
      .keyBy((n) => n % 3, Types.LONG)
      .reduce((a, b) => a + b)
      .keyBy((n) => n, Types.LONG)
      .window(TumblingEventTimeWindows.of(1000))
      .reduce((a, b) => a + b);
    windowed
      .keyBy((n) => n)
      .process(new KeyedPass())
      .name('named')
      .uid('given')
      .print('label');
    const operators = await operatorsOf();
    assert.deepEqual(
      operators.map(({ kind, name }) => [kind, name]),
      [
        ['source', 'Sequence Source'],
        ['map', 'Map'],
        ['filter', 'Filter'],
        ['flat-map', 'Flat Map'],
        ['process', 'Process'],
        ['timestamps', 'Timestamps/Watermarks'],
        ['reduce', 'Keyed Reduce'],
        ['window', 'Window'],
        ['keyed-process', 'named'],
        ['sink', 'label'],
      ],
    );
    assert.deepEqual(
      operators.map(({ outputType }) => outputType?.description.kind),
      ['long', 'long', 'long', 'long', 'long', 'long', 'long', 'long', undefined, undefined],
    );
    assert.equal(operators[8]!.uid, 'given');
    assert.equal(operators[8]!.uidIsGenerated, false);
    assert.equal(operators[7]!.keyed?.type, Types.LONG);
    for (const { create, kind } of operators) assert.equal(create === undefined, kind === 'source');
  });

  it('has keys by a selector or by the name of a described field', async () => {
    const Order = Types.POJO('Order', { customer: Types.STRING, amount: Types.DOUBLE });
    const orders = env.fromCollection([{ customer: 'a', amount: 1 }], Order);
    const byField: KeyedStream<{ customer: string; amount: number }, string> = orders.keyBy('customer');
    assert.deepEqual(byField.keyType?.description, { kind: 'string' });
    assert.equal(byField.selector({ customer: 'b', amount: 2 }), 'b');
    assert.throws(
      () => orders.keyBy('custmer' as 'customer'),
      /keyBy\("custmer"\): the record type Order has no field "custmer"; did you mean "customer"\?/,
    );
    assert.throws(() => env.fromSequence(1, 2).keyBy('x' as never), /records of type LONG have no field "x"/);
    const undescribed = env.fromElements({ id: 1 }).keyBy('id');
    assert.equal(undescribed.keyType, undefined);
    assert.equal(undescribed.selector({ id: 7 }), 7);
  });

  it('keeps its type through unions if all are alike, and is undescribed if not', () => {
    const numbers = env.fromSequence(1, 2);
    assert.equal(numbers.union(env.fromSequence(3, 4)).getType()?.description.kind, 'long');
    assert.equal(numbers.union(numbers.map((n) => n)).getType(), undefined);
    assert.equal(
      numbers
        .map((n) => n)
        .returns(Types.LONG)
        .getType(),
      Types.LONG,
    );
  });

  it('has side outputs with the type of their tag', async () => {
    const late = new OutputTag<string>('late', Types.STRING);
    const main = env.fromSequence(1, 2).process(new Pass<number>());
    assert.equal(main.getSideOutput(late).getType(), Types.STRING);
    main.getSideOutput(late).print();
    const operators = await operatorsOf();
    assert.equal(operators.at(-1)!.parentSideTag, 'late');
  });

  it('is exchanged as it says', async () => {
    const numbers = env.setParallelism(2).fromSequence(1, 2);
    numbers.rebalance().print('a');
    numbers.broadcast().print('b');
    numbers.shuffle().print('c');
    numbers.forward().print('d');
    numbers.keyBy((n) => n).print('e');
    await env.executeAsync();
    assert.deepEqual(
      executor.executed[0]!.graph.edges.map(({ partitioning }) => partitioning),
      ['rebalance', 'broadcast', 'shuffle', 'hash'],
    );
  });

  it('connected to another shares an operator with it, keyed if both are', async () => {
    const numbers = env.fromSequence(1, 2);
    const words = env.fromElements('a');
    numbers
      .connect(words)
      .map(
        (n) => String(n),
        (w) => w,
      )
      .print();
    const fn = { processElement1() {}, processElement2() {} };
    numbers.connect(words).process(fn).print();
    numbers
      .connect(words)
      .keyBy(
        (n) => String(n),
        (w) => w,
        Types.STRING,
      )
      .process(fn)
      .print();
    numbers
      .keyBy((n) => String(n))
      .connect(words.keyBy((w) => w))
      .process(fn)
      .print();
    const kinds = (await operatorsOf()).filter(({ kind }) => kind.includes('co-'));
    assert.deepEqual(
      kinds.map(({ kind, keyed }) => [kind, keyed?.selectors.length]),
      [
        ['co-map', undefined],
        ['co-process', undefined],
        ['keyed-co-process', 2],
        ['keyed-co-process', 2],
      ],
    );
    assert.throws(
      () => numbers.keyBy((n) => String(n), Types.STRING).connect(words.keyBy((w) => w)),
      /keys of connected streams must be of one type, found \{"kind":"string"\} and "undescribed"/,
    );
  });

  it('refuses functions of the wrong kind where they are given', () => {
    const numbers = env.fromSequence(1, 2);
    const refused = (action: () => unknown, code: 'INVALID_ARGUMENT' | 'PROMISE_NOT_EXPECTED'): void =>
      assert.throws(action, (error) => hasCode(error, code));
    refused(() => numbers.map(async (n) => n), 'PROMISE_NOT_EXPECTED');
    refused(() => numbers.map(3 as never), 'INVALID_ARGUMENT');
    refused(() => numbers.filter({} as never), 'INVALID_ARGUMENT');
    refused(() => numbers.process({} as never), 'INVALID_ARGUMENT');
    refused(() => numbers.keyBy(async (n) => n), 'PROMISE_NOT_EXPECTED');
    refused(() => numbers.sinkTo(undefined as never), 'INVALID_ARGUMENT');
    refused(() => env.fromSource({} as never, WatermarkStrategy.noWatermarks(), 'x'), 'INVALID_ARGUMENT');
    refused(
      () =>
        numbers
          .keyBy((n) => n)
          .window(TumblingEventTimeWindows.of(5))
          .allowedLateness('x'),
      'INVALID_ARGUMENT',
    );
  });

  it('takes map, filter and flatMap objects and classes, with the key if there is one', async () => {
    class Double extends RichMapFunction<number, number> {
      map(n: number): number {
        return n * 2;
      }
    }
    class Odd extends RichFilterFunction<number> {
      #rest = 1;
      filter(n: number): boolean {
        return n % 2 === this.#rest;
      }
    }
    const numbers = env.fromSequence(1, 2);
    numbers
      .map(new Double())
      .filter(Odd)
      .keyBy((n) => n, Types.LONG)
      .map(Double)
      .print();
    const operators = await operatorsOf();
    assert.deepEqual(
      operators.map(({ kind, keyed }) => [kind, keyed !== undefined]),
      [
        ['source', false],
        ['map', false],
        ['filter', false],
        ['map', true],
        ['sink', false],
      ],
    );
  });
});

describe('a source', () => {
  it('of a collection has parallelism 1 unless it is set, one of a sequence that of the job', async () => {
    env.setParallelism(3);
    env.fromElements(1, 2).print();
    env
      .fromCollection(new Set([1]))
      .setParallelism(2)
      .print();
    env.fromSequence(1, 2).print();
    await env.executeAsync();
    const { vertices } = executor.executed[0]!.graph;
    assert.deepEqual(
      vertices.filter(({ source }) => source !== undefined).map(({ parallelism }) => parallelism),
      [1, 2, 3],
    );
  });

  it('of your own keeps its watermark strategy, its name and its type', async () => {
    const source = {
      boundedness: 'bounded',
      outputType: Types.STRING,
      createEnumerator: () => assert.fail('not called'),
      restoreEnumerator: () => assert.fail('not called'),
      createReader: (): SourceReader<string, never> => assert.fail('not called'),
    } as const;
    const watermarks = WatermarkStrategy.forMonotonousTimestamps<string>();
    env.fromSource(source, watermarks, 'words').uid('words').print();
    await env.executeAsync();
    const [vertex] = executor.executed[0]!.graph.vertices;
    assert.equal(vertex!.name, 'words -> Print to Std. Out');
    assert.equal(vertex!.source?.source, source);
    assert.equal(vertex!.source?.watermarks, watermarks.toSpec());
    assert.equal(vertex!.operators[0]!.outputType, Types.STRING);
  });
});

describe('the environment', () => {
  it('writes everything to one configuration, by setters and by options', () => {
    env.configure({ parallelism: 3, checkpointing: { interval: '1 min' } });
    assert.equal(env.getParallelism(), 3);
    assert.equal(env.getCheckpointInterval(), 60_000);
    env.enableCheckpointing('2 s', 'AT_LEAST_ONCE').setMaxParallelism(64).disableOperatorChaining();
    assert.equal(env.getCheckpointingMode(), 'AT_LEAST_ONCE');
    env.enableCheckpointing(1000);
    assert.equal(env.getCheckpointingMode(), 'AT_LEAST_ONCE');
    assert.equal(env.getMaxParallelism(), 64);
    assert.equal(env.isChainingEnabled(), false);
    env.configure(Configuration.parse('parallelism.default: 5'));
    assert.equal(env.getParallelism(), 5);
    env.setDefaultSavepointDirectory('/savepoints');
    assert.equal(env.getConfiguration().toObject()['execution.checkpointing.savepoint-dir'], '/savepoints');
  });

  it('refuses wrong values, naming the setter', () => {
    assert.throws(() => env.setParallelism(0), /^MillraceError: setParallelism\(0\): expected at least 1/);
    assert.throws(() => env.setMaxParallelism(40_000), /setMaxParallelism\(40000\): expected at most 32768/);
    assert.throws(() => env.enableCheckpointing(5), /setCheckpointInterval\(5\): expected at least 10 ms/);
    assert.throws(() => env.setStateBackend('hashmap' as never), /setStateBackend: expected a state backend/);
  });

  it('names the job by what execute is given, else by the configuration', async () => {
    const run = async (name?: string): Promise<string | undefined> => {
      env.fromSequence(1, 2).print();
      await env.executeAsync(name);
      return executor.executed.at(-1)!.graph.jobName;
    };
    assert.equal(await run('orders'), 'orders');
    assert.equal(await run(), 'Millrace job');
    env.configure({ jobName: 'configured' });
    assert.equal(await run(), 'configured');
  });

  it('is empty after an execution: its streams belong to that job', async () => {
    const numbers = env.fromSequence(1, 2);
    numbers.print();
    await env.executeAsync();
    await assert.rejects(env.executeAsync(), (error) => hasCode(error, 'JOB_HAS_NO_SOURCE'));
    assert.throws(
      () => numbers.print(),
      /belongs to another environment or to a job that was executed already/,
    );
  });

  it('keeps a job that cannot be built, so that it can be mended', async () => {
    const numbers = env.fromSequence(1, 2);
    await assert.rejects(env.execute(), (error) => hasCode(error, 'JOB_HAS_NO_SINK'));
    numbers.print();
    await env.executeAsync();
    assert.equal(executor.executed.length, 1);
  });

  it('shows the plan as JSON without executing anything', () => {
    env.fromSequence(1, 2).uid('numbers').print();
    const plan = JSON.parse(env.getExecutionPlan()) as { operators: { uid: string; kind: string }[] };
    assert.deepEqual(
      plan.operators.map(({ kind }) => kind),
      ['source', 'sink'],
    );
    assert.equal(plan.operators[0]!.uid, 'numbers');
    assert.equal(executor.executed.length, 0);
  });

  it('gives the executor resolved settings', async () => {
    env.enableCheckpointing(1000).configure({ host: 'inline' });
    env.fromSequence(1, 2).print();
    await env.executeAsync();
    const { settings } = executor.executed[0]!;
    assert.equal(settings.checkpoint.intervalMs, 1000);
    assert.equal(settings.restart.kind, 'exponential-delay');
    assert.equal(settings.host, 'inline');
  });
});

describe('executeAndCollect', () => {
  const batch = (key: string, ...values: number[]) => ({ key, uncommittedAttempt: undefined, values });

  it('answers with what the job delivered, each batch once', async () => {
    const collected = env.fromSequence(1, 4).executeAndCollect('numbers');
    await Promise.resolve();
    executor.deliver('collect-1', [batch('a', 1, 2)]);
    executor.deliver('collect-1', [batch('a', 1, 2), batch('b', 3, 4)]);
    executor.deliver('other', [batch('c', 5)]);
    executor.end.resolve();
    assert.deepEqual(await collected, [1, 2, 3, 4]);
    assert.equal(executor.executed[0]!.graph.jobName, 'numbers');
  });

  it('with a limit cancels the job when it is reached', async () => {
    const collected = env.fromSequence(1, 4).executeAndCollect(3);
    await Promise.resolve();
    executor.deliver('collect-1', [batch('a', 1, 2, 3, 4)]);
    assert.deepEqual(await collected, [1, 2, 3]);
    assert.equal(executor.cancelled, 1);
  });

  it('rejects with what the job failed of', async () => {
    const collected = env.fromSequence(1, 4).executeAndCollect(3);
    executor.end.reject(new MillraceError('USER_FUNCTION_FAILED', 'broken'));
    await assert.rejects(collected, /broken/);
  });
});
