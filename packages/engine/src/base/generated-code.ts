/**
 * The one place where functions are made from text. Everything on the path of a record is generated for one place of use:
 * V8 keeps type feedback by source text, so code that serves two jobs goes megamorphic and runs at a third of the speed.
 * Its eval cache even shares feedback between equal texts, hence a running number in a comment of each text.
 *
 * Texts consist of the engine's own words and of quoted strings. Functions and data of users get in as bindings.
 */

type Maker = (...bindings: unknown[]) => unknown;

let made = 0;
/** 0: each text is compiled each time. */
let reusedMax = 0;
/** By body, of which V8 remembers the hash where it is the same string again; then by what it is for and with what. */
const reused = new Map<string, Map<string, Maker>>();
let reusedCount = 0;

/**
 * Evaluates `body`, the statements of a function that returns what is wanted, with `bindings` in scope under their names.
 * `what` says in stack traces and profiles what the code is for.
 */
export function generateCode<T>(what: string, bindings: Readonly<Record<string, unknown>>, body: string): T {
  const names = Object.keys(bindings);
  const make = reusedMax === 0 ? compile(what, names, body) : compileOnce(what, names, body);
  return make(...Object.values(bindings)) as T;
}

/**
 * Lets equal texts be compiled once from now on; at most `textsMax` are kept. For simulators, which start a small job of the
 * same kind thousands of times in one process: compiling is most of their time, and shared feedback costs them nothing.
 */
export function reuseGeneratedCode(textsMax: number): void {
  reusedMax = textsMax;
}

function compileOnce(what: string, names: readonly string[], body: string): Maker {
  const use = `${what}\n${names.join()}`;
  const known = reused.get(body)?.get(use);
  if (known !== undefined) return known;
  if (reusedCount >= reusedMax) {
    reused.clear();
    reusedCount = 0;
  }
  const make = compile(what, names, body);
  const uses = reused.get(body) ?? new Map<string, Maker>();
  reused.set(body, uses.set(use, make));
  reusedCount++;
  return make;
}

function compile(what: string, names: readonly string[], body: string): Maker {
  made++;
  const comment = `${what} #${made}`.replaceAll('*/', '* /');
  return new Function(...names, `'use strict'; /* ${comment} */\n${body}`) as Maker;
}
