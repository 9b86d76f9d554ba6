/**
 * How much V8 inlines. One function made for a job calls many: functions of the user, codecs, accessors of state. V8 stops
 * putting them into each other at 920 bytecodes. What is left are calls for each record, and objects that exist only to be
 * passed to them.
 *
 * The limit is one of the process. Changing it makes V8 reject the compiled code of Node's own modules that came with Node, so
 * that they are compiled when they are loaded: this is done when all is loaded, before the first record.
 */
import { setFlagsFromString } from 'node:v8';

/** Bytecodes that may be inlined into one function. More than this gains nothing more (bench, nexmark). */
const INLINED_BYTECODES_MAX = 3000;

const FLAG = '--max-inlined-bytecode-size-cumulative';

let isDone = false;

/** Once a process; not where `node` was started with a limit of its own. */
export function inlineMore(): void {
  if (isDone) return;
  isDone = true;
  const isGiven = process.execArgv.some((argument) => argument.replaceAll('_', '-').startsWith(FLAG));
  if (!isGiven) setFlagsFromString(`${FLAG}=${INLINED_BYTECODES_MAX}`);
}
