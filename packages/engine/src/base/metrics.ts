/**
 * The registry of metrics: the numbers that a running job reports, with Apache Flink's names where Flink has one.
 * `docs/reference/metrics.md` is generated from it.
 */

/** `counter` only grows; `gauge` is a value of the moment. */
export type MetricType = 'counter' | 'gauge';

/** What there is one of: a job, a task (a chain in one subtask), an operator in one subtask. */
export type MetricScope = 'job' | 'task' | 'operator';

export interface Metric {
  readonly name: string;
  readonly type: MetricType;
  readonly scope: MetricScope;
  readonly unit: string;
  readonly description: string;
}

const metric = (
  scope: MetricScope,
  name: string,
  type: MetricType,
  unit: string,
  description: string,
): Metric => ({ name, type, scope, unit, description });

/** All metrics that are reported. */
export const METRICS: readonly Metric[] = [
  metric('task', 'numRecordsIn', 'counter', 'records', 'Records received; of a source task, records read.'),
  metric(
    'task',
    'numRecordsOut',
    'counter',
    'records',
    'Records sent through exchanges, side outputs included.',
  ),
  metric(
    'task',
    'numBytesOut',
    'counter',
    'bytes',
    'Bytes sent through exchanges; of a record that is handed over as an object within a thread, 8 or 12.',
  ),
  metric(
    'task',
    'currentInputWatermark',
    'gauge',
    'ms since 1970',
    'The lowest watermark of the inputs that are not idle.',
  ),
  metric('task', 'accumulateBusyTimeMs', 'counter', 'ms', 'Time spent with records since the start.'),
  metric(
    'task',
    'accumulateBackPressuredTimeMs',
    'counter',
    'ms',
    'Time spent waiting for a free segment of an output.',
  ),
  metric('task', 'stateEntries', 'gauge', 'entries', 'Entries of keyed state.'),
  metric('task', 'stateSizeBytes', 'gauge', 'bytes', 'Memory that keyed state occupies.'),
  metric(
    'operator',
    'numLateRecordsDropped',
    'counter',
    'records',
    'Records that came after their window was gone.',
  ),
  metric(
    'operator',
    'numRecordsInErrors',
    'counter',
    'records',
    'Malformed records that a file source skipped.',
  ),
  metric(
    'operator',
    'numExpiredStateEntries',
    'counter',
    'entries',
    'Values of keyed state removed because their time-to-live had passed.',
  ),
  metric(
    'operator',
    'pendingCommittables',
    'gauge',
    'committables',
    'What a sink has written and not yet committed.',
  ),
  metric(
    'job',
    'lastCheckpointDuration',
    'gauge',
    'ms',
    'Of the last completed checkpoint; -1 before there is one.',
  ),
  metric(
    'job',
    'lastCheckpointSize',
    'gauge',
    'bytes',
    'Written for the last completed checkpoint; -1 before there is one.',
  ),
  metric(
    'job',
    'lastCheckpointFullSize',
    'gauge',
    'bytes',
    'State that the last completed checkpoint refers to; -1 before there is one.',
  ),
  metric(
    'job',
    'lastCheckpointProcessedData',
    'gauge',
    'bytes',
    'Processed while the barriers of the last completed checkpoint were aligned; -1 before there is one.',
  ),
  metric(
    'job',
    'lastCheckpointPersistedData',
    'gauge',
    'bytes',
    'Data in flight that the last completed checkpoint holds; -1 before there is one.',
  ),
  metric(
    'job',
    'lastCheckpointCompletedTimestamp',
    'gauge',
    'ms since 1970',
    'When the last checkpoint was completed; -1 before there is one.',
  ),
  metric(
    'job',
    'lastCheckpointRestoreTimestamp',
    'gauge',
    'ms since 1970',
    'When the job was last restored, at its start or after a failure; -1 if it never was.',
  ),
  metric(
    'job',
    'lastCompletedCheckpointId',
    'gauge',
    'id',
    'Number of the last completed checkpoint; -1 before there is one.',
  ),
  metric('job', 'numberOfCompletedCheckpoints', 'counter', 'checkpoints', 'Completed since the start.'),
  metric(
    'job',
    'numberOfFailedCheckpoints',
    'counter',
    'checkpoints',
    'Expired, declined, failed or refused since the start.',
  ),
  metric('job', 'numberOfInProgressCheckpoints', 'gauge', 'checkpoints', 'Under way.'),
  metric('job', 'totalNumberOfCheckpoints', 'counter', 'checkpoints', 'Completed, failed and under way.'),
  metric(
    'job',
    'numRestarts',
    'counter',
    'restarts',
    'Restarts since the start, of the job or a part of it.',
  ),
  metric('job', 'uptime', 'gauge', 'ms', 'Since all tasks run; 0 while they do not.'),
];
