export {
  ExceptionHistory,
  type ExceptionInfo,
  type JobExceptionsInfoWithHistory,
  type RootExceptionInfo,
} from './exception-history.ts';
export type { RestoredExecution } from './execution-attempt.ts';
export { type JobEndReport, JobMaster, type JobMasterOptions } from './job-master.ts';
export { JobStatistics, type StatisticsLimits } from './job-statistics.ts';
export { isTerminal, type JobStatus } from './job-status.ts';
export { type FailoverStrategy, pipelinedRegions } from './pipelined-regions.ts';
export type { RestartStrategySettings } from './restart-strategy.ts';
export { describeEdges, describeOperators, restoreExecution } from './restore.ts';
export {
  type Deploy,
  inlineSlotHost,
  type PlanDiffers,
  type SlotHost,
  slotPlaces,
  type WorkerTask,
  workerSlotHost,
} from './slot-host.ts';
export type { StopOptions } from './stop-request.ts';
