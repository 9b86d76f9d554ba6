import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode, MAX_WATERMARK, MIN_WATERMARK } from '../base/index.ts';
import type { ByteView, KeySerializer, TypeSerializer } from '../types/index.ts';
import { ElementKind, type Partitioning } from './element.ts';
import { InputGate } from './input-gate.ts';
import { RecordBatch } from './record-batch.ts';
import { createRecordWriter, type RecordWriter, type RecordWriterOptions } from './record-writer.ts';
import { createRing, type RingLayout, RingReader, RingWriter } from './ring.ts';

const SILENT = { ring() {} };
const LAYOUT: RingLayout = { segmentBytes: 64, segments: 4 };

/** Text as one byte a character after a length. `bad` fails half way, as a field of a wrong type would. */
const TEXT: TypeSerializer<string> = {
  description: { kind: 'string' },
  fixedSizeBytes: undefined,
  encode(view: ByteView, value: string): boolean {
    if (value === 'bad') {
      view.pos += 2;
      throw new Error('not of the type');
    }
    if (view.pos + 4 + value.length > view.limit) return false;
    view.dv.setUint32(view.pos, value.length, true);
    view.buf.write(value, view.pos + 4, 'latin1');
    view.pos += 4 + value.length;
    return true;
  },
  decode(view: ByteView): string {
    const start = view.pos + 4;
    view.pos = start + view.dv.getUint32(view.pos, true);
    return view.buf.latin1Slice(start, view.pos);
  },
  skip(view: ByteView): void {
    view.pos += 4 + view.dv.getUint32(view.pos, true);
  },
};

/** Hashes a text to the number that it spells. */
const KEY: KeySerializer<unknown> = {
  ...(TEXT as TypeSerializer<unknown>),
  hash: (key) => Number.parseInt(key as string, 10) | 0,
  shortcut: 'string',
};

interface Rig {
  readonly writer: RecordWriter<string>;
  /** One for each receiving subtask. */
  readonly gates: InputGate[];
}

function rig(
  partitioning: Partitioning,
  channelCount = 1,
  options: Partial<RecordWriterOptions<string>> & { layout?: RingLayout } = {},
): Rig {
  const rings = Array.from({ length: channelCount }, () => createRing(options.layout ?? LAYOUT));
  const writer = createRecordWriter({
    label: "output of operator 'x'",
    partitioning,
    valueSerializer: TEXT,
    channels: rings.map((ring) => new RingWriter(ring, SILENT)),
    unique: 'test',
    subtaskIndex: 0,
    ...options,
  });
  const gates = rings.map(
    (ring) =>
      new InputGate({
        label: "input of operator 'y'",
        channels: [{ reader: new RingReader(ring, SILENT), input: 0, edgeIndex: 3, senderSubtask: 0 }],
        edges: [
          {
            edgeIndex: 3,
            valueSerializer: TEXT as TypeSerializer<unknown>,
            hashed: partitioning === 'hash',
          },
        ],
        unique: 'test',
      }),
  );
  return { writer, gates };
}

/** Everything that waits in a gate of one channel: texts, and control elements in brackets. */
function readAll(gate: InputGate): string[] {
  const batch = new RecordBatch(3);
  const seen: string[] = [];
  while (gate.next() !== -1) {
    if (gate.kind(0) === ElementKind.data) {
      gate.readBatch(0, batch);
      seen.push(...(batch.values.slice(0, batch.count) as string[]));
      batch.clear();
    } else {
      seen.push(`[${gate.kind(0)}]`);
      gate.consume(0);
    }
  }
  return seen;
}

const keyed = (selector: (value: never) => unknown, maxParallelism = 128) => ({
  key: { selector, serializer: KEY, maxParallelism },
});

describe('a record writer', () => {
  it('sends nothing before a segment is full or flushed', () => {
    const { writer, gates } = rig('forward');
    writer.collect('a', 1);
    assert.deepEqual(readAll(gates[0]!), []);
    writer.flush();
    writer.flush();
    assert.deepEqual(readAll(gates[0]!), ['a']);
    for (let i = 0; i < 5; i++) writer.collect('b', 1);
    assert.deepEqual(readAll(gates[0]!), ['b', 'b', 'b', 'b']);
  });

  it('carries timestamps and, on hashed edges only, the hash of the key', () => {
    const plain = rig('forward');
    const hashed = rig(
      'hash',
      1,
      keyed((value: string) => value),
    );
    for (const { writer } of [plain, hashed]) {
      writer.collect('-7', MIN_WATERMARK);
      writer.collect('12', 1.5);
      writer.flush();
    }
    const batch = new RecordBatch();
    plain.gates[0]!.next();
    plain.gates[0]!.readBatch(0, batch);
    assert.deepEqual([...batch.timestamps.subarray(0, 2)], [MIN_WATERMARK, 1.5]);
    hashed.gates[0]!.next();
    hashed.gates[0]!.readBatch(0, batch);
    assert.deepEqual([...batch.timestamps.subarray(0, 2)], [MIN_WATERMARK, 1.5]);
    assert.deepEqual([...batch.hashes.subarray(0, 2)], [-7, 12]);
    assert.deepEqual(batch.values.slice(0, 3), ['-7', '12', undefined]);
  });

  it('sends a key to the subtask that has its key group', () => {
    const { writer, gates } = rig(
      'hash',
      3,
      keyed((value: string) => value, 10),
    );
    for (const text of ['0', '3', '4', '6', '7', '9', '13', '-4', '-2147483648', '2147483647']) {
      writer.collect(text, 0);
    }
    writer.flush();
    // With 10 key groups and 3 subtasks: groups 0-3, 4-6, 7-9; the sign of a hash does not count.
    assert.deepEqual(gates.map(readAll), [
      ['0', '3', '13', '-2147483648'],
      ['4', '6', '-4'],
      ['7', '9', '2147483647'],
    ]);
  });

  it('takes turns among the channels, beginning with its own index', () => {
    const { writer, gates } = rig('rebalance', 3, { subtaskIndex: 4 });
    for (const text of ['a', 'b', 'c', 'd']) writer.collect(text, 0);
    writer.flush();
    assert.deepEqual(gates.map(readAll), [['c'], ['a', 'd'], ['b']]);
  });

  it('chooses among the channels at random, all equally often, from any seed', () => {
    const choices = (seed: number): number[] => {
      const layout = { segmentBytes: 32768, segments: 8 };
      const { writer, gates } = rig('shuffle', 5, { seed, layout });
      const choice = new Array<number>(10_000);
      for (let i = 0; i < choice.length; i++) writer.collect(String(i), 0);
      writer.flush();
      for (const [channel, gate] of gates.entries())
        for (const text of readAll(gate)) choice[Number(text)] = channel;
      return choice;
    };
    for (const seed of [0, 1, 2, 0x80000000, 0xffffffff]) {
      const chosen = choices(seed);
      for (let channel = 0; channel < 5; channel++) {
        const count = chosen.filter((each) => each === channel).length;
        // The standard deviation of the count is 40.
        assert.ok(Math.abs(count - 2000) < 200, `${count} of 10000 records in channel ${channel}`);
      }
      const repeated = chosen.filter((each, i) => each === chosen[i - 1]).length;
      assert.ok(Math.abs(repeated - 2000) < 200, `${repeated} of 10000 went where the one before went`);
    }
    assert.notDeepEqual(choices(7), choices(8));
  });

  it('sends a record to the channel that the partitioner names, or to the first of all', () => {
    const custom = {
      selector: (text: string) => text.length,
      partitioner: (n: number, of: number) => n % of,
    };
    const { writer, gates } = rig('custom', 3, { custom });
    for (const text of ['a', 'bb', 'ccc', 'dddd']) writer.collect(text, 0);
    writer.flush();
    assert.deepEqual(gates.map(readAll), [['ccc'], ['a', 'dddd'], ['bb']]);
    const first = rig('global', 3);
    for (const text of ['a', 'b']) first.writer.collect(text, 0);
    first.writer.broadcastEnd();
    const end = `[${ElementKind.endOfData}]`;
    assert.deepEqual(first.gates.map(readAll), [['a', 'b', end], [end], [end]]);
  });

  it('sends a broadcast record to all channels and counts it once', () => {
    const { writer, gates } = rig('broadcast', 3, { layout: { segmentBytes: 64, segments: 8 } });
    const large = 'z'.repeat(150);
    for (const text of ['a', large, 'b']) writer.collect(text, 0);
    assert.equal(writer.recordsOut, 3);
    writer.flush();
    assert.deepEqual(gates.map(readAll), new Array(3).fill(['a', large, 'b']));
    assert.equal(writer.recordsOut, 3);
    assert.equal(writer.bytesOut, 3 * (13 + 162 + 13));
  });

  it('sends control elements to all channels, behind the records before them', () => {
    const { writer, gates } = rig('rebalance', 2);
    writer.collect('a', 0);
    writer.broadcastBarrier({ checkpointId: 2 ** 40, timestampMs: 17, kind: 'savepoint-terminate' });
    assert.equal(gates[1]!.next(), 0);
    assert.deepEqual(gates[1]!.barrier(0), {
      checkpointId: 2 ** 40,
      timestampMs: 17,
      kind: 'savepoint-terminate',
    });
    assert.deepEqual(gates.map(readAll), [['a', '[5]'], ['[5]']]);
    writer.broadcastWatermark(-5);
    writer.broadcastStatus(true);
    writer.broadcastCancelBarrier(9);
    for (const gate of gates) {
      gate.next();
      assert.equal(gate.watermark(0), -5);
      gate.consume(0);
      gate.next();
      assert.equal(gate.isIdleStatus(0), true);
      gate.consume(0);
      gate.next();
      assert.equal(gate.cancelledCheckpoint(0), 9);
      gate.consume(0);
    }
    writer.broadcastStatus(false);
    writer.broadcastEnd();
    for (const gate of gates) assert.deepEqual(readAll(gate), ['[4]', '[7]']);
    assert.deepEqual(
      gates.map((gate) => gate.allFinished),
      [true, true],
    );
  });

  it('repeats neither a watermark nor a status, and lets no watermark go back', () => {
    const { writer, gates } = rig('forward', 1, { layout: { segmentBytes: 64, segments: 16 } });
    writer.broadcastWatermark(MIN_WATERMARK);
    writer.broadcastStatus(false);
    assert.deepEqual(readAll(gates[0]!), []);
    writer.broadcastWatermark(5);
    writer.broadcastWatermark(5);
    writer.broadcastStatus(true);
    writer.broadcastStatus(true);
    writer.broadcastWatermark(MAX_WATERMARK);
    assert.deepEqual(readAll(gates[0]!), ['[3]', '[4]', '[3]']);
    assert.throws(() => writer.broadcastWatermark(4), /output of operator 'x' sent watermark 4 after/);
  });

  it('refuses everything after the end of data', () => {
    for (const { writer } of [rig('forward'), rig('broadcast', 2)]) {
      writer.collect('a', 0);
      writer.broadcastEnd();
      assert.throws(() => writer.collect('b', 0), /after its end of data/);
      assert.throws(() => writer.broadcastWatermark(3), /after its end of data/);
    }
  });

  it('counts records and bytes', () => {
    const { writer } = rig('rebalance', 2);
    for (let i = 0; i < 5; i++) writer.collect('a', 0);
    assert.equal(writer.recordsOut, 5);
    writer.flush();
    assert.equal(writer.recordsOut, 5);
    assert.equal(writer.bytesOut, 5 * 13);
  });
});

describe('a record writer whose receiver is slow', () => {
  it('writes on beyond a full ring, loses nothing and keeps the order', () => {
    const { writer, gates } = rig('forward');
    const sent: string[] = [];
    for (let i = 0; i < 100; i++) {
      writer.collect(`${i}`, 0);
      sent.push(`${i}`);
    }
    assert.equal(writer.drain(), false);
    assert.ok(writer.overflowBytes > 0);
    assert.equal(writer.isAvailable(), false);
    writer.broadcastWatermark(7);
    sent.push('[3]');
    writer.collect('last', 0);
    sent.push('last');
    const seen: string[] = [];
    while (!writer.drain()) seen.push(...readAll(gates[0]!));
    assert.equal(writer.overflowBytes, 0);
    writer.collect('!', 0);
    sent.push('!');
    writer.flush();
    seen.push(...readAll(gates[0]!));
    assert.deepEqual(seen, sent);
    assert.equal(writer.recordsOut, 102);
  });

  it('is available when each channel has a few free segments', () => {
    const { writer, gates } = rig(
      'hash',
      2,
      keyed((value: string) => value, 2),
    );
    const put = () => {
      writer.collect('1', 0);
      writer.flush();
    };
    put();
    put();
    assert.equal(writer.isAvailable(), true);
    assert.equal(writer.usage(), 0.25);
    put();
    assert.equal(writer.isAvailable(), false);
    assert.equal(writer.fullChannel(), 1);
    readAll(gates[1]!);
    assert.equal(writer.isAvailable(), true);
    assert.equal(writer.fullChannel(), -1);
  });

  it('fails when one call emits more than may wait', () => {
    const { writer } = rig('forward', 1, { maxOverflowBytes: 128 });
    const emitWithoutEnd = () => {
      for (let i = 0; i < 1000; i++) writer.collect('a', 0);
    };
    assert.throws(emitWithoutEnd, (error: Error) => {
      assert.match(error.message, /output of operator 'x' emitted more than 128 bytes/);
      return hasCode(error, 'EXCHANGE_OVERFLOW');
    });
    assert.equal(writer.recordsOut, 4 * 4 + 2 * 4);
  });
});

describe('a record that fails', () => {
  it('leaves no trace, whether its encoder threw in the fast path, in a fresh segment or beyond one', () => {
    const { writer, gates } = rig('forward');
    const bad = { name: 'Error', message: 'not of the type' };
    assert.throws(() => writer.collect('bad', 0), bad);
    writer.collect('a', 0);
    assert.throws(() => writer.collect('bad', 0), bad);
    writer.collect('x'.repeat(39), 0);
    writer.collect('b', 0);
    writer.flush();
    assert.deepEqual(readAll(gates[0]!), ['a', 'x'.repeat(39), 'b']);
    assert.equal(writer.recordsOut, 3);
  });

  it('is reported with the name of the output if the key selector threw', () => {
    const selector = (value: string) => {
      if (value === '2') throw new TypeError('no customer');
      return value;
    };
    const { writer, gates } = rig('hash', 1, keyed(selector));
    writer.collect('1', 0);
    assert.throws(
      () => writer.collect('2', 0),
      (error: Error) => {
        assert.equal(error.message, "The key selector of the output of operator 'x' failed: no customer");
        assert.ok(error.cause instanceof TypeError);
        return hasCode(error, 'USER_FUNCTION_FAILED');
      },
    );
    writer.flush();
    assert.deepEqual(readAll(gates[0]!), ['1']);
  });

  it('is reported with the name of the output if the partitioner threw or gave no index of a channel', () => {
    const answers: unknown[] = [2, -1, 0.5, Number.NaN, '1', undefined, null, Promise.resolve(0), 2 ** 32];
    const partitioner = (n: number) => answers[n] as number;
    const { writer, gates } = rig('custom', 2, { custom: { selector: Number, partitioner } });
    for (const index of answers.keys()) {
      assert.throws(
        () => writer.collect(String(index), 0),
        (error: Error) => {
          assert.match(error.message, /partitioner of the output of operator 'x' must .*from 0 to 1.* found/);
          return hasCode(error, 'RESULT_NOT_ALLOWED');
        },
      );
    }
    answers[0] = 1;
    writer.collect('0', 0);
    writer.flush();
    assert.deepEqual(gates.map(readAll), [[], ['0']]);
    const failing = (): never => {
      throw new TypeError('no region');
    };
    for (const [what, custom] of [
      ['partitioner', { selector: Number, partitioner: failing }],
      ['key selector', { selector: failing, partitioner: Number }],
    ] as const) {
      assert.throws(
        () => rig('custom', 2, { custom }).writer.collect('1', 0),
        (error: Error) => {
          assert.equal(error.message, `The ${what} of the output of operator 'x' failed: no region`);
          return hasCode(error, 'USER_FUNCTION_FAILED');
        },
      );
    }
  });

  it('is refused if it is larger than an exchange takes', () => {
    const { writer, gates } = rig('forward', 1, { maxRecordBytes: 1000 });
    const largest = 'y'.repeat(1000 - 12);
    writer.collect(largest, 0);
    assert.throws(
      () => writer.collect('y'.repeat(1000 - 11), 0),
      (error: Error) => {
        assert.match(error.message, /output of operator 'x' takes more than 1000 bytes/);
        return hasCode(error, 'RECORD_TOO_LARGE');
      },
    );
    const seen: string[] = [];
    do seen.push(...readAll(gates[0]!));
    while (!writer.drain());
    seen.push(...readAll(gates[0]!));
    assert.deepEqual(seen, [largest]);
  });
});

describe('the wiring of a record writer', () => {
  it('is checked when it is made', () => {
    assert.throws(() => rig('forward', 2), /forwards to several channels/);
    assert.throws(() => rig('hash', 2), /needs a key if and only if/);
    assert.throws(
      () =>
        rig(
          'rebalance',
          2,
          keyed(() => '1'),
        ),
      /needs a key if and only if/,
    );
    assert.throws(() => rig('custom', 2), /needs a partitioner if and only if/);
    assert.throws(() => rig('broadcast', 0), /no channels/);
    const channels = [LAYOUT, { segmentBytes: 32, segments: 8 }].map(
      (layout) => new RingWriter(createRing(layout), SILENT),
    );
    assert.throws(() => rig('rebalance', 0, { channels }), /differ in layout/);
  });
});
