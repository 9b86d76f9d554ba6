/**
 * The text of generated codec functions while it is being made: lines, fresh names, constants, the places where a value
 * may not fit its type, and runs of fixed-size parts that share one check of the bound and one advance of `p`.
 *
 * Used by the emitters (emit-*.ts) only. A generated function keeps the position in the variable `p`; inside a run it
 * stands at the run's start, and parts are written at `p + offset`.
 */
import type { TypeDescription } from './type-information.ts';

/** A step into a value: fixed text, or a variable of the generated code that holds an index or the key of a map. */
export type PathStep = string | { readonly kind: 'index' | 'key'; readonly variable: string };

/** Where in a value the generated code is. */
export type Path = readonly PathStep[];

/** A place in the code where a value may not fit: what the message needs. Variables come with the call, in order. */
export interface MismatchSite {
  readonly path: Path;
  readonly expected: TypeDescription;
}

/** What the functions generated for one serializer have in common. */
export class CodeUnit {
  readonly sites: MismatchSite[] = [];
  /** The constant that writes the whole value where nothing is known of its type. It can copy as well. */
  undescribed: string | undefined;
  readonly #constants: ((usedBy: string) => unknown)[] = [];
  #names = 0;

  /** A variable name that no other part of the unit uses. */
  name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  /** Makes a value available to the code under the name that is returned. */
  constant(value: unknown): string {
    return this.constantOfUse(() => value);
  }

  /** The same for a value of which each place of use has its own. */
  constantOfUse(make: (usedBy: string) => unknown): string {
    return `constants[${this.#constants.push(make) - 1}]`;
  }

  /** What the code refers to as `constants`. `usedBy` is the place of use, as errors and stack traces name it. */
  constantsOf(usedBy: string): readonly unknown[] {
    return this.#constants.map((make) => make(usedBy));
  }

  /** The call that makes the error for `found`, which is not of the type `expected`; to be thrown. */
  mismatch(expected: TypeDescription, found: string, path: Path): string {
    return `mismatch(${this.#site(expected, path)}, ${found}, root${variablesOf(path)})`;
  }

  /** The call that makes the error for what the general codec has just refused. */
  refusal(expected: TypeDescription, path: Path): string {
    return `refusal(${this.#site(expected, path)}, root${variablesOf(path)})`;
  }

  #site(expected: TypeDescription, path: Path): number {
    return this.sites.push({ path, expected }) - 1;
  }
}

function variablesOf(path: Path): string {
  return path.map((step) => (typeof step === 'string' ? '' : `, ${step.variable}`)).join('');
}

/** One function's body. With `bounded` it answers false as soon as a run does not fit below `limit`. */
export class CodeBody {
  readonly unit: CodeUnit;
  readonly #lines: string[] = [];
  #bounded: boolean;
  #run = 0;
  #checkAt = -1;

  constructor(unit: CodeUnit, options: { readonly bounded: boolean }) {
    this.unit = unit;
    this.#bounded = options.bounded;
  }

  line(text: string): void {
    this.#lines.push(text);
  }

  /** Takes `sizeBytes` of the current run; returns the text of their position. */
  take(sizeBytes: number): string {
    // The check comes before the first part of the run; how much it asks for is known at the run's end.
    if (this.#run === 0 && this.#bounded) this.#checkAt = this.#lines.push('') - 1;
    const at = this.#run === 0 ? 'p' : `p + ${this.#run}`;
    this.#run += sizeBytes;
    return at;
  }

  /** Ends the current run. Needed before everything of variable size, before a branch, before and at a loop's end. */
  endRun(): void {
    if (this.#run === 0) return;
    if (this.#bounded) this.#lines[this.#checkAt] = boundCheck(this.#run);
    this.line(`p += ${this.#run};`);
    this.#run = 0;
  }

  /** Checks the bound for `size` (code), then runs `emit` without further checks. Not within a run. */
  checkedOnce(size: string, emit: () => void): void {
    const bounded = this.#bounded;
    if (bounded) this.line(boundCheck(size));
    this.#bounded = false;
    emit();
    this.#bounded = bounded;
  }

  text(): string {
    return this.#lines.join('\n');
  }
}

function boundCheck(size: number | string): string {
  return `if (p + ${size} > limit) return false;`;
}
