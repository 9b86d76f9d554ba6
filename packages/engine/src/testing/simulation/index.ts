export type { EventKind, SimulatedEvent } from './event-queue.ts';
export { formatTraceLine, type TraceLine } from './event-trace.ts';
export { type JobLife, JobSupervisor, type SupervisedJob } from './job-supervisor.ts';
export type { RunEnd, RunLimits } from './scheduler.ts';
export type { FileFault, FileOperation } from './simulated-files.ts';
export type { ProcessEnd, Program, SimulatedProcess } from './simulated-process.ts';
export type { SimulatedThread, WorldSpeeds } from './simulated-thread.ts';
export { SimulatedWorld, type WorldOptions } from './simulated-world.ts';
