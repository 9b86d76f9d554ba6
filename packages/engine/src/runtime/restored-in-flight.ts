/**
 * Reads the data in flight that a subtask begins with: opens what the JobManager assigned to it, keeps the records that
 * belong to it and writes them as its edges do now. Called by the slot before the task is made; knows no gate.
 *
 *     bytes of received ++ unsent ──▶ elements ──▶ those that the filter keeps ──▶ with hashes or without ──▶ channel
 *
 * Memory: one channel of the earlier run at a time, which held it in memory, too (a ring, and at most the overflow of its
 * sender); beyond that only what the subtask keeps, which is what it has to process before anything else.
 *
 * Invariants:
 * I1 The records of a restored channel are in the format of its edge in this run: with hashes if and only if it is an
 *    exchange partitioned by hash. What is captured again needs no memory of earlier runs.
 */
import { hasCode, MillraceError } from '../base/index.ts';
import { type InFlightPiece, openStateInput } from '../checkpoint/index.ts';
import {
  changeHashes,
  customRouting,
  decodeElements,
  filterElements,
  hashRouting,
  type InFlightElement,
  type KeepRecord,
  type RecordFormat,
  type RecordRouting,
  type RestoredChannel,
} from '../exchange/index.ts';
import type { Platform } from '../platform/index.ts';
import { keyGroupOf, type StreamHandle } from '../state/index.ts';
import { createKeySerializer, createSerializer, type TypeInformation } from '../types/index.ts';
import type { JobEdge, JobGraph, JobVertex } from './job-vertex.ts';
import type { TaskKey } from './slot-messages.ts';

/** Data in flight of one channel of an earlier run, and where it enters the chain of a subtask. Structured-clonable. */
export interface InFlightRestore extends InFlightPiece {
  /** undefined: both operators of the edge are in one chain now. */
  readonly edgeIndex: number | undefined;
  /** 0, the head, unless the edge is inside the chain. */
  readonly operator: number;
  readonly input: 0 | 1;
}

/**
 * What `task` processes before anything that arrives, in order. `directory` is where file handles are relative to;
 * undefined: all is inline. Rejects with SNAPSHOT_CORRUPT, naming file and channel, and with what key selectors and
 * partitioners of the user throw.
 */
export async function openRestoredInFlight(
  platform: Platform,
  directory: string | undefined,
  graph: JobGraph,
  task: TaskKey,
  pieces: readonly InFlightRestore[],
): Promise<RestoredChannel[]> {
  const entrances = new Map<string, Entrance>();
  const channels: RestoredChannel[] = [];
  for (const piece of pieces) {
    const { edgeIndex, operator, input, sender, watermarkMs } = piece;
    const place = `${edgeIndex} ${operator}`;
    const entrance = entrances.get(place) ?? createEntrance(graph, graph.vertices[task.vertex]!, piece);
    entrances.set(place, entrance);
    const elements = await readPiece(platform, directory, entrance, task.subtask, piece);
    const { format } = entrance;
    channels.push({ edgeIndex, operator, input, sender, watermarkMs, format, elements });
  }
  return channels;
}

/** The type of the records that reach an operator within a chain, which must not be the head; undefined: undescribed. */
export function chainedValueType(
  { operators }: JobVertex,
  operator: number,
): TypeInformation<unknown> | undefined {
  const { parent, parentSideTag, parentSideType } = operators[operator]!;
  return parentSideTag === undefined ? operators[parent]!.outputType : parentSideType;
}

/** A place where records enter the chain. */
interface Entrance {
  /** For errors. */
  readonly label: string;
  readonly format: RecordFormat;
  /** Of edges that ask for the key of a record. */
  readonly routing: RecordRouting | undefined;
}

function createEntrance(
  graph: JobGraph,
  vertex: JobVertex,
  { edgeIndex, operator }: InFlightRestore,
): Entrance {
  const label = `input of operator '${vertex.operators[operator]!.name}'`;
  const edge = edgeIndex === undefined ? undefined : graph.edges[edgeIndex]!;
  const type = edge === undefined ? chainedValueType(vertex, operator) : edge.valueType;
  const format = { valueSerializer: createSerializer(type, label), hashed: edge?.partitioning === 'hash' };
  return { label, format, routing: edge === undefined ? undefined : routingOf(edge, graph, vertex) };
}

function routingOf(edge: JobEdge, graph: JobGraph, target: JobVertex): RecordRouting | undefined {
  const { partitioning, key, partitioner } = edge;
  const label = `output of operator '${graph.vertices[edge.sourceVertex]!.operators[edge.sourceOperator]!.name}'`;
  if (partitioning === 'hash') {
    const serializer = createKeySerializer(key!.type, `key of operator '${target.operators[0]!.name}'`);
    const { selector } = key!;
    return hashRouting(label, { selector, serializer }, target.parallelism, target.maxParallelism);
  }
  if (partitioning !== 'custom') return undefined;
  return customRouting(label, { selector: key!.selector, partitioner: partitioner! }, target.parallelism);
}

async function readPiece(
  platform: Platform,
  directory: string | undefined,
  { label, format, routing }: Entrance,
  subtask: number,
  piece: InFlightRestore,
): Promise<InFlightElement[]> {
  const { streams, filter, hashed, sender, oldReceiver } = piece;
  const saved: RecordFormat = { valueSerializer: format.valueSerializer, hashed };
  try {
    const parts: InFlightElement[][] = [];
    for (const stream of streams) parts.push(decodeElements(await readAll(platform, directory, stream)));
    const keep = keepOf(filter, routing, subtask);
    const kept = keep === undefined ? parts.flat() : filterElements(parts.flat(), saved, keep);
    // Whoever asks for the keys has other hashes than were saved, or there were none.
    const hashOf = filter.kind === 'partitioner' ? routing!.hashOf : undefined;
    return hashOf === undefined && hashed === format.hashed ? kept : changeHashes(kept, saved, hashOf);
  } catch (error) {
    if (!hasCode(error, 'SNAPSHOT_CORRUPT')) throw error;
    const channel = `the ${label}, data in flight from subtask ${sender} to subtask ${oldReceiver}`;
    throw damaged(channel, streams, error as MillraceError);
  }
}

/** undefined: everything is kept. */
function keepOf(
  filter: InFlightPiece['filter'],
  routing: RecordRouting | undefined,
  subtask: number,
): KeepRecord | undefined {
  switch (filter.kind) {
    case 'none':
      return undefined;
    case 'key-groups': {
      const { range, maxParallelism } = filter;
      return (_, hash) => {
        const group = keyGroupOf(hash, maxParallelism);
        return group >= range.first && group <= range.last;
      };
    }
    case 'partitioner':
      return (value) => routing!.receiverOf(value) === subtask;
  }
}

function readAll(
  platform: Platform,
  directory: string | undefined,
  stream: StreamHandle,
): Promise<Uint8Array> {
  const input = openStateInput(platform, directory, stream);
  return input.read(0, input.lengthBytes);
}

function damaged(channel: string, streams: readonly StreamHandle[], cause: MillraceError): MillraceError {
  const file = streams.map((stream) => (stream.kind === 'file' ? stream.path : '_metadata')).join(', ');
  return new MillraceError('SNAPSHOT_CORRUPT', `${file}: ${channel}: ${cause.message}`, {
    cause,
    details: { ...cause.details, file, channel, problem: cause.message },
  });
}
