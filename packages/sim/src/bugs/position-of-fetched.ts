/** Sources save the position of what they have fetched, not of what they have emitted: what lies between is lost. */
import { SourceHead } from '../../../engine/src/runtime/source-head.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

interface Output {
  collect(value: unknown, timestampMs?: number): void;
}

interface Insides {
  output: Output;
}

type Fetched = (readonly [value: unknown, timestampMs: number | undefined])[];
type Poll = (this: Insides, maxRecords: number) => string;

export const positionOfFetched: Bug = {
  name: 'position-of-fetched',
  description: 'positions of sources are those of records that are fetched and not emitted yet',
  seedsMax: 40,
  kinds: ['results'],
  workload: 'keyed-counts',
  focus: { strikes: ['task-failure', 'thread-loss', 'process-kill'] },
  plant: () => {
    const waiting = new WeakMap<Insides, Fetched>();
    return replaceMethod<Poll>(
      SourceHead,
      'poll',
      (original) =>
        function (this: Insides, maxRecords) {
          const { output } = this;
          const emit = (fetched: Fetched): void => {
            for (const [value, timestampMs] of fetched) output.collect(value, timestampMs);
          };
          emit(waiting.get(this) ?? []);
          const fetched: Fetched = [];
          waiting.set(this, fetched);
          this.output = { collect: (value, timestampMs) => fetched.push([value, timestampMs]) };
          try {
            const status = original.call(this, maxRecords);
            if (status === 'end') emit(fetched.splice(0));
            return status;
          } finally {
            this.output = output;
          }
        },
    );
  },
};
