/**
 * How the parts of a task's snapshot lie in its one stream, and what refers to them: keyed state, which the task copies in
 * slices, then operator state, then data in flight. Used by the task's checkpoint; decides nothing.
 */
import type { ChannelState, FinishedStream, OperatorState, StateStream } from '../checkpoint/index.ts';
import { encodeElements, type InFlightElement } from '../exchange/index.ts';
import type { KeyedStateHandle, OperatorStateHandle, OperatorStateSnapshot } from '../state/index.ts';
import type { OperatorSnapshot } from './operator-chain.ts';

/** What of a channel is encoded at a time. */
const SLICE_BYTES = 1024 * 1024;

/** Where something lies in the stream. */
export interface Place {
  readonly offset: number;
  readonly lengthBytes: number;
}

/** Data in flight of one channel, before it has its place. */
export interface InFlightData extends Omit<ChannelState, 'stream'> {
  readonly elements: readonly InFlightElement[];
}

export interface AppendedState {
  readonly snapshot: OperatorStateSnapshot;
  readonly offset: number;
}

export interface AppendedInFlight extends Place {
  readonly data: InFlightData;
}

/** Operator state of each part, also what becomes known late. Rejects if that does. Stops when `isOver`. */
export async function appendOperatorStates(
  parts: readonly OperatorSnapshot[],
  stream: StateStream,
  isOver: () => boolean,
): Promise<AppendedState[][]> {
  const appended: AppendedState[][] = [];
  for (const part of parts) {
    const deferred = await part.deferred;
    if (isOver()) return [];
    appended.push(
      [...part.operator, ...(deferred ?? [])].map((snapshot) => {
        const offset = stream.position;
        stream.append(snapshot.bytes);
        return { snapshot, offset };
      }),
    );
  }
  return appended;
}

/** One channel after the other, slice by slice, as the disk takes them. Stops when `isOver`. */
export async function appendInFlight(
  inFlight: readonly InFlightData[],
  stream: StateStream,
  isOver: () => boolean,
): Promise<AppendedInFlight[]> {
  const appended: AppendedInFlight[] = [];
  for (const data of inFlight) {
    const offset = stream.position;
    for (const elements of slices(data.elements)) {
      if (isOver()) return [];
      stream.append(encodeElements(elements));
      if (stream.isCongested()) await stream.ready();
    }
    appended.push({ data, offset, lengthBytes: stream.position - offset });
  }
  return appended;
}

/** The elements in order, in lists that are not much larger than SLICE_BYTES. */
function* slices(elements: readonly InFlightElement[]): Generator<readonly InFlightElement[]> {
  let first = 0;
  let sizeBytes = 0;
  for (const [index, { bytes }] of elements.entries()) {
    sizeBytes += bytes.length;
    if (sizeBytes < SLICE_BYTES) continue;
    yield elements.slice(first, index + 1);
    first = index + 1;
    sizeBytes = 0;
  }
  if (first < elements.length) yield elements.slice(first);
}

/** `keyed`: where the keyed state of the part lies. The part must not have been released. */
export function stateOf(
  part: OperatorSnapshot,
  keyed: Place | undefined,
  operatorStates: readonly AppendedState[],
  written: FinishedStream,
): OperatorState {
  const keyedHandles: KeyedStateHandle[] = [];
  if (part.keyed !== undefined && keyed !== undefined) {
    keyedHandles.push({
      format: part.keyed.format,
      keyGroups: part.keyed.keyGroups,
      maxParallelism: part.keyed.maxParallelism,
      states: part.keyed.metadata(),
      stream: written.handleOf(keyed.offset, keyed.lengthBytes),
    });
  }
  const operator: OperatorStateHandle[] = operatorStates.map(({ snapshot, offset }) => ({
    name: snapshot.name,
    mode: snapshot.mode,
    element: snapshot.element,
    offsets: snapshot.offsets,
    stream: written.handleOf(offset, snapshot.bytes.length),
  }));
  return { uid: part.uid, state: { keyed: keyedHandles, operator } };
}

export function channelStatesOf(
  inFlight: readonly AppendedInFlight[],
  written: FinishedStream,
): ChannelState[] {
  return inFlight.map(({ offset, lengthBytes, data: { elements, ...channel } }) => ({
    ...channel,
    stream: written.handleOf(offset, lengthBytes),
  }));
}
