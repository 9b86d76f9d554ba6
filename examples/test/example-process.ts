/** Runs an example as a process of its own, in an empty directory, and reads what it wrote. Used by the tests of the examples. */
import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

export const EXAMPLES = join(import.meta.dirname, '..');

/** What hangs is killed. */
const DEADLINE_MS = 60_000;
const POLL_MS = 5;

/** How a run ended. */
export interface ExampleEnd {
  /** null: `signal` ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Lines of the standard output. */
  readonly printed: readonly string[];
  readonly log: string;
}

/** A directory in which an example is run, any number of times. */
export class ExampleSite {
  readonly directory = mkdtempSync(join(tmpdir(), 'millrace-example-'));
  readonly #name: string;

  /** `name` is that of the file, without `.ts`. */
  constructor(name: string) {
    this.#name = name;
  }

  /** Runs the example to its end, or until `killWhen` is true: then it is killed with SIGKILL. */
  async run(parameters: readonly string[] = [], killWhen?: () => boolean): Promise<ExampleEnd> {
    const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env;
    const child = spawn(
      process.execPath,
      ['--conditions=millrace-source', join(EXAMPLES, `${this.#name}.ts`), ...parameters],
      { cwd: this.directory, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: DEADLINE_MS },
    );
    let output = '';
    let log = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
    const ended = new Promise<ExampleEnd>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (exitCode, signal) => {
        resolve({ exitCode, signal, printed: output.split('\n').slice(0, -1), log });
      });
    });
    if (killWhen !== undefined) {
      while (child.exitCode === null && child.signalCode === null && !killWhen()) await setTimeout(POLL_MS);
      child.kill('SIGKILL');
    }
    return ended;
  }

  /** The lines of the finished files of `folder`, sorted. */
  lines(folder: string): string[] {
    return globSync(join(this.directory, 'out', this.#name, folder, '[!.]*'))
      .flatMap((path) => readFileSync(path, 'utf8').split('\n').slice(0, -1))
      .sort();
  }

  /** Ids of the complete checkpoints. */
  checkpoints(): number[] {
    const found = globSync(join(this.directory, 'out', this.#name, 'checkpoints', '*', 'chk-*'));
    return found
      .filter((path) => existsSync(join(path, '_metadata')))
      .map((path) => Number(/\d+$/.exec(path)![0]));
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
