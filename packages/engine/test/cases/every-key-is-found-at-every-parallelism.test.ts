/**
 * A snapshot at one parallelism is restored at any other: each key, with its values, lists, maps and timers, is then in
 * exactly one subtask; states that are empty make no difference. (From apache/flink#7048 and a mail about key groups.)
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Collector,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type ListState,
  ListStateDescriptor,
  type MapState,
  MapStateDescriptor,
  type OnTimerContext,
  type RuntimeContext,
  type StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from '@millrace/engine';
import { createManualPlatform } from '../../src/testing/manual-platform.ts';
import { Gate, GatedSource } from '../gated-source.ts';
import { assertRefused } from '../refusal.ts';
import { checkpointAndCancel, environmentOn } from '../small-job.ts';

const KEYS = 1000;
const MAX_PARALLELISM = 128;
/** Fires when the source has ended. */
const END_OF_TIME = Number.MAX_SAFE_INTEGER - 1;

interface Found {
  readonly key: number;
  readonly value: number | undefined;
  readonly list: readonly number[];
  readonly map: readonly (readonly [string, number])[];
}

/** Fills all states at the first record of a key, and says at its end what it has. `empty` states stay registered, unused. */
class AllStates extends KeyedProcessFunction<number, number, Found> {
  private readonly empty: string;
  private value!: ValueState<number>;
  private list!: ListState<number>;
  private map!: MapState<string, number>;

  constructor(empty: string) {
    super();
    this.empty = empty;
  }

  override open(context: RuntimeContext): void {
    this.value = context.getState(new ValueStateDescriptor('value', Types.LONG));
    this.list = context.getListState(new ListStateDescriptor('list', Types.LONG));
    this.map = context.getMapState(new MapStateDescriptor('map', Types.STRING, Types.LONG));
  }

  override processElement(key: number, context: KeyedProcessContext<number>): void {
    if (this.empty !== 'value') this.value.update(key * 3);
    if (this.empty !== 'list') this.list.addAll([key, key + 1]);
    if (this.empty !== 'map') this.map.put(`of ${key}`, key);
    if (this.empty !== 'timer') context.timerService().registerEventTimeTimer(END_OF_TIME);
  }

  override onTimer(_timestampMs: number, context: OnTimerContext<number>, out: Collector<Found>): void {
    const key = context.getCurrentKey();
    out.collect({ key, value: this.value.value(), list: this.list.get(), map: [...this.map.entries()] });
  }
}

function expected(empty: string): Found[] {
  if (empty === 'timer') return [];
  return Array.from({ length: KEYS }, (_, key) => ({
    key,
    value: empty === 'value' ? undefined : key * 3,
    list: empty === 'list' ? [] : [key, key + 1],
    map: empty === 'map' ? [] : [[`of ${key}`, key] as const],
  }));
}

describe('keyed state', () => {
  const keys = Array.from({ length: KEYS }, (_, key) => key);
  /** One record more than what is let through, so that the source does not end. */
  const source = (gate: Gate) => new GatedSource([[...keys, 0]], gate);

  function job(env: StreamExecutionEnvironment, gate: Gate, empty: string) {
    return env
      .fromSource(source(gate), WatermarkStrategy.noWatermarks(), 'keys', Types.LONG)
      .uid('keys')
      .setParallelism(1)
      .filter((_key) => gate.limit <= KEYS)
      .uid('first pass only')
      .setParallelism(1)
      .keyBy((key) => key, Types.LONG)
      .process(new AllStates(empty))
      .uid('states');
  }

  async function check(empty: string, before: readonly number[], after: readonly number[]): Promise<void> {
    for (const p of before) {
      const platform = createManualPlatform();
      const env = environmentOn(platform, {
        'parallelism.default': p,
        'pipeline.max-parallelism': MAX_PARALLELISM,
      });
      job(env, new Gate(KEYS), empty).print();
      const path = await checkpointAndCancel(await env.executeAsync('states'));
      for (const q of after) {
        const restored = environmentOn(platform, {
          'parallelism.default': q,
          'pipeline.max-parallelism': MAX_PARALLELISM,
          'execution.state-recovery.path': path,
        });
        const results = await job(restored, new Gate(KEYS + 1), empty).executeAndCollect('states');
        assert.deepEqual(
          results.sort((a, b) => a.key - b.key),
          expected(empty),
          `from ${p} to ${q}, without ${empty}`,
        );
      }
    }
  }

  const upToEight = [1, 2, 3, 4, 5, 6, 7, 8];

  for (const p of upToEight) {
    it(`of parallelism ${p} is found at every parallelism from 1 to 8`, () => check('none', [p], upToEight));
  }

  it('of as many subtasks as key groups is found by one and by three, and the other way round', async () => {
    await check('none', [MAX_PARALLELISM], [1, 3]);
    await check('none', [1, 3], [MAX_PARALLELISM]);
  });

  for (const empty of ['value', 'list', 'map', 'timer']) {
    it(`is found when its ${empty}s are empty`, () => check(empty, [1, 3], [2, 5]));
  }

  it('is refused at a parallelism above the number of key groups', async () => {
    const platform = createManualPlatform();
    const env = environmentOn(platform, {
      'parallelism.default': 2,
      'pipeline.max-parallelism': MAX_PARALLELISM,
    });
    job(env, new Gate(KEYS), 'none').print();
    const path = await checkpointAndCancel(await env.executeAsync('states'));
    const tooMany = environmentOn(platform, {
      'parallelism.default': MAX_PARALLELISM + 1,
      'pipeline.max-parallelism': MAX_PARALLELISM,
      'execution.state-recovery.path': path,
    });
    job(tooMany, new Gate(KEYS + 1), 'none').print();
    await assertRefused(tooMany.execute('states'), 'INVALID_ARGUMENT', /129/, /128/, /max.?parallelism/i);
  });
});
