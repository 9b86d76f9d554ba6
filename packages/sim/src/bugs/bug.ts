/**
 * Bugs on purpose: each takes one guarantee out of the production code, alone, and has to be found within a stated number
 * of seeds. A simulator that does not find them proves nothing. Planted from outside, by replacing methods, so that no
 * switch for them stands in the production code; each bug has a process of its own.
 */

export interface Bug {
  /** In `kebab-case`. */
  readonly name: string;
  /** What is wrong then, and what follows from it. */
  readonly description: string;
  /** It shows within so many seeds, from 1 on. */
  readonly seedsMax: number;
  /** The workload that shows it soonest; undefined: any. */
  readonly workload?: string;
  /** Makes it so, for the rest of the process. */
  plant(): void;
}

type Method = (this: never, ...parameters: never[]) => unknown;

/**
 * Replaces a method, also a private one, by what `make` makes of the original. Throws if the class has no such method, so
 * that a bug which lost its place to a change of the code is noticed.
 */
export function replaceMethod<F extends Method>(
  type: { readonly prototype: object },
  name: string,
  make: (original: F) => F,
): void {
  const prototype = type.prototype as Record<string, unknown>;
  const original = prototype[name];
  if (typeof original !== 'function') throw new Error(`there is no method ${name} to plant a bug in`);
  prototype[name] = make(original as F);
}
