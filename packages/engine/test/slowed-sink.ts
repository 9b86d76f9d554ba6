/** A sink that takes its time for each record, by the clock of its platform, and is otherwise as it was. */
import type { Sink, SinkWriter } from '@millrace/engine/connector';

/** `eachMs` is asked at each record of a subtask; 0: as it comes. */
export function slowedSink<T, C, S>(sink: Sink<T, C, S>, eachMs: () => number): Sink<T, C, S> {
  return {
    guarantee: sink.guarantee,
    ...(sink.committableType !== undefined && { committableType: sink.committableType }),
    ...(sink.writerStateType !== undefined && { writerStateType: sink.writerStateType }),
    ...(sink.createCommitter !== undefined && { createCommitter: sink.createCommitter.bind(sink) }),
    async createWriter(context, restored): Promise<SinkWriter<T, C, S>> {
      const { clock, timers } = context.platform;
      const writer = await sink.createWriter(context, restored);
      let freeAtMs = 0;
      return {
        write(value, timestampMs) {
          writer.write(value, timestampMs);
          freeAtMs = Math.max(freeAtMs, clock.monotonicMs()) + eachMs();
        },
        busy() {
          const waitMs = freeAtMs - clock.monotonicMs();
          return waitMs <= 0 ? undefined : new Promise((resolve) => void timers.after(waitMs, resolve));
        },
        prepareCommit: (id, endOfInput) => writer.prepareCommit(id, endOfInput),
        snapshotState: (id) => writer.snapshotState?.(id) ?? [],
        close: () => writer.close(),
      };
    },
  };
}
