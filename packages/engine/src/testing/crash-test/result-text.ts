/** Results as text: equal results have equal texts, whatever the order of their fields. For comparisons, and for people. */
import { inspect } from 'node:util';

export function textOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return inspect(value, {
    depth: null,
    sorted: true,
    compact: true,
    breakLength: Number.POSITIVE_INFINITY,
    maxArrayLength: null,
    maxStringLength: null,
  });
}
