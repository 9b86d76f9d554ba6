/** What a user's function must not be or return: promises where an answer is needed at once, and what is no answer. */
import { ignoreRejection, MillraceError } from '../base/index.ts';

/** Refuses what is no function. `what` names it, e.g. `map function`. */
export function assertFunction(fn: unknown, what: string): asserts fn is (...parameters: never[]) => unknown {
  if (typeof fn === 'function') return;
  throw new MillraceError('INVALID_ARGUMENT', `The ${what} must be a function, found ${describe(fn)}.`);
}

/** Refuses an object that lacks one of the methods, or has an async one. `what` names it, e.g. `trigger`. */
export function assertMethods(object: unknown, what: string, methods: readonly string[]): void {
  if (typeof object !== 'object' || object === null) {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `The ${what} must be an object with the methods ${methods.join(', ')}, found ${describe(object)}.`,
    );
  }
  for (const method of methods) {
    assertMethod((object as Readonly<Record<string, unknown>>)[method], `method ${method} of the ${what}`);
  }
}

/** Refuses what is no method, or an async one. `what` names method and object. */
export function assertMethod(method: unknown, what: string): void {
  assertFunction(method, what);
  if (isDeclaredAsync(method)) throw declaredAsync(what);
}

/** Refuses a function that is declared `async`, too, before any record comes. */
export function assertSynchronous(fn: unknown, what: string): void {
  assertFunction(fn, what);
  if (isDeclaredAsync(fn)) throw declaredAsync(what + nameOf(fn));
}

function isDeclaredAsync(fn: unknown): boolean {
  const tag = Object.prototype.toString.call(fn);
  return tag === '[object AsyncFunction]' || tag === '[object AsyncGeneratorFunction]';
}

function declaredAsync(what: string): MillraceError {
  return new MillraceError('PROMISE_NOT_EXPECTED', `The ${what} is declared async. ${ADVICE}`);
}

/** Throws PROMISE_NOT_EXPECTED if `result` is a promise; anything else is ignored. */
export function refuseResult(result: unknown, what: string, operatorName: string): void {
  if (isPromise(result)) throw promiseNotExpected(result, what, operatorName);
}

/** For a `result` that is a promise. */
export function promiseNotExpected(result: unknown, what: string, operatorName: string): MillraceError {
  ignoreRejection(result);
  return new MillraceError(
    'PROMISE_NOT_EXPECTED',
    `The ${what} of operator '${operatorName}' returned a promise. ${ADVICE}`,
    { details: { operator: operatorName } },
  );
}

/** `expected` continues "must return": e.g. `true or false`. */
export function resultNotAllowed(
  result: unknown,
  what: string,
  operatorName: string,
  expected: string,
): MillraceError {
  if (isPromise(result)) return promiseNotExpected(result, what, operatorName);
  return new MillraceError(
    'RESULT_NOT_ALLOWED',
    `The ${what} of operator '${operatorName}' must return ${expected}, found ${describe(result)}.`,
    { details: { operator: operatorName } },
  );
}

/** A value for an error message: short, with its type where the text alone does not tell. Never throws. */
export function describe(value: unknown): string {
  if (value === undefined || value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value === 'string') return `the string ${JSON.stringify(value.slice(0, 60))}`;
  if (typeof value !== 'object') return `a ${typeof value}`;
  try {
    const name = (value as { constructor?: { name?: unknown } }).constructor?.name;
    if (typeof name === 'string' && name !== '' && name !== 'Object') return `an instance of ${name}`;
    return `the object ${JSON.stringify(value).slice(0, 80)}`;
  } catch {
    return 'an object';
  }
}

const ADVICE =
  'It must answer at once: remove `async`, and do what has to be waited for in `mapAsync` (or `flatMapAsync`, ' +
  'AsyncDataStream) before it, or in open().';

function isPromise(result: unknown): boolean {
  if (typeof result !== 'object' || result === null) return false;
  return typeof (result as { then?: unknown }).then === 'function' || Symbol.asyncIterator in result;
}

function nameOf(fn: object): string {
  const name = (fn as { name: string }).name;
  return name === '' ? '' : ` '${name}'`;
}
