export { deepFreeze } from './frozen-reads.ts';
export { type HarnessOptions, type HarnessSnapshot, OperatorHarness } from './operator-harness.ts';
export { type HarnessStep, type ModesOptions, runOperatorThroughAllModes } from './operator-modes.ts';
export type { HarnessEvent } from './recorded-output.ts';
export { type SeededRandom, seededRandom } from './seeded-random.ts';
export { SimulatedSinkHost, type SimulatedSinkSettings, type SinkCheckpoint } from './simulated-sink-host.ts';
export { SimulatedSourceHost, type SourceCheckpoint } from './simulated-source-host.ts';
export { type SinkContractOptions, type SinkTarget, sinkContract } from './sink-contract.ts';
export { type SourceContractOptions, sourceContract } from './source-contract.ts';
