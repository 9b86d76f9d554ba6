/**
 * A stop that somebody asked for, until it is answered: with the snapshot from which the job could go on, or with the reason
 * why the job goes on instead. Held by the JobMaster, which says what happens.
 */
import { MillraceError } from '../base/index.ts';
import type { CompletedSnapshot } from '../checkpoint/index.ts';

/** How a job is stopped. */
export interface StopOptions {
  /** Event time ends: windows are evaluated and timers fire. For jobs that are not to go on later. */
  readonly drain: boolean;
  /** Where the savepoint goes; undefined: no savepoint, the job's own last checkpoint. */
  readonly savepointDirectory: string | undefined;
}

export class StopRequest {
  readonly drain: boolean;
  readonly savepointDirectory: string | undefined;
  /** What the job is stopped with, once that is complete. */
  snapshot: CompletedSnapshot | undefined;
  private readonly jobName: string;
  private readonly outcome = Promise.withResolvers<CompletedSnapshot | undefined>();

  constructor(jobName: string, { drain, savepointDirectory }: StopOptions) {
    this.jobName = jobName;
    this.drain = drain;
    this.savepointDirectory = savepointDirectory;
  }

  /** Resolves after the end of the job; rejects with STOP_FAILED. */
  get answer(): Promise<CompletedSnapshot | undefined> {
    return this.outcome.promise;
  }

  /** The job goes on, or has ended otherwise. */
  refuse(reason: string): void {
    const directory = this.snapshot?.directory;
    const taken = directory === undefined ? '' : ` ${directory} is complete all the same.`;
    const why = reason.replace(/\.$/, '');
    const message = `Job '${this.jobName}' could not be stopped as asked: ${why}.${taken}`;
    this.outcome.reject(new MillraceError('STOP_FAILED', message));
  }

  /** The job has FINISHED. `keepsLast`: its last checkpoint was not deleted. */
  finished(keepsLast: boolean): void {
    if (this.savepointDirectory !== undefined && this.snapshot === undefined)
      return this.refuse('it came to its end before the savepoint was complete');
    const isKept = this.snapshot?.kind === 'savepoint' || keepsLast;
    this.outcome.resolve(isKept ? this.snapshot : undefined);
  }
}
