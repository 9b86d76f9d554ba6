/**
 * Sentences for people: why a checkpoint took so long, why it failed, what it waits for. Pure; asked by the tracker of
 * statistics.
 *
 * A completed checkpoint took as long as the subtask that answered last, so its sentence names that one and its longest
 * phase. Of one that expired or waits it names those that hold up the rest (checkpoint-stall.ts).
 */
import { readableBytes, readableDuration } from '../base/index.ts';
import type { SubtaskCheckpointMetrics } from './acknowledgement.ts';
import { CHECKPOINT_FAILURES } from './checkpoint-failure.ts';
import {
  type AnsweredSubtask,
  answered,
  type CheckpointOutcome,
  type CheckpointRecord,
  isUnaligned,
  missing,
  subtaskName,
} from './checkpoint-record.ts';
import { occupation, stallText } from './checkpoint-stall.ts';
import type { CheckpointSurroundings } from './missing-subtasks.ts';
import { subtaskTable } from './subtask-table.ts';

/** The sentence about a checkpoint. */
export function explainCheckpoint(record: CheckpointRecord, surroundings: CheckpointSurroundings): string {
  const { outcome } = record;
  switch (outcome.status) {
    case 'COMPLETED':
      return explainCompleted(record, outcome.durationMs, surroundings);
    case 'FAILED':
      return explainFailed(record, outcome, surroundings);
    case 'IN_PROGRESS':
      return explainWaiting(record, surroundings);
  }
}

/** The sentence, and below it what each subtask has told. */
export function checkpointReport(record: CheckpointRecord, surroundings: CheckpointSurroundings): string {
  const sentence = record.explanation ?? explainCheckpoint(record, surroundings);
  return [sentence, '', ...subtaskTable(record)].join('\n');
}

function nameOf({ barrier, isSavepoint }: CheckpointRecord): string {
  return `${isSavepoint ? 'Savepoint' : 'Checkpoint'} ${barrier.checkpointId}`;
}

// Completed.

type Phase = 'startDelay' | 'alignment' | 'sync' | 'async' | 'delivery';

function explainCompleted(
  record: CheckpointRecord,
  durationMs: number,
  surroundings: CheckpointSurroundings,
): string {
  const name = nameOf(record);
  const subtasks = answered(record);
  const last = subtasks.reduce(
    (latest, each) => (each.answer.afterMs > latest.answer.afterMs ? each : latest),
    subtasks[0]!,
  );
  if (last === undefined) return `${name} took ${readableDuration(durationMs)}.`;
  const ref = { vertexIndex: last.vertex.vertexIndex, subtaskIndex: last.index };
  const { metrics, afterMs: answeredMs } = last.answer;
  const storingMs = durationMs - answeredMs;
  const lead = `${name} took ${readableDuration(durationMs)}`;
  const who = subtaskName(record, ref);
  if (storingMs > answeredMs) {
    return (
      `${lead}; all subtasks had answered after ${readableDuration(answeredMs)}, and ` +
      `${readableDuration(storingMs)} went into writing its manifest.`
    );
  }
  const isSource = surroundings.sendersOf(ref).length === 0;
  const phase = longestPhase(metrics, answeredMs);
  const isWaiting = phase === 'startDelay' || phase === 'delivery';
  const did = isWaiting ? occupation(record, ref, surroundings) : undefined;
  const why = phaseText(phase, metrics, answeredMs, isSource) + (did === undefined ? '' : ` (${did})`);
  return `${lead}; the last to answer was ${who}: ${why}; ${weightText(last)}.`;
}

function accountedMs(metrics: SubtaskCheckpointMetrics): number {
  return metrics.startDelayMs + metrics.alignmentMs + metrics.syncMs + metrics.asyncMs;
}

function longestPhase(metrics: SubtaskCheckpointMetrics, answeredMs: number): Phase {
  const phases: readonly (readonly [Phase, number])[] = [
    ['startDelay', metrics.startDelayMs],
    ['alignment', metrics.alignmentMs],
    ['sync', metrics.syncMs],
    ['async', metrics.asyncMs],
    ['delivery', answeredMs - accountedMs(metrics)],
  ];
  return phases.reduce((longest, each) => (each[1] > longest[1] ? each : longest))[0];
}

function phaseText(
  phase: Phase,
  metrics: SubtaskCheckpointMetrics,
  answeredMs: number,
  isSource: boolean,
): string {
  const { startDelayMs, alignmentMs, syncMs, asyncMs, lastChannel } = metrics;
  const by = lastChannel === undefined ? '' : `, by ${lastChannel},`;
  switch (phase) {
    case 'startDelay': {
      const delay = readableDuration(startDelayMs);
      if (isSource) return `it came to the trigger after ${delay}`;
      const way = isUnaligned(metrics) ? 'overtaking' : 'behind';
      return `its first barrier came ${delay} after the trigger, ${way} the records before it`;
    }
    case 'alignment':
      return `its last barrier came${by} ${readableDuration(alignmentMs)} after the first`;
    case 'sync':
      return `its operators took ${readableDuration(syncMs)} for the synchronous part, and it did nothing else meanwhile`;
    case 'async':
      return `the asynchronous part, writing its state beside its work, took ${readableDuration(asyncMs)}`;
    case 'delivery': {
      const lateMs = answeredMs - accountedMs(metrics);
      return `its answer was ${readableDuration(lateMs)} on its way, as its thread or that of the JobManager was busy`;
    }
  }
}

function weightText({ answer: { metrics } }: AnsweredSubtask): string {
  const state = `${readableBytes(metrics.stateSizeBytes - metrics.persistedBytes)} of state`;
  return isUnaligned(metrics) ? `${state}, ${readableBytes(metrics.persistedBytes)} in flight` : state;
}

// Failed, and waiting.

function explainFailed(
  record: CheckpointRecord,
  outcome: Extract<CheckpointOutcome, { status: 'FAILED' }>,
  surroundings: CheckpointSurroundings,
): string {
  const name = nameOf(record);
  const after = `after ${readableDuration(outcome.durationMs)}`;
  const detail = detailOf(outcome.message);
  const { failure, declinedBy } = outcome;
  const who = declinedBy === undefined ? undefined : subtaskName(record, declinedBy);
  switch (failure) {
    case 'expired':
      if (missing(record).length === 0)
        return `${name} expired ${after}, although all subtasks had answered. ${detail}.`;
      return `${name} expired ${after}: ${stallText(record, surroundings)}`;
    case 'snapshot-failed':
      return `${name} failed ${after}: ${who ?? 'a subtask'} could not take its snapshot: ${detail}.`;
    case 'not-ready':
    case 'closing':
    case 'newer-barrier':
    case 'cancellation-barrier':
    case 'end-of-input':
      return `${name} was declined ${after}${who === undefined ? '' : ` by ${who}`}: ${detail}.`;
    case 'trigger-failed':
      return `${name} could not be triggered: ${detail}.`;
    case 'store-failed':
      return `${name} failed ${after}: all subtasks had answered, but its manifest could not be written: ${detail}.`;
    case 'task-failed':
    case 'region-failover':
      return `${name} was given up ${after}, as a task failed: ${detail}.`;
    default: {
      const reason = CHECKPOINT_FAILURES[failure].text.replace(/\.$/, '');
      return `${name} was given up ${after}: ${detail === '' || reason.includes(detail) ? reason : detail}.`;
    }
  }
}

/** Without Flink's text for the kind of failure, and the full stop. */
function detailOf(message: string): string {
  const [detail = ''] = message.split(' Failure reason: ');
  return detail.replace(/\.$/, '');
}

function explainWaiting(record: CheckpointRecord, surroundings: CheckpointSurroundings): string {
  const lead = `${nameOf(record)} has been under way for ${readableDuration(surroundings.elapsedMs)}`;
  if (missing(record).length === 0)
    return `${lead}: all subtasks have answered, its manifest is being written.`;
  return `${lead}: ${stallText(record, surroundings)}`;
}
