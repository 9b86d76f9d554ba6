/** Collects what the generated text of a chain refers to, then makes the function (base/generated-code.ts says why). */
import { generateCode } from '../base/index.ts';

export class CodeBuilder {
  private readonly bindings: Record<string, unknown> = {};

  /** Makes `value` known to the text and returns its name there. `prefix` is an identifier; it only helps the reader. */
  bind(prefix: string, value: unknown): string {
    const name = `${prefix}$${Object.keys(this.bindings).length}`;
    this.bindings[name] = value;
    return name;
  }

  /** Evaluates `body` (statements ending in a return) with everything bound so far. */
  build<T>(what: string, body: string): T {
    return generateCode(what, this.bindings, body);
  }
}
