/**
 * The enumerator's state is not taken in the turn in which the trigger is sent, but later: a split that is assigned in
 * between is in nobody's snapshot.
 */
import { ExecutionAttempt } from '../../../engine/src/coordinator/execution-attempt.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

interface Insides {
  readonly options: {
    readonly platform: { readonly timers: { after(ms: number, call: () => void): unknown } };
  };
  readonly sources: ReadonlyMap<number, Source>;
  readonly over: boolean;
  broadcast(message: object): void;
}

interface Source {
  readonly vertex: { readonly operators: readonly { readonly uid: string }[] };
  settled(): Promise<void>;
  snapshot(): Uint8Array;
}

type Trigger = (
  this: Insides,
  trigger: object,
  isWanted: () => boolean,
) => Promise<ReadonlyMap<string, Uint8Array>>;

const LATER_MS = 1;

export const splitsSnapshottedLate: Bug = {
  name: 'splits-snapshotted-late',
  description: 'enumerators are snapshotted some time after their readers',
  seedsMax: 60,
  kinds: ['results', 'splits'],
  workload: 'keyed-counts',
  focus: { strikes: ['task-failure', 'thread-loss', 'process-kill'] },
  plant: () =>
    replaceMethod<Trigger>(
      ExecutionAttempt,
      'trigger',
      () =>
        async function (this: Insides, trigger, isWanted) {
          if (this.over || !isWanted()) return new Map();
          this.broadcast({ type: 'trigger', ...trigger });
          await new Promise<void>((resolve) => void this.options.platform.timers.after(LATER_MS, resolve));
          const sources = [...this.sources.values()];
          await Promise.all(sources.map((source) => source.settled()));
          return new Map(sources.map((source) => [source.vertex.operators[0]!.uid, source.snapshot()]));
        },
    ),
};
