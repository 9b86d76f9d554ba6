/** The registry of workloads: each run draws one of these. */
import { keyedCounts } from './keyed-counts.ts';
import { slowSink } from './slow-sink.ts';
import type { Scenario } from './workload.ts';

export const SCENARIOS: readonly Scenario[] = [keyedCounts, slowSink];
