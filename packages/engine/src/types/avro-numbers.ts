/**
 * The long of Avro as an exact number. The library's own loses the last bit of longs below -2^52, silently, and with it
 * the sign; the types here stand in for its own in every schema (avro-schema.ts).
 *
 *     zigzag: 2 * v, or -2 * v - 1 if v < 0; seven bits a byte, least significant first, 128 on all but the last
 *
 * The number that is zigzagged has up to 54 bits; so its lowest bit, the sign, is kept apart.
 */
import type avro from 'avsc';
import { requireLibrary } from '../base/index.ts';

/** The library's cursor, as far as it is used here. Beyond the end of `buf` it goes on, and is then invalid. */
interface Tap {
  readonly buf: Uint8Array;
  pos: number;
  writeLong(value: number): void;
}

const WRITTEN_RIGHT_MIN = -(2 ** 52);

interface Resolver {
  _read: (tap: Tap) => unknown;
}

/** How the library prepares the reading of another type's values. */
interface Updating {
  _update(resolver: Resolver, saved: avro.Type): void;
}

/** The types that stand in for the library's, by name; made with the library, when it is first needed. */
let byName: ReadonlyMap<unknown, avro.Type> | undefined;

function typesByName({ types }: typeof avro): ReadonlyMap<unknown, avro.Type> {
  /** A type of the library. The methods are those by which it calls its types. */
  class ExactLong extends types.LongType {
    _check(value: unknown, _flags: unknown, hook?: (value: unknown, type: avro.Type) => void): boolean {
      const fits = Number.isSafeInteger(value);
      if (!fits && hook !== undefined) hook(value, this);
      return fits;
    }

    _write(tap: Tap, value: unknown): void {
      if (!Number.isSafeInteger(value)) throw new Error('not a long');
      const long = value as number;
      if (long >= WRITTEN_RIGHT_MIN) return tap.writeLong(long);
      const magnitude = -long - 1;
      let rest = Math.floor(magnitude / 64);
      tap.buf[tap.pos++] = (magnitude % 64) * 2 + 1 + 128;
      for (; rest >= 128; rest = Math.floor(rest / 128)) tap.buf[tap.pos++] = (rest % 128) + 128;
      tap.buf[tap.pos++] = rest;
    }

    /** Uses no `this`: a resolver of the library takes it over as it is. */
    _read(tap: Tap): number {
      let byte = tap.buf[tap.pos++]!;
      const isNegative = byte % 2 === 1;
      let magnitude = (byte & 127) >>> 1;
      for (let unit = 64; byte >= 128; unit *= 128) {
        byte = tap.buf[tap.pos++]!;
        magnitude += (byte & 127) * unit;
      }
      const long = isNegative ? -magnitude - 1 : magnitude;
      if (!Number.isSafeInteger(long)) throw new RangeError('a long beyond 2^53 - 1 cannot be a number');
      return long;
    }
  }

  const LONG = new ExactLong();

  /** Reads longs of saved state by the type above; the library's own double would turn the sign of some. */
  class DoubleOfLong extends types.DoubleType implements Updating {
    _update(resolver: Resolver, saved: avro.Type): void {
      if (saved === LONG) resolver._read = LONG._read;
      else (types.DoubleType.prototype as unknown as Updating)._update.call(this, resolver, saved);
    }
  }

  /** As DoubleOfLong. */
  class FloatOfLong extends types.FloatType implements Updating {
    _update(resolver: Resolver, saved: avro.Type): void {
      if (saved === LONG) resolver._read = (tap) => Math.fround(LONG._read(tap));
      else (types.FloatType.prototype as unknown as Updating)._update.call(this, resolver, saved);
    }
  }

  return new Map<unknown, avro.Type>([
    ['long', LONG],
    ['double', new DoubleOfLong()],
    ['float', new FloatOfLong()],
  ]);
}

/** For the library's option typeHook: these types wherever a schema names them. */
export function exactNumber(schema: unknown): avro.Type | undefined {
  byName ??= typesByName(requireLibrary<typeof avro>('avsc'));
  return byName.get(
    typeof schema === 'string' ? schema : (schema as { readonly type?: unknown } | null)?.type,
  );
}
