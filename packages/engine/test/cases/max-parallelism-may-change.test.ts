/**
 * The number of key groups changes between a snapshot and its restore, up and down: keys are put into the new groups,
 * nothing is lost, and they are spread evenly. (From apache/flink#19599.)
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Collector,
  type KeyedProcessContext,
  KeyedProcessFunction,
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
import { checkpointAndCancel, environmentOn } from '../small-job.ts';
import { countLetters, countsOf, letters, sorted } from '../totals-job.ts';

const VALUES = letters(500, 26);
const MANY_KEYS = 100_000;
const END_OF_TIME = Number.MAX_SAFE_INTEGER - 1;

/** Notes each key, and tells at the end in which subtask it is. */
class WhereKeysAre extends KeyedProcessFunction<number, number, number> {
  private seen!: ValueState<boolean>;
  private subtask = -1;

  override open(context: RuntimeContext): void {
    this.subtask = context.getIndexOfThisSubtask();
    this.seen = context.getState(new ValueStateDescriptor('seen', Types.BOOLEAN));
  }

  override processElement(_key: number, context: KeyedProcessContext<number>): void {
    this.seen.update(true);
    context.timerService().registerEventTimeTimer(END_OF_TIME);
  }

  override onTimer(_timestampMs: number, _context: OnTimerContext<number>, out: Collector<number>): void {
    if (this.seen.value() === true) out.collect(this.subtask);
  }
}

describe('another number of key groups', () => {
  for (const [before, after] of [
    [128, 256],
    [128, 64],
    [128, 100],
  ] as const) {
    it(`from ${before} to ${after} loses no key and counts on`, async () => {
      const platform = createManualPlatform();
      const first = environmentOn(platform, { 'parallelism.default': 3, 'pipeline.max-parallelism': before });
      countLetters(first, VALUES, new Gate(300)).print();
      const path = await checkpointAndCancel(await first.executeAsync('letters'));
      const second = environmentOn(platform, {
        'parallelism.default': 5,
        'pipeline.max-parallelism': after,
        'execution.state-recovery.path': path,
      });
      const results = await countLetters(second, VALUES).executeAndCollect('letters');
      assert.deepEqual(sorted(results), sorted(countsOf(VALUES).slice(300)));
    });
  }

  it('spreads a hundred thousand keys over seven subtasks as evenly as the groups allow', async () => {
    const keys = Array.from({ length: MANY_KEYS + 1 }, (_, key) => Math.min(key, MANY_KEYS - 1));
    const job = (env: StreamExecutionEnvironment, gate: Gate) =>
      env
        .fromSource(new GatedSource([keys], gate), WatermarkStrategy.noWatermarks(), 'keys', Types.LONG)
        .uid('keys')
        .setParallelism(1)
        .keyBy((key) => key, Types.LONG)
        .process(WhereKeysAre)
        .uid('keys-in-place');
    const platform = createManualPlatform();
    const first = environmentOn(platform, { 'parallelism.default': 7, 'pipeline.max-parallelism': 128 });
    job(first, new Gate(MANY_KEYS)).print();
    const path = await checkpointAndCancel(await first.executeAsync('many keys'));
    const groups = 256;
    const second = environmentOn(platform, {
      'parallelism.default': 7,
      'pipeline.max-parallelism': groups,
      'execution.state-recovery.path': path,
    });
    const subtasks = await job(second, new Gate(keys.length)).executeAndCollect('many keys');
    assert.equal(subtasks.length, MANY_KEYS);
    for (let subtask = 0; subtask < 7; subtask++) {
      const found = subtasks.filter((each) => each === subtask).length;
      const ownGroups = Math.ceil(((subtask + 1) * groups) / 7) - Math.ceil((subtask * groups) / 7);
      const ideal = (MANY_KEYS * ownGroups) / groups;
      assert.ok(
        Math.abs(found / ideal - 1) < 0.02,
        `subtask ${subtask} has ${found} keys, ideal are ${ideal}`,
      );
    }
  });
});
