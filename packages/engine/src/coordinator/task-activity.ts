/**
 * What the tasks of a job did while a checkpoint was under way, and who is in front of and behind whom: what sentences about
 * checkpoints need beside the answers of the subtasks. Asked by the statistics of a job.
 *
 * Tasks report their times now and then. At the trigger of a checkpoint the latest report is put aside, and what changed
 * until the newest is what they did meanwhile.
 */
import type { CheckpointSurroundings, SubtaskActivity, SubtaskRef } from '../checkpoint/index.ts';
import { channelEnds } from '../exchange/index.ts';
import type { Clock } from '../platform/index.ts';
import { type JobGraph, slotOf, type TaskMetrics } from '../runtime/index.ts';

export interface TaskActivityOptions {
  readonly graph: JobGraph;
  readonly clock: Clock;
  readonly isAligned: boolean;
  /** Threads that the subtasks of a vertex are spread over. */
  readonly slotCount: number;
  /** The latest numbers of all tasks. */
  metrics(): readonly TaskMetrics[];
}

type Reports = ReadonlyMap<string, TaskMetrics>;

interface Mark {
  readonly atMs: number;
  readonly reports: Reports;
}

export class TaskActivity {
  private readonly options: TaskActivityOptions;
  /** By checkpoint in flight: when it was triggered, and the reports at that time. */
  private readonly marks = new Map<number, Mark>();

  constructor(options: TaskActivityOptions) {
    this.options = options;
  }

  /** A checkpoint was triggered. */
  begin(checkpointId: number): void {
    this.marks.set(checkpointId, { atMs: this.options.clock.monotonicMs(), reports: this.reports() });
  }

  /** Since its trigger; 0 after `end`. */
  elapsedMs(checkpointId: number): number {
    const mark = this.marks.get(checkpointId);
    return mark === undefined ? 0 : this.options.clock.monotonicMs() - mark.atMs;
  }

  /** What is known of the time since its trigger. Not remembered after `end`. */
  surroundingsOf(checkpointId: number): CheckpointSurroundings {
    const { graph, clock, isAligned, slotCount } = this.options;
    const mark = this.marks.get(checkpointId);
    const after = this.reports();
    return {
      sendersOf: (subtask) => sendersOf(graph, subtask),
      receiversOf: (subtask) => receiversOf(graph, subtask),
      sameThreadAs: (subtask) => sameThreadAs(graph, slotCount, subtask),
      activityOf: (subtask) =>
        mark && activity(mark, keyOf(subtask), after.get(keyOf(subtask)), clock.monotonicMs()),
      elapsedMs: this.elapsedMs(checkpointId),
      isAligned,
    };
  }

  end(checkpointId: number): void {
    this.marks.delete(checkpointId);
  }

  private reports(): Reports {
    return new Map(
      this.options.metrics().map((metrics) => {
        const { vertex, subtask } = metrics.task;
        return [keyOf({ vertexIndex: vertex, subtaskIndex: subtask }), metrics];
      }),
    );
  }
}

function keyOf({ vertexIndex, subtaskIndex }: SubtaskRef): string {
  return `${vertexIndex}.${subtaskIndex}`;
}

/** A task that has not reported before the trigger had just begun. */
function activity(
  { atMs, reports }: Mark,
  key: string,
  after: TaskMetrics | undefined,
  nowMs: number,
): SubtaskActivity | undefined {
  if (after?.reportedMs === undefined) return undefined;
  const before = reports.get(key) ?? { reportedMs: atMs, busyTimeMs: 0, backPressuredTimeMs: 0 };
  const spanMs = after.reportedMs - (before.reportedMs ?? atMs);
  const silentMs = nowMs - after.reportedMs;
  if (spanMs <= 0) return { busyRatio: undefined, backPressuredRatio: undefined, silentMs };
  const ratio = (spentMs: number): number => Math.min(1, Math.max(0, spentMs / spanMs));
  return {
    busyRatio: ratio(after.busyTimeMs - before.busyTimeMs),
    backPressuredRatio: ratio(after.backPressuredTimeMs - before.backPressuredTimeMs),
    silentMs,
  };
}

function sameThreadAs(graph: JobGraph, slotCount: number, of: SubtaskRef): SubtaskRef[] {
  const slot = slotOf(of.subtaskIndex, slotCount);
  return graph.vertices.flatMap(({ index, parallelism }) =>
    Array.from({ length: parallelism }, (_, subtaskIndex) => ({ vertexIndex: index, subtaskIndex })).filter(
      (each) => slotOf(each.subtaskIndex, slotCount) === slot && keyOf(each) !== keyOf(of),
    ),
  );
}

function sendersOf(graph: JobGraph, { vertexIndex, subtaskIndex }: SubtaskRef): SubtaskRef[] {
  return graph.edges
    .filter(({ targetVertex }) => targetVertex === vertexIndex)
    .flatMap(({ sourceVertex, partitioning }) => {
      const senders = graph.vertices[sourceVertex]!.parallelism;
      return channelEnds(partitioning, senders, graph.vertices[vertexIndex]!.parallelism)
        .filter(({ receiver }) => receiver === subtaskIndex)
        .map(({ sender }) => ({ vertexIndex: sourceVertex, subtaskIndex: sender }));
    });
}

function receiversOf(graph: JobGraph, { vertexIndex, subtaskIndex }: SubtaskRef): SubtaskRef[] {
  return graph.edges
    .filter(({ sourceVertex }) => sourceVertex === vertexIndex)
    .flatMap(({ targetVertex, partitioning }) => {
      const receivers = graph.vertices[targetVertex]!.parallelism;
      return channelEnds(partitioning, graph.vertices[vertexIndex]!.parallelism, receivers)
        .filter(({ sender }) => sender === subtaskIndex)
        .map(({ receiver }) => ({ vertexIndex: targetVertex, subtaskIndex: receiver }));
    });
}
