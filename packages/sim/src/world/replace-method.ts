/**
 * Replaces methods of the production code from outside: that is how bugs are planted, and how checkers listen, without a
 * switch for either in the production code.
 */

/** Puts back what was replaced. */
export type Undo = () => void;

type Method = (this: never, ...parameters: never[]) => unknown;

/**
 * Replaces a method, also a private one, by what `make` makes of the original. Throws if the class has no such method, so
 * that a bug which lost its place to a change of the code is noticed. Returns what puts the original back.
 */
export function replaceMethod<F extends Method>(
  type: { readonly prototype: object },
  name: string,
  make: (original: F) => F,
): Undo {
  const prototype = type.prototype as Record<string, unknown>;
  const original = prototype[name];
  if (typeof original !== 'function') throw new Error(`there is no method ${name} to plant a bug in`);
  prototype[name] = make(original as F);
  return () => {
    prototype[name] = original;
  };
}

/** Undoes everything, last first. */
export function undoAll(...undos: readonly Undo[]): Undo {
  return () => {
    for (const undo of [...undos].reverse()) undo();
  };
}
