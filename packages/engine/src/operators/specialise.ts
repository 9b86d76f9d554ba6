/**
 * Makes a private copy of a function's code, so that V8 collects type feedback for this one use of it
 * (base/generated-code.ts says why). A `maker` is a function that gets everything it needs as one argument and returns the
 * hot function, or an object of hot functions. Its text is evaluated again.
 *
 * Rule for makers, kept by the tests of every operator (the harness runs them in both forms): they refer to their
 * parameter and to globals only, never to an import or to a variable outside. They are written as arrow functions.
 */
import { generateCode } from '../base/index.ts';

/** By maker; most are of modules, and serve every subtask. */
const texts = new WeakMap<object, string>();

/** A copy of `maker` whose code is shared with nobody. `label` says for whom it is (seen in stacks and profiles). */
export function specialise<Env, Made>(maker: (env: Env) => Made, label: string): (env: Env) => Made {
  // Bundlers that keep names wrap functions in `__name(fn, name)`, a variable of their own.
  return generateCode(label, { __name: (fn: unknown) => fn }, textOf(maker));
}

function textOf(maker: (env: never) => unknown): string {
  let text = texts.get(maker);
  if (text === undefined) texts.set(maker, (text = `return (${maker.toString()});`));
  return text;
}
