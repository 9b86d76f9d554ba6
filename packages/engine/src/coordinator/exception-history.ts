/**
 * The failures of a job, newest first, in the shape of Apache Flink's REST API. Filled by the statistics of the job, handed
 * out by its client. Bounded: so many entries, texts of so many characters.
 * (org.apache.flink.runtime.rest.messages.JobExceptionsInfoWithHistory.)
 */
import { MillraceError } from '../base/index.ts';

const STACK_TRACE_MAX = 20_000;
const CAUSES_MAX = 8;
/** All tasks run in this process. */
const HOST = 'localhost';
const TASK_MANAGER = 'embedded';

/** A failure. */
export interface ExceptionInfo {
  /** The code of an error of Millrace, the name of any other. */
  readonly exceptionName: string;
  /** Message and stack, those of the causes included. */
  readonly stacktrace: string;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  /** Such as `map -> Sink (2/4)`; absent: it was not in one task. */
  readonly taskName?: string;
  /** Where the task ran. */
  readonly location?: string;
  /** The same, under its newer name. */
  readonly endpoint?: string;
  readonly taskManagerId?: string;
  readonly failureLabels: Readonly<Record<string, string>>;
}

/** A failure that ended an attempt, with those that came with it. */
export interface RootExceptionInfo extends ExceptionInfo {
  readonly concurrentExceptions: readonly ExceptionInfo[];
}

/** The failures of a job. The first four members are Flink's old ones. */
export interface JobExceptionsInfoWithHistory {
  /** The newest failure as text. */
  readonly 'root-exception': string | null;
  readonly timestamp: number | null;
  readonly 'all-exceptions': readonly {
    readonly exception: string;
    readonly task: string;
    readonly location: string;
    readonly timestamp: number;
    readonly taskManagerId: string;
  }[];
  readonly truncated: boolean;
  /** The newest first. `truncated`: there were more. */
  readonly exceptionHistory: {
    readonly entries: readonly RootExceptionInfo[];
    readonly truncated: boolean;
  };
}

/** Where it happened. */
export interface FailedTask {
  /** With the subtask, as `map (2/4)`. */
  readonly name: string;
}

export class ExceptionHistory {
  private readonly entriesMax: number;
  private readonly entries: RootExceptionInfo[] = [];
  private count = 0;

  /** `entriesMax`: older ones are forgotten. */
  constructor(entriesMax: number) {
    this.entriesMax = entriesMax;
  }

  /** `task`: undefined if it was not in one. */
  add(error: Error, atMs: number, task: FailedTask | undefined): void {
    this.count++;
    const place =
      task === undefined
        ? {}
        : { taskName: task.name, location: HOST, endpoint: HOST, taskManagerId: TASK_MANAGER };
    this.entries.unshift({
      exceptionName: error instanceof MillraceError ? error.code : error.name,
      stacktrace: stackTrace(error),
      timestamp: atMs,
      ...place,
      failureLabels: {},
      concurrentExceptions: [],
    });
    if (this.entries.length > this.entriesMax) this.entries.pop();
  }

  info(): JobExceptionsInfoWithHistory {
    const newest = this.entries[0];
    const truncated = this.count > this.entries.length;
    return {
      'root-exception': newest?.stacktrace ?? null,
      timestamp: newest?.timestamp ?? null,
      'all-exceptions': this.entries.flatMap(
        ({ stacktrace, taskName, location, timestamp, taskManagerId }) =>
          taskName === undefined
            ? []
            : [
                {
                  exception: stacktrace,
                  task: taskName,
                  location: location!,
                  timestamp,
                  taskManagerId: taskManagerId!,
                },
              ],
      ),
      truncated,
      exceptionHistory: { entries: [...this.entries], truncated },
    };
  }
}

/** As Java prints it, with the causes below. */
function stackTrace(error: Error): string {
  const parts: string[] = [];
  let current: unknown = error;
  for (let i = 0; current instanceof Error && i < CAUSES_MAX; i++) {
    const { stack, name, message } = current;
    const text = stack?.includes(message) === true ? stack : `${name}: ${message}\n${stack ?? ''}`.trimEnd();
    parts.push(i === 0 ? text : `Caused by: ${text}`);
    current = current.cause;
  }
  const text = parts.join('\n');
  return text.length <= STACK_TRACE_MAX ? text : `${text.slice(0, STACK_TRACE_MAX)}…`;
}
