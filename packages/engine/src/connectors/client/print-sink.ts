/**
 * Prints each record as a line: PrintSink. For trying things out.
 *
 * Guarantee: at-least-once; a line that was printed cannot be taken back when the job fails and goes on from before it.
 */
import type { Sink, SinkContext, SinkWriter } from '../../runtime/index.ts';
import { readableValue } from '../readable-value.ts';

/** Options of PrintSink. */
export interface PrintSinkOptions {
  /** Put before each line, to tell several print sinks apart. */
  readonly identifier?: string;
  /** True: to the standard error. Default: to the standard output. */
  readonly stdErr?: boolean;
}

/** Prints each record as a line. At-least-once: after a failure lines come again. `print` of a stream is built on it. */
export class PrintSink<T> implements Sink<T, never, never> {
  readonly guarantee = 'at-least-once';
  readonly #identifier: string | undefined;
  readonly #stdErr: boolean;

  /** To the standard output, unless the options say otherwise. */
  constructor(options: PrintSinkOptions = {}) {
    this.#identifier = options.identifier;
    this.#stdErr = options.stdErr ?? false;
  }

  /** Lines are `value`, `2> value` for the second of several subtasks, `identifier:2> value` with an identifier. */
  createWriter(context: SinkContext): SinkWriter<T, never, never> {
    const { platform, subtaskIndex, parallelism } = context;
    const parts = [this.#identifier, parallelism > 1 ? String(subtaskIndex + 1) : undefined];
    const named = parts.filter((part) => part !== undefined).join(':');
    const prefix = named === '' ? '' : `${named}> `;
    const to = this.#stdErr ? 'stderr' : 'stdout';
    return {
      write: (value) => platform.printLine(`${prefix}${readableValue(value)}`, to),
      prepareCommit: () => [],
      close: () => {},
    };
  }
}
