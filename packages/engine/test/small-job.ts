/**
 * What the tests of whole jobs share: a folder that goes when the test ends, and an environment that runs in this thread
 * with checkpoints in it.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  Configuration,
  type ExecutionOptions,
  ExternalizedCheckpointCleanup,
  type JobClient,
  type JobStatus,
  RestartStrategies,
  StreamExecutionEnvironment,
} from '@millrace/engine';
import { LocalExecutor } from '../src/api/index.ts';
import type { Platform } from '../src/platform/index.ts';
import type { ManualPlatform } from '../src/testing/manual-platform.ts';

/** Longer than anything here takes. */
const DEADLINE_MS = 10_000;
const POLL_MS = 2;
const TURNS_MAX = 10_000;
const QUIET_TURNS = 20;

export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-job-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Checkpoints in `folder`/checkpoints when the test asks for one (the interval is an hour), kept when the job is
 * cancelled; no restarts. `options` come on top.
 */
export function environmentIn(folder: string, options: ExecutionOptions = {}): StreamExecutionEnvironment {
  const { checkpointing, ...others } = options;
  return StreamExecutionEnvironment.getExecutionEnvironment({
    host: 'inline',
    restartStrategy: RestartStrategies.noRestart(),
    autoWatermarkInterval: 5,
    checkpointing: {
      interval: '1 h',
      dir: checkpointsIn(folder),
      retention: ExternalizedCheckpointCleanup.RETAIN_ON_CANCELLATION,
      ...checkpointing,
    },
    ...others,
  });
}

export function checkpointsIn(folder: string): string {
  return join(folder, 'checkpoints');
}

/** Waits until the job is in that status; fails if it ends otherwise. */
export async function untilStatus(client: JobClient, status: JobStatus): Promise<void> {
  await until(() => client.getJobStatus() === status, `the job is ${client.getJobStatus()}, not ${status}`);
}

/** Waits until `condition` holds. */
export async function until(condition: () => boolean, complaint: string): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!condition()) {
    assert.ok(performance.now() < deadline, complaint);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Waits until a snapshot was removed. */
export async function untilGone(platform: ManualPlatform, directory: string): Promise<void> {
  for (let turn = 0; (await platform.files.stat(directory)) !== undefined; turn++) {
    assert.ok(turn < TURNS_MAX, `${directory} is not removed`);
    await new Promise(setImmediate);
  }
}

/** Waits until no file is written or removed any more. */
export async function untilQuiet({ files }: ManualPlatform): Promise<void> {
  for (let quiet = 0, before = -1; quiet < QUIET_TURNS; quiet++) {
    if (files.operations.length !== before) quiet = 0;
    before = files.operations.length;
    await new Promise(setImmediate);
  }
}

/** Takes a checkpoint, ends the job, and gives the directory of the checkpoint. */
export async function checkpointAndCancel(client: JobClient): Promise<string> {
  await untilStatus(client, 'RUNNING');
  const { path } = await client.triggerCheckpoint();
  client.getJobExecutionResult().catch(() => {});
  await client.cancel();
  assert.ok(path !== undefined);
  return path;
}

/** An environment on a platform of the test, with checkpoints in /checkpoints on request; `values` by key come on top. */
export function environmentOn(
  platform: Platform,
  values: Readonly<Record<string, unknown>> = {},
): StreamExecutionEnvironment {
  return new StreamExecutionEnvironment(
    new LocalExecutor(platform),
    Configuration.from({
      'millrace.host': 'inline',
      'execution.checkpointing.interval': '1 h',
      'execution.checkpointing.dir': '/checkpoints',
      'execution.checkpointing.externalized-checkpoint-retention': 'RETAIN_ON_CANCELLATION',
      'restart-strategy.type': 'none',
      ...values,
    }),
  );
}

/** A map function that shows each record to `note` and hands it on. */
export function noting<T>(note: (value: T) => void): (value: T) => T {
  return (value) => {
    note(value);
    return value;
  };
}
