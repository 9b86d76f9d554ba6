/**
 * Reads parsed JSON strictly: every member is expected, of its type, within its limits, and nothing else is there. Used
 * for formats that are read back after they were hashed, so a violation means damage or a bug, and says where.
 */

/** What is wrong, with the path of the value: `operators[2].uid`. Callers turn it into an error with a code. */
export class JsonProblem extends Error {
  constructor(at: string, problem: string) {
    super(`${at === '' ? 'the document' : at} ${problem}`);
    this.name = 'JsonProblem';
  }
}

/** An object of which each member is read once; `end` refuses what was not read. */
export class JsonObjectReader {
  private readonly at: string;
  private readonly members: Readonly<Record<string, unknown>>;
  /** Names of the members that are there and were read. */
  private readonly read: string[] = [];

  constructor(value: unknown, at: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new JsonProblem(at, 'is not an object');
    this.at = at;
    this.members = value as Readonly<Record<string, unknown>>;
  }

  /** The path of a member. */
  path(name: string): string {
    return this.at === '' ? name : `${this.at}.${name}`;
  }

  /** True if it is there. */
  has(name: string): boolean {
    return Object.hasOwn(this.members, name);
  }

  /** undefined if it is not there. */
  optional(name: string): unknown {
    if (!this.has(name) || this.read.includes(name)) return undefined;
    this.read.push(name);
    return this.members[name];
  }

  required(name: string): unknown {
    const value = this.optional(name);
    if (value === undefined) throw new JsonProblem(this.path(name), 'is missing');
    return value;
  }

  text(name: string): string {
    const value = this.required(name);
    if (typeof value !== 'string') throw new JsonProblem(this.path(name), 'is not a string');
    return value;
  }

  /** One of the given words. */
  word<W extends string>(name: string, words: readonly W[]): W {
    const value = this.text(name);
    const word = words.find((each) => each === value);
    if (word === undefined)
      throw new JsonProblem(this.path(name), `is "${value}", not one of ${words.join(', ')}`);
    return word;
  }

  flag(name: string): boolean {
    const value = this.required(name);
    if (typeof value !== 'boolean') throw new JsonProblem(this.path(name), 'is not true or false');
    return value;
  }

  /** A safe integer within the bounds. */
  integer(name: string, min: number, max: number = Number.MAX_SAFE_INTEGER): number {
    return checkInteger(this.required(name), this.path(name), min, max);
  }

  /** A list of at most `max` things; `read` gets each with its path. */
  list<T>(name: string, max: number, read: (value: unknown, at: string) => T): T[] {
    const value = this.required(name);
    if (!Array.isArray(value)) throw new JsonProblem(this.path(name), 'is not a list');
    if (value.length > max)
      throw new JsonProblem(this.path(name), `has ${value.length} entries, ${max} are allowed`);
    return value.map((each, index) => read(each, `${this.path(name)}[${index}]`));
  }

  end(): void {
    const names = Object.keys(this.members);
    if (names.length === this.read.length) return;
    const unexpected = names.find((name) => !this.read.includes(name))!;
    throw new JsonProblem(this.path(unexpected), 'is not expected');
  }
}

export function checkInteger(value: unknown, at: string, min: number, max: number): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value))
    throw new JsonProblem(at, 'is not an integer');
  if (value < min || value > max) throw new JsonProblem(at, `is ${value}, not within ${min} and ${max}`);
  return value;
}
