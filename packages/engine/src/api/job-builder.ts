/** What streams know of the environment they belong to, and how they add operators to its graph. */
import type { Configuration } from '../base/index.ts';
import type { StreamGraph, StreamNode, StreamNodeSpec, StreamOrigin } from '../graph/index.ts';
import type { Partitioning } from '../runtime/index.ts';
import type { TypeInformation } from '../types/index.ts';
import type { Deliver, JobClient } from './job-executor.ts';

/** The environment, as streams see it. */
export interface JobBuilder {
  /** Of the job that is being written. */
  readonly graph: StreamGraph;
  readonly configuration: Configuration;
  /** Executes the job; what its collect sinks deliver goes to `deliver`. */
  start(jobName: string | undefined, deliver: Deliver): Promise<JobClient>;
}

/** Adds an operator. Its factory is tried once, so that a function of the wrong kind is refused where it is given. */
export function addOperator(job: JobBuilder, spec: StreamNodeSpec): StreamNode {
  spec.create?.();
  return job.graph.add(spec);
}

/** The streams of `node`'s main output. */
export function originOf(node: StreamNode): StreamOrigin {
  return { node, sideTag: undefined, partitioning: undefined, key: undefined, sideType: undefined };
}

/** The same streams with another exchange. */
export function exchanged(
  origins: readonly StreamOrigin[],
  partitioning: Partitioning,
  key?: StreamOrigin['key'],
): StreamOrigin[] {
  return origins.map((origin) => ({ ...origin, partitioning, key }));
}

/** The type of the records of all `origins`; undefined if one is undescribed or they differ. */
export function typeOf(origins: readonly StreamOrigin[]): TypeInformation<unknown> | undefined {
  const [first, ...others] = origins.map((origin) =>
    origin.sideTag === undefined ? origin.node.outputType : origin.sideType,
  );
  const description = JSON.stringify(first?.description);
  return others.every((type) => JSON.stringify(type?.description) === description) ? first : undefined;
}
