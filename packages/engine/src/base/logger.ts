/** Logging: one line per event, levels as everywhere, a sink that the user may replace. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Where log lines go. `fields` are plain JSON values. Must not throw. */
export interface Logger {
  /** Writes one line. */
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** A logger that drops everything. */
export const silentLogger: Logger = { log() {} };

const ORDER: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

/** A logger that writes lines of at least `level` by `write`, as `LEVEL message key=value`. */
export function lineLogger(level: LogLevel, write: (line: string) => void): Logger {
  return {
    log(lineLevel, message, fields = {}) {
      if (ORDER[lineLevel] < ORDER[level]) return;
      let line = `${lineLevel.toUpperCase().padEnd(5)} ${message}`;
      for (const [key, value] of Object.entries(fields)) {
        line += ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
      }
      write(line);
    },
  };
}
