/**
 * A state gets another name in the program. What was saved under the old one is not lost, but the new one begins empty: that
 * is said once for all subtasks, when the job starts, and not again when the new name has been saved too.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Collector,
  CountTrigger,
  GlobalWindows,
  type KeyedProcessContext,
  KeyedProcessFunction,
  PurgingTrigger,
  type RuntimeContext,
  Types,
  type ValueState,
  ValueStateDescriptor,
} from '@millrace/engine';
import { createManualPlatform, type ManualPlatform } from '../../src/testing/manual-platform.ts';
import { Gate } from '../gated-source.ts';
import { checkpointAndCancel, environmentOn } from '../small-job.ts';
import { gatedLetters, letters } from '../totals-job.ts';

const VALUES = letters(60);
const WARNING = /^saved state '.*' was not asked for/;

class Count extends KeyedProcessFunction<string, string, number> {
  private readonly stateName: string;
  private count!: ValueState<number>;

  constructor(stateName: string) {
    super();
    this.stateName = stateName;
  }

  override open(context: RuntimeContext): void {
    this.count = context.getState(new ValueStateDescriptor(this.stateName, Types.LONG, 0));
  }

  override processElement(
    _letter: string,
    _context: KeyedProcessContext<string>,
    out: Collector<number>,
  ): void {
    const count = this.count.value()! + 1;
    this.count.update(count);
    out.collect(count);
  }
}

type Job = (letters: ReturnType<typeof gatedLetters>) => { uid(uid: string): { print(): unknown } };

const counting =
  (stateName: string): Job =>
  (input) =>
    input
      .keyBy((letter) => letter, Types.STRING)
      .process(new Count(stateName))
      .setParallelism(2)
      .name('count');

const inPairs: Job = (input) =>
  input
    .keyBy((letter) => letter, Types.STRING)
    .window(GlobalWindows.create())
    .trigger(PurgingTrigger.of(CountTrigger.of(2)))
    .reduce((a) => a)
    .name('pairs');

/** Starts the job, from a checkpoint or anew, takes a checkpoint, ends it; what it warned of on the way. */
async function run(
  platform: ManualPlatform,
  job: Job,
  from?: string,
): Promise<{ path: string; warnings: string[] }> {
  const before = platform.logged.length;
  const env = environmentOn(platform, from === undefined ? {} : { 'execution.state-recovery.path': from });
  job(gatedLetters(env, VALUES, new Gate(31)))
    .uid('x')
    .print();
  const path = await checkpointAndCancel(await env.executeAsync('letters'));
  const lines = platform.logged.slice(before).filter(({ message }) => WARNING.test(message));
  return { path, warnings: lines.map(({ message }) => message) };
}

describe('a state with another name', () => {
  it('is warned of once, and not again when it was saved', async () => {
    const platform = createManualPlatform();
    const first = await run(platform, counting('total'));
    const renamed = await run(platform, counting('totals'), first.path);
    assert.deepEqual(first.warnings, []);
    assert.deepEqual(renamed.warnings, [
      "saved state 'total' of operator 'count' was not asked for when the operator was opened, while 'totals' begins " +
        'empty; it is kept in the next snapshots. Was it renamed? State is found by its name: ask for it under the saved one.',
    ]);
    assert.deepEqual((await run(platform, counting('totals'), renamed.path)).warnings, []);
  });

  it('is not confused with one that is asked for with the first record', async () => {
    const platform = createManualPlatform();
    const first = await run(platform, inPairs);
    assert.deepEqual((await run(platform, inPairs, first.path)).warnings, []);
  });
});
