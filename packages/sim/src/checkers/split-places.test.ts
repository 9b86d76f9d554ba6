import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CompletedSnapshot } from '../../../engine/src/checkpoint/index.ts';
import { createSerializer, encodeToBytes } from '../../../engine/src/types/index.ts';
import type { ReaderPlace } from '../world/engine-calls.ts';
import { SplitPlaces } from './split-places.ts';

const serializer = createSerializer<unknown>(undefined, 'splits');
const splitsOf = (ids: string): { splitId: string }[] => [...ids].map((splitId) => ({ splitId }));

/** A checkpoint: splits with the enumerator, then those of each reader, one letter a split. */
function snapshot(
  checkpointId: number,
  enumerator: string,
  ...readers: readonly string[]
): CompletedSnapshot {
  const subtasks = readers.map((ids) => {
    const elements = splitsOf(ids).map((split) => encodeToBytes(serializer, split));
    const offsets = elements.map((_, i) => elements.slice(0, i).reduce((sum, { length }) => sum + length, 0));
    const stream = { kind: 'inline', bytes: new Uint8Array(Buffer.concat(elements)) };
    return { keyed: [], operator: [{ name: 'splits', mode: 'split', offsets, stream }] };
  });
  const coordinator = encodeToBytes(serializer, splitsOf(enumerator));
  const operators = [
    { uid: 'source', name: 'items', subtasks, coordinator },
    { uid: 'map', subtasks: [] },
  ];
  return { checkpointId, directory: undefined, manifest: { operators } } as unknown as CompletedSnapshot;
}

class Readers {
  readonly places = new SplitPlaces(() => undefined);
  private readonly process: string;
  private readonly place: ReaderPlace;
  private readonly readers = [{}, {}];

  constructor(attemptNumber = 0, restoredCheckpointId?: number, process = 'p1') {
    this.process = process;
    const services = { restoredCheckpointId };
    this.place = { operatorUid: 'source', subtaskIndex: 0, attemptNumber, services } as ReaderPlace;
  }

  give(reader: 0 | 1, ids: string): void {
    this.places.given(this.readers[reader]!, splitsOf(ids));
  }

  /** A checkpoint is taken and completes. */
  take(checkpointId: number, enumerator: string, first: string, second: string): string | undefined {
    for (const [index, ids] of [first, second].entries())
      this.places.readerSaved(this.process, this.readers[index]!, this.place, checkpointId, splitsOf(ids));
    this.places.completed(this.process, snapshot(checkpointId, enumerator, first, second));
    return this.places.problem;
  }

  /** The same run after a restart of the job. */
  restart(attemptNumber: number, restoredCheckpointId: number): Readers {
    const next = new Readers(attemptNumber, restoredCheckpointId, this.process);
    (next as { places: SplitPlaces }).places = this.places;
    return next;
  }
}

describe('the places of splits', () => {
  it('change: from the enumerator to a reader, and then they end', () => {
    const readers = new Readers();
    assert.equal(readers.take(0, 'abc', '', ''), undefined);
    readers.give(0, 'a');
    readers.give(1, 'b');
    assert.equal(readers.take(1, 'c', 'a', 'b'), undefined);
    assert.equal(readers.take(2, 'c', '', 'b'), undefined);
    readers.give(0, 'c');
    assert.equal(readers.take(3, '', 'c', 'b'), undefined);
  });

  it('are never two', () => {
    assert.match(
      new Readers().take(0, 'ab', 'a', '') ?? '',
      /snapshot 0, source items: split a is with the enumerator and with reader 0/,
    );
    assert.match(new Readers().take(0, '', 'ab', 'b') ?? '', /split b is with reader 0 and with reader 1/);
  });

  it('are never none: a split that was given out and that no reader got is lost', () => {
    const readers = new Readers();
    readers.take(0, 'ab', '', '');
    assert.match(readers.take(1, 'b', '', '') ?? '', /snapshot 1, source items: split a is nowhere/);
  });

  it('after a restore are those of the checkpoint, at another attempt and in another process', () => {
    const first = new Readers();
    first.take(0, 'ab', '', '');
    first.give(0, 'a');
    first.take(1, 'b', '', '');
    const second = first.restart(1, 1);
    assert.equal(second.take(2, 'b', '', ''), undefined);
    const wrong = first.restart(2, 1);
    assert.match(wrong.take(3, 'ab', '', '') ?? '', /split a is back/);
  });
});
