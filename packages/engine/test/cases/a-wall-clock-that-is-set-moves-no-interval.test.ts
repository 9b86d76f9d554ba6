/**
 * Time-outs and retries of asynchronous calls, idleness of sources and of streams, in a whole job in virtual time whose wall
 * clock is set an hour forward or back while all of them are pending: each happens when it would have happened otherwise.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  KeyedProcessFunction,
  type StreamExecutionEnvironment,
  Types,
  WatermarkStrategy,
} from '@millrace/engine';
import type { KeyedProcessContext } from '../../src/operators/index.ts';
import { planJob, runUntil, startManualJob } from '../../src/testing/manual-job.ts';
import { createManualPlatform } from '../../src/testing/manual-platform.ts';
import { PacedSource } from '../../src/testing/paced-source.ts';

const HOUR_MS = 3_600_000;
/** After the calls were made, before the first is asked again. */
const JUMP_AFTER_MS = 300;

type Note = (what: string) => void;

/** One call is never answered, one is refused twice and asked again after 500 ms. */
function callsOutside(env: StreamExecutionEnvironment, note: Note): void {
  env
    .fromSource(
      new PacedSource([['silent', 'refused']]),
      WatermarkStrategy.noWatermarks(),
      'words',
      Types.STRING,
    )
    .mapAsync(
      (word, { attempt }) => {
        note(`${word} is asked`);
        if (word === 'silent') return new Promise<string>(() => {});
        if (attempt < 3) throw new Error('not yet');
        return word;
      },
      {
        timeout: '2 s',
        retry: { attempts: 2, delay: '500 ms' },
        onTimeout: (word) => {
          note(`${word} has timed out`);
          return word;
        },
        type: Types.STRING,
      },
    )
    .print();
}

/** Fires when event time has come to its record: when the other input is idle. */
class AtTime extends KeyedProcessFunction<number, number, number> {
  readonly note: Note;

  constructor(note: Note) {
    super();
    this.note = note;
  }

  processElement(value: number, context: KeyedProcessContext<number>): void {
    context.timerService().registerEventTimeTimer(value);
  }

  override onTimer(timestampMs: number): void {
    this.note(`event time is ${timestampMs}`);
  }
}

const byValue = (): WatermarkStrategy<number> =>
  WatermarkStrategy.forMonotonousTimestamps<number>().withTimestampAssigner((value) => value);

/** A quiet stream holds event time up until it is idle: as its source says, or an operator behind it. */
const quietStream =
  (isIdleAt: 'source' | 'operator') =>
  (env: StreamExecutionEnvironment, note: Note): void => {
    const idle = byValue().withIdleness('1 s');
    const busy = env.fromSource(new PacedSource([[10, 20]], { ends: false }), byValue(), 'busy', Types.LONG);
    const source = new PacedSource<number>([[]], { ends: false });
    const quiet =
      isIdleAt === 'source'
        ? env.fromSource(source, idle, 'quiet', Types.LONG)
        : env
            .fromSource(source, WatermarkStrategy.noWatermarks(), 'quiet', Types.LONG)
            .assignTimestampsAndWatermarks(idle);
    busy
      .union(quiet)
      .keyBy(() => 0, Types.LONG)
      .process(() => new AtTime(note))
      .returns(Types.LONG)
      .print();
  };

/** What happens by the monotonic clock if the wall clock jumps by so much. */
async function happenings(
  build: (env: StreamExecutionEnvironment, note: Note) => void,
  jumpMs: number,
  count: number,
): Promise<string[]> {
  const platform = createManualPlatform();
  const { clock } = platform;
  const noted: string[] = [];
  const plan = planJob((env) => build(env, (what) => noted.push(`${clock.monotonicMs()}: ${what}`)));
  const job = await startManualJob(plan, platform);
  await runUntil(platform, () => clock.monotonicMs() >= JUMP_AFTER_MS);
  platform.setWallMs(clock.wallMs() + jumpMs);
  await runUntil(platform, () => noted.length >= count, { limitMs: 5000 });
  void job.master.cancel();
  await runUntil(platform, () => job.report() !== undefined);
  return noted;
}

describe('a wall clock that is set', () => {
  for (const [what, build, count] of [
    ['calls outside', callsOutside, 5],
    ['the idleness of a source', quietStream('source'), 1],
    ['the idleness of a stream', quietStream('operator'), 1],
  ] as const) {
    it(`neither hastens nor delays ${what}`, async () => {
      const undisturbed = await happenings(build, 0, count);
      assert.equal(undisturbed.length, count);
      for (const jumpMs of [-HOUR_MS, HOUR_MS]) {
        assert.deepEqual(await happenings(build, jumpMs, count), undisturbed, `set by ${jumpMs} ms`);
      }
    });
  }
});
