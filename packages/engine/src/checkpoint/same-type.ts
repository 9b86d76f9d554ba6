/** Whether two descriptions are of the same type. For whoever compares what was saved with what a job has now. */

/** Descriptions are plain data: equal if they have the same members with equal values. */
export function sameType(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = definedEntries(a);
  const right = new Map(definedEntries(b));
  return (
    left.length === right.size &&
    left.every(([name, value]) => right.has(name) && sameType(value, right.get(name)))
  );
}

function definedEntries(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, member]) => member !== undefined);
}
