/**
 * How a call on a stream becomes an operator of the job's graph, and the stream of its results. Called by all streams of
 * this folder.
 */
import type { StreamNodeSpec, StreamOrigin } from '../../graph/index.ts';
import type { AnyOperator, KeySpec } from '../../runtime/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { addOperator, type JobBuilder } from '../job-builder.ts';
import { SingleOutputStreamOperator } from './data-stream.ts';

/** How the operator of a call is made: `kind` and name for plans, a factory, the type of its results. */
export interface Transformation<R> {
  readonly kind: string;
  readonly name: string;
  readonly create: () => unknown;
  readonly type: TypeInformation<R> | undefined;
  readonly keyed?: KeySpec;
  /** In one subtask, whatever the parallelism of the job. */
  readonly isNonParallel?: boolean;
}

/** Adds an operator to the job: the one way in which all streams grow. */
export function transform<R>(
  job: JobBuilder,
  inputs: readonly (readonly StreamOrigin[])[],
  { kind, name, create, type, keyed, isNonParallel }: Transformation<R>,
): SingleOutputStreamOperator<R> {
  const spec: StreamNodeSpec = {
    kind,
    name,
    inputs,
    create: create as () => AnyOperator,
    keyed,
    outputType: type,
    isNonParallel,
  };
  return new SingleOutputStreamOperator<R>(job, addOperator(job, spec));
}
