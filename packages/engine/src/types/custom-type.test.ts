import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ByteView,
  type CustomSerializer,
  createKeySerializer,
  createSerializer,
  type DataInput,
  type DataOutput,
  decodeFromBytes,
  encodeToBytes,
  murmur,
  Types,
} from './index.ts';

/** A serializer of strings, with what a test changes in it. */
function words(changes: Partial<CustomSerializer<string>> = {}): CustomSerializer<string> {
  return {
    name: 'words',
    version: 1,
    serialize: (value, out) => out.writeString(value),
    deserialize: (input) => input.readString(),
    ...changes,
  };
}

function roundTrip<T>(serializer: CustomSerializer<T>, value: T): T {
  const made = createSerializer(Types.CUSTOM(serializer), "state 'x'");
  return decodeFromBytes(made, encodeToBytes(made, value));
}

const write = (serialize: (out: DataOutput) => void) => () =>
  roundTrip(words({ serialize: (_, out) => serialize(out) }), 'x');
const read = (deserialize: (input: DataInput) => string) => () => roundTrip(words({ deserialize }), 'x');

describe('a serializer of the user', () => {
  it('is refused if it is not complete, naming what is missing', () => {
    const refused = (serializer: object, message: RegExp) =>
      throws(() => Types.CUSTOM(serializer as CustomSerializer<string>), { code: 'TYPE_INVALID', message });
    refused({ ...words(), name: '' }, /has no name/);
    refused({ ...words(), version: 1.5 }, /Types\.CUSTOM\(words\): the version .* not 1\.5/);
    refused({ ...words(), version: -1 }, /the version .* from 0 on/);
    refused({ ...words(), serialize: undefined }, /has no method serialize/);
    refused({ ...words(), readOld: 5 }, /readOld of the serializer is not a method/);
    throws(() => Types.CUSTOM(undefined as never), { code: 'TYPE_INVALID' });
  });

  it('may keep its methods in a class', () => {
    class Doubled implements CustomSerializer<number> {
      readonly name = 'doubled';
      readonly version = 0;
      readonly #factor = 2;
      serialize(value: number, out: DataOutput): void {
        out.writeDouble(value * this.#factor);
      }
      deserialize(input: DataInput): number {
        return input.readDouble() / this.#factor;
      }
    }
    strictEqual(roundTrip(new Doubled(), 21), 21);
  });

  it('is asked again with more room, and nothing is written beyond the limit', () => {
    const serializer = createSerializer(Types.CUSTOM(words()), 'x');
    const view = ByteView.allocate(64);
    for (let room = 0; room < 9; room++) {
      view.pos = 0;
      view.limit = room;
      view.u8.fill(7);
      strictEqual(serializer.encode(view, 'word'), false);
      ok(view.u8.subarray(room).every((byte) => byte === 7));
    }
    view.limit = 9;
    strictEqual(serializer.encode(view, 'word'), true);
    const long = 'w'.repeat(100_000);
    strictEqual(roundTrip(words(), long), long);
  });

  it('that throws while it writes is an error that names place, path and reason', () => {
    const type = Types.ROW({ all: Types.LIST(Types.CUSTOM(words())) });
    const serializer = createSerializer(type, "output of operator 'map'");
    throws(() => encodeToBytes(serializer, { all: ['a', 5 as never] }), {
      code: 'TYPE_MISMATCH',
      message:
        "output of operator 'map': value.all[1] must be CUSTOM(words, version 1) but is number 5. Its serialize threw: writeString takes a string, not number 5.",
    });
  });

  it('writes only what is of the type of each method', () => {
    const refused = (serialize: (out: DataOutput) => void, message: RegExp) =>
      throws(write(serialize), { code: 'TYPE_MISMATCH', message });
    refused((out) => out.writeBoolean(1 as never), /writeBoolean takes a boolean, not number 1/);
    refused((out) => out.writeByte(256), /writeByte takes an integer from 0 to 255, not number 256/);
    refused((out) => out.writeInt(2 ** 31), /writeInt takes an integer of 32 bits/);
    refused((out) => out.writeLong(1.5), /writeLong takes an integer up to 2\^53 - 1, not number 1\.5/);
    refused((out) => out.writeDouble('1' as never), /writeDouble takes a number, not string "1"/);
    refused((out) => out.writeBigInt(1 as never), /writeBigInt takes a bigint/);
    refused((out) => out.writeBytes([1] as never), /writeBytes takes a Uint8Array, not array of 1/);
  });

  it('must answer at once', () => {
    throws(
      write(async () => {}),
      { code: 'TYPE_MISMATCH', message: /serialize must write at once/ },
    );
    throws(read((async () => 'x') as never), {
      code: 'SERIALIZER_FAILED',
      message: /deserialize must answer at once/,
    });
    const serializer = createSerializer<unknown>(Types.CUSTOM(words()), 'x');
    throws(() => encodeToBytes(serializer, Promise.resolve('x')), { message: /Functions answer at once/ });
  });

  it('that reads otherwise than it wrote is an error, whatever it reads', () => {
    const failed = (deserialize: (input: DataInput) => unknown, message: RegExp) =>
      throws(read(deserialize as (input: DataInput) => string), { code: 'SERIALIZER_FAILED', message });
    const all = (input: DataInput) => input.readString();
    failed(
      (input) => all(input) + all(input),
      /^state 'x': CUSTOM\(words, version 1\): .*readString reads beyond/,
    );
    failed((input) => input.readLong(), /readLong reads beyond the end/);
    failed((input) => input.readBytes(), /readBytes reads beyond the end/);
    failed((input) => input.readBigInt(), /readBigInt reads beyond the end/);
    failed((input) => input.readByte(), /left 1 bytes unread/);
    failed(() => {
      throw new Error('no such word');
    }, /deserialize threw: no such word/);
  });

  it('is told how much is left to read', () => {
    const rest: CustomSerializer<number[]> = {
      name: 'rest',
      version: 1,
      serialize: (value, out) => {
        for (const each of value) out.writeInt(each);
      },
      deserialize(input) {
        const all: number[] = [];
        while (input.remaining > 0) all.push(input.readInt());
        return all;
      },
    };
    deepStrictEqual(roundTrip(rest, [1, -2, 3]), [1, -2, 3]);
    deepStrictEqual(roundTrip(rest, []), []);
  });
});

describe('a value whose serializer is not there', () => {
  it('is kept and written again as its bytes', () => {
    const type = Types.LIST(Types.CUSTOM(words()));
    const bytes = encodeToBytes(createSerializer(type, 'x'), ['a', 'bc']);
    const saved = createSerializer<unknown>(
      { description: JSON.parse(JSON.stringify(type.description)) as typeof type.description },
      'x',
    );
    deepStrictEqual(encodeToBytes(saved, decodeFromBytes(saved, bytes)), bytes);
    // The serializer takes it over as it is.
    deepStrictEqual(
      encodeToBytes(createSerializer(type, 'x'), decodeFromBytes(saved, bytes) as string[]),
      bytes,
    );
    throws(() => encodeToBytes(saved, ['a']), { code: 'TYPE_MISMATCH', message: /must be a serializer/ });
  });
});

describe('a serializer of the user in a key', () => {
  it('must say that equal values have equal bytes', () => {
    throws(() => createKeySerializer(Types.LIST(Types.CUSTOM(words())), 'key of x'), {
      code: 'TYPE_INVALID',
      message: /key of x: CUSTOM\(words, version 1\) cannot be .* canonical: true/,
    });
  });

  it('is hashed over its bytes, or as it says', () => {
    const byBytes = createKeySerializer(Types.CUSTOM(words({ canonical: true })), 'x');
    // [1, 97] by Arrays.hashCode
    strictEqual(byBytes.hash('a'), murmur((31 * 1 + 1) * 31 + 97));
    const own = words({ canonical: true, hashCode: (value) => value.length });
    strictEqual(createKeySerializer(Types.CUSTOM(own), 'x').hash('abc'), murmur(3));
    const long = 'x'.repeat(5000);
    strictEqual(byBytes.hash(long), byBytes.hash(long));
    strictEqual(decodeFromBytes(byBytes, encodeToBytes(byBytes, long)), long);
  });

  it('is refused with its reason by encode and hash', () => {
    const broken = words({ canonical: true, hashCode: () => 1.5 });
    const key = createKeySerializer(Types.CUSTOM(broken), 'key of x');
    throws(() => key.hash('a'), { code: 'KEY_NOT_ALLOWED', message: /hashCode gave number 1\.5/ });
    throws(() => key.hash(5 as never), { code: 'KEY_NOT_ALLOWED', message: /writeString takes a string/ });
    throws(() => encodeToBytes(key, 5 as never), { code: 'KEY_NOT_ALLOWED', message: /^key of x: / });
  });
});
