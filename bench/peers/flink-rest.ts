/** What the benchmarks ask of Flink's REST interface. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** So often a job is asked how it is. */
const POLL_MS = 100;

export interface FlinkJob {
  /** The class with `main`. */
  readonly entry: string;
  /** Without the dashes. */
  readonly options: Readonly<Record<string, string | number>>;
}

export interface FlinkJobFigures {
  /** From RUNNING to FINISHED. */
  readonly elapsedMs: number;
  readonly checkpoints: number;
}

export interface FlinkCheckpoint {
  /** From the trigger until it was complete. */
  readonly durationMs: number;
  readonly bytes: number;
  /** The longest of any subtask. */
  readonly syncMs: number;
}

export class FlinkRest {
  private readonly origin: string;

  constructor(port: number) {
    this.origin = `http://localhost:${port}`;
  }

  /** True once the JobManager answers. */
  async answers(): Promise<boolean> {
    return fetch(`${this.origin}/overview`).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  async freeSlots(): Promise<number> {
    return (await this.get<{ 'slots-available': number }>('/overview'))['slots-available'];
  }

  /** Resolves with what `run` takes. */
  async upload(jar: string): Promise<string> {
    const form = new FormData();
    form.append('jarfile', new Blob([readFileSync(jar)]), basename(jar));
    const { filename } = await this.call<{ filename: string }>('/jars/upload', {
      method: 'POST',
      body: form,
    });
    return basename(filename);
  }

  /** Resolves with the id of the job. */
  async submit(jar: string, { entry, options }: FlinkJob): Promise<string> {
    const programArgsList = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
    return (await this.post<{ jobid: string }>(`/jars/${jar}/run`, { entryClass: entry, programArgsList }))
      .jobid;
  }

  /** Rejects with the job's error if it fails. */
  async untilFinished(job: string): Promise<FlinkJobFigures> {
    for (;;) {
      if ((await this.throwIfFailed(job)) === 'FINISHED') break;
      await delay(POLL_MS);
    }
    const { timestamps } = await this.get<{ timestamps: Record<string, number> }>(`/jobs/${job}`);
    return {
      elapsedMs: timestamps['FINISHED']! - timestamps['RUNNING']!,
      checkpoints: await this.completedCheckpoints(job),
    };
  }

  /** Resolves with the status of the job. */
  async throwIfFailed(job: string): Promise<string> {
    const { status } = await this.get<{ status: string }>(`/jobs/${job}/status`);
    if (status === 'FAILED' || status === 'CANCELED') throw new Error(await this.errorOf(job, status));
    return status;
  }

  async completedCheckpoints(job: string): Promise<number> {
    return (await this.get<{ counts: { completed: number } }>(`/jobs/${job}/checkpoints`)).counts.completed;
  }

  /** Records that the last operator has read so far, as of up to a second ago. */
  async recordsRead(job: string): Promise<number> {
    interface Vertex {
      readonly metrics: { readonly 'read-records': number };
    }
    const { vertices } = await this.get<{ vertices: Vertex[] }>(`/jobs/${job}`);
    return vertices.at(-1)!.metrics['read-records'];
  }

  async takeCheckpoint(job: string): Promise<FlinkCheckpoint> {
    const path = `/jobs/${job}/checkpoints`;
    const { 'request-id': request } = await this.post<{ 'request-id': string }>(path, {
      checkpointType: 'FULL',
    });
    interface Progress {
      readonly status: { readonly id: string };
      readonly operation?: { readonly checkpointId?: number; readonly 'failure-cause'?: unknown };
    }
    for (;;) {
      const { status, operation } = await this.get<Progress>(`${path}/${request}`);
      // The statistics are a little older than this answer.
      await delay(POLL_MS);
      if (status.id !== 'COMPLETED') continue;
      if (operation?.checkpointId === undefined) throw new Error(`checkpoint: ${JSON.stringify(operation)}`);
      return this.checkpoint(job, operation.checkpointId);
    }
  }

  private async checkpoint(job: string, id: number): Promise<FlinkCheckpoint> {
    interface Details {
      readonly end_to_end_duration: number;
      readonly checkpointed_size: number;
      readonly tasks: Readonly<Record<string, unknown>>;
    }
    interface TaskDetails {
      readonly summary: { readonly checkpoint_duration: { readonly sync: { readonly max: number } } };
    }
    const path = `/jobs/${job}/checkpoints/details/${id}`;
    const details = await this.get<Details>(path);
    const syncMs: number[] = [];
    for (const task of Object.keys(details.tasks)) {
      const { summary } = await this.get<TaskDetails>(`${path}/subtasks/${task}`);
      syncMs.push(summary.checkpoint_duration.sync.max);
    }
    return {
      durationMs: details.end_to_end_duration,
      bytes: details.checkpointed_size,
      syncMs: Math.max(...syncMs),
    };
  }

  private async errorOf(job: string, status: string): Promise<string> {
    interface Exceptions {
      readonly exceptionHistory: { readonly entries: readonly { readonly stacktrace: string }[] };
    }
    const { exceptionHistory } = await this.get<Exceptions>(`/jobs/${job}/exceptions`);
    return `the job of Flink is ${status}: ${exceptionHistory.entries[0]?.stacktrace ?? 'without a reason'}`;
  }

  private get<T>(path: string): Promise<T> {
    return this.call<T>(path, {});
  }

  private post<T>(path: string, body: unknown): Promise<T> {
    const headers = { 'content-type': 'application/json' };
    return this.call<T>(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  private async call<T>(path: string, request: RequestInit): Promise<T> {
    const response = await fetch(this.origin + path, request);
    const text = await response.text();
    if (!response.ok) throw new Error(`Flink answered ${response.status} to ${path}: ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }
}
