/**
 * Gives each subtask and attempt a user's function object of its own.
 *
 * The job's module is loaded once per thread, so `.process(new Total())` makes one object, while a thread may run several
 * subtasks, and a restart in place begins again in the same thread. Fields of one must not be seen by the other:
 *
 *     a class or a function without arguments   called once per subtask and attempt
 *     an object                                 copied: prototype, own fields; arrays, maps, sets and plain objects in
 *                                               fields deeply, everything else by reference
 *     an object that cannot be copied           used itself, by one subtask at a time (FUNCTION_SHARED)
 *
 * It cannot be copied if its class has private fields (#name) or its fields hold functions that are bound to it.
 *
 * An object may be of another kind than what the operator calls (a map function where it calls a process function): it is
 * given as an adapted function, and what the operator calls is made of each copy. Its life stays its own.
 *
 * Invariant I1: a given object that can be copied is never used itself, so that every copy begins as the user made it.
 */
import { MillraceError } from '../base/index.ts';
import type { FunctionOrFactory, RichFunction } from './functions.ts';
import { assertFunction, assertMethod, assertSynchronous, describe } from './user-result.ts';

export interface TakenFunction<F> {
  /** What the operator calls. */
  readonly fn: F;
  /** The user's object, which has a life; mostly the same. */
  readonly user: Partial<RichFunction>;
  /** Gives it back; once. */
  release(): void;
}

class AdaptedFunction {
  readonly given: FunctionOrFactory<object>;
  readonly methods: readonly string[];
  readonly adapt: (user: never) => object;

  constructor(given: FunctionOrFactory<object>, methods: readonly string[], adapt: (user: never) => object) {
    this.given = given;
    this.methods = methods;
    this.adapt = adapt;
  }
}

/**
 * A function object for an operator that calls another kind: `adapt` makes that of the user's object, whose `methods` must
 * be there and be synchronous. Throws INVALID_ARGUMENT, PROMISE_NOT_EXPECTED.
 */
export function adaptFunction<U extends object, F extends object>(
  given: FunctionOrFactory<U>,
  methods: readonly string[],
  adapt: (user: U) => F,
): FunctionOrFactory<F> {
  for (const method of methods) checkFunctionObject(given, [method, 'snapshotState']);
  return new AdaptedFunction(
    given,
    [...methods, 'snapshotState'],
    adapt as (user: never) => object,
  ) as unknown as FunctionOrFactory<F>;
}

/** Methods that may be async; all others answer at once. */
const ASYNCHRONOUS_METHODS: ReadonlySet<string> = new Set(['asyncInvoke', 'timeout', 'invoke', 'flush']);

/** Objects that cannot be copied and are in use. */
const inUse = new WeakSet<object>();

/** Checks what can be checked before the job runs: it is an object or a factory, and nothing is declared async. */
export function checkFunctionObject(given: FunctionOrFactory<object>, methods: readonly string[]): void {
  if (given instanceof AdaptedFunction) return;
  if (typeof given === 'function') {
    if (isClass(given)) checkMethods(given.prototype as object, methods);
    else {
      assertSynchronous(given, 'function that makes the function object');
      if (given.length > 0) throw notAFactory(given, methods);
    }
    return;
  }
  if (typeof given !== 'object' || given === null) {
    const expected = `an object with a method ${methods[0]}, a class, or a function that makes one`;
    throw new MillraceError('INVALID_ARGUMENT', `Expected ${expected}, found ${describe(given)}.`);
  }
  checkMethods(given, methods);
}

/** The object for one subtask and attempt. Throws INVALID_ARGUMENT, PROMISE_NOT_EXPECTED, FUNCTION_SHARED. */
export function takeFunction<F extends object>(
  given: FunctionOrFactory<F>,
  methods: readonly string[],
  operatorName: string,
): TakenFunction<F> {
  if (given instanceof AdaptedFunction) {
    const { fn: user, release } = takeFunction(given.given, given.methods, operatorName);
    return { fn: given.adapt(user as never) as F, user: user as Partial<RichFunction>, release };
  }
  if (typeof given === 'function') {
    const made = isClass(given) ? new (given as new () => F)() : (given as () => F)();
    checkMethods(made, methods);
    return { fn: made as F, user: made, release: () => {} };
  }
  const fn = given as F;
  const obstacle = whyNotCopied(fn);
  if (obstacle === undefined) {
    const copy = copyObject(fn, new Map());
    return { fn: copy, user: copy as Partial<RichFunction>, release: () => {} };
  }
  if (inUse.has(fn)) throw shared(fn, obstacle, operatorName);
  inUse.add(fn);
  return { fn, user: fn as Partial<RichFunction>, release: () => void inUse.delete(fn) };
}

/** A plain function that was meant to be the user's function itself would be called without arguments, as a factory. */
function notAFactory(given: { readonly length: number }, methods: readonly string[]): MillraceError {
  return new MillraceError(
    'INVALID_ARGUMENT',
    `Expected an object with a method ${methods[0]}, a class, or a function without parameters that makes one; found a ` +
      `function with ${given.length} parameters. Write { ${methods[0]}(...) { ... } } instead.`,
  );
}

/** The first method is required; the others may be missing. */
function checkMethods(object: object, methods: readonly string[]): void {
  if (typeof object !== 'object' || object === null) {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `Expected an object with a method ${methods[0]}, found ${describe(object)}.`,
    );
  }
  for (const [index, method] of methods.entries()) {
    const found = (object as Record<string, unknown>)[method];
    if (found === undefined && (index > 0 || isBare(object))) continue;
    const what = `method ${method} of ${classNameOf(object)}`;
    if (ASYNCHRONOUS_METHODS.has(method)) assertFunction(found, what);
    else assertMethod(found, what);
  }
}

function classNameOf(object: object): string {
  const name = object.constructor?.name;
  if (name === '') return 'the anonymous class';
  return name === undefined || name === 'Object' ? 'the function object' : name;
}

/** The prototype of a class whose methods may be fields. */
function isBare(object: object): boolean {
  const maker = (object as { constructor?: { prototype?: unknown } }).constructor;
  return maker?.prototype === object;
}

function isClass(given: unknown): boolean {
  return /^class\b/.test(Function.prototype.toString.call(given));
}

function whyNotCopied(given: object): string | undefined {
  for (let each = prototypeOf(given); each !== null && each !== Object.prototype; each = prototypeOf(each)) {
    const maker = (each as { constructor?: unknown }).constructor;
    if (typeof maker !== 'function') continue;
    if (/\.#[\p{L}_$]/u.test(Function.prototype.toString.call(maker))) return 'its class has private fields';
  }
  if (prototypeOf(given) === Object.prototype) return undefined;
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== 'function') continue;
    if (/\bthis\b|\[native code\]/.test(Function.prototype.toString.call(value))) {
      return `its field ${name} is a function that is bound to it`;
    }
  }
  return undefined;
}

function shared(given: object, obstacle: string, operatorName: string): MillraceError {
  const name = given.constructor.name;
  return new MillraceError(
    'FUNCTION_SHARED',
    `Operator '${operatorName}' needs one ${name} for each subtask of this thread, but the object cannot be copied: ` +
      `${obstacle}. Pass the class or a function that makes it: \`${name}\` or \`() => new ${name}(...)\`.`,
    { details: { operator: operatorName } },
  );
}

function copyObject<T extends object>(original: T, copies: Map<object, object>): T {
  const copy = Object.create(prototypeOf(original)) as T;
  copies.set(original, copy);
  for (const name of Reflect.ownKeys(original)) {
    const property = Object.getOwnPropertyDescriptor(original, name)!;
    if ('value' in property) property.value = copyValue(property.value, copies);
    Object.defineProperty(copy, name, property);
  }
  return copy;
}

function copyValue(value: unknown, copies: Map<object, object>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const known = copies.get(value);
  if (known !== undefined) return known;
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    copies.set(value, copy);
    for (const element of value) copy.push(copyValue(element, copies));
    return copy;
  }
  const prototype = prototypeOf(value);
  if (prototype === Map.prototype) {
    const copy = new Map<unknown, unknown>();
    copies.set(value, copy);
    for (const [key, each] of value as Map<unknown, unknown>)
      copy.set(copyValue(key, copies), copyValue(each, copies));
    return copy;
  }
  if (prototype === Set.prototype) {
    const copy = new Set<unknown>();
    copies.set(value, copy);
    for (const each of value as Set<unknown>) copy.add(copyValue(each, copies));
    return copy;
  }
  if (prototype === Date.prototype) return new Date(value as Date);
  if (ArrayBuffer.isView(value)) return structuredClone(value);
  return prototype === Object.prototype || prototype === null ? copyObject(value, copies) : value;
}

function prototypeOf(object: object): object | null {
  return Object.getPrototypeOf(object) as object | null;
}
