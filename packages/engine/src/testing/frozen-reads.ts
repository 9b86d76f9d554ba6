/**
 * Freezes what operators read from state and what they emit, so that code which changes such an object, and would get away
 * with it until a restart, fails at once. Used by the operator harness.
 */

const READS: ReadonlySet<string | symbol> = new Set([
  'value',
  'get',
  'entries',
  'immutableEntries',
  'keys',
  'values',
]);

/** Freezes an object and everything it holds; maps and sets refuse changes. Buffers cannot be frozen and are left out. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof SharedArrayBuffer)
    return value;
  if (value instanceof Map || value instanceof Set) {
    for (const each of value.values()) deepFreeze(each);
    for (const key of value.keys()) deepFreeze(key);
    for (const method of ['set', 'add', 'delete', 'clear']) {
      if (method in value) Object.defineProperty(value, method, { value: refuseChange, enumerable: false });
    }
  }
  Object.freeze(value);
  for (const name of Reflect.ownKeys(value)) deepFreeze((value as Record<string | symbol, unknown>)[name]);
  return value;
}

/** The backend with states whose reads are frozen. Everything else is the backend's own. */
export function withFrozenReads<B extends object>(backend: B): B {
  return new Proxy(backend, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const isState = typeof name === 'string' && /^get\w*State$/.test(name);
      return (...parameters: unknown[]) => {
        const result: unknown = Reflect.apply(member, target, parameters);
        return isState ? frozenState(result as object) : result;
      };
    },
  });
}

function frozenState(state: object): object {
  return new Proxy(state, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...parameters: unknown[]) => {
        const result: unknown = Reflect.apply(member, target, parameters);
        return READS.has(name) ? frozenResult(result) : result;
      };
    },
  });
}

function frozenResult(result: unknown): unknown {
  const isIterator =
    typeof result === 'object' && result !== null && 'next' in result && Symbol.iterator in result;
  return isIterator ? frozenElements(result as Iterable<unknown>) : deepFreeze(result);
}

function* frozenElements(elements: Iterable<unknown>): Generator<unknown> {
  for (const element of elements) yield deepFreeze(element);
}

function refuseChange(): never {
  throw new TypeError(
    'Cannot change a value that was read from state or was emitted: call update, add or put instead',
  );
}
