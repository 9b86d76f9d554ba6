/**
 * Where a record writer that broadcasts puts its records: they are encoded once, into one segment of its own, and each
 * full segment is copied into every channel. Called by the record writer.
 */
import { ByteView } from '../types/index.ts';
import type { ChannelOutput, OutputCounters, RecordTarget } from './channel-output.ts';
import { ElementKind } from './element.ts';

export class BroadcastOutput implements RecordTarget {
  readonly view: ByteView;
  /** Written once for all: nothing is lent. */
  readonly lent = undefined;
  records = 0;
  readonly #channels: readonly ChannelOutput[];
  readonly #counters: OutputCounters;

  constructor(channels: readonly ChannelOutput[], segmentBytes: number, counters: OutputCounters) {
    this.view = ByteView.allocate(segmentBytes);
    this.#channels = channels;
    this.#counters = counters;
  }

  get hasData(): boolean {
    return this.view.pos > 0;
  }

  get openRecords(): number {
    return this.records;
  }

  open(): void {}

  lend(): void {}

  stopLending(): void {}

  flush(): void {
    if (!this.hasData) return;
    for (const channel of this.#channels) channel.append(ElementKind.data, this.view.u8, 0, this.view.pos);
    this.#counters.records += this.records;
    this.records = 0;
    this.view.pos = 0;
  }

  append(kind: ElementKind, bytes: Uint8Array, start: number, length: number): void {
    this.flush();
    for (const channel of this.#channels) channel.append(kind, bytes, start, length);
    // No room from now on: a record after the end must come to the writer's slow path, which refuses it.
    if (kind === ElementKind.endOfData) this.view.limit = 0;
  }
}
