/**
 * Statistics of checkpoints, with the names and shapes of Flink's REST API, and the answer to "why was it slow?".
 *
 * Fed by the JobManager with what the coordinator decides; read by reports and the REST floor. Bounded: the history has
 * ten entries, details of a thousand are kept. Pure apart from being an object that remembers.
 */
import type { SubtaskCheckpointMetrics, TaskAcknowledgement } from './acknowledgement.ts';
import { type CheckpointBarrier, isSavepoint, stopsJob } from './barrier.ts';
import { NO_SUMMARY, QuantileSummary, type SummaryOf } from './quantile-summary.ts';

const HISTORY_MAX = 10;
const DETAILS_MAX = 1000;

export type CheckpointStatus = 'IN_PROGRESS' | 'COMPLETED' | 'FAILED';

/** A vertex that takes part. */
export interface StatisticsVertex {
  readonly id: string;
  readonly name: string;
  readonly vertexIndex: number;
  readonly parallelism: number;
}

/** One checkpoint, `<cp>` of the REST API without `tasks`. */
export interface CheckpointStatistics {
  readonly className: 'completed' | 'in_progress' | 'failed';
  readonly id: number;
  readonly status: CheckpointStatus;
  readonly is_savepoint: boolean;
  readonly savepointFormat: 'CANONICAL' | 'NATIVE' | null;
  readonly checkpoint_type: 'CHECKPOINT' | 'UNALIGNED_CHECKPOINT' | 'SAVEPOINT' | 'SYNC_SAVEPOINT';
  readonly trigger_timestamp: number;
  readonly latest_ack_timestamp: number;
  readonly checkpointed_size: number;
  readonly state_size: number;
  readonly end_to_end_duration: number;
  readonly alignment_buffered: number;
  readonly processed_data: number;
  readonly persisted_data: number;
  readonly num_subtasks: number;
  readonly num_acknowledged_subtasks: number;
  readonly external_path?: string;
  readonly discarded?: boolean;
  readonly failure_timestamp?: number;
  readonly failure_message?: string | null;
}

/** `<task>` of the REST API. */
export interface VertexCheckpointStatistics {
  readonly id: number;
  readonly status: CheckpointStatus;
  readonly latest_ack_timestamp: number;
  readonly checkpointed_size: number;
  readonly state_size: number;
  readonly end_to_end_duration: number;
  readonly alignment_buffered: number;
  readonly processed_data: number;
  readonly persisted_data: number;
  readonly num_subtasks: number;
  readonly num_acknowledged_subtasks: number;
}

/** An entry of `subtasks` in the REST API. */
export type SubtaskStatistics =
  | {
      readonly className: 'completed';
      readonly index: number;
      readonly status: 'completed';
      readonly ack_timestamp: number;
      readonly end_to_end_duration: number;
      readonly checkpointed_size: number;
      readonly state_size: number;
      readonly checkpoint: { readonly sync: number; readonly async: number };
      readonly alignment: {
        readonly buffered: number;
        readonly processed: number;
        readonly persisted: number;
        readonly duration: number;
      };
      readonly start_delay: number;
      readonly unaligned_checkpoint: boolean;
      readonly aborted: boolean;
    }
  | { readonly className: 'pending'; readonly index: number; readonly status: 'pending_or_failed' };

/** `.../checkpoints/details/:id/subtasks/:vertex` */
export interface SubtaskDetails extends VertexCheckpointStatistics {
  readonly summary: {
    readonly checkpointed_size: SummaryOf;
    readonly state_size: SummaryOf;
    readonly end_to_end_duration: SummaryOf;
    readonly checkpoint_duration: { readonly sync: SummaryOf; readonly async: SummaryOf };
    readonly alignment: {
      readonly buffered: SummaryOf;
      readonly processed: SummaryOf;
      readonly persisted: SummaryOf;
      readonly duration: SummaryOf;
    };
    readonly start_delay: SummaryOf;
  };
  readonly subtasks: readonly SubtaskStatistics[];
}

/** `GET /jobs/:jobid/checkpoints` */
export interface CheckpointsOverview {
  readonly counts: {
    readonly restored: number;
    readonly total: number;
    readonly in_progress: number;
    readonly completed: number;
    readonly failed: number;
  };
  readonly summary: Readonly<Record<SummaryName, SummaryOf>>;
  readonly latest: {
    readonly completed: (CheckpointStatistics & { readonly tasks: object }) | null;
    readonly savepoint: (CheckpointStatistics & { readonly tasks: object }) | null;
    readonly failed: (CheckpointStatistics & { readonly tasks: object }) | null;
    readonly restored: RestoredStatistics | null;
  };
  readonly history: readonly (CheckpointStatistics & { readonly tasks: object })[];
}

export interface RestoredStatistics {
  readonly id: number;
  readonly restore_timestamp: number;
  readonly is_savepoint: boolean;
  readonly external_path: string | null;
}

const SUMMARY_NAMES = [
  'checkpointed_size',
  'state_size',
  'end_to_end_duration',
  'alignment_buffered',
  'processed_data',
  'persisted_data',
] as const;

type SummaryName = (typeof SUMMARY_NAMES)[number];

interface SubtaskRecord {
  readonly ackMs: number;
  readonly metrics: SubtaskCheckpointMetrics;
}

interface CheckpointRecord {
  readonly barrier: CheckpointBarrier;
  readonly vertices: readonly StatisticsVertex[];
  /** By vertex index, then subtask index. */
  readonly subtasks: Map<number, (SubtaskRecord | undefined)[]>;
  status: CheckpointStatus;
  externalPath: string | undefined;
  discarded: boolean;
  failureMs: number | undefined;
  failureMessage: string | null;
}

export class CheckpointStatisticsTracker {
  private readonly records = new Map<number, CheckpointRecord>();
  private readonly summaries = new Map<SummaryName, QuantileSummary>(
    SUMMARY_NAMES.map((name) => [name, new QuantileSummary()]),
  );
  private restoredCount = 0;
  private completedCount = 0;
  private failedCount = 0;
  private latestCompleted: CheckpointRecord | undefined;
  private latestSavepoint: CheckpointRecord | undefined;
  private latestFailed: CheckpointRecord | undefined;
  private restored: RestoredStatistics | undefined;

  /** A checkpoint was triggered. */
  triggered(barrier: CheckpointBarrier, vertices: readonly StatisticsVertex[]): void {
    const subtasks = new Map(
      vertices.map(({ vertexIndex, parallelism }) => [
        vertexIndex,
        Array.from({ length: parallelism }, (): SubtaskRecord | undefined => undefined),
      ]),
    );
    this.records.set(barrier.checkpointId, {
      ...{ barrier, vertices, subtasks, status: 'IN_PROGRESS', externalPath: undefined },
      ...{ discarded: false, failureMs: undefined, failureMessage: null },
    });
    if (this.records.size > DETAILS_MAX) this.records.delete(this.records.keys().next().value!);
  }

  /** A subtask acknowledged it; `wallMs` is when the JobManager heard of it. */
  acknowledged(
    { checkpointId, vertexIndex, subtaskIndex, metrics }: TaskAcknowledgement,
    wallMs: number,
  ): void {
    const subtasks = this.records.get(checkpointId)?.subtasks.get(vertexIndex);
    if (subtasks !== undefined && subtaskIndex < subtasks.length)
      subtasks[subtaskIndex] = { ackMs: wallMs, metrics };
  }

  /** It is complete. `externalPath`: undefined if it is in memory only. */
  completed(checkpointId: number, externalPath: string | undefined): void {
    const record = this.records.get(checkpointId);
    if (record === undefined || record.status !== 'IN_PROGRESS') return;
    record.status = 'COMPLETED';
    record.externalPath = externalPath;
    this.completedCount++;
    if (isSavepoint(record.barrier.kind)) this.latestSavepoint = record;
    else this.latestCompleted = record;
    const statistics = statisticsOf(record);
    for (const [name, summary] of this.summaries) summary.add(statistics[name]);
  }

  failed(checkpointId: number, message: string, wallMs: number): void {
    const record = this.records.get(checkpointId);
    if (record === undefined || record.status !== 'IN_PROGRESS') return;
    record.status = 'FAILED';
    record.failureMs = wallMs;
    record.failureMessage = message;
    this.failedCount++;
    this.latestFailed = record;
  }

  /** A request was refused before it got an id. */
  refused(): void {
    this.failedCount++;
  }

  /** Its files were deleted. */
  discarded(checkpointId: number): void {
    const record = this.records.get(checkpointId);
    if (record !== undefined) record.discarded = true;
  }

  restoredFrom(restored: RestoredStatistics): void {
    this.restoredCount++;
    this.restored = restored;
  }

  overview(): CheckpointsOverview {
    const all = [...this.records.values()];
    const inProgress = all.filter(({ status }) => status === 'IN_PROGRESS').length;
    const listed = (record: CheckpointRecord | undefined) =>
      record === undefined ? null : { ...statisticsOf(record), tasks: {} };
    const summary = Object.fromEntries([...this.summaries].map(([name, values]) => [name, values.summary()]));
    return {
      counts: {
        restored: this.restoredCount,
        total: this.completedCount + this.failedCount + inProgress,
        in_progress: inProgress,
        completed: this.completedCount,
        failed: this.failedCount,
      },
      summary: summary as Record<SummaryName, SummaryOf>,
      latest: {
        completed: listed(this.latestCompleted),
        savepoint: listed(this.latestSavepoint),
        failed: listed(this.latestFailed),
        restored: this.restored ?? null,
      },
      history: all
        .slice(-HISTORY_MAX)
        .reverse()
        .map((record) => ({ ...statisticsOf(record), tasks: {} })),
    };
  }

  /** `.../details/:id`: with the vertices by their ids; undefined if it is not known (any more). */
  details(
    checkpointId: number,
  ):
    | (CheckpointStatistics & { readonly tasks: Readonly<Record<string, VertexCheckpointStatistics>> })
    | undefined {
    const record = this.records.get(checkpointId);
    if (record === undefined) return undefined;
    const tasks = record.vertices.map((vertex) => [vertex.id, vertexStatistics(record, vertex)] as const);
    return { ...statisticsOf(record), tasks: Object.fromEntries(tasks) };
  }

  /** `.../details/:id/subtasks/:vertex`; undefined if one of the two is not known. */
  subtaskDetails(checkpointId: number, vertexId: string): SubtaskDetails | undefined {
    const record = this.records.get(checkpointId);
    const vertex = record?.vertices.find(({ id }) => id === vertexId);
    return record === undefined || vertex === undefined ? undefined : subtaskDetails(record, vertex);
  }

  /** A sentence: which subtask held the checkpoint up, in which phase; undefined if nothing is known of it. */
  explain(checkpointId: number): string | undefined {
    const record = this.records.get(checkpointId);
    return record === undefined ? undefined : explain(record);
  }
}

function answered(record: CheckpointRecord, vertex?: StatisticsVertex): SubtaskRecord[] {
  const lists =
    vertex === undefined ? [...record.subtasks.values()] : [record.subtasks.get(vertex.vertexIndex) ?? []];
  return lists.flat().filter((subtask) => subtask !== undefined);
}

function sums(record: CheckpointRecord, subtasks: readonly SubtaskRecord[]) {
  const sum = (pick: (metrics: SubtaskCheckpointMetrics) => number): number =>
    subtasks.reduce((total, { metrics }) => total + pick(metrics), 0);
  const latest = subtasks.reduce((max, { ackMs }) => Math.max(max, ackMs), -1);
  return {
    latest_ack_timestamp: latest,
    checkpointed_size: sum((metrics) => metrics.checkpointedBytes),
    state_size: sum((metrics) => metrics.stateSizeBytes),
    end_to_end_duration: latest < 0 ? 0 : Math.max(0, latest - record.barrier.timestampMs),
    alignment_buffered: 0,
    processed_data: sum((metrics) => metrics.processedBytes),
    persisted_data: sum((metrics) => metrics.persistedBytes),
    num_acknowledged_subtasks: subtasks.length,
  };
}

function statisticsOf(record: CheckpointRecord): CheckpointStatistics {
  const { barrier, status } = record;
  const savepoint = isSavepoint(barrier.kind);
  const type = stopsJob(barrier.kind) ? 'SYNC_SAVEPOINT' : savepoint ? 'SAVEPOINT' : 'CHECKPOINT';
  return {
    className: status === 'COMPLETED' ? 'completed' : status === 'FAILED' ? 'failed' : 'in_progress',
    id: barrier.checkpointId,
    status,
    is_savepoint: savepoint,
    savepointFormat: savepoint ? 'NATIVE' : null,
    checkpoint_type: type,
    trigger_timestamp: barrier.timestampMs,
    ...sums(record, answered(record)),
    num_subtasks: record.vertices.reduce((total, { parallelism }) => total + parallelism, 0),
    ...(status === 'COMPLETED'
      ? {
          external_path: record.externalPath ?? '<checkpoint-not-externally-addressable>',
          discarded: record.discarded,
        }
      : {}),
    ...(status === 'FAILED'
      ? { failure_timestamp: record.failureMs ?? 0, failure_message: record.failureMessage }
      : {}),
  };
}

function vertexStatistics(record: CheckpointRecord, vertex: StatisticsVertex): VertexCheckpointStatistics {
  const subtasks = answered(record, vertex);
  const complete = subtasks.length === vertex.parallelism;
  return {
    id: record.barrier.checkpointId,
    status: complete ? 'COMPLETED' : record.status === 'FAILED' ? 'FAILED' : 'IN_PROGRESS',
    ...sums(record, subtasks),
    num_subtasks: vertex.parallelism,
  };
}

function subtaskDetails(record: CheckpointRecord, vertex: StatisticsVertex): SubtaskDetails {
  const known = answered(record, vertex);
  const summary = (pick: (subtask: SubtaskRecord) => number): SummaryOf => {
    const values = new QuantileSummary();
    for (const subtask of known) values.add(Math.round(pick(subtask)));
    return known.length === 0 ? NO_SUMMARY : values.summary();
  };
  const zero = summary(() => 0);
  return {
    ...vertexStatistics(record, vertex),
    summary: {
      checkpointed_size: summary(({ metrics }) => metrics.checkpointedBytes),
      state_size: summary(({ metrics }) => metrics.stateSizeBytes),
      end_to_end_duration: summary(({ ackMs }) => ackMs - record.barrier.timestampMs),
      checkpoint_duration: {
        sync: summary(({ metrics }) => metrics.syncMs),
        async: summary(({ metrics }) => metrics.asyncMs),
      },
      alignment: {
        buffered: zero,
        processed: summary(({ metrics }) => metrics.processedBytes),
        persisted: summary(({ metrics }) => metrics.persistedBytes),
        duration: summary(({ metrics }) => metrics.alignmentMs),
      },
      start_delay: summary(({ metrics }) => metrics.startDelayMs),
    },
    subtasks: (record.subtasks.get(vertex.vertexIndex) ?? []).map((subtask, index) =>
      subtaskStatistics(record, subtask, index),
    ),
  };
}

function subtaskStatistics(
  record: CheckpointRecord,
  subtask: SubtaskRecord | undefined,
  index: number,
): SubtaskStatistics {
  if (subtask === undefined) return { className: 'pending', index, status: 'pending_or_failed' };
  const { ackMs, metrics } = subtask;
  return {
    className: 'completed',
    index,
    status: 'completed',
    ack_timestamp: ackMs,
    end_to_end_duration: Math.max(0, ackMs - record.barrier.timestampMs),
    checkpointed_size: metrics.checkpointedBytes,
    state_size: metrics.stateSizeBytes,
    checkpoint: { sync: Math.round(metrics.syncMs), async: Math.round(metrics.asyncMs) },
    alignment: {
      buffered: 0,
      processed: metrics.processedBytes,
      persisted: metrics.persistedBytes,
      duration: Math.round(metrics.alignmentMs),
    },
    start_delay: Math.round(metrics.startDelayMs),
    unaligned_checkpoint: false,
    aborted: false,
  };
}

const PHASES = [
  {
    name: 'the start delay',
    pick: (m: SubtaskCheckpointMetrics) => m.startDelayMs,
    why: 'records were queued before the barrier',
  },
  {
    name: 'the alignment',
    pick: (m: SubtaskCheckpointMetrics) => m.alignmentMs,
    why: 'one channel is behind the others',
  },
  {
    name: 'the synchronous part',
    pick: (m: SubtaskCheckpointMetrics) => m.syncMs,
    why: 'operators took long in snapshotState',
  },
  {
    name: 'the asynchronous part',
    pick: (m: SubtaskCheckpointMetrics) => m.asyncMs,
    why: 'writing the state',
  },
] as const;

function explain(record: CheckpointRecord): string {
  const id = record.barrier.checkpointId;
  const missing = record.vertices.flatMap((vertex) => {
    const subtasks = record.subtasks.get(vertex.vertexIndex) ?? [];
    return [...subtasks.keys()].filter((i) => subtasks[i] === undefined).map((i) => subtaskName(vertex, i));
  });
  if (missing.length > 0) {
    const shown =
      missing.slice(0, 3).join(', ') + (missing.length > 3 ? ` and ${missing.length - 3} more` : '');
    return `Checkpoint ${id} waits for, or did not get, the answer of ${shown}.`;
  }
  let slowest: { vertex: StatisticsVertex; index: number; subtask: SubtaskRecord } | undefined;
  for (const vertex of record.vertices) {
    for (const [index, subtask] of (record.subtasks.get(vertex.vertexIndex) ?? []).entries()) {
      if (subtask === undefined) continue;
      if (slowest === undefined || subtask.ackMs > slowest.subtask.ackMs)
        slowest = { vertex, index, subtask };
    }
  }
  if (slowest === undefined) return `Checkpoint ${id} had no subtasks.`;
  const { metrics, ackMs } = slowest.subtask;
  const phase = PHASES.reduce((longest, each) =>
    each.pick(metrics) > longest.pick(metrics) ? each : longest,
  );
  const channel =
    phase.name === 'the alignment' && metrics.lastChannel !== undefined
      ? `, last ${metrics.lastChannel}`
      : '';
  const totalMs = Math.max(0, ackMs - record.barrier.timestampMs);
  return (
    `Checkpoint ${id} took ${totalMs} ms; the last to answer was ${subtaskName(slowest.vertex, slowest.index)}, ` +
    `where ${phase.name} took ${Math.round(phase.pick(metrics))} ms (${phase.why}${channel}); ` +
    `${metrics.stateSizeBytes} bytes of state.`
  );
}

function subtaskName({ name, parallelism }: StatisticsVertex, index: number): string {
  return `"${name}" (${index + 1}/${parallelism})`;
}
