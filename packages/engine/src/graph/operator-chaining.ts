/**
 * Which operators run as one task: decides for each operator whether it follows, by a direct call, the operator it reads.
 *
 * It does if all of these hold:
 * C1 it reads one stream only (operators with two inputs and unions begin a chain; sources read none);
 * C2 both have the same parallelism;
 * C3 the records stay in their subtask: forward, or one subtask on each side, where no exchange changes anything;
 * C4 neither side forbids it (disableChaining, startNewChain, `pipeline.operator-chaining.enabled: false`);
 * C5 their numbers of key groups do not contradict each other: keyed state is divided by that of the task.
 */
import { MillraceError } from '../base/index.ts';
import type { Partitioning } from '../runtime/index.ts';
import { defaultMaxParallelism } from '../state/index.ts';
import { described, type StreamNode, type StreamOrigin } from './stream-graph.ts';

/** The defaults of the job. */
export interface ChainingDefaults {
  readonly parallelism: number;
  readonly maxParallelism: number | undefined;
  readonly chainingEnabled: boolean;
}

/** A task: its operators, each after the one it follows. */
export interface Chain {
  readonly nodes: readonly StreamNode[];
  readonly parallelism: number;
  readonly maxParallelism: number;
}

interface GrowingChain {
  readonly nodes: StreamNode[];
  readonly parallelism: number;
  /** undefined as long as no operator of the chain asks for one. */
  maxParallelism: number | undefined;
}

/** The number of subtasks of `node`. */
export function parallelismOf(node: StreamNode, defaults: ChainingDefaults): number {
  if (node.spec.isNonParallel === true) return 1;
  return node.parallelism ?? node.spec.defaultParallelism ?? defaults.parallelism;
}

/**
 * How the records of `origin` find their subtask of `reader`. To rescale between equal parallelisms is to forward. Throws
 * INVALID_ARGUMENT for a forward exchange between different parallelisms.
 */
export function partitioningOf(
  origin: StreamOrigin,
  reader: StreamNode,
  defaults: ChainingDefaults,
): Partitioning {
  const from = parallelismOf(origin.node, defaults);
  const to = parallelismOf(reader, defaults);
  if (origin.partitioning === 'forward' && from !== to) {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `forward() from ${described(origin.node)} with parallelism ${from} to ${described(reader)} with parallelism ${to}: ` +
        'a forward exchange needs the same parallelism on both sides; use rebalance()',
      { details: { operator: reader.name, reads: origin.node.name, from, to } },
    );
  }
  if (origin.partitioning === 'rescale' && from === to) return 'forward';
  return origin.partitioning ?? (from === to ? 'forward' : 'rebalance');
}

/** The chains, in the order of their first operators. Throws INVALID_ARGUMENT for impossible parallelisms. */
export function formChains(nodes: readonly StreamNode[], defaults: ChainingDefaults): Chain[] {
  const chains: GrowingChain[] = [];
  const chainOf: GrowingChain[] = [];
  for (const node of nodes) {
    for (const origin of node.spec.inputs.flat()) partitioningOf(origin, node, defaults);
    const maxParallelism = requiredMaxParallelism(node, defaults);
    const origin = chainableOrigin(node, defaults);
    const previous = origin === undefined ? undefined : chainOf[origin.node.index];
    const contradicts =
      previous?.maxParallelism !== undefined &&
      maxParallelism !== undefined &&
      previous.maxParallelism !== maxParallelism;
    if (previous === undefined || contradicts) {
      const chain = { nodes: [node], parallelism: parallelismOf(node, defaults), maxParallelism };
      chains.push(chain);
      chainOf[node.index] = chain;
    } else {
      previous.nodes.push(node);
      previous.maxParallelism ??= maxParallelism;
      chainOf[node.index] = previous;
    }
  }
  return chains.map(({ nodes: members, parallelism, maxParallelism }) => ({
    nodes: members,
    parallelism,
    maxParallelism: maxParallelism ?? defaults.maxParallelism ?? defaultMaxParallelism(parallelism),
  }));
}

/** The stream by which `node` may follow another operator (C1 to C4). */
function chainableOrigin(node: StreamNode, defaults: ChainingDefaults): StreamOrigin | undefined {
  const [streams, ...others] = node.spec.inputs;
  if (streams?.length !== 1 || others.length > 0) return undefined;
  const origin = streams[0]!;
  const allowed = defaults.chainingEnabled && node.chaining === 'always' && origin.node.chaining !== 'never';
  const parallelism = parallelismOf(node, defaults);
  if (!allowed || parallelismOf(origin.node, defaults) !== parallelism) return undefined;
  return parallelism === 1 || partitioningOf(origin, node, defaults) === 'forward' ? origin : undefined;
}

/** Of a keyed operator, or of one that was given a number; others do with any. */
function requiredMaxParallelism(node: StreamNode, defaults: ChainingDefaults): number | undefined {
  const parallelism = parallelismOf(node, defaults);
  const given = node.maxParallelism ?? defaults.maxParallelism;
  if (given !== undefined && parallelism > given) {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `${described(node)} has parallelism ${parallelism}, above its max parallelism ${given}: lower the one or raise the other`,
      { details: { operator: node.name, parallelism, maxParallelism: given } },
    );
  }
  if (node.maxParallelism !== undefined) return node.maxParallelism;
  return node.spec.keyed === undefined ? undefined : (given ?? defaultMaxParallelism(parallelism));
}
