/** Counts what happened in runs, so that what never happens is seen. Plain data: workers send theirs to whoever prints. */

import type { SimulatedEvent } from '../../../engine/src/testing/simulation/index.ts';

/** How often, by name; names have the form `group: what`. */
export type Counts = Readonly<Record<string, number>>;

export class Coverage {
  private readonly counts = new Map<string, number>();

  add(group: string, what: string, times = 1): void {
    const name = `${group}: ${what}`;
    this.counts.set(name, (this.counts.get(name) ?? 0) + times);
  }

  /** An event by its kind and the first word of its detail: the operation on a file, the type of a message. */
  event({ kind, detail }: SimulatedEvent): void {
    if (kind === 'start' || kind === 'fault') return this.add('events', kind);
    const end = detail.indexOf(' ');
    this.add('events', `${kind} ${end < 0 ? detail : detail.slice(0, end)}`);
  }

  addAll(counts: Counts): void {
    for (const [name, times] of Object.entries(counts))
      this.counts.set(name, (this.counts.get(name) ?? 0) + times);
  }

  toData(): Counts {
    return Object.fromEntries(this.counts);
  }

  /** A table, one group after the other. */
  format(): string {
    const groups = new Map<string, string[]>();
    for (const [name, times] of [...this.counts].sort()) {
      const [group, what] = [name.slice(0, name.indexOf(': ')), name.slice(name.indexOf(': ') + 2)];
      groups.set(group, [...(groups.get(group) ?? []), `  ${String(times).padStart(9)}  ${what}`]);
    }
    return [...groups].map(([group, lines]) => `${group}\n${lines.join('\n')}`).join('\n');
  }
}
