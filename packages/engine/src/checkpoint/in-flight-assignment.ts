/**
 * Gives the data in flight of one exchange to the receiving subtasks of the new job. Pure; called by the JobManager at a
 * restore, after restore-check.ts has found that the data fits. The slot of each subtask then reads what it was given and
 * keeps what the filter says (runtime/restored-in-flight.ts).
 *
 * The new exchange decides, in words of the receiver that a record was on its way to:
 *
 *     hash        as before, equal key groups: the subtasks whose range overlaps that of the old receiver get its channels
 *                 and keep what hashes into their range. Another number of key groups: every subtask gets all. Other keys,
 *                 or another exchange before: every subtask gets all and asks for the key of each record.
 *     custom      as before, equal number of receivers: each its own. Else every subtask gets all and asks the partitioner.
 *     broadcast   only as before: each its own copy, those beyond the old number another's, as broadcast state is given.
 *     global      the first gets all.
 *     all others  the old receiver's index modulo the new number.
 *
 * Invariants:
 * I1 Each record is kept by exactly one subtask (of `broadcast`: by each, once), if key selectors and partitioners are pure
 *    functions of the record.
 * I2 Pieces to one old receiver keep their order, in each subtask that gets them.
 */
import { MAX_WATERMARK } from '../base/index.ts';
import { type KeyGroupRange, rangeOf, type StreamHandle } from '../state/index.ts';
import { formatType } from '../types/index.ts';
import type { ChannelSnapshot, EdgeDescription, EdgeSnapshot } from './in-flight-data.ts';
import { sameType } from './same-type.ts';

/** Which records of a piece the subtask keeps. */
export type InFlightFilter =
  /** All of them. */
  | { readonly kind: 'none' }
  /** Those whose hash falls into these key groups. */
  | { readonly kind: 'key-groups'; readonly range: KeyGroupRange; readonly maxParallelism: number }
  /** Those that the exchange, as it is now, would send to it: key selectors and partitioners are asked. */
  | { readonly kind: 'partitioner' };

/** Data in flight of one channel of an earlier run, for one subtask. */
export interface InFlightPiece {
  /** As in the snapshot: a subtask of the job that took the checkpoint, or of an earlier run. */
  readonly sender: number;
  /** A subtask of the job that took the checkpoint. */
  readonly oldReceiver: number;
  /**
   * What the old receiver had got from the sender; MAX_WATERMARK if it is not to be waited for, or only its sender saved
   * something: then the lowest of the edge, which the receiver saved, stands for it.
   */
  readonly watermarkMs: number;
  /** True if the records were saved with the hashes of their keys. */
  readonly hashed: boolean;
  /** In order: an element may begin in one and go on in the next. */
  readonly streams: readonly StreamHandle[];
  readonly filter: InFlightFilter;
}

/** Why the data in flight cannot enter `edge`; undefined if it can. */
export function inFlightMisfit(saved: EdgeSnapshot, edge: EdgeDescription): string | undefined {
  if (!sameType(saved.type, edge.type)) {
    const [before, now] = [formatType(saved.type), formatType(edge.type)];
    return before === now
      ? `the type of its records, ${now}, has changed`
      : `its records were ${before}, now they are ${now}`;
  }
  if ((saved.partitioning === 'broadcast') === (edge.partitioning === 'broadcast')) return undefined;
  return `it was ${saved.partitioning}, now it is ${edge.partitioning}: of a broadcast record each receiver has a copy`;
}

/** The pieces for each receiving subtask of `edge`, by its index. */
export function assignInFlight(saved: EdgeSnapshot, edge: EdgeDescription): InFlightPiece[][] {
  const pieces = channelsToRead(saved);
  return Array.from({ length: edge.receivers }, (_, subtask) => {
    const filterOf = filtersOf(saved, edge, subtask);
    return pieces.flatMap((piece) => {
      const filter = filterOf(piece.oldReceiver);
      return filter === undefined ? [] : [{ ...piece, filter }];
    });
  });
}

/** One for each; but what was not sent belongs to what was received of the same channel. */
function channelsToRead({ channels, partitioning }: EdgeSnapshot): Omit<InFlightPiece, 'filter'>[] {
  const pieces: { last: ChannelSnapshot; watermarkMs: number; streams: StreamHandle[] }[] = [];
  for (const channel of channels) {
    const piece = pieces.at(-1);
    const isSame = piece?.last.sender === channel.sender && piece.last.receiver === channel.receiver;
    if (channel.part === 'unsent' && isSame && piece.last.part === 'received') {
      piece.streams.push(channel.stream);
    } else {
      pieces.push({
        last: channel,
        watermarkMs: channel.watermarkMs ?? MAX_WATERMARK,
        streams: [channel.stream],
      });
    }
  }
  return pieces.map(({ last, watermarkMs, streams }) => ({
    sender: last.sender,
    oldReceiver: last.receiver,
    ...{ watermarkMs, hashed: partitioning === 'hash', streams },
  }));
}

const ALL: InFlightFilter = { kind: 'none' };
const ASK: InFlightFilter = { kind: 'partitioner' };

/** What `subtask` keeps of the channels to an old receiver; undefined: nothing, it does not get them. */
function filtersOf(
  saved: EdgeSnapshot,
  edge: EdgeDescription,
  subtask: number,
): (oldReceiver: number) => InFlightFilter | undefined {
  const { partitioning, receivers } = edge;
  const isAsBefore = saved.partitioning === partitioning;
  switch (partitioning) {
    case 'hash':
      return isAsBefore && sameType(saved.key, edge.key) ? keyGroupFilters(saved, edge, subtask) : () => ASK;
    case 'custom':
      if (isAsBefore && saved.receivers === receivers) return (old) => (old === subtask ? ALL : undefined);
      return () => (receivers === 1 ? ALL : ASK);
    case 'broadcast': {
      const own = subtask % saved.receivers;
      return (old) => (old === own ? ALL : undefined);
    }
    case 'global':
      return () => (subtask === 0 ? ALL : undefined);
    default:
      return (old) => (old % receivers === subtask ? ALL : undefined);
  }
}

function keyGroupFilters(
  saved: EdgeSnapshot,
  { receivers, maxParallelism }: EdgeDescription,
  subtask: number,
): (oldReceiver: number) => InFlightFilter | undefined {
  const range = rangeOf(subtask, receivers, maxParallelism);
  const filter: InFlightFilter = { kind: 'key-groups', range, maxParallelism };
  if (receivers === 1) return () => ALL;
  if (saved.maxParallelism !== maxParallelism) return () => filter;
  return (old) => {
    const { first, last } = rangeOf(old, saved.receivers, maxParallelism);
    if (last < range.first || first > range.last) return undefined;
    return first >= range.first && last <= range.last ? ALL : filter;
  };
}
