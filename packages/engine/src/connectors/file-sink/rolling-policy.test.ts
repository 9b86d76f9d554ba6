import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hasCode } from '../../base/index.ts';
import { createManualPlatform } from '../../testing/manual-platform.ts';
import { SimulatedSinkHost } from '../../testing/simulated-sink-host.ts';
import { FileSink } from './file-sink.ts';
import {
  CheckpointRollingPolicy,
  DefaultRollingPolicy,
  OnCheckpointRollingPolicy,
  type PartFileInfo,
  type RollingPolicy,
} from './rolling-policy.ts';

const policies = {
  size: DefaultRollingPolicy.builder()
    .withMaxPartSize(40)
    .withRolloverInterval('1 h')
    .withInactivityInterval('1 h'),
  rollover: DefaultRollingPolicy.builder().withRolloverInterval('10 s').withInactivityInterval('1 h'),
  inactivity: DefaultRollingPolicy.builder().withRolloverInterval('1 h').withInactivityInterval('10 s'),
};

/** A job with one subtask on a manual platform, and the lines of each finished file. */
async function jobWith<T>(sink: (path: string) => FileSink<T>) {
  const platform = createManualPlatform();
  const host = await SimulatedSinkHost.start<T>(sink('/out'), { platform, parallelism: 1 });
  const files = (): string[] =>
    platform.files
      .allFiles()
      .filter((path) => !path.includes('/.'))
      .map((path) => Buffer.from(platform.files.peek(path)!).toString().trimEnd().replaceAll('\n', ' '))
      .sort();
  return { platform, host, files };
}

const numbers = Array.from({ length: 30 }, (_, i) => `record ${i}`);

test('a file that has more than the maximum is followed by the next, also between checkpoints', async () => {
  const { host, files } = await jobWith<string>((path) =>
    FileSink.forRowFormat<string>(path, (text) => text).withRollingPolicy(policies.size.build()),
  );
  await host.write(numbers, 4);
  await host.checkpoint(1);
  assert.deepEqual(files(), [], 'the file goes on over the checkpoint');
  await host.write(numbers, 6);
  await host.checkpoint(2);
  assert.deepEqual(files(), ['record 0 record 1 record 2 record 3 record 4']);
  await host.finish(3);
  assert.deepEqual(files(), ['record 0 record 1 record 2 record 3 record 4', 'record 5']);
});

test('a file ends at the first checkpoint after its rollover interval', async () => {
  const { platform, host, files } = await jobWith<string>((path) =>
    FileSink.forRowFormat<string>(path, (text) => text).withRollingPolicy(policies.rollover.build()),
  );
  for (const [id, advanceMs] of [6000, 3999, 1].entries()) {
    await host.write(numbers, id + 1);
    platform.advance(advanceMs);
    await host.checkpoint(id + 1);
    assert.equal(files().length, id === 2 ? 1 : 0);
  }
  assert.deepEqual(files(), ['record 0 record 1 record 2']);
});

test('a file without records for the inactivity interval ends, others go on', async () => {
  const { platform, host, files } = await jobWith<string>((path) =>
    FileSink.forRowFormat<string>(path, (text) => text)
      .withBucketAssigner((text) => (text === 'record 0' ? 'quiet' : 'busy'))
      .withRollingPolicy(policies.inactivity.build()),
  );
  await host.write(numbers, 2);
  platform.advance(6000);
  await host.write(numbers, 3);
  await host.checkpoint(1);
  assert.deepEqual(files(), []);
  platform.advance(6000);
  await host.checkpoint(2);
  assert.deepEqual(files(), ['record 0']);
});

test('between checkpoints time ends files once a bucket check interval, wherever the wall clock is set', async () => {
  const { platform, host, files } = await jobWith<string>((path) =>
    FileSink.forRowFormat<string>(path, (text) => text)
      .withRollingPolicy(policies.rollover.build())
      .withBucketCheckInterval('20 s'),
  );
  await host.write(numbers, 1);
  platform.setWallMs(platform.clock.wallMs() - 3_600_000);
  platform.advance(15_000);
  await host.write(numbers, 2);
  await host.write(numbers, 3);
  platform.advance(5000);
  await host.write(numbers, 4);
  await host.write(numbers, 5);
  await host.checkpoint(1);
  assert.deepEqual(files(), ['record 0 record 1 record 2']);
});

test('a wall clock that is set makes no file older or younger', async () => {
  for (const policy of [policies.rollover, policies.inactivity]) {
    for (const jumpMs of [-3_600_000, 3_600_000]) {
      const { platform, host, files } = await jobWith<string>((path) =>
        FileSink.forRowFormat<string>(path, (text) => text)
          .withRollingPolicy(policy.build())
          .withBucketCheckInterval('1 s'),
      );
      await host.write(numbers, 1);
      platform.setWallMs(platform.clock.wallMs() + jumpMs);
      platform.advance(9999);
      await host.checkpoint(1);
      assert.deepEqual(files(), [], `set by ${jumpMs} ms`);
      platform.advance(1);
      await host.checkpoint(2);
      assert.deepEqual(files(), ['record 0'], `set by ${jumpMs} ms`);
    }
  }
});

test('a policy of the user is asked before each record, with the file as it is', async () => {
  const asked: [number, string][] = [];
  class ByRecord extends CheckpointRollingPolicy<string> {
    shouldRollOnEvent(file: PartFileInfo, record: string): boolean {
      asked.push([file.getSize(), record]);
      return record.endsWith('2');
    }
    shouldRollOnProcessingTime(): boolean {
      return false;
    }
  }
  const { host, files } = await jobWith<string>((path) =>
    FileSink.forRowFormat<string>(path, (text) => text).withRollingPolicy(new ByRecord()),
  );
  await host.write(numbers, 4);
  await host.checkpoint(1);
  assert.deepEqual(files(), ['record 0 record 1', 'record 2 record 3']);
  assert.deepEqual(asked, [
    [9, 'record 1'],
    [18, 'record 2'],
    [9, 'record 3'],
  ]);
});

test('bulk formats take no policy by which files go on over checkpoints', () => {
  const sink = FileSink.forBulkFormat<string>('x', { create: () => ({ addElement() {}, finish() {} }) });
  assert.throws(
    // @ts-expect-error: not a CheckpointRollingPolicy
    () => sink.withRollingPolicy(new DefaultRollingPolicy()),
    (error) => hasCode(error, 'INVALID_ARGUMENT'),
  );
  sink.withRollingPolicy(OnCheckpointRollingPolicy.build());
});

type Step = { readonly write: number } | { readonly wait: number } | { readonly checkpoint: true };

/** The files of one bucket, as the documentation of the policy says: lines by file, finished ones only. */
function modelFiles(
  steps: readonly Step[],
  limits: { bytes: number; rollover: number; inactivity: number },
): number[][] {
  const ended: number[][] = [];
  const finished: number[][] = [];
  let file: { values: number[]; created: number; updated: number } | undefined;
  let now = 0;
  const end = (): void => {
    if (file !== undefined) ended.push(file.values);
    file = undefined;
  };
  for (const step of steps) {
    if ('wait' in step) now += step.wait;
    else if ('write' in step) {
      if (file !== undefined && file.values.length * 2 > limits.bytes) end();
      file ??= { values: [], created: now, updated: now };
      file.values.push(step.write);
      file.updated = now;
    } else {
      if (file !== undefined) {
        const isOld = now - file.created >= limits.rollover || now - file.updated >= limits.inactivity;
        if (isOld || file.values.length * 2 > limits.bytes) end();
      }
      finished.push(...ended.splice(0));
    }
  }
  end();
  finished.push(...ended);
  return finished;
}

test('files are those of the model, whatever is written, waited for and checkpointed', async () => {
  const step = fc.oneof(
    fc.record({ write: fc.integer({ min: 0, max: 9 }) }),
    fc.record({ wait: fc.integer({ min: 1, max: 80 }) }),
    fc.constant({ checkpoint: true as const }),
  );
  const limits = fc.record({
    bytes: fc.integer({ min: 1, max: 12 }),
    rollover: fc.integer({ min: 1, max: 200 }),
    inactivity: fc.integer({ min: 1, max: 200 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      limits,
      async (steps, { bytes, rollover, inactivity }) => {
        const policy: RollingPolicy<unknown> = new DefaultRollingPolicy({
          maxPartSize: bytes,
          rolloverInterval: rollover,
          inactivityInterval: inactivity,
        });
        const { platform, host, files } = await jobWith<number>((path) =>
          FileSink.forJsonLines<number>(path).withRollingPolicy(policy).withBucketCheckInterval('1 d'),
        );
        let id = 0;
        const values: number[] = [];
        for (const each of steps) {
          if ('wait' in each) platform.advance(each.wait);
          else if ('write' in each) await host.write(values, values.push(each.write));
          else await host.checkpoint(++id);
        }
        await host.finish(id + 1);
        const expected = modelFiles(steps, { bytes, rollover, inactivity });
        assert.deepEqual(files(), expected.map((file) => file.join(' ')).sort());
      },
    ),
  );
});
