/**
 * How a job comes to its end: all data was processed, or somebody stops it. Both end with a last checkpoint or savepoint,
 * which is complete and committed before the tasks are told to close. Held by the JobMaster, which says what happens to the
 * job; what this wants is done through its `JobEndingOptions`.
 *
 *                ┌─ end of data ──► final checkpoint (or none) ───────┐
 *     running ───┼─ stop ──► sources stand still behind the barrier ──┼─► complete ──► committed ──► tasks close
 *        ▲       └─ stop, drain ──► sources end ──► end of data ──────┘
 *        └─ interrupted: a failure; the stop is refused
 */
import { MillraceError } from '../base/index.ts';
import type { CheckpointKind, CompletedSnapshot } from '../checkpoint/index.ts';
import type { CheckpointDriver } from './checkpoint-driver.ts';
import type { JobExecution } from './job-execution.ts';
import { type StopOptions, StopRequest } from './stop-request.ts';

export interface JobEndingOptions {
  readonly jobName: string;
  readonly checkpointingEnabled: boolean;
  readonly checkpoints: Pick<CheckpointDriver, 'request' | 'requestFinal' | 'snapshotOf'>;
  readonly execution: Pick<JobExecution, 'drain' | 'finish'>;
  /** A stop without drain could not be carried out; tasks go on. */
  goesOn(): void;
  /** The whole job has to fail. */
  fail(error: Error): void;
  /** The whole job has to start again, though nothing failed but what is being restarted already. */
  restart(error: Error): void;
}

export class JobEnding {
  private readonly options: JobEndingOptions;
  private stopRequest: StopRequest | undefined;
  /** All tasks have processed all data: the end is near, whoever asks for it. */
  private isDataOver = false;
  /** Tasks were told to close. */
  private isFinishing = false;
  /** The checkpoint after which the job ends, once it is complete, and the newest that all tasks have committed. */
  private finalCheckpointId: number | undefined;
  private lastCommitted = -1;
  private interruptions = 0;

  constructor(options: JobEndingOptions) {
    this.options = options;
  }

  /** The job ends already: it cannot be stopped. */
  get isEnding(): boolean {
    return this.isDataOver || this.stopRequest !== undefined;
  }

  /** Tasks have ended, or stand still, for good: if one of them fails, all have to start again. */
  get isIrreversible(): boolean {
    const stop = this.stopRequest;
    return this.isFinishing || (stop !== undefined && (stop.drain || stop.snapshot !== undefined));
  }

  get isStopped(): boolean {
    return this.stopRequest !== undefined;
  }

  /** Resolves when the job has ended; rejects with STOP_FAILED if it goes on. The job runs and is not ending. */
  stop(options: StopOptions): Promise<CompletedSnapshot | undefined> {
    const request = new StopRequest(this.options.jobName, options);
    this.stopRequest = request;
    if (request.drain) this.options.execution.drain();
    else void this.takeLast('savepoint-suspend', request);
    return request.answer;
  }

  /** All tasks have processed all data. */
  async dataIsOver(): Promise<void> {
    this.isDataOver = true;
    // A stop that does not drain has its savepoint under way: it ends the job, unless it fails.
    if (this.stopRequest?.drain === true && this.stopRequest.savepointDirectory !== undefined) {
      await this.takeLast('savepoint-terminate', this.stopRequest);
      return;
    }
    if (!this.options.checkpointingEnabled) return this.finish(true);
    const before = this.interruptions;
    const answer = await this.options.checkpoints.requestFinal();
    if (before !== this.interruptions || answer.type === 'failed') return;
    this.endWith(answer.checkpointId);
  }

  /** All tasks have committed what belongs to the checkpoint. */
  committed(checkpointId: number): void {
    this.lastCommitted = Math.max(this.lastCommitted, checkpointId);
    this.finishIfCommitted();
  }

  /** Tasks failed, or are ended. */
  interrupt(): void {
    this.interruptions++;
    this.isDataOver = false;
    this.isFinishing = false;
    this.finalCheckpointId = undefined;
  }

  refuseStop(reason: string): void {
    const request = this.stopRequest;
    this.stopRequest = undefined;
    request?.refuse(reason);
  }

  /**
   * A finished job keeps its last checkpoint if it was stopped in order to go on later, or goes on from its latest anyway; but
   * if there is a savepoint, that is the last, unless checkpoints are preferred.
   */
  keepsLast(startsFromLatest: boolean, prefersCheckpoint: boolean): boolean {
    if (this.stopRequest?.snapshot?.kind === 'savepoint') return prefersCheckpoint;
    return startsFromLatest || this.stopRequest?.drain === false;
  }

  /** The job has FINISHED. `keepsLast`: its last checkpoint was not deleted. */
  finished(keepsLast: boolean): void {
    this.stopRequest?.finished(keepsLast);
  }

  /** Takes what a stop ends with. If it fails, the job goes on; once drained, from its last checkpoint. */
  private async takeLast(kind: CheckpointKind, request: StopRequest): Promise<void> {
    const answer = await this.options.checkpoints.request(kind, request.savepointDirectory);
    if (this.stopRequest !== request) {
      // It was refused because a part of the job failed; the others stand still at the snapshot.
      if (answer.type === 'completed') {
        const message =
          'A part of the job failed when the others had stopped already; all go on from the snapshot.';
        this.options.restart(new MillraceError('STOP_FAILED', message));
      }
      return;
    }
    if (answer.type === 'completed') return this.endWith(answer.checkpointId);
    this.refuseStop(answer.message);
    if (request.drain)
      this.options.fail(new MillraceError('CHECKPOINT_FAILED', `The savepoint failed: ${answer.message}`));
    else this.options.goesOn();
  }

  private endWith(checkpointId: number): void {
    if (this.stopRequest !== undefined)
      this.stopRequest.snapshot = this.options.checkpoints.snapshotOf(checkpointId);
    this.finalCheckpointId = checkpointId;
    this.finishIfCommitted();
  }

  private finishIfCommitted(): void {
    if (this.finalCheckpointId === undefined || this.lastCommitted < this.finalCheckpointId) return;
    this.finalCheckpointId = undefined;
    this.finish(false);
  }

  private finish(commit: boolean): void {
    this.isFinishing = true;
    this.options.execution.finish(commit);
  }
}
