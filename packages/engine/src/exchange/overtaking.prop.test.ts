import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { COPIED_SAMPLE, type Sample } from '../testing/sample-records.ts';
import type { TypeSerializer } from '../types/index.ts';
import { type Barrier, ElementKind } from './element.ts';
import type { ChannelCapture, InFlightElement, RestoredChannel } from './in-flight.ts';
import { decodeElements, encodeElements } from './in-flight-bytes.ts';
import { InputGate } from './input-gate.ts';
import { LentRecords } from './lent-records.ts';
import { RecordBatch } from './record-batch.ts';
import { createRecordWriter, type RecordWriter } from './record-writer.ts';
import { createRing, type RingLayout, RingReader, RingWriter } from './ring.ts';

const SILENT = { ring() {} };
const FORMAT = { valueSerializer: COPIED_SAMPLE as TypeSerializer<unknown>, hashed: false };
/** Less than most segments have: they are left half read. */
const batch = new RecordBatch(1);

const barrierOf = (checkpointId: number): Barrier => ({ checkpointId, timestampMs: 0, kind: 'checkpoint' });

/** A sender with a channel to each receiver, and what it sent, by channel: the model. */
class Sender {
  readonly writer: RecordWriter<Sample>;
  readonly sent: string[][];
  /** By checkpoint: how much of `sent` is before its barrier, and what waited in overflow lists. */
  readonly cuts = new Map<
    number,
    { readonly before: readonly number[]; unsent: readonly ChannelCapture[] }
  >();
  #inOrder = 0;

  constructor(rings: readonly RingWriter[], lending: readonly (LentRecords | undefined)[]) {
    this.sent = rings.map(() => []);
    this.writer = createRecordWriter({
      label: 'sender',
      partitioning: 'custom',
      custom: { selector: (value: Sample) => value.id, partitioner: (id: number, count) => id % count },
      valueSerializer: COPIED_SAMPLE,
      channels: rings,
      lending,
      unique: 'test',
      subtaskIndex: 0,
    });
  }

  collect(sample: Sample): void {
    this.writer.collect(sample, sample.id);
    this.sent[sample.id % this.sent.length]!.push(`record ${sample.id} ${sample.size}`);
  }

  watermark(watermarkMs: number): void {
    this.writer.broadcastWatermark(watermarkMs);
    for (const log of this.sent) log.push(`watermark ${watermarkMs}`);
  }

  barrier(checkpointId: number, inOrder: boolean): void {
    if (this.cuts.has(checkpointId)) return;
    const before = this.sent.map((log) => log.length);
    this.cuts.set(checkpointId, { before, unsent: [] });
    if (inOrder) {
      this.writer.broadcastBarrier(barrierOf(checkpointId));
      this.#inOrder = checkpointId;
    } else {
      this.cuts.get(checkpointId)!.unsent = this.writer.announceBarrier(barrierOf(checkpointId));
    }
  }

  /** The last barrier, if it was sent in order, waits its turn no longer. */
  overtake(): void {
    const checkpointId = this.#inOrder;
    if (checkpointId === 0) return;
    this.#inOrder = 0;
    const waits = this.writer.barrierWaits(checkpointId);
    const unsent = this.writer.overtakeWith(barrierOf(checkpointId));
    assert.ok(waits || unsent.length === 0);
    assert.equal(this.writer.barrierWaits(checkpointId), false);
    if (unsent.length > 0) this.cuts.get(checkpointId)!.unsent = unsent;
  }
}

/** A receiver with a channel from each sender: a task in small, which takes a checkpoint when `proceed` is called. */
class Receiver {
  readonly gate: InputGate;
  readonly seen: string[][];
  /** Checkpoints that are complete: what was seen before, and what was captured. */
  readonly taken = new Map<
    number,
    { readonly seen: readonly number[]; readonly captures: readonly ChannelCapture[] }
  >();
  #checkpointId = 0;
  #isOver = true;
  #seenBefore: readonly number[] | undefined;
  #arrived: ('announced' | 'in-order' | undefined)[] = [];

  constructor(
    readers: readonly RingReader[],
    lending: readonly (LentRecords | undefined)[],
    restored: readonly RestoredChannel[] = [],
  ) {
    this.seen = [...readers, ...restored].map(() => []);
    this.gate = new InputGate({
      label: 'receiver',
      channels: readers.map((reader, senderSubtask) => ({
        ...{ reader, lending: lending[senderSubtask] },
        ...{ input: 0, edgeIndex: 0, senderSubtask },
      })),
      edges: [{ edgeIndex: 0, ...FORMAT }],
      unique: 'test',
      restored,
    });
  }

  /** Takes announcements and one element or batch. False if there was no element. */
  read(): boolean {
    const { gate } = this;
    for (let channel = gate.nextAnnouncement(); channel !== -1; channel = gate.nextAnnouncement())
      this.#barrier(channel, gate.takeAnnouncement(channel).checkpointId, 'announced');
    assert.equal(gate.hasAnnouncement(), false);
    const channel = gate.next();
    assert.equal(channel !== -1, gate.hasElement());
    if (channel === -1) return false;
    const log = this.seen[channel]!;
    switch (gate.kind(channel)) {
      case ElementKind.data:
        gate.readBatch(channel, batch);
        for (const { id, size } of batch.values.slice(0, batch.count) as Sample[])
          log.push(`record ${id} ${size}`);
        batch.clear();
        return true;
      case ElementKind.watermark:
        log.push(`watermark ${gate.watermark(channel)}`);
        gate.consume(channel);
        return true;
      default: {
        const { checkpointId } = gate.barrier(channel);
        gate.consume(channel);
        this.#barrier(channel, checkpointId, 'in-order');
        return true;
      }
    }
  }

  /** Takes the checkpoint of which some barriers have arrived; records the channels of the others. */
  proceed(): void {
    if (this.#isOver || this.#seenBefore !== undefined) return;
    this.#seenBefore = this.seen.map((log) => log.length);
    const missing = [...this.#arrived.keys()].filter((channel) => this.#arrived[channel] === undefined);
    this.gate.startCapture(this.#checkpointId, missing);
    this.gate.unblockAll();
    this.#completeIfAllArrived();
  }

  #barrier(channel: number, checkpointId: number, how: 'announced' | 'in-order'): void {
    if (checkpointId > this.#checkpointId) {
      this.gate.cancelCapture();
      this.gate.unblockAll();
      this.#checkpointId = checkpointId;
      this.#isOver = false;
      this.#seenBefore = undefined;
      this.#arrived = new Array(this.gate.channelCount).fill(undefined);
    }
    if (checkpointId < this.#checkpointId || this.#isOver || this.#arrived[channel] !== undefined) return;
    this.#arrived[channel] = how;
    if (this.#seenBefore === undefined) this.gate.block(channel);
    else this.gate.endCapture(channel);
    if (!this.#arrived.includes(undefined)) this.proceed();
    this.#completeIfAllArrived();
  }

  #completeIfAllArrived(): void {
    if (this.#isOver || this.#seenBefore === undefined || this.#arrived.includes(undefined)) return;
    const sizeBytes = this.gate.capturedBytes;
    const captures = this.gate.takeCapture();
    const bytes = captures.flatMap(({ channel, elements }) =>
      this.gate.channel(channel).isRestored ? [] : elements.map((element) => element.bytes.length),
    );
    assert.equal(
      sizeBytes,
      bytes.reduce((sum, each) => sum + each, 0),
    );
    this.taken.set(this.#checkpointId, { seen: this.#seenBefore, captures });
    this.#isOver = true;
  }
}

interface Rig {
  readonly senders: Sender[];
  readonly receivers: Receiver[];
}

function rig(
  senderCount: number,
  receiverCount: number,
  layout: RingLayout,
  lends: boolean,
  restored: readonly (readonly RestoredChannel[])[] = [],
): Rig {
  const range = (count: number) => Array.from({ length: count }, (_, i) => i);
  // Near the wrap of the counters.
  const rings = range(senderCount).map(() =>
    range(receiverCount).map(() => createRing(layout, 0x7fffffff - 9)),
  );
  // As with a slot for each subtask: some channels are within a thread.
  const lending = rings.map((ofSender, s) =>
    ofSender.map((_, r) => (lends && s === r ? new LentRecords(layout, FORMAT) : undefined)),
  );
  const senders = rings.map(
    (ofSender, s) =>
      new Sender(
        ofSender.map((ring) => new RingWriter(ring, SILENT)),
        lending[s]!,
      ),
  );
  const receivers = range(receiverCount).map((receiver) => {
    const readers = rings.map((ofSender) => new RingReader(ofSender[receiver]!, SILENT));
    return new Receiver(
      readers,
      lending.map((ofSender) => ofSender[receiver]),
      restored[receiver],
    );
  });
  return { senders, receivers };
}

type Step =
  | { readonly do: 'collect'; readonly at: number; readonly size: number; readonly times: number }
  | { readonly do: 'flush' | 'watermark' | 'drain' | 'overtake' | 'proceed' | 'trigger'; readonly at: number }
  | { readonly do: 'barrier'; readonly at: number; readonly inOrder: boolean }
  | { readonly do: 'read'; readonly at: number; readonly times: number };

const at = fc.nat(5);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('collect' as const),
      at,
      size: fc.oneof(fc.nat(20), fc.nat(90), fc.nat(700)),
      times: fc.integer({ min: 1, max: 8 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('flush' as const, 'watermark', 'drain'), at }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('barrier' as const), at, inOrder: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('overtake' as const, 'proceed'), at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('trigger' as const), at }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('read' as const), at, times: fc.integer({ min: 1, max: 8 }) }),
  },
);

/** Numbers records and watermarks, over all runs of one job. */
class Numbers {
  #last = 0;

  next(): number {
    return ++this.#last;
  }
}

/** Plays the steps; then all barriers of the last checkpoint are sent, and everything is read. */
function play({ senders, receivers }: Rig, steps: readonly Step[], numbers: Numbers): number {
  let checkpointId = 1;
  for (const each of steps) {
    const sender = senders[each.at % senders.length]!;
    const receiver = receivers[each.at % receivers.length]!;
    if (each.do === 'collect') {
      for (let i = 0; i < each.times; i++) sender.collect({ id: numbers.next(), size: each.size });
    } else if (each.do === 'barrier') sender.barrier(checkpointId, each.inOrder);
    else if (each.do === 'read') for (let i = 0; i < each.times; i++) receiver.read();
    else if (each.do === 'proceed') receiver.proceed();
    else if (each.do === 'trigger') checkpointId++;
    else if (each.do === 'flush') sender.writer.flush();
    else if (each.do === 'watermark') sender.watermark(numbers.next());
    else if (each.do === 'drain') sender.writer.drain();
    else sender.overtake();
  }
  for (const sender of senders) sender.barrier(checkpointId, false);
  for (const sender of senders) sender.writer.flush();
  for (let isMoving = true; isMoving; ) {
    isMoving = senders.map((sender) => !sender.writer.drain()).includes(true);
    for (const receiver of receivers) while (receiver.read()) isMoving = true;
    for (const receiver of receivers) receiver.proceed();
  }
  return checkpointId;
}

/** What a list of captured elements holds, after it was written and read. */
function contents(elements: readonly InFlightElement[]): string[] {
  const receiver = new Receiver([], [], [restoredOf(0, elements)]);
  while (receiver.read());
  assert.equal(receiver.gate.hasRestored, false);
  return receiver.seen[0]!;
}

function restoredOf(sender: number, elements: readonly InFlightElement[]): RestoredChannel {
  const saved = decodeElements(encodeElements(elements));
  return { edgeIndex: 0, operator: 0, input: 0, sender, watermarkMs: 0, format: FORMAT, elements: saved };
}

const elementsOf = (captures: readonly ChannelCapture[], channel: number): readonly InFlightElement[] =>
  captures.find((capture) => capture.channel === channel)?.elements ?? [];

/** Every element before a barrier was seen before the checkpoint, or is in exactly one capture; in order, and no other. */
function checkCheckpoints({ senders, receivers }: Rig): void {
  for (const [r, receiver] of receivers.entries()) {
    for (const [checkpointId, { seen, captures }] of receiver.taken) {
      for (const [s, sender] of senders.entries()) {
        const { before, unsent } = sender.cuts.get(checkpointId)!;
        const inFlight = [...elementsOf(captures, s), ...elementsOf(unsent, r)];
        assert.deepEqual(
          [...receiver.seen[s]!.slice(0, seen[s]), ...contents(inFlight)],
          sender.sent[r]!.slice(0, before[r]),
        );
      }
    }
    assert.deepEqual(
      receiver.seen.slice(0, senders.length),
      senders.map((sender) => sender.sent[r]),
    );
  }
}

/** What each receiver has to process first after a restore: what was restored and not read, then what was in flight. */
function inFlightOf({ senders, receivers }: Rig, checkpointId: number): RestoredChannel[][] {
  return receivers.map(({ gate, taken }, r) => {
    const { captures } = taken.get(checkpointId)!;
    const numbers = captures.map((capture) => capture.channel);
    // Restored channels come first: what senders did not get into a ring continues that of the real ones.
    const restored = numbers.filter((channel) => gate.channel(channel).isRestored);
    assert.deepEqual(numbers.slice(0, restored.length), restored);
    return [
      ...restored.map((channel) =>
        restoredOf(gate.channel(channel).senderSubtask, elementsOf(captures, channel)),
      ),
      ...senders.map(({ cuts }, s) =>
        restoredOf(s, [...elementsOf(captures, s), ...elementsOf(cuts.get(checkpointId)!.unsent, r)]),
      ),
    ];
  });
}

describe('barriers that overtake', () => {
  it('cut each channel in one place: what is before it was read before the checkpoint, or is captured once', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom(32, 64, 256, 1024),
        fc.constantFrom(4, 8),
        fc.boolean(),
        fc.array(step, { maxLength: 60 }),
        (senderCount, receiverCount, segmentBytes, segments, lends, steps) => {
          const run = rig(senderCount, receiverCount, { segmentBytes, segments }, lends);
          const checkpointId = play(run, steps, new Numbers());
          for (const receiver of run.receivers) assert.ok(receiver.taken.has(checkpointId));
          checkCheckpoints(run);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('lose and repeat nothing when a job is restored again and again before it has read what was in flight', () => {
    const runs = fc.array(fc.array(step, { maxLength: 25 }), { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.constantFrom(32, 1024),
        fc.boolean(),
        runs,
        fc.nat(40),
        (segmentBytes, lends, stepsOfRuns, reads) => {
          const numbers = new Numbers();
          let restored: RestoredChannel[][] = [];
          for (const steps of stepsOfRuns) {
            const run = rig(2, 2, { segmentBytes, segments: 4 }, lends, restored);
            const expected = restored.map((channels) => channels.map(({ elements }) => contents(elements)));
            for (let i = 0; i < reads % (steps.length + 1); i++) run.receivers[i % 2]!.read();
            const checkpointId = play(run, steps, numbers);
            checkCheckpoints(run);
            for (const [r, { seen, taken }] of run.receivers.entries()) {
              const ofRestored = seen.slice(2);
              assert.deepEqual(ofRestored, expected[r] ?? []);
              const { seen: before, captures } = taken.get(checkpointId)!;
              for (const [i, log] of ofRestored.entries())
                assert.deepEqual(
                  [...log.slice(0, before[2 + i]), ...contents(elementsOf(captures, 2 + i))],
                  log,
                );
            }
            restored = inFlightOf(run, checkpointId);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
