/** Records of windows, and each kind of contents of windows, for the properties of the windows' hot paths. */
import fc from 'fast-check';
import type { WindowContentsSpec } from '../src/operators/window/window-contents.ts';
import { Types } from '../src/types/index.ts';

export interface Hit {
  readonly key: unknown;
  readonly n: number;
}

const COUNT: WindowContentsSpec<Hit, number, number> = {
  kind: 'aggregate',
  accumulatorType: Types.LONG,
  aggregate: {
    createAccumulator: () => 0,
    add: ({ n }, sum) => sum + n,
    getResult: (sum) => sum,
    merge: (a, b) => a + b,
  },
};

/** Its value grows and moves. */
const JOINED: WindowContentsSpec<Hit, string, string> = {
  kind: 'aggregate',
  accumulatorType: Types.STRING,
  aggregate: {
    createAccumulator: () => '',
    add: ({ n }, text) => `${text},${'x'.repeat(n % 7)}${n}`,
    getResult: (text) => text,
    merge: (a, b) => a + b,
  },
};

const HIGHEST: WindowContentsSpec<Hit, never, Hit> = {
  kind: 'reduce',
  reduce: (a, b) => (b.n > a.n ? b : a),
};

const ELEMENTS: WindowContentsSpec<Hit, never, Hit> = { kind: 'elements' };

/** Typed as the operator of a property takes them all. */
export type AnyContents = WindowContentsSpec<Hit, unknown, unknown>;
export const anyContents = fc.constantFrom<AnyContents[]>(
  COUNT as AnyContents,
  JOINED as AnyContents,
  HIGHEST as AnyContents,
  ELEMENTS as AnyContents,
);
