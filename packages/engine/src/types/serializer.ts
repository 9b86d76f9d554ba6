/** Serializers from descriptions: the one entry for everything that turns values into bytes and back. */
import { MillraceError } from '../base/index.ts';
import { ByteView } from './byte-view.ts';
import { generateValueCodec } from './generate-codec.ts';
import { checkTypeDescription } from './type-check.ts';
import { fixedSizeOf } from './type-description.ts';
import type { TypeInformation, TypeSerializer } from './type-information.ts';

const GENERIC: TypeInformation<never> = Object.freeze({
  description: Object.freeze({ kind: 'generic' as const }),
});

/** The description that stands for "no type was declared". */
export function typeOrGeneric<T>(type: TypeInformation<T> | undefined): TypeInformation<T> {
  return type ?? GENERIC;
}

/**
 * Makes a serializer for one place of use. Without a type the general codec serves.
 *
 * `usedBy` begins the message of an error, such as `output of operator 'map'`. Throws TYPE_INVALID if the description
 * is not allowed. Make one serializer for each place and keep it: making one compiles code.
 */
export function createSerializer<T>(type: TypeInformation<T> | undefined, usedBy: string): TypeSerializer<T> {
  const known = typeOrGeneric(type);
  checkTypeDescription(known.description, usedBy);
  const { encode, decode, skip, copies } = generateValueCodec(known, usedBy);
  return {
    description: known.description,
    fixedSizeBytes: fixedSizeOf(known.description),
    encode,
    decode,
    skip,
    ...copies,
  };
}

let scratch: ByteView | undefined = ByteView.allocate(1024);

/** The bytes of one value, in a Uint8Array of their own. Throws what `serializer.encode` throws. */
export function encodeToBytes<T>(serializer: TypeSerializer<T>, value: T): Uint8Array {
  // While the scratch is out, an encoding that a getter of the value starts gets one of its own.
  let view = scratch ?? ByteView.allocate(1024);
  scratch = undefined;
  try {
    view.pos = 0;
    while (!serializer.encode(view, value)) view = ByteView.allocate(view.limit * 2);
    return view.u8.slice(0, view.pos);
  } finally {
    // One big value must not hold memory for good.
    scratch = view.limit <= 1 << 20 ? view : ByteView.allocate(1024);
  }
}

/** The value whose encoding is all of `bytes`. Throws ASSERTION_FAILED if it ends before the bytes do or after. */
export function decodeFromBytes<T>(serializer: TypeSerializer<T>, bytes: Uint8Array): T {
  const view = ByteView.of(bytes);
  const value = serializer.decode(view);
  if (view.pos !== bytes.length) {
    throw new MillraceError(
      'ASSERTION_FAILED',
      `an encoded value takes ${view.pos} bytes, but ${bytes.length} were given`,
    );
  }
  return value;
}
