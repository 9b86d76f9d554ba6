/** The registry of workloads: each run draws one of these. */
import { asyncCalls } from './async-calls.ts';
import { broadcastRules } from './broadcast-rules.ts';
import { finishedTasks } from './finished-tasks.ts';
import { intervalJoin } from './interval-join.ts';
import { iteratedState } from './iterated-state.ts';
import { keyedCounts } from './keyed-counts.ts';
import { lateData } from './late-data.ts';
import { randomGraph } from './random-graph.ts';
import { regions } from './regions.ts';
import { slowSink } from './slow-sink.ts';
import { timeToLive } from './time-to-live.ts';
import { timers } from './timers.ts';
import { twoStages } from './two-stages.ts';
import { windows } from './windows.ts';
import type { Scenario } from './workload.ts';

export const SCENARIOS: readonly Scenario[] = [
  keyedCounts,
  slowSink,
  finishedTasks,
  regions,
  windows,
  lateData,
  intervalJoin,
  broadcastRules,
  iteratedState,
  asyncCalls,
  timers,
  timeToLive,
  twoStages,
  randomGraph,
];
