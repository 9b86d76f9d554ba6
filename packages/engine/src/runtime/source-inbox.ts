/**
 * What the coordinator tells a source task, in order. Read by the task when it has a turn; knows neither reader nor barriers.
 *
 * Invariants:
 * I1 Splits that were assigned before a trigger are added before its checkpoint is taken, and those behind it afterwards: the
 *    enumerator's snapshot of that checkpoint has them. So nothing here overtakes anything.
 */
import type { Barrier } from '../exchange/index.ts';
import type { SourceSplit } from './source.ts';

export type SourceMessage =
  | { readonly type: 'trigger'; readonly barrier: Barrier }
  | { readonly type: 'splits'; readonly splits: readonly SourceSplit[] }
  | { readonly type: 'no-more-splits' }
  | { readonly type: 'event'; readonly event: unknown }
  | { readonly type: 'drain' };

export class SourceInbox {
  private readonly messages: SourceMessage[] = [];

  get isEmpty(): boolean {
    return this.messages.length === 0;
  }

  push(message: SourceMessage): void {
    this.messages.push(message);
  }

  /** Takes the first one. */
  take(): SourceMessage | undefined {
    return this.messages.shift();
  }

  /** The checkpoint was given up before it was taken. */
  removeTrigger(checkpointId: number): void {
    const index = this.messages.findIndex(
      (message) => message.type === 'trigger' && message.barrier.checkpointId === checkpointId,
    );
    if (index >= 0) this.messages.splice(index, 1);
  }

  /**
   * How many messages, from the first on, do not wait for room in the outputs: those up to the last trigger whose barrier
   * overtakes, but none behind one that has to wait.
   */
  urgentCount(overtakes: (barrier: Barrier) => boolean): number {
    let count = 0;
    for (let i = 0; i < this.messages.length; i++) {
      const message = this.messages[i]!;
      if (message.type === 'drain') break;
      if (message.type !== 'trigger') continue;
      if (!overtakes(message.barrier)) break;
      count = i + 1;
    }
    return count;
  }
}
