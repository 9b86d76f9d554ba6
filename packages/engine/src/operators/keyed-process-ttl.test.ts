/** Functions whose state has a time-to-live, through the operator harness: its processing time is what values live by. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ListState,
  ListStateDescriptor,
  type MapState,
  MapStateDescriptor,
  type StateTtlOptions,
  type ValueState,
  ValueStateDescriptor,
} from '../state/index.ts';
import { type HarnessOptions, OperatorHarness } from '../testing/operator-harness.ts';
import { type HarnessStep, runOperatorThroughAllModes } from '../testing/operator-modes.ts';
import { Types } from '../types/index.ts';
import {
  type Collector,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type RuntimeContext,
} from './functions.ts';
import { KeyedProcessOperator } from './keyed-process-operator.ts';

interface Click {
  readonly user: string;
  readonly page: string;
}

const clickType = Types.POJO('Click', { user: Types.STRING, page: Types.STRING });

/** The first click of each user, again when it is forgotten. */
class FirstClick extends KeyedProcessFunction<string, Click, string> {
  private readonly ttl: StateTtlOptions;
  private seen!: ValueState<boolean>;

  constructor(ttl: StateTtlOptions) {
    super();
    this.ttl = ttl;
  }

  override open(context: RuntimeContext): void {
    const descriptor = new ValueStateDescriptor('seen', Types.BOOLEAN).enableTimeToLive(this.ttl);
    this.seen = context.getState(descriptor);
  }

  override processElement(
    { user, page }: Click,
    _context: KeyedProcessContext<string>,
    out: Collector<string>,
  ): void {
    if (this.seen.value() !== undefined) return;
    this.seen.update(true);
    out.collect(`${user} ${page}`);
  }
}

/** Pages of each user: each once in a while; and the clicks of the last while, in order. */
class RecentPages extends KeyedProcessFunction<string, Click, string> {
  private pages!: MapState<string, number>;
  private clicks!: ListState<string>;

  override open(context: RuntimeContext): void {
    const ttl: StateTtlOptions = { ttl: '1 s' };
    const pages = new MapStateDescriptor('pages', Types.STRING, Types.LONG);
    this.pages = context.getMapState(pages.enableTimeToLive(ttl));
    this.clicks = context.getListState(new ListStateDescriptor('clicks', Types.STRING).enableTimeToLive(ttl));
  }

  override processElement(
    { user, page }: Click,
    _context: KeyedProcessContext<string>,
    out: Collector<string>,
  ): void {
    const isNew = !this.pages.contains(page);
    if (isNew) this.pages.put(page, 1);
    this.clicks.add(page);
    out.collect(`${user} ${isNew ? '+' : '='}${page} of ${this.clicks.get().join()}`);
  }
}

function options(create: HarnessOptions['create']): HarnessOptions {
  return {
    create,
    name: 'clicks',
    key: { selectors: [(click: Click) => click.user], type: Types.STRING },
    inputTypes: [clickType],
    outputType: Types.STRING,
    processingTimeMs: 10_000,
  };
}

/** `ann@a` is a click, a number the processing time. */
function steps(...script: readonly (string | number)[]): HarnessStep[] {
  return script.map((step) => {
    if (typeof step === 'number') return { processingTimeMs: 10_000 + step };
    const [user, page] = step.split('@');
    return { value: { user, page } };
  });
}

const valuesOf = (events: readonly object[]) =>
  events.flatMap((event) => ('value' in event ? [event.value] : []));

test('duplicates within the time-to-live are dropped, whatever is restored in between', async () => {
  const script = steps(
    'ann@a',
    'bob@a',
    'ann@b',
    600,
    'ann@c',
    'bob@c',
    999,
    'ann@d',
    1000,
    'ann@e',
    'ann@f',
  );
  const onWrite = await runOperatorThroughAllModes(
    options(() => new KeyedProcessOperator(new FirstClick({ ttl: '1 s' }))),
    script,
  );
  deepStrictEqual(valuesOf(onWrite), ['ann a', 'bob a', 'ann e']);
  const onRead = await runOperatorThroughAllModes(
    options(() => new KeyedProcessOperator(new FirstClick({ ttl: '1 s', updateType: 'OnReadAndWrite' }))),
    [...script, ...steps(1600, 'bob@g', 2599, 'bob@h', 3700, 'bob@i')],
  );
  deepStrictEqual(valuesOf(onRead), ['ann a', 'bob a', 'bob g', 'bob i']);
});

test('entries of maps and elements of lists go one by one, whatever is restored in between', async () => {
  const events = await runOperatorThroughAllModes(
    options(() => new KeyedProcessOperator(new RecentPages())),
    steps('ann@a', 300, 'ann@b', 600, 'ann@a', 1100, 'ann@a', 'ann@b', 1400, 'ann@b', 5000, 'ann@c'),
  );
  deepStrictEqual(valuesOf(events), [
    'ann +a of a',
    'ann +b of a,b',
    'ann =a of a,b,a',
    'ann +a of b,a,a',
    'ann =b of b,a,a,b',
    'ann +b of a,a,b,b',
    'ann +c of c',
  ]);
});

test('time that passes between two lives of a job counts', async () => {
  const create = () => new KeyedProcessOperator(new FirstClick({ ttl: '1 s' }));
  const before = await OperatorHarness.open(options(create));
  before.process({ user: 'ann', page: 'a' });
  before.setProcessingTime(10_500);
  before.process({ user: 'bob', page: 'a' });
  const snapshot = await before.snapshot();
  await before.close();
  const after = await OperatorHarness.open({ ...options(create), processingTimeMs: 11_000 }, [snapshot]);
  for (const user of ['ann', 'bob']) after.process({ user, page: 'b' });
  deepStrictEqual(after.values, ['ann b']);
  await after.close();
});

test('a function that sees ever new users keeps only those of the last while', async () => {
  const create = () => new KeyedProcessOperator(new FirstClick({ ttl: 1000 }));
  const harness = await OperatorHarness.open(options(create));
  for (let i = 0; i < 20_000; i++) {
    if (i % 10 === 0) harness.setProcessingTime(10_000 + i / 10);
    harness.process({ user: `user ${i}`, page: 'a' });
  }
  // 10,000 users come in the time-to-live.
  ok(harness.stateEntries < 14_000, `${harness.stateEntries} entries`);
  strictEqual(harness.stateEntries + harness.expiredEntries, 20_000);
  await harness.close();
});
