/** Who waits until a job runs, or is told that it will not. Held by the JobMaster. */
import { MillraceError } from '../base/index.ts';
import { isTerminal, type JobStatus } from './job-status.ts';

export class Readiness {
  private readonly jobName: string;
  private readonly status: () => JobStatus;
  private waiting: { resolve(): void; reject(error: Error): void }[] = [];
  private endReason: string | undefined;

  constructor(jobName: string, status: () => JobStatus) {
    this.jobName = jobName;
    this.status = status;
  }

  /** Resolves when the job runs, at once if it does; rejects with JOB_NOT_RUNNING if it ends before. */
  untilRunning(): Promise<void> {
    const status = this.status();
    if (status === 'RUNNING') return Promise.resolve();
    if (!isTerminal(status) && status !== 'CANCELLING')
      return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
    return Promise.reject(this.notRunning(this.endReason ?? `it is ${status}`));
  }

  runs(): void {
    for (const { resolve } of this.waiting.splice(0)) resolve();
  }

  /** The job has ended, perhaps of an error. */
  ended(error: Error | undefined): void {
    const status = this.status();
    if (error !== undefined) this.endReason = `it is ${status}: ${error.message}`;
    for (const { reject } of this.waiting.splice(0))
      reject(this.notRunning(this.endReason ?? `it is ${status}`));
  }

  notRunning(why: string): MillraceError {
    return new MillraceError(
      'JOB_NOT_RUNNING',
      `Job '${this.jobName}' does not run: ${why.replace(/\.$/, '')}.`,
    );
  }
}
