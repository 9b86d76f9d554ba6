/**
 * Compares what a run left with what the undisturbed run left. Pure. Without other rules results are equal if the same ones
 * are there, each as often, in any order.
 */
import { textOf } from './result-text.ts';

/** How results of one place are compared. */
export interface ComparisonRules {
  /** `at-least-once`: nothing may be missing, all else is allowed. */
  readonly guarantee: 'exactly-once' | 'at-least-once';
  /** Results for which it gives the same are compared in their order. */
  readonly orderedBy: ((result: never) => unknown) | undefined;
  /** In place of all this. Gives what is different, as a sentence. */
  readonly compare:
    | ((results: readonly never[], expected: readonly never[]) => string | undefined)
    | undefined;
}

/** What is wrong in the main. */
export type DifferenceKind =
  /** Some are missing, and nothing else is wrong. */
  | 'lost'
  /** Some are there too often, and nothing else is wrong. */
  | 'repeated'
  /** Some are missing, others are there in their place. */
  | 'changed'
  /** There are some that should not be there, and nothing is missing. */
  | 'unexpected'
  /** They are in another order. */
  | 'reordered'
  /** What the comparison of the user says. */
  | 'told';

export interface Difference {
  readonly kind: DifferenceKind;
  /** One for each result that is wrong, not all of them if there are many. */
  readonly lines: readonly string[];
}

const LINES_MAX = 5;
const TEXT_CHARS_MAX = 300;

/** undefined: none. */
export function differenceOf(
  results: readonly unknown[],
  expected: readonly unknown[],
  { guarantee, orderedBy, compare }: ComparisonRules,
): Difference | undefined {
  if (compare !== undefined) {
    const told = compare(results as readonly never[], expected as readonly never[]);
    return told === undefined ? undefined : { kind: 'told', lines: [told] };
  }
  const difference = countDifference(results.map(textOf), expected.map(textOf), guarantee);
  if (difference !== undefined || orderedBy === undefined || guarantee === 'at-least-once') return difference;
  return orderDifference(results, expected, orderedBy as (result: unknown) => unknown);
}

function countDifference(
  results: readonly string[],
  expected: readonly string[],
  guarantee: ComparisonRules['guarantee'],
): Difference | undefined {
  const found = countsOf(results);
  const wanted = countsOf(expected);
  const missing: string[] = [];
  const surplus: string[] = [];
  let isKnown = true;
  for (const [text, times] of wanted) {
    const has = found.get(text) ?? 0;
    const isEnough = guarantee === 'at-least-once' ? has > 0 : has >= times;
    if (!isEnough)
      missing.push(has === 0 ? short(text) : `${short(text)} (${has} times instead of ${times})`);
  }
  if (guarantee === 'exactly-once') {
    for (const [text, times] of found) {
      const wants = wanted.get(text) ?? 0;
      if (times <= wants) continue;
      if (wants === 0) isKnown = false;
      surplus.push(wants === 0 ? short(text) : `${short(text)} (${times} times instead of ${wants})`);
    }
  }
  if (missing.length === 0 && surplus.length === 0) return undefined;
  const kind =
    missing.length === 0 ? (isKnown ? 'repeated' : 'unexpected') : surplus.length === 0 ? 'lost' : 'changed';
  const surplusWord = kind === 'repeated' ? 'too often' : 'not expected';
  return { kind, lines: [...linesOf('missing', missing), ...linesOf(surplusWord, surplus)] };
}

function orderDifference(
  results: readonly unknown[],
  expected: readonly unknown[],
  orderedBy: (result: unknown) => unknown,
): Difference | undefined {
  const found = byKey(results, orderedBy);
  for (const [key, wanted] of byKey(expected, orderedBy)) {
    const has = found.get(key) ?? [];
    const at = wanted.findIndex((text, index) => text !== has[index]);
    if (at < 0) continue;
    const line = `result ${at + 1} of ${short(key)} is ${short(has[at] ?? 'nothing')} instead of ${short(wanted[at]!)}`;
    return { kind: 'reordered', lines: [line] };
  }
  return undefined;
}

function byKey(results: readonly unknown[], orderedBy: (result: unknown) => unknown): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  for (const result of results) {
    const key = textOf(orderedBy(result));
    const before = texts.get(key);
    if (before === undefined) texts.set(key, [textOf(result)]);
    else before.push(textOf(result));
  }
  return texts;
}

function countsOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

function linesOf(word: string, texts: readonly string[]): string[] {
  const lines = texts.slice(0, LINES_MAX).map((text) => `${word}: ${text}`);
  if (texts.length > LINES_MAX) lines.push(`${word}: ${texts.length - LINES_MAX} more`);
  return lines;
}

function short(text: string): string {
  return text.length <= TEXT_CHARS_MAX ? text : `${text.slice(0, TEXT_CHARS_MAX)}…`;
}
