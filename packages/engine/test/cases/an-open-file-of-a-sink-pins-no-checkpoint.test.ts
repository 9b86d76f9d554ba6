/**
 * A file sink writes for long between checkpoints, and only the newest checkpoint is kept. After a crash the job goes on from
 * that one: its files were closed at each checkpoint, so nothing older is needed. (From ArroyoSystems/arroyo#802.)
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FileSink, Types, WatermarkStrategy } from '@millrace/engine';
import { createManualPlatform, type ManualPlatform } from '../../src/testing/manual-platform.ts';
import { mortalPlatform } from '../../src/testing/mortal-platform.ts';
import { Gate, GatedSource } from '../gated-source.ts';
import { environmentOn, noting, until, untilStatus } from '../small-job.ts';

const RECORDS = 240;
const VALUES = Array.from({ length: RECORDS }, (_, i) => i);

function written(platform: ManualPlatform, finished: boolean): string[] {
  return platform.files.allFiles().filter((path) => path.startsWith(finished ? '/out/part-' : '/out/.part-'));
}

describe('a file sink', () => {
  it('that was crashed between checkpoints goes on from the only one that is kept', async () => {
    const platform = createManualPlatform();
    const process = mortalPlatform(platform);
    const start = async (gate: Gate, where = process, path?: string, onRecord = () => {}) => {
      const env = environmentOn(where, {
        'execution.checkpointing.num-retained': 1,
        ...(path === undefined ? {} : { 'execution.state-recovery.path': path }),
      });
      env
        .fromSource(new GatedSource([VALUES], gate), WatermarkStrategy.noWatermarks(), 'values', Types.INT)
        .uid('values')
        .map(noting(onRecord), Types.INT)
        .uid('seen')
        .sinkTo(FileSink.forJsonLines('/out'))
        .uid('out');
      return env.executeAsync('long files');
    };
    const gate = new Gate(0);
    let seen = 0;
    const client = await start(gate, process, undefined, () => seen++);
    await untilStatus(client, 'RUNNING');
    for (let records = 40; records <= 200; records += 40) {
      gate.open(records);
      await until(() => seen === records, 'records are missing');
      await client.triggerCheckpoint();
    }
    gate.open(220);
    await until(() => seen === 220, 'records are missing');
    await platform.settle();
    const checkpoints = platform.files.allFiles().filter((path) => path.endsWith('/_metadata'));
    assert.equal(checkpoints.length, 1, checkpoints.join(' '));
    process.kill();
    platform.files.crash();

    const again = await start(new Gate(RECORDS), mortalPlatform(platform), 'latest');
    await again.getJobExecutionResult();
    const numbers = written(platform, true)
      .flatMap((path) => Buffer.from(platform.files.peek(path)!).toString().trimEnd().split('\n'))
      .map(Number)
      .sort((a, b) => a - b);
    assert.deepEqual(numbers, VALUES);
    assert.deepEqual(written(platform, false), []);
  });
});
