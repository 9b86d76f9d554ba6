export type { RestoredExecution } from './execution-attempt.ts';
export { type JobEndReport, JobMaster, type JobMasterOptions, type StopOptions } from './job-master.ts';
export { type CheckpointSummary, JobStatistics } from './job-statistics.ts';
export { isTerminal, type JobStatus } from './job-status.ts';
export type { RestartStrategySettings } from './restart-strategy.ts';
export { describeOperators, restoreExecution } from './restore.ts';
export {
  inlineSlotHost,
  type PlanDiffers,
  type SlotHost,
  type WorkerTask,
  workerSlotHost,
} from './slot-host.ts';
