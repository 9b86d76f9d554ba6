/** What a function failed at: every kind of operator names itself and the record, or the timer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AsyncDataStream,
  CollectionSource,
  type DataStream,
  MapStateDescriptor,
  type MillraceError,
  type SingleOutputStreamOperator,
  type Sink,
  type StreamExecutionEnvironment,
  Time,
  TumblingEventTimeWindows,
  Types,
  WatermarkStrategy,
} from '@millrace/engine';
import { createManualPlatform } from '../src/testing/manual-platform.ts';
import { environmentOn, until } from './small-job.ts';

interface Click {
  readonly id: number;
  readonly user: string;
}

const CLICKS: readonly Click[] = [
  { id: 1, user: 'ann' },
  { id: 2, user: 'bob' },
];

const boom = (): never => {
  throw new Error('boom');
};
/** Fails at the second record. */
const failAtBob = <T extends { readonly id: number }>(value: T): T => (value.id === 2 ? boom() : value);

const TIMES = WatermarkStrategy.forMonotonousTimestamps<Click>().withTimestampAssigner(({ id }) => id * 10);
type Env = StreamExecutionEnvironment;
const clicks = (env: Env): DataStream<Click> =>
  env.fromCollection(CLICKS).assignTimestampsAndWatermarks(TIMES).name('clicks');
const byUser = (env: Env) => clicks(env).keyBy((click) => click.user, Types.STRING);

const sinkOf = (write: (value: unknown) => void): Sink<unknown> => ({
  guarantee: 'none',
  createWriter: () => ({ write, prepareCommit: () => [], close() {} }),
});
const end = <T>(stream: SingleOutputStreamOperator<T>): unknown => stream.name('op').sinkTo(sinkOf(() => {}));

async function failureOf(
  build: (env: Env) => unknown,
  values?: Readonly<Record<string, unknown>>,
): Promise<MillraceError> {
  const platform = createManualPlatform();
  const env = environmentOn(platform, values);
  build(env);
  const client = await env.executeAsync('job');
  let failure: unknown;
  client.getJobExecutionResult().then(
    () => (failure = 'the job did not fail'),
    (error: unknown) => (failure = error),
  );
  await until(() => {
    platform.advance(1);
    return failure !== undefined;
  }, 'the job does not end');
  return failure as MillraceError;
}

/** The sentence for the second record. */
const AT_BOB = 'It was processing the record {id: 2, user: "bob"} (timestamp 20).';
const AT_BOB_KEYED = 'It was processing the record {id: 2, user: "bob"} (timestamp 20, key "bob").';
const WINDOW = TumblingEventTimeWindows.of(Time.milliseconds(100));
const AT_WINDOW =
  'It was called for the event-time timer of key "bob" and TimeWindow {start: 0, end: 100} at 99.';
const RULES = new MapStateDescriptor('rules', Types.STRING, Types.INT);

/** Where, the job, what failed, and the sentence about the element. */
const CASES: readonly (readonly [string, (env: Env) => unknown, string, string])[] = [
  ['a map', (env) => end(clicks(env).map(failAtBob)), 'map function', AT_BOB],
  [
    'a filter',
    (env) => end(clicks(env).filter((click) => failAtBob(click) === click)),
    'filter function',
    AT_BOB,
  ],
  [
    'a flatMap',
    (env) => end(clicks(env).flatMap<Click>((click, out) => out.collect(failAtBob(click)))),
    'flatMap function',
    AT_BOB,
  ],
  [
    'what follows in the chain: the record that came there',
    (env) =>
      end(
        clicks(env)
          .process<number>({
            processElement({ id }, _, out) {
              for (let i = 0; i < 3; i++) out.collect(id * 100 + i);
            },
          })
          .map((n) => (n === 201 ? boom() : n)),
      ),
    'map function',
    'It was processing the record 201 (timestamp 20).',
  ],
  [
    'what follows an exchange',
    (env) => {
      clicks(env)
        .rebalance()
        .map(failAtBob)
        .setParallelism(2)
        .name('op')
        .sinkTo(sinkOf(() => {}));
    },
    'map function',
    AT_BOB,
  ],
  [
    'a process function',
    (env) =>
      end(clicks(env).process<Click>({ processElement: (click, _, out) => out.collect(failAtBob(click)) })),
    'processElement function',
    AT_BOB,
  ],
  [
    'a keyed process function',
    (env) => end(byUser(env).process<never>({ processElement: (click) => void failAtBob(click) })),
    'processElement function',
    AT_BOB_KEYED,
  ],
  [
    'a key selector',
    (env) => {
      const keyed = clicks(env).keyBy((click) => failAtBob(click).user, Types.STRING);
      end(keyed.process<never>({ processElement() {} }));
    },
    'key selector',
    AT_BOB,
  ],
  [
    'a timer of event time',
    (env) =>
      end(
        byUser(env).process<never>({
          processElement: (click, context) => context.timerService().registerEventTimeTimer(click.id * 1000),
          onTimer: (timestampMs) => void (timestampMs === 2000 && boom()),
        }),
      ),
    'onTimer function',
    'It was called for the event-time timer of key "bob" at 2000.',
  ],
  [
    'a timer of processing time',
    (env) =>
      end(
        byUser(env).process<never>({
          processElement: ({ id }, context) => context.timerService().registerProcessingTimeTimer(id * 7),
          onTimer: () => boom(),
        }),
      ),
    'onTimer function',
    'It was called for the processing-time timer of key "ann" at 7.',
  ],
  [
    'a reduce function',
    (env) =>
      end(
        env
          .fromCollection([...CLICKS, CLICKS[1]!])
          .keyBy((click) => click.user, Types.STRING)
          .reduce(() => boom()),
      ),
    'reduce function',
    'It was processing the record {id: 2, user: "bob"} (key "bob").',
  ],
  [
    'a window function',
    (env) =>
      end(
        byUser(env)
          .window(WINDOW)
          .process<never>({ process: (key) => void (key === 'bob' && boom()) }),
      ),
    'window function',
    AT_WINDOW,
  ],
  [
    'the aggregation of a window',
    (env) =>
      end(
        byUser(env)
          .window(WINDOW)
          .aggregate<number, number>({
            createAccumulator: () => 0,
            add: (click) => failAtBob(click).id,
            getResult: (sum) => sum,
            merge: (a) => a,
          }),
      ),
    'aggregate function',
    AT_BOB_KEYED,
  ],
  [
    'a co-process function',
    (env) =>
      end(
        clicks(env)
          .connect(clicks(env))
          .process<never>({ processElement1() {}, processElement2: (click) => void failAtBob(click) }),
      ),
    'processElement2 function',
    AT_BOB,
  ],
  [
    'a keyed co-process function',
    (env) =>
      end(
        byUser(env)
          .connect(byUser(env))
          .process<never>({ processElement1: (click: Click) => void failAtBob(click), processElement2() {} }),
      ),
    'processElement1 function',
    AT_BOB_KEYED,
  ],
  [
    'the broadcast side of a keyed stream, whose records have no key',
    (env) =>
      end(
        byUser(env)
          .connect(clicks(env).broadcast(RULES))
          .process<never>({ processElement() {}, processBroadcastElement: (click) => void failAtBob(click) }),
      ),
    'processBroadcastElement function',
    AT_BOB,
  ],
  [
    'an interval join',
    (env) =>
      end(
        byUser(env)
          .intervalJoin(byUser(env))
          .between(Time.milliseconds(-1), Time.milliseconds(1))
          .process<never>({ processElement: (click) => void failAtBob(click) }),
      ),
    'processElement function of the join',
    AT_BOB_KEYED,
  ],
  [
    'a window join',
    (env) =>
      end(
        clicks(env)
          .join(clicks(env))
          .where((click) => click.user, Types.STRING)
          .equalTo((click) => click.user)
          .window(WINDOW)
          .apply((click) => failAtBob(click)),
      ),
    'window function',
    AT_WINDOW,
  ],
  [
    'an asynchronous function',
    (env) => end(clicks(env).mapAsync(async (click) => failAtBob(click))),
    'mapAsync function',
    AT_BOB,
  ],
  [
    'an asynchronous function of a stream',
    (env) =>
      end(
        AsyncDataStream.unorderedWait(
          clicks(env),
          { asyncInvoke: async (click) => [failAtBob(click)] },
          1000,
        ),
      ),
    'asyncInvoke function',
    AT_BOB,
  ],
  [
    'a sink',
    (env) =>
      clicks(env)
        .sinkTo(sinkOf((click) => failAtBob(click as Click)))
        .name('op'),
    'write function of the sink',
    AT_BOB,
  ],
  [
    'a sink function',
    (env) =>
      clicks(env)
        .addSink({ invoke: (click) => void failAtBob(click) })
        .name('op'),
    'invoke function of the sink',
    AT_BOB,
  ],
  [
    'an asynchronous sink function',
    (env) =>
      clicks(env)
        .addSink({ invoke: async (click) => void failAtBob(click) })
        .name('op'),
    'invoke function of the sink',
    AT_BOB,
  ],
  [
    'the timestamp assigner of a source',
    (env) =>
      env
        .fromSource(
          new CollectionSource(CLICKS),
          TIMES.withTimestampAssigner((click) => failAtBob(click).id),
          'op',
        )
        .sinkTo(sinkOf(() => {})),
    'timestamp assigner',
    'It was processing the record {id: 2, user: "bob"}.',
  ],
];

describe('an error names its operator and what it was processing', () => {
  for (const [name, build, what, sentence] of CASES) {
    it(`in ${name}`, async () => {
      const error = await failureOf(build);
      assert.match(
        error.message,
        /^The .* of operator 'op' \(subtask [01]\) threw Error: boom\. /,
        String(error),
      );
      assert.equal(
        error.message.replace('subtask 1', 'subtask 0'),
        `The ${what} of operator 'op' (subtask 0) threw Error: boom. ${sentence}`,
      );
      assert.equal(error.code, 'USER_FUNCTION_FAILED');
    });
  }

  it('when an asynchronous function does not answer', async () => {
    const error = await failureOf((env) =>
      end(clicks(env).mapAsync(() => new Promise<never>(() => {}), { timeout: 50 })),
    );
    assert.equal(error.code, 'ASYNC_TIMEOUT');
    assert.match(error.message, / It was processing the record \{id: 1, user: "ann"\} \(timestamp 10\)\.$/);
  });

  it('to programs too', async () => {
    const { details } = await failureOf((env) => end(byUser(env).process<never>({ processElement: boom })));
    assert.deepEqual(details.element, {
      kind: 'record',
      record: '{id: 1, user: "ann"}',
      timestampMs: 10,
      key: '"ann"',
    });
  });

  it('but shows no record where that is switched off', async () => {
    const error = await failureOf((env) => end(byUser(env).process<never>({ processElement: boom })), {
      'millrace.errors.include-elements': false,
    });
    assert.equal(error.message, "The processElement function of operator 'op' (subtask 0) threw Error: boom");
    assert.equal(error.details.element, undefined);
  });
});

describe('a record that fails at each restart', () => {
  it('ends the job with the number of restarts, the rule, the operator and the record', async () => {
    const error = await failureOf((env) => end(clicks(env).map(failAtBob)), {
      'restart-strategy.type': 'fixed-delay',
      'restart-strategy.fixed-delay.attempts': 3,
      'restart-strategy.fixed-delay.delay': '20 ms',
    });
    assert.match(
      error.message,
      /^The map function of operator 'op' \(subtask 0\) threw Error: boom\. It was processing the record \{id: 2, user: "bob"\} \(timestamp 20\)\. The same record failed 4 times in a row and will probably fail again: .* The job is given up after 3 restarts within \d\d ms: Recovery is suppressed by FixedDelayRestartBackoffTimeStrategy\(maxNumberRestartAttempts=3, backoffTimeMS=20\)\.$/,
    );
  });
});
