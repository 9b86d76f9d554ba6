/** Errors of user code, for the person who reads them: which operator, which function, what it threw and of what cause. */
import { MillraceError } from '../base/index.ts';
import { elementText } from './element-text.ts';
import { elementOf, keepElement } from './failed-element.ts';

/** Deeper causes say nothing more. */
const CAUSES_MAX = 3;

/**
 * USER_FUNCTION_FAILED for what a user's function threw. An error with a code keeps it; if it does not say in which operator
 * it happened, that is put before it.
 */
export function wrapUserError(
  error: unknown,
  what: string,
  name: string,
  uid: string,
  subtask: number,
): Error {
  const details = { operator: name, uid, subtask };
  if (!(error instanceof MillraceError)) {
    const message = `The ${what} of operator '${name}' (subtask ${subtask}) threw ${describeThrown(error)}`;
    return new MillraceError('USER_FUNCTION_FAILED', message, { cause: error, details });
  }
  const isNamed = ['operator', 'source', 'sink'].some((key) => error.details[key] !== undefined);
  if (isNamed || error.message.includes(name)) return error;
  const named = new MillraceError(
    error.code,
    `Operator '${name}' (subtask ${subtask}), ${what}: ${error.message}`,
    { cause: error, details: { ...error.details, ...details } },
  );
  return keepElement(named, elementOf(error));
}

/** `TypeError: fetch failed, because of Error: connect ECONNREFUSED 127.0.0.1:8080`. Whatever was thrown, it never throws. */
function describeThrown(thrown: unknown): string {
  try {
    return causesOf(thrown);
  } catch {
    return elementText(thrown);
  }
}

function causesOf(thrown: unknown): string {
  const causes: string[] = [];
  let current = thrown;
  while (current instanceof Error && causes.length < CAUSES_MAX) {
    // Errors of the network have a code where their message is empty.
    const { code } = current as { code?: unknown };
    const text = current.message === '' && typeof code === 'string' ? code : current.message;
    causes.push(`${current.name}: ${text}`);
    current = current.cause;
  }
  if (causes.length > 0) return causes.join(', because of ');
  return typeof thrown === 'string' ? thrown : elementText(thrown);
}
