/**
 * Bugs on purpose: each takes one guarantee out of the production code, alone, and has to be found within a stated number
 * of seeds. A simulator that does not find them proves nothing. Planted from outside, by replacing methods, so that no
 * switch for them stands in the production code. Those of the simulated disk and database stand for a call that the
 * production code, or a sink, had forgotten.
 */
import type { FindingKind } from '../checkers/finding.ts';
import type { Focus } from '../scenarios/run-seed.ts';

/** Takes a bug out again. */
export type Undo = () => void;

export interface Bug {
  /** In `kebab-case`. */
  readonly name: string;
  /** What is wrong then, and what follows from it. */
  readonly description: string;
  /** It shows within so many seeds, from 1 on. */
  readonly seedsMax: number;
  /** What it may be found by. */
  readonly kinds: readonly FindingKind[];
  /** The workload that shows it soonest; undefined: any. */
  readonly workload?: string;
  /** What shows it sooner than anything that may be drawn. */
  readonly focus?: Focus;
  /** Makes it so until it is undone. One bug at a time. */
  plant(): Undo;
}

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
