/**
 * The events of the generator as a source: subtask i of P emits the numbers i, i + P, i + 2 P, ... so that event time goes on
 * at the same pace in all of them.
 */
import type { SourceOutput } from '@millrace/engine/connector';
import { type Sequence, SequenceSource } from '../lib/sequence-source.ts';
import { EVENT_TYPE } from './event-types.ts';
import { type Auction, type Bid, eventOf, type NexmarkEvent, type Person } from './generator.ts';

type Emit = (output: SourceOutput<NexmarkEvent>, from: number, to: number, step: number) => void;

let made = 0;

/** Of events 0 to `events - 1`. */
export function nexmarkSource(events: number): SequenceSource<NexmarkEvent> {
  return new SequenceSource(EVENT_TYPE, ({ subtaskIndex, parallelism }) =>
    eventsFrom(subtaskIndex, parallelism, events),
  );
}

function eventsFrom(first: number, step: number, events: number): Sequence<NexmarkEvent> {
  // A loop of its own for each reader, so that its call sites are not shared between jobs.
  const emit: Emit = new Function(
    'eventOf',
    'timeOf',
    `/* nexmark source ${++made} */
    return function emitEvents(output, from, to, step) {
      for (let number = from; number < to; number += step) {
        const event = eventOf(number);
        output.collect(event, timeOf(event));
      }
    };`,
  )(eventOf, timeOf);
  return {
    count: Math.max(0, Math.ceil((events - first) / step)),
    emit: (output, from, count) => emit(output, first + from * step, first + (from + count) * step, step),
  };
}

function timeOf({ bid, auction, person }: NexmarkEvent): number {
  return ((bid ?? auction ?? person) as Bid | Auction | Person).dateTime;
}
