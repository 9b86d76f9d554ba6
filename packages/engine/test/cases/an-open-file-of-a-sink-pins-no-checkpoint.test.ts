/**
 * A file sink writes for long, a checkpoint comes every ten seconds, and only the newest is kept. After a crash in minute 40
 * the job goes on from that one: its files were closed at each checkpoint, or are cut off where it found them, so nothing
 * older is needed. (From ArroyoSystems/arroyo#802.)
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefaultRollingPolicy, FileSink, type JobClient, Types, WatermarkStrategy } from '@millrace/engine';
import type { Platform } from '../../src/platform/index.ts';
import { createManualPlatform, type ManualPlatform } from '../../src/testing/manual-platform.ts';
import { mortalPlatform } from '../../src/testing/mortal-platform.ts';
import { Gate, GatedSource } from '../gated-source.ts';
import { environmentOn, noting, until } from '../small-job.ts';

const CHECKPOINTS = 240;
const INTERVAL_MS = 10_000;
/** One before each checkpoint, and as many after the last. */
const VALUES = Array.from({ length: 2 * CHECKPOINTS }, (_, i) => i);

/** Which files, and how many they are at most. */
const POLICIES: readonly (readonly [string, FileSink<number>, number])[] = [
  ['whose files end with each checkpoint', FileSink.forJsonLines('/out'), 2 * CHECKPOINTS],
  [
    'whose file is open for an hour',
    FileSink.forJsonLines<number>('/out').withRollingPolicy(
      new DefaultRollingPolicy({ rolloverInterval: '1 h', inactivityInterval: '1 h' }),
    ),
    2,
  ],
];

function written(platform: ManualPlatform, finished: boolean): string[] {
  return platform.files.allFiles().filter((path) => path.startsWith(finished ? '/out/part-' : '/out/.part-'));
}

describe('a job that is crashed between checkpoints goes on from the only one that is kept, with a file sink', () => {
  for (const unaligned of [false, true]) {
    for (const [what, sink, filesMax] of POLICIES) {
      it(`${what}, ${unaligned ? 'unaligned' : 'aligned'}`, async () => {
        const platform = createManualPlatform();
        const process = mortalPlatform(platform);
        let seen = 0;
        const start = (gate: Gate, where: Platform, path?: string): Promise<JobClient> => {
          const env = environmentOn(where, {
            'execution.checkpointing.num-retained': 1,
            'execution.checkpointing.unaligned.enabled': unaligned,
            ...(path === undefined ? {} : { 'execution.state-recovery.path': path }),
          });
          env
            .fromSource(
              new GatedSource([VALUES], gate),
              WatermarkStrategy.noWatermarks(),
              'values',
              Types.INT,
            )
            .uid('values')
            .map(
              noting(() => seen++),
              Types.INT,
            )
            .uid('seen')
            .sinkTo(sink)
            .uid('out');
          return env.executeAsync('long files');
        };
        const gate = new Gate(0);
        const client = await start(gate, process);
        await client.untilRunning();
        for (let records = 1; records <= CHECKPOINTS; records++) {
          gate.open(records);
          await until(() => seen === records, 'records are missing');
          await client.triggerCheckpoint();
          platform.advance(INTERVAL_MS);
        }
        gate.open(CHECKPOINTS + 20);
        await until(() => seen === CHECKPOINTS + 20, 'records are missing');
        await platform.settle();
        const checkpoints = platform.files.allFiles().filter((path) => path.endsWith('/_metadata'));
        assert.equal(checkpoints.length, 1, checkpoints.join(' '));
        process.kill();
        platform.files.crash();

        await (
          await start(new Gate(VALUES.length), mortalPlatform(platform), 'latest')
        ).getJobExecutionResult();
        const files = written(platform, true);
        const numbers = files
          .flatMap((path) => Buffer.from(platform.files.peek(path)!).toString().trimEnd().split('\n'))
          .map(Number)
          .sort((a, b) => a - b);
        assert.deepEqual(numbers, VALUES);
        assert.deepEqual(written(platform, false), []);
        assert.ok(files.length <= filesMax, `${files.length} files`);
      });
    }
  }
});
