/**
 * Data in flight as a snapshot holds it: by exchange, with what must be known of the exchange to give its records to the
 * subtasks of another job graph. Part of the manifest; put together from what the tasks acknowledged.
 *
 * Invariants:
 * I1 The channels of an exchange are in the order in which they are to be read: by receiver; first what was left of earlier
 *    runs, as the receiver would have read it, then by sender, what was received before what was not sent. (What is older
 *    goes first whoever sent it: the records of a key may have come from another sender then.)
 * I2 An exchange has at least one channel with something in it. Channels without are kept beside it: their watermarks hold
 *    back those of the others.
 */
import { assert } from '../base/index.ts';
import type { TypeDescription } from '../types/index.ts';
import type { ChannelState, EdgeIdentity, TaskAcknowledgement } from './acknowledgement.ts';
import { streamLengthBytes } from './stream-length.ts';

/** How records find their channel. `Partitioning` of the exchange floor says what each does. */
export const EDGE_PARTITIONINGS = [
  'forward',
  'hash',
  'rebalance',
  'rescale',
  'shuffle',
  'global',
  'custom',
  'broadcast',
] as const;

export type EdgePartitioning = (typeof EDGE_PARTITIONINGS)[number];

/** A stream between two operators of a job. Between operators of one chain it is a `forward` one. */
export interface EdgeDescription {
  readonly identity: EdgeIdentity;
  readonly partitioning: EdgePartitioning;
  /** Of its records; `generic` if they are undescribed. */
  readonly type: TypeDescription;
  /** Of the keys whose hashes are in its records; only with `hash`. */
  readonly key: TypeDescription | undefined;
  /** Subtasks that send. */
  readonly senders: number;
  /** Subtasks that receive. */
  readonly receivers: number;
  /** Of the receiving operator. */
  readonly maxParallelism: number;
}

/** Data in flight of one channel. */
export type ChannelSnapshot = Omit<ChannelState, 'edge'>;

/** Data in flight of one exchange. */
export interface EdgeSnapshot extends EdgeDescription {
  readonly channels: readonly ChannelSnapshot[];
}

/** The identity of an edge in maps. */
export function edgeKey({ sourceUid, sideTag, targetUid, input, ordinal }: EdgeIdentity): string {
  return JSON.stringify([sourceUid, sideTag ?? null, targetUid, input, ordinal]);
}

/** Bytes of the data in flight of an exchange. */
export function inFlightBytes({ channels }: Pick<EdgeSnapshot, 'channels'>): number {
  return channels.reduce((sum, { stream }) => sum + streamLengthBytes(stream), 0);
}

/** What the tasks saved, by exchange, in the order of `edges`. */
export function collectInFlight(
  edges: readonly EdgeDescription[],
  acknowledgements: readonly Pick<TaskAcknowledgement, 'inFlight'>[],
): EdgeSnapshot[] {
  const byEdge = new Map(
    edges.map((edge) => [edgeKey(edge.identity), { edge, channels: [] as ChannelSnapshot[] }]),
  );
  for (const { inFlight } of acknowledgements) {
    for (const { edge, sender, receiver, part, watermarkMs, stream } of inFlight ?? []) {
      const entry = byEdge.get(edgeKey(edge));
      assert(entry !== undefined, `data in flight of ${edgeKey(edge)}, an edge that the job does not have`);
      entry.channels.push({ sender, receiver, part, watermarkMs, stream });
    }
  }
  return [...byEdge.values()]
    .map(({ edge, channels }) => snapshotOf(edge, channels.sort(byChannel))) // I1: the sort is stable
    .filter((snapshot) => inFlightBytes(snapshot) > 0); // I2
}

/** Without whatever else `edge` has. */
function snapshotOf(edge: EdgeDescription, channels: readonly ChannelSnapshot[]): EdgeSnapshot {
  const { identity, partitioning, type, key, senders, receivers, maxParallelism } = edge;
  const problem = channelProblem(channels, edge);
  assert(
    problem === undefined,
    `data in flight of ${edgeKey(identity)}: channel ${problem?.index} ${problem?.text}`,
  );
  return { identity, partitioning, type, key, senders, receivers, maxParallelism, channels };
}

/** The first channel that contradicts the others or the edge; undefined if none does. What is written must be readable. */
export function channelProblem(
  channels: readonly ChannelSnapshot[],
  { senders, receivers }: Pick<EdgeDescription, 'senders' | 'receivers'>,
): { readonly index: number; readonly text: string } | undefined {
  for (const [index, channel] of channels.entries()) {
    const { sender, receiver, part, watermarkMs } = channel;
    if (receiver >= receivers) return { index, text: `has receiver ${receiver} of ${receivers}` };
    if (part !== 'restored' && sender >= senders)
      return { index, text: `has sender ${sender} of ${senders}` };
    if ((part === 'unsent') !== (watermarkMs === undefined))
      return { index, text: 'has a watermark if and only if it was not sent' };
    const order = index === 0 ? -1 : byChannel(channels[index - 1]!, channel);
    // I1
    if (order > 0 || (order === 0 && part !== 'restored')) return { index, text: 'is not in its place' };
  }
  return undefined;
}

function byChannel(a: ChannelSnapshot, b: ChannelSnapshot): number {
  return a.receiver - b.receiver || age(b) - age(a) || (age(a) > 0 ? 0 : bySender(a, b));
}

function bySender(a: ChannelSnapshot, b: ChannelSnapshot): number {
  return a.sender - b.sender || partOrder(a) - partOrder(b);
}

function age({ part }: ChannelSnapshot): number {
  return part === 'restored' ? 1 : 0;
}

function partOrder({ part }: ChannelSnapshot): number {
  return part === 'unsent' ? 1 : 0;
}
