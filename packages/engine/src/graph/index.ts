export { createJobGraph, type JobGraphOptions } from './job-graph.ts';
export type { TextHash } from './operator-uid.ts';
export {
  comparePlans,
  describePlan,
  type PlanDescription,
  type PlanDifference,
  type PlanInput,
  type PlanOperator,
  planNotStable,
  planText,
} from './plan.ts';
export {
  type ChainingPolicy,
  StreamGraph,
  StreamNode,
  type StreamNodeSpec,
  type StreamOrigin,
} from './stream-graph.ts';
