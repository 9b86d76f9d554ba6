/**
 * Sleeping on words of shared memory, as `Atomics.waitAsync` does, for all threads of a world. Memory is known by its
 * object: simulated threads share it, messages carry the object itself.
 */

/** Somebody who sleeps. */
interface Sleeper {
  wake(): void;
}

export class SimulatedParking {
  /** By buffer, then by the position of the word in it. */
  private readonly sleepers = new WeakMap<object, Map<number, Set<Sleeper>>>();

  /** Puts a sleeper to bed; the result takes him out again. */
  add(word: Int32Array, index: number, sleeper: Sleeper): () => void {
    let words = this.sleepers.get(word.buffer);
    if (words === undefined) this.sleepers.set(word.buffer, (words = new Map()));
    const position = word.byteOffset + index * 4;
    let beds = words.get(position);
    if (beds === undefined) words.set(position, (beds = new Set()));
    beds.add(sleeper);
    return () => beds.delete(sleeper);
  }

  /** Wakes all who sleep on the word. */
  wake(word: Int32Array, index: number): void {
    const beds = this.sleepers.get(word.buffer)?.get(word.byteOffset + index * 4);
    if (beds === undefined || beds.size === 0) return;
    const woken = [...beds];
    beds.clear();
    for (const sleeper of woken) sleeper.wake();
  }
}
