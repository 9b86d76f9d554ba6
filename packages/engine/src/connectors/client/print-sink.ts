/**
 * Prints each record as a line: PrintSink. For trying things out.
 *
 * Guarantee: at-least-once; a line that was printed cannot be taken back when the job fails and goes on from before it.
 */
import type { Sink, SinkContext, SinkWriter } from '../../runtime/index.ts';
import { readableValue } from '../readable-value.ts';

export interface PrintSinkOptions {
  /** Put before each line, to tell several print sinks apart. */
  readonly identifier?: string;
}

export class PrintSink<T> implements Sink<T, never, never> {
  readonly guarantee = 'at-least-once';
  readonly #identifier: string | undefined;

  constructor(options: PrintSinkOptions = {}) {
    this.#identifier = options.identifier;
  }

  /** Lines are `value`, `2> value` for the second of several subtasks, `identifier:2> value` with an identifier. */
  createWriter(context: SinkContext): SinkWriter<T, never, never> {
    const { platform, subtaskIndex, parallelism } = context;
    const parts = [this.#identifier, parallelism > 1 ? String(subtaskIndex + 1) : undefined];
    const named = parts.filter((part) => part !== undefined).join(':');
    const prefix = named === '' ? '' : `${named}> `;
    return {
      write: (value) => platform.printLine(`${prefix}${readableValue(value)}`),
      prepareCommit: () => [],
      close: () => {},
    };
  }
}
