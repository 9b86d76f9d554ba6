/**
 * How far the sources of a group may read ahead of each other. Pure: reports go in, limits come out; the execution attempt
 * asks at the group's interval and sends what changed.
 *
 *     limit of a group = lowest watermark that its subtasks reported + max drift
 *
 * A subtask that has not reported yet, is idle or has ended is not waited for. Not state: after a restart all begin anew.
 * (org.apache.flink.runtime.source.coordinator.SourceCoordinator, its WatermarkAggregator.)
 */
import { MAX_WATERMARK } from '../base/index.ts';
import type { JobVertex, TaskKey } from '../runtime/index.ts';

export class WatermarkAlignmentGroup {
  readonly name: string;
  readonly updateIntervalMs: number;
  /** Indices of the source vertices. */
  readonly vertices: readonly number[];
  private readonly maxDriftMs: number;
  private readonly reported = new Map<string, number>();
  private announcedMs = MAX_WATERMARK;

  /** The shortest interval and the smallest drift of its sources hold for all. */
  constructor(name: string, sources: readonly JobVertex[]) {
    const settings = sources.map(({ source }) => source!.watermarks!.alignment!);
    this.name = name;
    this.vertices = sources.map(({ index }) => index);
    this.updateIntervalMs = Math.min(...settings.map(({ updateIntervalMs }) => updateIntervalMs));
    this.maxDriftMs = Math.min(...settings.map(({ maxDriftMs }) => maxDriftMs));
  }

  report(task: TaskKey, watermarkMs: number): void {
    this.reported.set(`${task.vertex}.${task.subtask}`, watermarkMs);
  }

  /** The limit that is to be announced; undefined: it has not changed. */
  nextLimit(): number | undefined {
    const lowest = Math.min(MAX_WATERMARK, ...this.reported.values());
    const limitMs = Math.min(MAX_WATERMARK, lowest + this.maxDriftMs);
    if (limitMs === this.announcedMs) return undefined;
    this.announcedMs = limitMs;
    return limitMs;
  }
}

/** The groups of a job's sources. */
export function alignmentGroups(vertices: readonly JobVertex[]): WatermarkAlignmentGroup[] {
  const byName = new Map<string, JobVertex[]>();
  for (const vertex of vertices) {
    const group = vertex.source?.watermarks?.alignment?.group;
    if (group !== undefined) byName.set(group, [...(byName.get(group) ?? []), vertex]);
  }
  return [...byName].map(([name, sources]) => new WatermarkAlignmentGroup(name, sources));
}
