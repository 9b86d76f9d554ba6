/**
 * The one place where functions are made from text. Everything on the path of a record is generated for one place of use:
 * V8 keeps type feedback by source text, so code that serves two jobs goes megamorphic and runs at a third of the speed.
 * Its eval cache even shares feedback between equal texts, hence a running number in a comment of each text.
 *
 * Texts consist of the engine's own words and of quoted strings. Functions and data of users get in as bindings.
 */

let made = 0;

/**
 * Evaluates `body`, the statements of a function that returns what is wanted, with `bindings` in scope under their names.
 * `what` says in stack traces and profiles what the code is for.
 */
export function generateCode<T>(what: string, bindings: Readonly<Record<string, unknown>>, body: string): T {
  made++;
  const comment = `${what} #${made}`.replaceAll('*/', '* /');
  const text = `'use strict'; /* ${comment} */\n${body}`;
  return new Function(...Object.keys(bindings), text)(...Object.values(bindings)) as T;
}
