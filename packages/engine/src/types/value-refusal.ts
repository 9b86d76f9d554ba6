/**
 * Why the general codec, or that of an Avro schema, refused a value. Refusals are return codes, not exceptions, while they travel up through the
 * value (each level adds its step to the path); whoever called the codec turns them into an error.
 */
import { describeValue, PROMISE_ADVICE } from './type-mismatch.ts';

/** Returned instead of a position: the value does not fit below the limit. */
export const FULL = -1;
/** Returned instead of a position: the value cannot be encoded; `takeRefusal` says why. */
export const REFUSED = -2;

/** What was refused, where and what to do instead (a sentence without its full stop). */
export interface Refusal {
  readonly path: string;
  readonly expected: string;
  readonly found: string;
  readonly advice: string;
}

const EXPECTED = 'plain data';

let last: Refusal = { path: '', expected: EXPECTED, found: '', advice: '' };

/** Notes that `value` is refused. */
export function refuse(value: unknown, advice = adviceFor(value)): typeof REFUSED {
  return refuseAs({ path: '', expected: EXPECTED, found: describeValue(value), advice });
}

/** Notes what is refused, where it is known already. */
export function refuseAs(refusal: Refusal): typeof REFUSED {
  last = refusal;
  return REFUSED;
}

/** Notes that what was refused is found by going `step` first. */
export function refusedAt(step: string): typeof REFUSED {
  last = { ...last, path: step + last.path };
  return REFUSED;
}

/** The refusal behind the last REFUSED. */
export function takeRefusal(): Refusal {
  return last;
}

function adviceFor(value: unknown): string {
  if (typeof value === 'function' || typeof value === 'symbol')
    return 'Leave it out: only data can be kept or sent';
  if (value instanceof Promise) return PROMISE_ADVICE;
  if (value instanceof Error) return 'Keep its message and stack as strings';
  const name = (value as { constructor?: { name?: unknown } }).constructor?.name;
  const isNamed = typeof name === 'string' && name !== '' && name !== 'Object';
  return `Undescribed values are plain objects, arrays, maps, sets, dates, bytes and primitives; describe the class by Types.POJO(${isNamed ? name : 'Class'}, {...}) or convert it`;
}
