/** A table for people: what each subtask has told of a checkpoint. Pure; a part of the report about it. */
import { readableBytes, readableDuration } from '../base/index.ts';
import { type CheckpointRecord, isUnaligned, shortened } from './checkpoint-record.ts';

const ROWS_MAX = 40;

const COLUMNS = [
  'task',
  'subtask',
  'answered',
  'start delay',
  'alignment',
  'sync',
  'async',
  'state',
  'in flight',
];

/** A line of headings, then one for each subtask in the order of the plan, at most so many. */
export function subtaskTable(record: CheckpointRecord): string[] {
  const rows = record.vertices.flatMap((vertex) =>
    (record.subtasks.get(vertex.vertexIndex) ?? []).map((answer, index) => {
      const head = [shortened(vertex.name), `${index + 1}/${vertex.parallelism}`];
      if (answer === undefined) return [...head, 'no', ...COLUMNS.slice(head.length + 1).map(() => '-')];
      const { metrics } = answer;
      const durations = [metrics.startDelayMs, metrics.alignmentMs, metrics.syncMs, metrics.asyncMs];
      return [
        ...head,
        readableDuration(answer.afterMs),
        ...durations.map(readableDuration),
        readableBytes(metrics.stateSizeBytes - metrics.persistedBytes),
        isUnaligned(metrics) ? readableBytes(metrics.persistedBytes) : '-',
      ];
    }),
  );
  const shown = [COLUMNS, ...rows.slice(0, ROWS_MAX)];
  const widths = COLUMNS.map((_, column) => Math.max(...shown.map((row) => row[column]!.length)));
  const lines = shown.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  );
  return rows.length > ROWS_MAX ? [...lines, `… and ${rows.length - ROWS_MAX} more`] : lines;
}
