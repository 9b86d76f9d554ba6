/**
 * The newest checkpoint is torn, changed or incomplete. By default the job stops and says which file and which checkpoint is
 * the newest intact one; if it may fall back, it says what that means. A checkpoint that was acknowledged survives a power
 * failure at every step. (From apache/flink#25468, influxdata/influxdb#27624, FLINK-22502.)
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createManualPlatform, type ManualPlatform } from '../../src/testing/manual-platform.ts';
import { mortalPlatform } from '../../src/testing/mortal-platform.ts';
import { Gate } from '../gated-source.ts';
import { assertRefused } from '../refusal.ts';
import { environmentOn, noting, until, untilStatus } from '../small-job.ts';
import { countLetters, countsOf, letters, sorted } from '../totals-job.ts';

const VALUES = letters(100);
const ALIGNED = {
  'execution.checkpointing.num-retained': 3,
  'execution.checkpointing.data-inline-threshold': 0,
};

const UNALIGNED = { ...ALIGNED, 'execution.checkpointing.unaligned.enabled': true };
type Settings = Readonly<Record<string, unknown>>;

/** Five checkpoints, each with ten records more; the job is then gone. */
async function fiveCheckpoints(
  settings: Settings,
): Promise<{ platform: ManualPlatform; newest: string; before: string }> {
  const platform = createManualPlatform();
  const env = environmentOn(platform, settings);
  const gate = new Gate(0);
  let seen = 0;
  countLetters(env, VALUES, gate)
    .map(noting(() => seen++))
    .uid('seen')
    .print();
  const client = await env.executeAsync('letters');
  await untilStatus(client, 'RUNNING');
  const paths: string[] = [];
  for (let records = 10; records <= 50; records += 10) {
    gate.open(records);
    await until(() => seen === records, `${seen} of ${records} records came through`);
    paths.push((await client.triggerCheckpoint()).path!);
    platform.advance(1000);
  }
  client.getJobExecutionResult().catch(() => {});
  await client.cancel();
  return { platform, newest: paths.at(-1)!, before: paths.at(-2)! };
}

function restart(platform: ManualPlatform, settings: Settings) {
  const env = environmentOn(platform, { ...settings, 'execution.state-recovery.path': 'latest' });
  return countLetters(env, VALUES)
    .map((counted) => counted)
    .uid('seen')
    .executeAndCollect('letters');
}

const stateFileIn = (platform: ManualPlatform, path: string): string =>
  platform.files.allFiles().find((file) => file.startsWith(`${path}/`) && !file.endsWith('_metadata'))!;

const flipped = (bytes: Uint8Array): Uint8Array => {
  bytes[Math.floor(bytes.length / 2)]! ^= 1;
  return bytes;
};

type Damage = (platform: ManualPlatform, path: string) => string;
const damaging =
  (
    fileOf: (platform: ManualPlatform, path: string) => string,
    change: (bytes: Uint8Array) => Uint8Array,
  ): Damage =>
  (platform, path) => {
    const file = fileOf(platform, path);
    platform.files.damage(file, change);
    return file;
  };
const metadataOf = (_platform: ManualPlatform, path: string): string => `${path}/_metadata`;

const DAMAGES: readonly (readonly [string, Damage])[] = [
  ['an empty manifest', damaging(metadataOf, () => new Uint8Array(0))],
  ['a torn manifest', damaging(metadataOf, (bytes) => bytes.subarray(0, bytes.length - 10))],
  ['a changed bit in the manifest', damaging(metadataOf, flipped)],
  ['a torn state file', damaging(stateFileIn, (bytes) => bytes.subarray(0, bytes.length - 10))],
  ['a changed bit in a state file', damaging(stateFileIn, flipped)],
  [
    'a state file less',
    (platform, path) => {
      const file = stateFileIn(platform, path);
      platform.files.lose(file);
      return file;
    },
  ],
];

for (const settings of [ALIGNED, UNALIGNED]) {
  describe(settings === ALIGNED ? 'with aligned checkpoints' : 'with unaligned checkpoints', () => {
    describe('a job that restarts by itself', () => {
      for (const [what, damage] of DAMAGES) {
        it(`fails at once if its newest checkpoint has ${what}`, async () => {
          const platform = createManualPlatform();
          const env = environmentOn(platform, {
            ...settings,
            'restart-strategy.type': 'fixed-delay',
            'restart-strategy.fixed-delay.attempts': 100,
            'restart-strategy.fixed-delay.delay': 0,
          });
          const gate = new Gate(10);
          let seen = 0;
          let fails = false;
          countLetters(env, VALUES, gate)
            .map((counted) => {
              if (fails) throw new Error('a failure on purpose');
              seen++;
              return counted;
            })
            .uid('seen')
            .print();
          const client = await env.executeAsync('letters');
          await untilStatus(client, 'RUNNING');
          await until(() => seen === 10, `${seen} of 10 records came through`);
          const file = damage(platform, (await client.triggerCheckpoint()).path!);
          const end = client.getJobExecutionResult();
          end.catch(() => {});
          fails = true;
          gate.open();
          await until(() => {
            platform.advance(10);
            return client.getJobStatus() === 'FAILED';
          }, `the job is ${client.getJobStatus()}`);
          await assertRefused(end, 'SNAPSHOT_CORRUPT', new RegExp(file));
          assert.ok(client.metrics().job['numRestarts']! <= 1);
        });
      }
    });

    describe('a newest checkpoint with', () => {
      for (const [what, damage] of DAMAGES) {
        it(`${what} stops the job, naming the file and the newest intact checkpoint`, async () => {
          const { platform, newest, before } = await fiveCheckpoints(settings);
          const file = damage(platform, newest);
          await assertRefused(
            restart(platform, settings),
            'SNAPSHOT_CORRUPT',
            new RegExp(file),
            new RegExp(before),
          );
        });

        it(`${what} is passed over if that is allowed, saying what is replayed`, async () => {
          const { platform, newest, before } = await fiveCheckpoints(settings);
          damage(platform, newest);
          const results = await restart(platform, {
            ...settings,
            'millrace.restore.fallback': 'newest-intact',
          });
          assert.deepEqual(sorted(results), sorted(countsOf(VALUES).slice(40)));
          const said = platform.logged.map(({ message }) => message).join('\n');
          assert.match(said, new RegExp(`${before}: used`));
          assert.match(said, /at least 1 s of input more are replayed/);
          assert.match(said, /sinks may see duplicates/);
        });
      }
    });

    describe('a power failure', () => {
      it('at any step of a checkpoint loses none that was acknowledged, and nothing is counted twice', async () => {
        let failures = 0;
        for (let step = 1, isOver = false; !isOver; step++) {
          const platform = createManualPlatform({ seed: step });
          const death = { operation: Number.POSITIVE_INFINITY, when: 'before' as const };
          const process = mortalPlatform(platform, death);
          const gate = new Gate(0);
          let seen = 0;
          const env = environmentOn(process, settings);
          countLetters(env, VALUES, gate)
            .map(noting(() => seen++))
            .uid('seen')
            .print();
          const client = await env.executeAsync('letters');
          await untilStatus(client, 'RUNNING');
          gate.open(20);
          await until(() => seen === 20, `${seen} of 20 records came through`);
          await client.triggerCheckpoint();
          gate.open(40);
          await until(() => seen === 40, `${seen} of 40 records came through`);
          death.operation = process.operations.length + step;
          let acknowledged = false;
          client.triggerCheckpoint().then(
            () => (acknowledged = true),
            () => {},
          );
          await until(() => acknowledged || !process.isAlive(), 'the checkpoint does not end');
          isOver = process.isAlive();
          process.kill();
          platform.files.crash({ keep: 'some' });
          const results = await restart(platform, settings);
          const restored = VALUES.length - results.length;
          assert.ok(
            restored === 40 || (restored === 20 && !acknowledged),
            `step ${step}: restored after ${restored} records`,
          );
          assert.deepEqual(sorted(results), sorted(countsOf(VALUES).slice(restored)));
          failures++;
        }
        assert.ok(failures > 10, `only ${failures} steps`);
      });
    });
  });
}
