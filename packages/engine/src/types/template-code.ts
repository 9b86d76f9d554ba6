/**
 * The text of a function that writes or reads values of a known shape, while it is being made: statements, and runs of
 * constant bytes and values of fixed size that share one check of the bound and one advance of `p`. Constant bytes are
 * written, or compared, in words.
 *
 * Used by emit-learned-*.ts only. The function keeps the position in `p`, the view's parts in
 * `u8` and `dv`; inside a run `p` stands at the run's start. Where it must not go on it executes the statement `miss`.
 *
 * What differs from CodeBody: bytes are constant, and what does not fit is another shape, not an error.
 */

/** Constant bytes as numbers of one, two or four bytes, little-endian. */
interface Word {
  readonly at: number;
  readonly bytes: 1 | 2 | 4;
  readonly value: number;
}

export class TemplateCode {
  /** The statement for a value that is not of the shape, or for which there is no room. Not to be changed within a run. */
  miss = '';
  private readonly direction: 'write' | 'read';
  private readonly lines: string[] = [];
  private names = 0;
  /** The run: constant bytes by their offset, statements in order. */
  private runBytes = 0;
  private chunks: { readonly at: number; readonly bytes: number[] }[] = [];
  private runLines: string[] = [];

  constructor(direction: 'write' | 'read') {
    this.direction = direction;
  }

  /** A variable name that nothing else in the function uses. */
  name(prefix: string): string {
    return `${prefix}${this.names++}`;
  }

  /** Adds a statement. It is executed before the values of the current run are written or read. */
  line(text: string): void {
    this.lines.push(text);
  }

  /** Adds bytes to the run. */
  bytes(bytes: Iterable<number>): void {
    const last = this.chunks.at(-1);
    if (last !== undefined && last.at + last.bytes.length === this.runBytes) last.bytes.push(...bytes);
    else this.chunks.push({ at: this.runBytes, bytes: [...bytes] });
    const chunk = this.chunks.at(-1)!;
    this.runBytes = chunk.at + chunk.bytes.length;
  }

  /** Adds a number of four bytes to the run. */
  uint32(value: number): void {
    this.bytes([value & 255, (value >>> 8) & 255, (value >>> 16) & 255, value >>> 24]);
  }

  /** Adds `sizeBytes` to the run, and the statement that writes or reads what lies there; `at` is its position. */
  value(sizeBytes: number, statement: (at: string) => string): void {
    this.runLines.push(statement(this.runBytes === 0 ? 'p' : `p + ${this.runBytes}`));
    this.runBytes += sizeBytes;
  }

  /** Ends the run; `p` is then behind it. Needed before all that looks at `p`, and before a block begins or ends. */
  endRun(): void {
    if (this.runBytes === 0) return;
    const { runBytes, runLines, chunks } = this;
    const end = this.direction === 'write' ? 'limit' : 'u8.length';
    this.line(`if (p + ${runBytes} > ${end}) ${this.miss}`);
    const words = chunks.flatMap(({ at, bytes }) => wordsOf(at, bytes));
    if (this.direction === 'write') this.lines.push(...words.map(storeOf));
    else if (words.length > 0) this.line(`if (${words.map(comparisonOf).join(' || ')}) ${this.miss}`);
    this.lines.push(...runLines, `p += ${runBytes};`);
    this.runBytes = 0;
    this.chunks = [];
    this.runLines = [];
  }

  /** Makes `emit`'s code an attempt: when it misses, `p` is set back and what follows is executed. */
  attempt(emit: () => void): void {
    const { miss } = this;
    const block = this.name('try');
    const start = this.name('p');
    this.line(`${block}: { const ${start} = p;`);
    this.miss = `{ p = ${start}; break ${block}; }`;
    emit();
    this.line('}');
    this.miss = miss;
  }

  text(): string {
    return this.lines.join('\n');
  }
}

function wordsOf(at: number, bytes: readonly number[]): Word[] {
  const words: Word[] = [];
  const add = (offset: number, size: 1 | 2 | 4) => {
    let value = 0;
    for (let i = size - 1; i >= 0; i--) value = (value << 8) | bytes[offset + i]!;
    words.push({ at: at + offset, bytes: size, value });
  };
  const n = bytes.length;
  let next = 0;
  for (; next + 4 <= n; next += 4) add(next, 4);
  const rest = n - next;
  // Two or three bytes of the word before are written, or compared, once more.
  if (n > 4 && rest > 1) add(n - 4, 4);
  else {
    if (rest >= 2) add(next, 2);
    if (rest % 2 === 1) add(n - 1, 1);
  }
  return words;
}

function positionOf({ at }: Word): string {
  return at === 0 ? 'p' : `p + ${at}`;
}

function storeOf(word: Word): string {
  const at = positionOf(word);
  if (word.bytes === 1) return `u8[${at}] = ${word.value};`;
  return `dv.setInt${word.bytes * 8}(${at}, ${word.value}, true);`;
}

function comparisonOf(word: Word): string {
  const at = positionOf(word);
  if (word.bytes === 1) return `u8[${at}] !== ${word.value}`;
  return word.bytes === 2
    ? `dv.getUint16(${at}, true) !== ${word.value}`
    : `dv.getInt32(${at}, true) !== ${word.value}`;
}
