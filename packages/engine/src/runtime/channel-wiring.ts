/**
 * Lays the channels of a job: which rings exist, and the record writers and input gates over them. The JobManager
 * allocates the shared memory once per attempt; each slot builds its own ends.
 */

import type { EdgeIdentity } from '../checkpoint/index.ts';
import {
  type ChannelEnds,
  canLend,
  channelEnds,
  chooseLayout,
  createDoorbells,
  createRecordWriter,
  createRing,
  Doorbell,
  InputGate,
  LentRecords,
  type RecordFormat,
  type RecordWriter,
  type RestoredChannel,
  type RingLayout,
  RingReader,
  RingWriter,
  type SharedRing,
} from '../exchange/index.ts';
import type { Platform } from '../platform/index.ts';
import { createKeySerializer, createSerializer } from '../types/index.ts';
import { chainedEdgeIdentity, edgeIdentities } from './edge-identity.ts';
import type { JobEdge, JobGraph, JobVertex } from './job-vertex.ts';
import { overtakableEdges } from './overtakable-edges.ts';
import type { TaskInputs, TaskOutput } from './task-channels.ts';

/** Shared memory of all channels of a job. Structured-clonable: threads see the same memory. */
export interface SharedChannels {
  readonly slotCount: number;
  readonly doorbells: SharedArrayBuffer;
  /** By `edge.sender.receiver`. */
  readonly rings: ReadonlyMap<string, SharedRing>;
}

function channelsOf({ partitioning, sourceVertex, targetVertex }: JobEdge, graph: JobGraph): ChannelEnds[] {
  const { vertices } = graph;
  return channelEnds(partitioning, vertices[sourceVertex]!.parallelism, vertices[targetVertex]!.parallelism);
}

/**
 * Allocates the rings of `edges`, each of at most the `largest` layout, and a doorbell for each slot. All edges of the graph
 * share the memory that there is for channels, whichever of them are allocated here.
 */
export function allocateChannels(
  graph: JobGraph,
  slotCount: number,
  largest?: RingLayout,
  edges: readonly JobEdge[] = graph.edges,
): SharedChannels {
  const channelCount = graph.edges.reduce((sum, edge) => sum + channelsOf(edge, graph).length, 0);
  const layout = chooseLayout(Math.max(1, channelCount), largest);
  const channels = edges.flatMap((edge) => channelsOf(edge, graph).map((ends) => ({ edge, ...ends })));
  const rings = new Map<string, SharedRing>();
  for (const { edge, sender, receiver } of channels)
    rings.set(ringKey(edge, sender, receiver), createRing(layout));
  return { slotCount, doorbells: createDoorbells(slotCount), rings };
}

function ringKey(edge: JobEdge, sender: number, receiver: number): string {
  return `${edge.index}.${sender}.${receiver}`;
}

/** The ends of the channels that one slot's subtasks hold. */
export class ChannelWiring {
  private readonly graph: JobGraph;
  private readonly channels: SharedChannels;
  private readonly platform: Pick<Platform, 'parking' | 'random'>;
  /** By edge index. */
  private readonly identities: readonly EdgeIdentity[];
  private readonly overtakable: readonly boolean[];
  /** By channel: what both its ends hold, where they are in this slot. */
  private readonly lending = new Map<string, LentRecords>();
  /** By edge index. */
  private readonly formats = new Map<number, RecordFormat>();

  constructor(graph: JobGraph, channels: SharedChannels, platform: Pick<Platform, 'parking' | 'random'>) {
    this.graph = graph;
    this.channels = channels;
    this.platform = platform;
    this.identities = edgeIdentities(graph);
    this.overtakable = overtakableEdges(graph);
  }

  /** The sending ends of a subtask, one for each outgoing edge. */
  outputsOf(vertex: JobVertex, subtask: number): TaskOutput[] {
    return this.graph.edges
      .filter((edge) => edge.sourceVertex === vertex.index)
      .map((edge) => {
        const receivers = channelsOf(edge, this.graph)
          .filter(({ sender }) => sender === subtask)
          .map(({ receiver }) => receiver);
        return {
          operator: edge.sourceOperator,
          sideTag: edge.sideTag,
          writer: this.writer(edge, vertex, subtask, receivers),
          edge: this.identities[edge.index]!,
          receivers,
        };
      });
  }

  /** The receiving ends of a subtask; undefined if it has none: a source without restored data. */
  inputsOf(
    vertex: JobVertex,
    subtask: number,
    restored: readonly RestoredChannel[] = [],
  ): TaskInputs | undefined {
    const edges = this.graph.edges.filter((edge) => edge.targetVertex === vertex.index);
    if (edges.length === 0 && restored.length === 0) return undefined;
    const channels = edges.flatMap((edge) =>
      channelsOf(edge, this.graph)
        .filter(({ receiver }) => receiver === subtask)
        .map(({ sender }) => ({
          reader: new RingReader(this.ring(edge, sender, subtask), this.doorbellOf(sender)),
          lending: this.lendingOf(edge, sender, subtask),
          input: edge.targetInput,
          edgeIndex: edge.index,
          senderSubtask: sender,
        })),
    );
    const label = `input of operator '${vertex.operators[0]!.name}'`;
    const gate = new InputGate({
      channels,
      label,
      unique: label,
      edges: edges.map((edge) => ({
        edgeIndex: edge.index,
        valueSerializer: createSerializer(edge.valueType, label),
        hashed: edge.partitioning === 'hash',
      })),
      restored,
    });
    return {
      gate,
      channelInputs: channels.map((channel) => channel.input),
      overtakable: channels.map((channel) => this.overtakable[channel.edgeIndex]!),
      restored,
      edgeOf: (channel) => {
        const { edgeIndex, operator } = gate.channel(channel);
        return edgeIndex === undefined ? chainedEdgeIdentity(vertex, operator) : this.identities[edgeIndex]!;
      },
      nameOf: (channel) => {
        const { edgeIndex, input, senderSubtask } = gate.channel(channel);
        const { sourceVertex, sourceOperator } = this.graph.edges[edgeIndex!]!;
        const sender = this.graph.vertices[sourceVertex]!.operators[sourceOperator]!.name;
        return `input ${input} from subtask ${senderSubtask} of '${sender}'`;
      },
    };
  }

  private writer(
    edge: JobEdge,
    vertex: JobVertex,
    subtask: number,
    receivers: readonly number[],
  ): RecordWriter<unknown> {
    const label = `output of operator '${vertex.operators[edge.sourceOperator]!.name}'`;
    const target = this.graph.vertices[edge.targetVertex]!;
    const { partitioning, key, partitioner } = edge;
    const keyLabel = `key of operator '${target.operators[0]!.name}'`;
    return createRecordWriter({
      label,
      partitioning,
      overtakable: this.overtakable[edge.index]!,
      valueSerializer: createSerializer(edge.valueType, label),
      key:
        partitioning === 'hash'
          ? {
              selector: key!.selector,
              serializer: createKeySerializer(key!.type, keyLabel),
              maxParallelism: target.maxParallelism,
            }
          : undefined,
      custom: partitioning === 'custom' ? { selector: key!.selector, partitioner: partitioner! } : undefined,
      seed: partitioning === 'shuffle' ? Math.floor(this.platform.random.next() * 2 ** 32) : undefined,
      channels: receivers.map(
        (receiver) => new RingWriter(this.ring(edge, subtask, receiver), this.doorbellOf(receiver)),
      ),
      lending: receivers.map((receiver) => this.lendingOf(edge, subtask, receiver)),
      unique: `edge ${edge.index}`,
      subtaskIndex: subtask,
    });
  }

  private ring(edge: JobEdge, sender: number, receiver: number): SharedRing {
    return this.channels.rings.get(ringKey(edge, sender, receiver))!;
  }

  /** undefined if its ends are in two threads, or its records cannot be copied. */
  private lendingOf(edge: JobEdge, sender: number, receiver: number): LentRecords | undefined {
    const { slotCount } = this.channels;
    if (edge.partitioning === 'broadcast' || sender % slotCount !== receiver % slotCount) return undefined;
    const key = ringKey(edge, sender, receiver);
    const known = this.lending.get(key);
    if (known !== undefined) return known;
    const format = this.formatOf(edge);
    if (!canLend(format.valueSerializer)) return undefined;
    const made = new LentRecords(this.ring(edge, sender, receiver).layout, format);
    this.lending.set(key, made);
    return made;
  }

  /** One for all channels of the edge: a serializer is code. */
  private formatOf(edge: JobEdge): RecordFormat {
    const known = this.formats.get(edge.index);
    if (known !== undefined) return known;
    const valueSerializer = createSerializer(edge.valueType, `edge ${edge.index}`);
    const format = { valueSerializer, hashed: edge.partitioning === 'hash' };
    this.formats.set(edge.index, format);
    return format;
  }

  private doorbellOf(subtask: number): Doorbell {
    return new Doorbell(this.channels.doorbells, subtask % this.channels.slotCount, this.platform.parking);
  }
}
