/** Counts what happened in runs, so that what never happens is seen. Plain data: workers send theirs to whoever prints. */

import type { EventKind, SimulatedEvent } from '../../../engine/src/testing/simulation/index.ts';

/** How often, by name; names have the form `group: what`. */
export type Counts = Readonly<Record<string, number>>;

export class Coverage {
  private readonly counts = new Map<string, number>();
  /** Of events, by kind and word: they are too many for a name to be made for each. */
  private readonly events = new Map<EventKind, Map<string, { times: number }>>();

  add(group: string, what: string, times = 1): void {
    const name = `${group}: ${what}`;
    this.counts.set(name, (this.counts.get(name) ?? 0) + times);
  }

  /** An event by its kind and the first word of its detail: the operation on a file, the type of a message. */
  event({ kind, detail }: SimulatedEvent): void {
    let words = this.events.get(kind);
    if (words === undefined) this.events.set(kind, (words = new Map()));
    const end = kind === 'start' || kind === 'fault' ? 0 : detail.indexOf(' ');
    const word = end < 0 ? detail : detail.slice(0, end);
    const count = words.get(word);
    if (count === undefined) words.set(word, { times: 1 });
    else count.times++;
  }

  addAll(counts: Counts): void {
    for (const [name, times] of Object.entries(counts))
      this.counts.set(name, (this.counts.get(name) ?? 0) + times);
  }

  toData(): Counts {
    const data = Object.fromEntries(this.counts);
    for (const [kind, words] of this.events)
      for (const [word, { times }] of words) data[`events: ${kind} ${word}`.trimEnd()] = times;
    return data;
  }

  /** A table, one group after the other. */
  format(): string {
    const groups = new Map<string, string[]>();
    for (const [name, times] of Object.entries(this.toData()).sort(([a], [b]) => (a < b ? -1 : 1))) {
      const [group, what] = [name.slice(0, name.indexOf(': ')), name.slice(name.indexOf(': ') + 2)];
      groups.set(group, [...(groups.get(group) ?? []), `  ${String(times).padStart(9)}  ${what}`]);
    }
    return [...groups].map(([group, lines]) => `${group}\n${lines.join('\n')}`).join('\n');
  }
}
