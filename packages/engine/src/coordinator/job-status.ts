/**
 * The states of a job and which may follow which. (Flink's JobStatus.)
 *
 *     CREATED ──► RUNNING ──► FINISHED
 *        │         │  ▲ │
 *        │         │  │ └─ a part of the job failed ──┐
 *        │         │  └───────── all runs again ───┐  ▼
 *        │         │                             RESTARTING
 *        │         ▼                            ▲  │
 *        └──► FAILING ─── the whole job failed ─┘  │
 *              │   ▲───────────────────────────────┘
 *              └──► FAILED
 *
 *     CANCELLING ──► CANCELED, SUSPENDED      (from CREATED, RUNNING, FAILING, RESTARTING)
 */
import { assert } from '../base/index.ts';

/** What a job does, in Flink's words. */
export type JobStatus =
  | 'CREATED'
  | 'RUNNING'
  | 'FAILING'
  | 'RESTARTING'
  | 'CANCELLING'
  | 'FINISHED'
  | 'FAILED'
  | 'CANCELED'
  | 'SUSPENDED';

const NEXT: Readonly<Record<JobStatus, readonly JobStatus[]>> = {
  CREATED: ['RUNNING', 'FAILING', 'CANCELLING'],
  RUNNING: ['RESTARTING', 'FAILING', 'CANCELLING', 'FINISHED'],
  FAILING: ['RESTARTING', 'FAILED', 'CANCELLING'],
  RESTARTING: ['RUNNING', 'FAILING', 'CANCELLING'],
  CANCELLING: ['CANCELED', 'SUSPENDED'],
  FINISHED: [],
  FAILED: [],
  CANCELED: [],
  SUSPENDED: [],
};

/** True for the states that are the last. */
export function isTerminal(status: JobStatus): boolean {
  return NEXT[status].length === 0;
}

/** The one place where a job's status changes. */
export class JobStatusCell {
  private status: JobStatus = 'CREATED';
  private readonly onChange: (status: JobStatus) => void;

  constructor(onChange: (status: JobStatus) => void) {
    this.onChange = onChange;
  }

  get(): JobStatus {
    return this.status;
  }

  set(next: JobStatus): void {
    assert(NEXT[this.status].includes(next), `a job cannot go from ${this.status} to ${next}`);
    this.status = next;
    this.onChange(next);
  }
}
