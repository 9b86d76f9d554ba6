/**
 * The regions of a job as they run: one attempt of each at a time, and what all of them together report. Used by the
 * JobMaster, which decides when a region is deployed, started, cancelled; the checkpoint driver sees it as one thing.
 *
 *     down ──deploy──► deploying ──opened──► open ──start──► running ──end of data──► ended
 *      ▲                   │                    │               │  └─────finish──────┐  │
 *      │                   └──────── failed ◄───┴───────────────┴────────────────────┼──┤
 *      └── cancel, in any state ───────┘                                    closed ◄─┴──┘
 *
 * Invariants:
 * I1 A region has one attempt at a time; the next begins after the threads of the one before are gone.
 * I2 What is reported for the job as a whole (committed, end of data, closed) holds for every region.
 */
import { assert } from '../base/index.ts';
import type { SubtaskAttempt } from '../checkpoint/index.ts';
import type { TaskMetrics } from '../runtime/index.ts';
import {
  type AttemptEvents,
  type AttemptOptions,
  ExecutionAttempt,
  type RestoredExecution,
} from './execution-attempt.ts';
import type { PipelinedRegion } from './pipelined-regions.ts';
import { slotPlaces } from './slot-host.ts';

/** Nothing is reported of a region after it failed or was cancelled. */
export interface JobExecutionEvents
  extends Pick<AttemptEvents, 'acknowledged' | 'declined' | 'completed' | 'backlog' | 'delivered'> {
  /** All tasks of the region are open. */
  opened(region: PipelinedRegion): void;
  failed(region: PipelinedRegion, error: Error): void;
  /** All tasks of the job have processed all data. */
  endOfData(): void;
  /** After `finish`: all is closed. */
  closed(): void;
}

/** What all attempts have in common. */
export type JobExecutionOptions = Omit<AttemptOptions, 'region' | 'attemptNumber' | 'restored' | 'events'> & {
  readonly regions: readonly PipelinedRegion[];
  readonly events: JobExecutionEvents;
};

type RegionState = 'down' | 'deploying' | 'open' | 'running' | 'ended' | 'closed' | 'failed';

const NEXT: Readonly<Record<RegionState, readonly RegionState[]>> = {
  down: ['deploying'],
  deploying: ['open', 'failed', 'down'],
  open: ['running', 'failed', 'down'],
  running: ['ended', 'closed', 'failed', 'down'],
  ended: ['closed', 'failed', 'down'],
  closed: ['down'],
  failed: ['down'],
};

/** In these there are tasks that process, and hear of checkpoints. */
const LIVE: readonly RegionState[] = ['open', 'running', 'ended'];

interface RegionRun {
  readonly region: PipelinedRegion;
  state: RegionState;
  /** Of the next attempt. */
  nextAttemptNumber: number;
  attempt: ExecutionAttempt | undefined;
  cancelling: Promise<void> | undefined;
  lastMetrics: readonly TaskMetrics[];
}

export class JobExecution {
  private readonly options: JobExecutionOptions;
  private readonly runs: readonly RegionRun[];
  /** Regions that have not committed a checkpoint yet. */
  private readonly committing = new Map<number, Set<RegionRun>>();

  constructor(options: JobExecutionOptions) {
    this.options = options;
    this.runs = options.regions.map((region) => ({
      region,
      state: 'down',
      nextAttemptNumber: 0,
      attempt: undefined,
      cancelling: undefined,
      lastMetrics: [],
    }));
  }

  get regions(): readonly PipelinedRegion[] {
    return this.options.regions;
  }

  /** True if every region has tasks that process. */
  get isOpen(): boolean {
    return this.runs.every(({ state }) => LIVE.includes(state));
  }

  /** Slots of the region will be wanted soon. */
  prepare(region: PipelinedRegion): void {
    const { host, graph } = this.options;
    for (const place of slotPlaces(host, region)) host.prepare(graph, place);
  }

  /** Starts a new attempt of a region. `opened` or `failed` follows. */
  deploy(region: PipelinedRegion, restored: RestoredExecution | undefined): void {
    const run = this.runOf(region);
    assert(run.attempt === undefined, 'the attempt before is not gone'); // I1
    this.become(run, 'deploying');
    const attempt = new ExecutionAttempt({
      ...this.options,
      region,
      attemptNumber: run.nextAttemptNumber++,
      restored,
      events: this.eventsOf(run),
    });
    run.attempt = attempt;
    // Not awaited: an enumerator that does not start must not hold up a cancellation.
    void attempt.deploy().catch((error: unknown) => {
      if (run.attempt === attempt) this.fail(run, error instanceof Error ? error : new Error(String(error)));
    });
  }

  /** Sources of the regions that are open emit from now on. */
  start(): void {
    for (const run of this.runs) {
      if (run.state !== 'open') continue;
      this.become(run, 'running');
      run.attempt!.start();
    }
  }

  /**
   * Snapshots the enumerators and triggers the sources of each region. Resolves to the enumerators' states by uid; rejects if
   * one cannot be snapshotted, or a region does not run.
   */
  async trigger(...trigger: Parameters<ExecutionAttempt['trigger']>): Promise<Map<string, Uint8Array>> {
    if (!this.isOpen) throw new Error('a part of the job is not running');
    const states = await Promise.all(this.runs.map(({ attempt }) => attempt!.trigger(...trigger)));
    return new Map(states.flatMap((each) => [...each]));
  }

  /** Regions that are not running now start from this checkpoint, and commit what belongs to it then. */
  notifyComplete(checkpointId: number): void {
    const live = this.live();
    this.committing.set(checkpointId, new Set(live));
    for (const { attempt } of live) attempt!.notifyComplete(checkpointId);
  }

  notifyAborted(checkpointId: number): void {
    for (const { attempt } of this.live()) attempt!.notifyAborted(checkpointId);
  }

  /** Sources end where they are, as if they had no more records. */
  drain(): void {
    for (const { attempt } of this.live()) attempt!.drain();
  }

  /** The job is done. `commit`: sinks commit without a checkpoint. `closed` follows. */
  finish(commit: boolean): void {
    for (const { attempt } of this.live()) attempt!.finish(commit);
  }

  /** Ends a region, if it runs, in any state. Resolves when its threads are gone. */
  cancel(region: PipelinedRegion): Promise<void> {
    const run = this.runOf(region);
    if (run.attempt === undefined) return Promise.resolve();
    run.cancelling ??= this.end(run, run.attempt);
    return run.cancelling;
  }

  /** Ends all regions. */
  async cancelAll(): Promise<void> {
    await Promise.all(this.regions.map((region) => this.cancel(region)));
  }

  /** The subtasks of all regions as they run now. */
  subtasks(): SubtaskAttempt[] {
    return this.runs.flatMap(({ region, nextAttemptNumber }) =>
      region.vertices.flatMap(({ index, parallelism }) =>
        Array.from({ length: parallelism }, (_, subtaskIndex) => ({
          vertexIndex: index,
          subtaskIndex,
          attemptNumber: nextAttemptNumber - 1,
        })),
      ),
    );
  }

  /** The latest numbers of all tasks. */
  metrics(): TaskMetrics[] {
    return this.runs.flatMap(({ attempt, lastMetrics }) => {
      const current = attempt?.metrics() ?? [];
      return current.length > 0 ? current : lastMetrics;
    });
  }

  private eventsOf(run: RegionRun): AttemptEvents {
    const { events } = this.options;
    return {
      acknowledged: events.acknowledged,
      declined: events.declined,
      backlog: events.backlog,
      delivered: events.delivered,
      opened: () => {
        this.become(run, 'open');
        events.opened(run.region);
      },
      failed: (error) => this.fail(run, error),
      completed: (checkpointId) => this.committed(run, checkpointId),
      endOfData: () => {
        this.become(run, 'ended');
        if (this.runs.every(({ state }) => state === 'ended')) events.endOfData();
      },
      closed: () => {
        this.become(run, 'closed');
        if (this.runs.every(({ state }) => state === 'closed')) events.closed();
      },
    };
  }

  private fail(run: RegionRun, error: Error): void {
    this.become(run, 'failed');
    this.options.events.failed(run.region, error);
  }

  /** I2 */
  private committed(run: RegionRun, checkpointId: number): void {
    const left = this.committing.get(checkpointId);
    if (left?.delete(run) !== true || left.size > 0) return;
    this.committing.delete(checkpointId);
    this.options.events.completed(checkpointId);
  }

  /** I1 */
  private async end(run: RegionRun, attempt: ExecutionAttempt): Promise<void> {
    // What it has not committed it commits when it is restored.
    this.committing.clear();
    this.become(run, 'down');
    await attempt.cancel();
    run.lastMetrics = attempt.metrics();
    run.attempt = undefined;
    run.cancelling = undefined;
  }

  private live(): RegionRun[] {
    return this.runs.filter(({ state }) => LIVE.includes(state));
  }

  private runOf(region: PipelinedRegion): RegionRun {
    return this.runs[region.index]!;
  }

  private become(run: RegionRun, next: RegionState): void {
    assert(NEXT[run.state].includes(next), `a region cannot go from ${run.state} to ${next}`);
    run.state = next;
  }
}
