export {
  type CrashTestOptions,
  type CrashTestReport,
  crashTest,
} from './crash-test/crash-test.ts';
export type { CrashTestContext, CrashTestResultOptions } from './crash-test/crash-test-context.ts';
export type { CrashTestRun } from './crash-test/plan-runs.ts';
export type { CrashTestSourceOptions } from './crash-test/replayed-source.ts';
export { deepFreeze } from './frozen-reads.ts';
export {
  type BuildJob,
  JobTestHarness,
  type JobTestOptions,
  type JobTestSnapshot,
} from './harness/job-test-harness.ts';
export {
  type BuildOperator,
  type BuildTwoInputOperator,
  OperatorTestHarness,
  type OperatorTestOptions,
  type OperatorTestSnapshot,
  type TimestampedRecord,
} from './harness/operator-test-harness.ts';
export { TestSink } from './harness/test-sink.ts';
export { TestSource, type TestSourceOptions } from './harness/test-source.ts';
export { type HarnessOptions, type HarnessSnapshot, OperatorHarness } from './operator-harness.ts';
export { type HarnessStep, type ModesOptions, runOperatorThroughAllModes } from './operator-modes.ts';
export type { HarnessEvent } from './recorded-output.ts';
export { type SeededRandom, seededRandom } from './seeded-random.ts';
export { SimulatedSinkHost, type SimulatedSinkSettings, type SinkCheckpoint } from './simulated-sink-host.ts';
export { SimulatedSourceHost, type SourceCheckpoint } from './simulated-source-host.ts';
export { type SinkContractOptions, type SinkTarget, sinkContract } from './sink-contract.ts';
export { checkSnapshotFiles, type SnapshotFilesReport } from './snapshot-files.ts';
export { type SourceContractOptions, sourceContract } from './source-contract.ts';
