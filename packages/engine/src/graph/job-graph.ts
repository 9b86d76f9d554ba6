/**
 * Makes the job graph, which the runtime executes, of the stream graph, which the user wrote: checks it, forms chains,
 * gives uids, connects the chains by edges and hashes the plan. Called by the environment in every process that runs the
 * job. Pure: the same graph gives the same job graph.
 */
import { MillraceError } from '../base/index.ts';
import type { JobEdge, JobGraph, JobVertex, OperatorSpec } from '../runtime/index.ts';
import { type Chain, type ChainingDefaults, formChains, partitioningOf } from './operator-chaining.ts';
import { type OperatorUid, operatorUids, type TextHash } from './operator-uid.ts';
import { describePlan, planText } from './plan.ts';
import { described, type StreamGraph, type StreamNode } from './stream-graph.ts';

export interface JobGraphOptions extends ChainingDefaults {
  readonly jobName: string;
  readonly globalJobParameters?: Readonly<Record<string, string>>;
  readonly hash: TextHash;
}

/** Where an operator went. */
interface Place {
  readonly vertex: number;
  readonly operator: number;
}

/**
 * The job graph. Throws JOB_HAS_NO_SOURCE, JOB_HAS_NO_SINK, and INVALID_ARGUMENT for parallelisms that do not fit
 * together. Operators after which nothing comes are run like others if the job has a sink at all.
 */
export function createJobGraph(graph: StreamGraph, options: JobGraphOptions): JobGraph {
  checkEnds(graph);
  const chains = formChains(graph.nodes, options);
  const uids = operatorUids(graph.nodes, options.hash);
  const places: Place[] = [];
  for (const [vertex, chain] of chains.entries()) {
    for (const [operator, node] of chain.nodes.entries()) places[node.index] = { vertex, operator };
  }
  const vertices = chains.map((chain, index) => createVertex(chain, index, uids, places));
  const edges = createEdges(chains, places, options);
  const planHash = options.hash(planText(describePlan({ vertices, edges })));
  const { jobName, globalJobParameters } = options;
  return { jobName, globalJobParameters, vertices, edges, planHash };
}

function checkEnds({ nodes }: StreamGraph): void {
  if (nodes.length === 0) {
    throw new MillraceError(
      'JOB_HAS_NO_SOURCE',
      'there is nothing to execute: no source was added to this environment since the last execution ' +
        '(fromSource, fromCollection, fromSequence, …)',
    );
  }
  const read = new Set(nodes.flatMap((node) => node.spec.inputs.flat().map((origin) => origin.node)));
  const unread = nodes.find((node) => node.spec.source !== undefined && !read.has(node));
  const hasSink = nodes.some((node) => node.spec.isSink === true);
  if (hasSink && unread !== undefined) {
    throw new MillraceError(
      'JOB_HAS_NO_SINK',
      `nothing reads ${described(unread)}: leave it out, or call an operator or a sink on its stream`,
      { details: { operators: [unread.name] } },
    );
  }
  if (hasSink) return;
  const ends = nodes.filter((node) => !read.has(node));
  throw new MillraceError(
    'JOB_HAS_NO_SINK',
    `the job has no sink, so nothing would come of it: end a stream with sinkTo(…) or print(). ` +
      `These lead nowhere: ${ends.slice(0, 5).map(described).join(', ')}${ends.length > 5 ? ', …' : ''}`,
    { details: { operators: ends.map((node) => node.name) } },
  );
}

function createVertex(
  chain: Chain,
  index: number,
  uids: readonly OperatorUid[],
  places: readonly Place[],
): JobVertex {
  const head = chain.nodes[0]!;
  return {
    index,
    name: chainName(chain, head),
    operators: chain.nodes.map((node) => createOperator(node, node === head, uids[node.index]!, places)),
    source: head.spec.source,
    inputCount: head.spec.inputs.length as 0 | 1 | 2,
    parallelism: chain.parallelism,
    maxParallelism: chain.maxParallelism,
  };
}

function createOperator(
  node: StreamNode,
  isHead: boolean,
  { uid, isGenerated }: OperatorUid,
  places: readonly Place[],
): OperatorSpec {
  const origin = isHead ? undefined : node.spec.inputs[0]![0]!;
  return {
    uid,
    uidIsGenerated: isGenerated,
    name: node.name,
    kind: node.spec.kind,
    parent: origin === undefined ? -1 : places[origin.node.index]!.operator,
    parentSideTag: origin?.sideTag,
    parentSideType: origin?.sideType,
    create: node.spec.create,
    keyed: node.spec.keyed,
    outputType: node.outputType,
  };
}

function createEdges(
  chains: readonly Chain[],
  places: readonly Place[],
  defaults: ChainingDefaults,
): JobEdge[] {
  const edges: JobEdge[] = [];
  for (const [targetVertex, chain] of chains.entries()) {
    const head = chain.nodes[0]!;
    for (const [targetInput, streams] of head.spec.inputs.entries()) {
      for (const origin of streams) {
        const place = places[origin.node.index]!;
        const partitioning = partitioningOf(origin, head, defaults);
        edges.push({
          index: edges.length,
          sourceVertex: place.vertex,
          sourceOperator: place.operator,
          sideTag: origin.sideTag,
          targetVertex,
          targetInput: targetInput as 0 | 1,
          partitioning,
          key: partitioning === 'hash' || partitioning === 'custom' ? origin.key : undefined,
          partitioner: partitioning === 'custom' ? origin.partitioner : undefined,
          valueType: origin.sideTag === undefined ? origin.node.outputType : origin.sideType,
        });
      }
    }
  }
  return edges;
}

/** `a -> (b -> c, d)`, as Flink writes chains. */
function chainName(chain: Chain, head: StreamNode): string {
  const following = new Map<StreamNode, StreamNode[]>();
  for (const node of chain.nodes) {
    if (node === head) continue;
    const parent = node.spec.inputs[0]![0]!.node;
    following.set(parent, [...(following.get(parent) ?? []), node]);
  }
  const nameFrom = (node: StreamNode): string => {
    const branches = (following.get(node) ?? []).map(nameFrom);
    if (branches.length === 0) return node.name;
    return `${node.name} -> ${branches.length === 1 ? branches[0] : `(${branches.join(', ')})`}`;
  };
  return nameFrom(head);
}
