/**
 * What the program does beside its job while the job runs, as a person at the console would: asks for checkpoints and
 * savepoints by hand, stops the job in order to start it again, perhaps at another parallelism, and looks at the statistics
 * at the end. Each request must be answered, or the program never ends.
 */
import type { JobClient } from '@millrace/engine';
import { hasCode, type MillraceError } from '../../../engine/src/base/index.ts';
import type { Platform } from '../../../engine/src/platform/index.ts';
import type { CheckpointWatch } from '../checkers/checkpoint-watch.ts';
import { INJECTED } from '../faults/strike-sequence.ts';
import type { Coverage } from '../world/coverage.ts';
import type { PlannedStop, RunPlan } from './draw-run.ts';

const SAVEPOINTS = '/savepoints';
/** Of the requests by hand. */
const SAVEPOINT_EVERY = 3;

export class Attendance {
  /** Is told of each savepoint that was taken by hand, in the thread that asked for it. */
  onSavepoint: (checkpointId: number, path: string) => void = () => {};
  private readonly plan: RunPlan;
  private readonly watch: CheckpointWatch;
  private readonly coverage: Coverage;
  private readonly stopsLeft: PlannedStop[];

  constructor(plan: RunPlan, watch: CheckpointWatch, coverage: Coverage) {
    this.plan = plan;
    this.watch = watch;
    this.coverage = coverage;
    this.stopsLeft = [...plan.stops];
  }

  /** Until the job has ended. Rejects if it was stopped by plan: this process ends, and another one goes on. */
  async attend(client: JobClient, platform: Platform): Promise<void> {
    const look = (): void => this.watch.look(client.getCheckpointStatistics());
    await Promise.all([
      this.trigger(client, platform),
      this.stop(client, platform),
      client.getJobExecutionResult().then(look, look),
    ]);
  }

  private async trigger(client: JobClient, platform: Platform): Promise<void> {
    const { triggerEveryMs } = this.plan;
    for (let asked = 0; triggerEveryMs !== undefined; asked++) {
      await wait(platform, triggerEveryMs);
      const asksForSavepoint = this.plan.hasFiles && asked % SAVEPOINT_EVERY === 1;
      const what = asksForSavepoint ? 'savepoint' : 'checkpoint';
      try {
        if (asksForSavepoint) this.savepointTaken(client, await client.triggerSavepoint(SAVEPOINTS));
        else await client.triggerCheckpoint();
        this.coverage.add('asked for by hand', `${what}: completed`);
      } catch (error) {
        if (hasCode(error, 'JOB_NOT_RUNNING')) return;
        if (!hasCode(error, 'CHECKPOINT_FAILED')) throw error;
        const { failure } = (error as MillraceError).details;
        this.coverage.add('asked for by hand', `${what}: ${failure}`);
        // There will be no other.
        if (failure === 'stopping' || failure === 'shutdown') return;
      }
    }
  }

  private savepointTaken(client: JobClient, path: string): void {
    const { savepoint } = client.getCheckpointStatistics().latest;
    if (savepoint?.external_path === path) this.onSavepoint(savepoint.id, path);
  }

  private async stop(client: JobClient, platform: Platform): Promise<void> {
    for (let next = this.stopsLeft[0]; next !== undefined; next = this.stopsLeft[0]) {
      await wait(platform, next.afterMs);
      if (hasEnded(client)) return;
      this.stopsLeft.shift();
      const { how } = next;
      try {
        await end(client, how);
      } catch (error) {
        if (!hasCode(error, 'STOP_FAILED') && !hasCode(error, 'JOB_NOT_RUNNING')) throw error;
        this.coverage.add('stops', `with ${how}: failed`);
        continue;
      }
      this.coverage.add('stops', `with ${how}: stopped`);
      await client.getJobExecutionResult().catch(() => {});
      throw new Error(`${INJECTED}: stopped, to be started again`);
    }
  }
}

async function end(client: JobClient, how: PlannedStop['how']): Promise<void> {
  switch (how) {
    case 'savepoint':
      await client.stopWithSavepoint(SAVEPOINTS);
      return;
    case 'checkpoint':
      await client.stop();
      return;
    case 'suspend':
      return client.suspend();
    case 'cancel':
      return client.cancel();
  }
}

function wait(platform: Platform, durationMs: number): Promise<void> {
  return new Promise((resolve) => void platform.timers.after(durationMs, resolve));
}

function hasEnded(client: JobClient): boolean {
  return ['FINISHED', 'FAILED', 'CANCELED', 'SUSPENDED'].includes(client.getJobStatus());
}
