import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hasCode } from '../../base/index.ts';
import {
  type Collector,
  CountEvictor,
  CountTrigger,
  EventTimeSessionWindows,
  GlobalWindows,
  OutputTag,
  RichCoGroupFunction,
  RichFlatJoinFunction,
  RichJoinFunction,
  type RuntimeContext,
  type TaggedUnion,
  TumblingEventTimeWindows,
} from '../../operators/index.ts';
import { type HarnessOptions, OperatorHarness } from '../../testing/operator-harness.ts';
import { type HarnessStep, runOperatorThroughAllModes } from '../../testing/operator-modes.ts';
import { type TypeInformation, Types } from '../../types/index.ts';
import { StreamExecutionEnvironment } from '../stream-execution-environment.ts';
import type { DataStream, SingleOutputStreamOperator } from './data-stream.ts';
import type { JoinWindows } from './joined-streams.ts';

interface Click {
  readonly user: string;
  readonly page: number;
}

interface Profile {
  readonly name: string;
  readonly age: number;
}

const clickType = Types.ROW({ user: Types.STRING, page: Types.INT });
const profileType = Types.ROW({ name: Types.STRING, age: Types.INT });
const SIZE_MS = 10;

const environment = (): StreamExecutionEnvironment =>
  StreamExecutionEnvironment.getExecutionEnvironment({ host: 'inline', parallelism: 1 });

function streams(described = true): [DataStream<Click>, DataStream<Profile>] {
  const env = environment();
  const clicks: Click[] = [{ user: 'a', page: 1 }];
  const profiles: Profile[] = [{ name: 'a', age: 1 }];
  return described
    ? [env.fromCollection(clicks, clickType), env.fromCollection(profiles, profileType)]
    : [env.fromCollection(clicks), env.fromCollection(profiles)];
}

function joined(described = true): JoinWindows<Click, Profile> {
  const [clicks, profiles] = streams(described);
  return clicks
    .join(profiles)
    .where((click) => click.user, Types.STRING)
    .equalTo((profile) => profile.name)
    .window(TumblingEventTimeWindows.of(SIZE_MS));
}

/** The operator that made the stream, as the harness takes it. */
function operatorOf<R>(stream: SingleOutputStreamOperator<R>): HarnessOptions {
  const { spec, outputType, name } = stream.origins[0]!.node;
  const inputTypes = spec.inputs.map(([origin]) => origin!.node.outputType);
  return { create: spec.create!, key: spec.keyed!, inputTypes, outputType, name };
}

const click = (user: string, page: number, timestampMs: number): HarnessStep => ({
  value: { one: { user, page } },
  timestampMs,
});
const profile = (name: string, age: number, timestampMs: number): HarnessStep => ({
  value: { two: { name, age } },
  timestampMs,
});

const SCRIPT: readonly HarnessStep[] = [
  click('a', 1, 1),
  profile('a', 30, 9),
  profile('b', 40, 2),
  click('a', 2, 3),
  click('c', 3, 4),
  profile('a', 31, 10),
  { watermarkMs: 9 },
  click('a', 4, 19),
  profile('a', 32, 5),
];

const show = (click: Click, profile: Profile): string => `${click.user} ${click.page} ${profile.age}`;

function records(events: readonly { kind: string; value?: unknown; timestamp?: number }[]): unknown[] {
  return events.flatMap(({ kind, value, timestamp }) => (kind === 'record' ? [[value, timestamp]] : []));
}

describe('a join of two streams in windows', () => {
  for (const described of [true, false]) {
    it(`pairs what has one key and window, ${described ? 'described' : 'undescribed'}`, async () => {
      const operator = operatorOf(joined(described).apply(show, Types.STRING));
      assert.deepEqual(records(await runOperatorThroughAllModes(operator, SCRIPT)), [
        ['a 1 30', 9],
        ['a 2 30', 9],
        ['a 4 31', 19],
      ]);
      const [type] = operator.inputTypes!;
      const sides = described ? [clickType, profileType] : [Types.GENERIC(), Types.GENERIC()];
      assert.deepEqual(
        type?.description.kind === 'pojo' && type.description.fields.map((field) => field.type),
        sides.map((side) => Types.OPTIONAL(side as TypeInformation<unknown>).description),
      );
    });
  }

  it('takes functions that collect their results, and objects with a life', async () => {
    class Numbered extends RichJoinFunction<Click, Profile, string> {
      private prefix = '';
      override open(context: RuntimeContext): void {
        this.prefix = context.getTaskName();
      }
      join(click: Click, profile: Profile): string {
        return `${this.prefix}: ${show(click, profile)}`;
      }
    }
    class Twice extends RichFlatJoinFunction<Click, Profile, string> {
      join(click: Click, profile: Profile, out: Collector<string>): void {
        out.collect(show(click, profile));
        out.collect('again');
      }
    }
    const pairs: [(windows: JoinWindows<Click, Profile>) => SingleOutputStreamOperator<string>, string[]][] =
      [
        [(windows) => windows.apply(new Numbered()), ['Window Join: a 1 2']],
        [(windows) => windows.apply(Numbered), ['Window Join: a 1 2']],
        [(windows) => windows.apply(Twice), ['a 1 2', 'again']],
        [
          (windows) => windows.apply((one, two, out: Collector<string>) => out.collect(show(one, two))),
          ['a 1 2'],
        ],
      ];
    for (const [apply, expected] of pairs) {
      const harness = await OperatorHarness.open(operatorOf(apply(joined())));
      harness.process({ one: { user: 'a', page: 1 } }, 1);
      harness.process({ two: { name: 'a', age: 2 } }, 1);
      await harness.finish();
      assert.deepEqual(harness.values, expected);
      await harness.close();
    }
  });

  it('tells undefined from a record that is not there', async () => {
    const env = environment();
    const optional = Types.OPTIONAL(Types.STRING);
    const stream = env
      .fromCollection<string | undefined>([undefined], optional)
      .join(env.fromCollection(['x'], Types.STRING))
      .where(() => 0, Types.INT)
      .equalTo(() => 0)
      .window(TumblingEventTimeWindows.of(SIZE_MS))
      .apply((one, two) => `${one} ${two}`, Types.STRING);
    const events = await runOperatorThroughAllModes(operatorOf(stream), [
      { value: { one: undefined }, timestampMs: 1 },
      { value: { two: 'x' }, timestampMs: 1 },
    ]);
    assert.deepEqual(records(events), [['undefined x', 9]]);
  });

  it('refuses promises, and what a flat join must not return, naming the operator', async () => {
    const cases: [(windows: JoinWindows<Click, Profile>) => SingleOutputStreamOperator<unknown>, string][] = [
      [(windows) => windows.apply<unknown>((one, _two) => Promise.resolve(one)), 'PROMISE_NOT_EXPECTED'],
      [(windows) => windows.apply((_one, _two, _out) => 5 as never), 'USER_FUNCTION_FAILED'],
    ];
    for (const [apply, code] of cases) {
      const harness = await OperatorHarness.open(operatorOf(apply(joined()).name('mine')));
      harness.process({ one: { user: 'a', page: 1 } }, 1);
      harness.process({ two: { name: 'a', age: 2 } }, 1);
      assert.throws(
        () => harness.watermark(20),
        (error: Error) => hasCode(error, code as never) && /'mine'/.test(error.message),
      );
    }
    assert.throws(
      () => joined().apply(async (one, _two) => one),
      (error) => hasCode(error, 'PROMISE_NOT_EXPECTED'),
    );
    assert.throws(
      () => joined().apply({} as never),
      (error) => hasCode(error, 'INVALID_ARGUMENT'),
    );
  });

  it('takes other windows, triggers and evictors, which see on which side a record is', async () => {
    const [clicks, profiles] = streams();
    const stream = clicks
      .join(profiles)
      .where('user')
      .equalTo('name')
      .window(GlobalWindows.create())
      .trigger(CountTrigger.of(3))
      .evictor(CountEvictor.of(2))
      .apply(show, Types.STRING);
    const events = await runOperatorThroughAllModes(operatorOf(stream), SCRIPT.slice(0, 4));
    assert.deepEqual(
      events.flatMap((event) => (event.kind === 'record' ? [event.value] : [])),
      ['a 2 30'],
    );
    const sessions = clicks
      .join(profiles)
      .where('user')
      .equalTo('name')
      .window(EventTimeSessionWindows.withDynamicGap((tagged) => ('one' in tagged ? tagged.one.page : 1)))
      .apply(show, Types.STRING);
    const joins = await runOperatorThroughAllModes(operatorOf(sessions), [
      click('a', 5, 10),
      profile('a', 7, 14),
    ]);
    assert.deepEqual(records(joins), [['a 5 7', 14]]);
  });

  it('is tagged where its records are: with the parallelism of the input', () => {
    const [clicks, profiles] = streams();
    const result = clicks
      .rebalance()
      .map((each) => each, clickType)
      .setParallelism(3)
      .join(profiles)
      .where('user')
      .equalTo('name')
      .window(TumblingEventTimeWindows.of(SIZE_MS))
      .apply(show);
    const [input] = result.origins[0]!.node.spec.inputs;
    assert.deepEqual(
      input!.map(({ node }) => [node.name, node.parallelism]),
      [
        ['Tag as first', 3],
        ['Tag as second', 1],
      ],
    );
    assert.equal(result.origins[0]!.node.spec.keyed?.type?.description.kind, 'string');
  });

  it('refuses keys of two types, and fields that are not there', () => {
    const [clicks, profiles] = streams();
    const where = clicks.join(profiles).where('page');
    assert.throws(
      () => where.equalTo((each) => each.age, Types.LONG),
      (error: Error) => hasCode(error, 'INVALID_ARGUMENT') && /found INT and LONG/.test(error.message),
    );
    assert.throws(
      () => clicks.join(profiles).where('pgae' as 'page'),
      (error: Error) => hasCode(error, 'INVALID_ARGUMENT') && /did you mean "page"/.test(error.message),
    );
  });
});

describe('a co-group of two streams', () => {
  const grouped = (described = true) => {
    const [clicks, profiles] = streams(described);
    return clicks
      .coGroup(profiles)
      .where((click) => click.user, Types.STRING)
      .equalTo((profile) => profile.name)
      .window(TumblingEventTimeWindows.of(SIZE_MS));
  };

  for (const described of [true, false]) {
    it(`sees both sides of each key and window, ${described ? 'described' : 'undescribed'}`, async () => {
      const stream = grouped(described).apply((clicks, profiles, out: Collector<string>) => {
        const pages = [...clicks].map(({ page }) => page);
        out.collect(`${pages} | ${[...profiles].map(({ age }) => age)}`);
      }, Types.STRING);
      const events = records(await runOperatorThroughAllModes(operatorOf(stream), SCRIPT)) as [
        string,
        number,
      ][];
      assert.deepEqual(
        events.sort(([a], [b]) => (a < b ? -1 : 1)),
        [
          [' | 40', 9],
          ['1,2 | 30', 9],
          ['3 | ', 9],
          ['4 | 31', 19],
        ],
      );
    });
  }

  it('takes an object with a life', async () => {
    class Count extends RichCoGroupFunction<Click, Profile, number> {
      coGroup(clicks: Iterable<Click>, profiles: Iterable<Profile>, out: Collector<number>): void {
        out.collect([...clicks, ...profiles].length);
      }
    }
    for (const given of [new Count(), Count]) {
      const events = await runOperatorThroughAllModes(operatorOf(grouped().apply(given, Types.INT)), SCRIPT);
      assert.deepEqual(records(events).length, 4);
    }
  });

  it('evaluates again what comes within the allowed lateness, and hands on what comes after it', async () => {
    const late = new OutputTag<TaggedUnion<Click, Profile>>('late');
    const stream = grouped()
      .allowedLateness(5)
      .sideOutputLateData(late)
      .apply((clicks, profiles, out: Collector<string>) => {
        out.collect(`${[...clicks].length} ${[...profiles].length}`);
      });
    const events = await runOperatorThroughAllModes(operatorOf(stream), [
      click('a', 1, 1),
      { watermarkMs: 12 },
      profile('a', 2, 3),
      { watermarkMs: 14 },
      click('a', 3, 4),
      profile('a', 3, 4),
    ]);
    assert.deepEqual(records(events), [
      ['1 0', 9],
      ['1 1', 9],
    ]);
    assert.deepEqual(
      events.flatMap((event) => (event.kind === 'side' ? [event.value] : [])),
      [{ one: { user: 'a', page: 3 } }, { two: { name: 'a', age: 3 } }],
    );
  });
});

const item = fc.record({
  side: fc.constantFrom('one', 'two'),
  key: fc.constantFrom('a', 'b', 'c'),
  atMs: fc.nat(39),
});
/** Records, and watermarks that do not go back. */
const scripts = fc.array(fc.oneof({ weight: 4, arbitrary: item }, { weight: 1, arbitrary: fc.nat(45) }), {
  maxLength: 40,
});

describe('window joins and co-groups of records in any order', () => {
  it('agree with nested loops over what was not late', async () => {
    await fc.assert(
      fc.asyncProperty(scripts, async (given) => {
        let watermarkMs = -1;
        const taken: { side: string; key: string; id: number; window: number }[] = [];
        const steps = given.flatMap((step, id): HarnessStep[] => {
          if (typeof step === 'number') {
            if (step <= watermarkMs) return [];
            watermarkMs = step;
            return [{ watermarkMs }];
          }
          const { side, key, atMs } = step;
          const window = Math.floor(atMs / SIZE_MS);
          if (window * SIZE_MS + SIZE_MS - 1 > watermarkMs) taken.push({ side, key, id, window });
          const value = side === 'one' ? { one: { user: key, page: id } } : { two: { name: key, age: id } };
          return [{ value, timestampMs: atMs }];
        });
        const [ones, twos] = ['one', 'two'].map((side) => taken.filter((each) => each.side === side));
        const pairs = ones!.flatMap((one) =>
          twos!
            .filter(({ key, window }) => key === one.key && window === one.window)
            .map((two) => [`${one.key} ${one.id} ${two.id}`, one.window * SIZE_MS + SIZE_MS - 1]),
        );
        const joins = await runOperatorThroughAllModes(operatorOf(joined().apply(show, Types.STRING)), steps);
        assert.deepEqual(records(joins).sort(), pairs.sort());

        const idsOf = (key: string, window: number, side: string): number[] =>
          taken
            .filter((each) => each.key === key && each.window === window && each.side === side)
            .map(({ id }) => id);
        const groups = new Set(taken.map(({ key, window }) => `${key} ${window}`));
        const expected = [...groups].map((group) => {
          const [key, window] = group.split(' ') as [string, string];
          return `${idsOf(key, Number(window), 'one')}|${idsOf(key, Number(window), 'two')}`;
        });
        const [clicks, profiles] = streams();
        const coGrouped = clicks
          .coGroup(profiles)
          .where('user')
          .equalTo('name')
          .window(TumblingEventTimeWindows.of(SIZE_MS))
          .apply((first, second, out: Collector<string>) => {
            out.collect(`${[...first].map(({ page }) => page)}|${[...second].map(({ age }) => age)}`);
          });
        const harness = await OperatorHarness.open(operatorOf(coGrouped));
        for (const step of steps) {
          if ('value' in step) harness.process(step.value, step.timestampMs);
          else if ('watermarkMs' in step) harness.watermark(step.watermarkMs);
        }
        await harness.finish();
        assert.deepEqual((harness.values as string[]).sort(), expected.sort());
        assert.equal(harness.stateEntries, 0);
        await harness.close();
      }),
      { numRuns: 20 },
    );
  });
});
