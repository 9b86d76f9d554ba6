/** Assertions: checks of our own invariants. They stay on in production; a user's mistake is never an assertion. */
import { MillraceError } from './error.ts';

/** Throws ASSERTION_FAILED with `message` unless `condition` holds. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new MillraceError('ASSERTION_FAILED', message);
}

/** Marks a branch that cannot be reached because the switch before it is exhaustive. */
export function unreachable(value: never): never {
  throw new MillraceError('ASSERTION_FAILED', `unexpected value ${JSON.stringify(value)}`);
}
