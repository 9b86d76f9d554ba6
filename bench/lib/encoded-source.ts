/**
 * The source of the benchmarks: records decoded one after the other from a buffer that was filled before, as if they came
 * from a network. Making records on the way (random strings) would cost more than everything that is measured.
 */
import { ByteView, createSerializer, type TypeInformation } from '@millrace/engine/connector';
import { firstRoundOrder } from './count-records.ts';
import { SequenceSource } from './sequence-source.ts';

export interface EncodedSourceOptions<T> {
  readonly type: TypeInformation<T>;
  /** Makes the records of the buffer of a subtask, in order; all take the same number of bytes. */
  readonly maker: (subtask: number) => (index: number) => T;
  /** Records in the buffer, which is read again and again, the first time in another order. */
  readonly bufferRecords: number;
  /** Records that each subtask emits in all. */
  readonly recordsPerSubtask: number;
}

export function encodedSource<T>(options: EncodedSourceOptions<T>): SequenceSource<T> {
  return new SequenceSource(options.type, ({ subtaskIndex }) => {
    const records = new EncodedRecords(options, subtaskIndex);
    return {
      count: options.recordsPerSubtask,
      emit: (output, first, count) => records.emit(output, first, count),
    };
  });
}

type Emit<T> = (
  output: { collect(value: T): void },
  view: ByteView,
  first: number,
  count: number,
  records: number,
  bytes: number,
) => void;

let made = 0;

/** The buffer of one subtask, and loops that decode from it. */
export class EncodedRecords<T> {
  private readonly view: ByteView;
  private readonly count: number;
  private readonly recordBytes: number;
  private readonly inOrder: Emit<T>;
  private readonly firstRound: Emit<T>;

  constructor({ type, maker, bufferRecords }: EncodedSourceOptions<T>, subtask: number) {
    const serializer = createSerializer(type, 'benchmark source');
    const make = maker(subtask);
    const probe = ByteView.allocate(1024);
    serializer.encode(probe, make(0));
    this.recordBytes = probe.pos;
    this.count = bufferRecords;
    this.view = ByteView.allocate(this.recordBytes * bufferRecords);
    for (let i = 0; i < bufferRecords; i++) {
      const written = serializer.encode(this.view, make(i)) && this.view.pos === (i + 1) * this.recordBytes;
      if (!written) throw new Error(`record ${i} does not take ${this.recordBytes} bytes`);
    }
    const parameters = 'output, view, first, count, records, bytes';
    // Loops of their own for each reader, so that their call sites are not shared between jobs.
    const loop = (place: string): Emit<T> =>
      new Function(
        'serializer',
        'placeOf',
        `/* benchmark source ${++made} */
        return function emitRecords(${parameters}) { ${place} };`,
      )(serializer, firstRoundOrder(bufferRecords));
    this.inOrder = loop(`
      const end = records * bytes;
      view.pos = (first % records) * bytes;
      for (let i = 0; i < count; i++) {
        if (view.pos >= end) view.pos = 0;
        output.collect(serializer.decode(view));
      }`);
    this.firstRound = loop(`
      for (let i = first; i < first + count; i++) {
        view.pos = placeOf(i) * bytes;
        output.collect(serializer.decode(view));
      }`);
  }

  /** Emits records `first` to `first + count - 1` of the endless sequence. */
  emit(output: { collect(value: T): void }, first: number, count: number): void {
    const inFirstRound = Math.max(0, Math.min(count, this.count - first));
    const { view, recordBytes } = this;
    if (inFirstRound > 0) this.firstRound(output, view, first, inFirstRound, this.count, recordBytes);
    const rest = count - inFirstRound;
    if (rest > 0) this.inOrder(output, view, first + inFirstRound, rest, this.count, recordBytes);
  }
}
