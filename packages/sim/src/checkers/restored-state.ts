/**
 * What tasks have after a restore is what tasks had at the barriers of that checkpoint, key group by key group: keyed state
 * and timers, wherever the key groups are now. Neither manifest nor files have a part in the comparison: it compares the
 * states as they are in memory, before a checkpoint and after the restore.
 */
import type { KeyedBackend } from '../world/engine-calls.ts';
import { digestGroups } from './state-digest.ts';

export class RestoredState {
  /** What was wrong first. */
  problem: string | undefined;
  /** How many key groups with something in them were compared. */
  compared = 0;
  /**
   * What key groups hold, by operator, checkpoint and key group, then by process: a process that goes on from an older
   * checkpoint may give an id again.
   */
  private readonly frozen = new Map<string, Map<string, string>>();

  /** The state was frozen for a checkpoint that `process` takes. */
  freeze(process: string, uid: string, checkpointId: number, backend: KeyedBackend): void {
    for (const [keyGroup, content] of contentsOf(backend)) {
      const key = `${uid} ${checkpointId} ${keyGroup}`;
      let byProcess = this.frozen.get(key);
      if (byProcess === undefined) this.frozen.set(key, (byProcess = new Map()));
      byProcess.set(process, content);
    }
  }

  /** The state was made out of that of a checkpoint. */
  compare(uid: string, checkpointId: number, backend: KeyedBackend): void {
    for (const [keyGroup, content] of contentsOf(backend)) {
      const frozen = this.frozen.get(`${uid} ${checkpointId} ${keyGroup}`);
      // Somebody else's, of before the run.
      if (frozen === undefined) continue;
      const before = [...frozen.values()];
      if (content !== '') this.compared++;
      if (before.includes(content)) continue;
      const where = `operator ${uid}, key group ${keyGroup}, restored from ${checkpointId}`;
      const expected = before.map((each) => each || 'nothing').join(', or ');
      this.problem ??= `${where}: ${content || 'nothing'} instead of ${expected}`;
    }
  }
}

/** Of each key group of the backend: its states by kind and name with what they hold; empty ones are left out. */
function contentsOf({ keyGroups, registry }: KeyedBackend): Map<number, string> {
  const byGroup = new Map<number, string[]>();
  for (let keyGroup = keyGroups.first; keyGroup <= keyGroups.last; keyGroup++) byGroup.set(keyGroup, []);
  // A state that nobody has asked for yet may lie in several stores.
  const sums = new Map<string, number[]>();
  for (const { kind, name, store } of registry.stored()) {
    const state = `${kind} ${name}`;
    const sum = sums.get(state) ?? [];
    for (const [group, digest] of digestGroups(store).entries())
      if (digest !== undefined) sum[group] = ((sum[group] ?? 0) + digest) | 0;
    sums.set(state, sum);
  }
  for (const [state, sum] of [...sums].sort(([a], [b]) => (a < b ? -1 : 1)))
    for (const [group, digest] of sum.entries())
      if (digest) byGroup.get(keyGroups.first + group)!.push(`${state} ${(digest >>> 0).toString(16)}`);
  return new Map([...byGroup].map(([keyGroup, states]) => [keyGroup, states.join(', ')]));
}
