/** What streams know of the environment they belong to, and how they add operators to its graph. */
import { type Configuration, MillraceError } from '../base/index.ts';
import type { StreamGraph, StreamNode, StreamNodeSpec, StreamOrigin } from '../graph/index.ts';
import type { Partitioning } from '../runtime/index.ts';
import type { TypeInformation } from '../types/index.ts';
import type { JobClient } from './job-executor.ts';

/** Takes what one collect sink of the job delivers. */
export interface ResultReceiver {
  /** In the order of delivery. */
  accept(batches: readonly unknown[]): void;
  /** Once, when the job is started; rejects if it cannot be. */
  follow(client: Promise<JobClient>): void;
}

/** The environment, as streams see it. */
export interface JobBuilder {
  /** Of the job that is being written. */
  readonly graph: StreamGraph;
  readonly configuration: Configuration;
  /** What is delivered on the channel while the job runs goes to `receiver`. */
  collect(channelId: string, receiver: ResultReceiver): void;
  /** Executes the job. */
  start(jobName: string | undefined): Promise<JobClient>;
}

/** Adds an operator. Its factory is tried once, so that a function of the wrong kind is refused where it is given. */
export function addOperator(job: JobBuilder, spec: StreamNodeSpec): StreamNode {
  checkType(spec.outputType, `the records of ${spec.kind} "${spec.name}"`);
  checkType(spec.keyed?.type, `the key of ${spec.kind} "${spec.name}"`);
  spec.create?.();
  return job.graph.add(spec);
}

/** An options object in the place of a type would be found when the first record is encoded, or never. */
function checkType(type: TypeInformation<unknown> | undefined, what: string): void {
  if (type === undefined || typeof (type as Partial<typeof type> | null)?.description === 'object') return;
  const found =
    typeof type === 'object' && type !== null ? `{ ${Object.keys(type).join(', ')} }` : String(type);
  throw new MillraceError(
    'INVALID_ARGUMENT',
    `The type of ${what}: expected a description made by Types, such as Types.STRING; found ${found}.`,
  );
}

/** The streams of `node`'s main output. */
export function originOf(node: StreamNode): StreamOrigin {
  return { node, sideTag: undefined, partitioning: undefined, key: undefined, sideType: undefined };
}

/** The same streams with another exchange; `key` for `hash` and `custom`, `partitioner` for `custom`. */
export function exchanged(
  origins: readonly StreamOrigin[],
  partitioning: Partitioning,
  key?: StreamOrigin['key'],
  partitioner?: StreamOrigin['partitioner'],
): StreamOrigin[] {
  return origins.map((origin) => ({ ...origin, partitioning, key, partitioner }));
}

/** The type of the records of all `origins`; undefined if one is undescribed or they differ. */
export function typeOf(origins: readonly StreamOrigin[]): TypeInformation<unknown> | undefined {
  const [first, ...others] = origins.map((origin) =>
    origin.sideTag === undefined ? origin.node.outputType : origin.sideType,
  );
  const description = JSON.stringify(first?.description);
  return others.every((type) => JSON.stringify(type?.description) === description) ? first : undefined;
}
