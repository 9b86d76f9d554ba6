/**
 * Which subtasks of two operators have a channel between them. Pure; the wiring of a job and the allocation of its shared
 * memory both ask here.
 *
 *     forward    0──0  1──1  2──2
 *     rescale    each subtask of the narrower side has a run of the other side; no run is longer than another by more
 *                than one:  0──0,1  1──2,3    or   0,1──0  2,3──1
 *     all others each with each: records may need only some of these channels, barriers and watermarks need all
 *
 * (The pointwise pattern of org.apache.flink.runtime.executiongraph.EdgeManagerBuildUtil.)
 */
import type { Partitioning } from './element.ts';

/** One channel, by the indices of its subtasks. */
export interface ChannelEnds {
  readonly sender: number;
  readonly receiver: number;
}

/** All channels of an exchange; those of one sender come in the order of their receivers. */
export function channelEnds(partitioning: Partitioning, senders: number, receivers: number): ChannelEnds[] {
  const ends: ChannelEnds[] = [];
  for (let sender = 0; sender < senders; sender++) {
    const [first, end] = receiversOf(partitioning, sender, senders, receivers);
    for (let receiver = first; receiver < end; receiver++) ends.push({ sender, receiver });
  }
  return ends;
}

/** The first receiver of a sender and the one after its last. */
function receiversOf(
  partitioning: Partitioning,
  sender: number,
  senders: number,
  receivers: number,
): readonly [first: number, end: number] {
  if (partitioning === 'forward') return [sender, sender + 1];
  if (partitioning !== 'rescale') return [0, receivers];
  if (senders >= receivers) {
    const receiver = Math.floor(((sender + 1) * receivers - 1) / senders);
    return [receiver, receiver + 1];
  }
  return [Math.ceil((sender * receivers) / senders), Math.ceil(((sender + 1) * receivers) / senders)];
}
