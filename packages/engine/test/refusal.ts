/** Asserts that something is refused as a person can use it: with a code, and with a message that says what is meant. */
import assert from 'node:assert/strict';
import { type ErrorCode, MillraceError } from '@millrace/engine';

/**
 * `action` throws or rejects with `code`; its message matches all `patterns`. Resolves to the error. What Millrace says
 * itself counts: an error of the user's function is looked for among its causes.
 */
export async function assertRefused(
  action: Promise<unknown> | (() => unknown),
  code: ErrorCode,
  ...patterns: readonly RegExp[]
): Promise<MillraceError> {
  let thrown: unknown;
  try {
    const result = await (typeof action === 'function' ? action() : action);
    assert.fail(`expected ${code}, but nothing was refused: ${String(result)}`);
  } catch (error) {
    thrown = error;
  }
  if (thrown instanceof assert.AssertionError) throw thrown;
  assert.ok(thrown instanceof MillraceError, `expected ${code}, found ${describe(thrown)}`);
  assert.equal(thrown.code, code, describe(thrown));
  for (const pattern of patterns) assert.match(thrown.message, pattern);
  return thrown;
}

function describe(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}
