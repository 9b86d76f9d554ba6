/**
 * The one error class of Millrace: a code of the registry, a message for the person who reads it, and the cause.
 *
 * The message says which operator, option, file or line; what was expected; what to do.
 */
import { ERROR_CODES, type ErrorCode, type Fault, type Retry } from './error-codes.ts';

/** An error with a code of the registry. Recognise it by `code`, not by its class. */
export class MillraceError extends Error {
  /** Which error it is: see the page of error codes. */
  readonly code: ErrorCode;
  /** Facts for programs, such as `{ operator, state }`; plain JSON values only. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; details?: Record<string, unknown> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'MillraceError';
    this.code = code;
    this.details = options.details ?? {};
  }

  /** Who can mend it: `user`, `external` or `internal`. */
  get fault(): Fault {
    return ERROR_CODES[this.code].fault;
  }

  /** What may be done about it: `never`, `backoff`, `restart-task` or `restart-job`. */
  get retry(): Retry {
    return ERROR_CODES[this.code].retry;
  }
}

/** True if `error` carries `code`. Works across threads and realms; never throws. */
export function hasCode(error: unknown, code: ErrorCode): boolean {
  return typeof error === 'object' && error !== null && (error as { code?: unknown }).code === code;
}

/** What crosses a thread or process border for an error. */
export interface SerializedError {
  readonly code: ErrorCode | undefined;
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  readonly cause: SerializedError | undefined;
}

/** Makes plain data of anything that was thrown. Never throws. Causes are followed eight deep. */
export function serializeError(thrown: unknown, depth = 8): SerializedError {
  if (!(thrown instanceof Error)) {
    let message: string;
    try {
      message = typeof thrown === 'string' ? thrown : (JSON.stringify(thrown) ?? String(thrown));
    } catch {
      message = Object.prototype.toString.call(thrown);
    }
    return { code: undefined, name: 'Error', message, stack: undefined, details: {}, cause: undefined };
  }
  const code = (thrown as { code?: unknown }).code;
  const known =
    typeof code === 'string' && Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : undefined;
  return {
    code: known,
    name: thrown.name,
    message: thrown.message,
    stack: thrown.stack,
    details: thrown instanceof MillraceError ? thrown.details : {},
    cause: thrown.cause === undefined || depth === 0 ? undefined : serializeError(thrown.cause, depth - 1),
  };
}

/** The opposite of {@link serializeError}; the stack of the other side is kept. */
export function deserializeError(data: SerializedError): Error {
  const cause = data.cause === undefined ? undefined : deserializeError(data.cause);
  const error =
    data.code === undefined
      ? new Error(data.message, cause === undefined ? undefined : { cause })
      : new MillraceError(data.code, data.message, { cause, details: { ...data.details } });
  if (data.code === undefined) error.name = data.name;
  if (data.stack !== undefined) error.stack = data.stack;
  return error;
}
