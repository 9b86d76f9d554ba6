/**
 * The timers of all key groups in order: a heap each, and above them a heap of the key groups by their first timer.
 *
 *   key groups by first timestamp:   [ 7: 10:00 | 9: 10:00 | 3: 10:02 | ... ]
 *                                        |
 *   timers of key group 7:           [ 10:00 #17 | 10:00 #93 | 10:02 #5 | ... ]
 *
 * Timers that are due together (all windows that end) so come key group by key group: tables and rows of one are few
 * enough for the caches, those of all are not. And what takes long for a large heap, growing and throwing out what is
 * dead, is done for one key group at a time.
 *
 * Invariants:
 * I1 `groups` has each key group with timers once, and `places` where; a parent's first timer is not after its child's.
 * I2 Timers come by timestamp, then key group, then as TimerHeap says.
 */
import { TimerHeap } from './timer-heap.ts';

export class TimerGroups {
  size = 0;
  private readonly heaps: (TimerHeap | undefined)[];
  /** Key groups with timers, as a binary heap. */
  private readonly groups: Int32Array;
  private groupCount = 0;
  /** Place of each key group in `groups`. */
  private readonly places: Int32Array;
  /** First timestamp of each key group with timers. */
  private readonly firsts: Float64Array;
  private readonly compareRows: (a: number, b: number) => number;

  constructor(groupCount: number, compareRows: (a: number, b: number) => number) {
    this.heaps = new Array<TimerHeap | undefined>(groupCount).fill(undefined);
    this.groups = new Int32Array(groupCount);
    this.places = new Int32Array(groupCount);
    this.firsts = new Float64Array(groupCount);
    this.compareRows = compareRows;
  }

  /** The earliest timestamp. Only if size > 0. */
  get firstTimestamp(): number {
    return this.firsts[this.groups[0]!]!;
  }

  /** The row of the earliest timer. Only if size > 0. */
  get firstRow(): number {
    return this.heaps[this.groups[0]!]!.firstRow;
  }

  /** Key group of the earliest timer. Only if size > 0. */
  get firstGroup(): number {
    return this.groups[0]!;
  }

  /** The timers of a key group. */
  heapOf(group: number): TimerHeap {
    const heap = this.heaps[group];
    if (heap !== undefined) return heap;
    const created = new TimerHeap(this.compareRows);
    this.heaps[group] = created;
    return created;
  }

  push(group: number, timestamp: number, hash: number, row: number): void {
    const heap = this.heapOf(group);
    heap.push(timestamp, hash, row);
    this.size++;
    if (heap.size === 1) this.addGroup(group, timestamp);
    else if (timestamp < this.firsts[group]!) this.siftUp(this.places[group]!, group, timestamp);
  }

  /** Removes the earliest timer. */
  pop(): void {
    const heap = this.heaps[this.groups[0]!]!;
    heap.pop();
    this.size--;
    this.settleFirstGroup(heap);
  }

  /** Gives the earliest timer a later place. */
  postponeFirst(timestamp: number, hash: number): void {
    const heap = this.heaps[this.groups[0]!]!;
    heap.postponeFirst(timestamp, hash);
    this.settleFirstGroup(heap);
  }

  /** Keeps the timers of a key group for whose rows `keep` returns true. */
  filter(group: number, keep: (row: number) => boolean): void {
    const heap = this.heapOf(group);
    if (heap.size === 0) return;
    const before = heap.size;
    heap.filter(keep);
    this.size -= before - heap.size;
    this.settle(this.places[group]!, heap);
  }

  /** Adds a timer without keeping the order; `heapify` comes after the last one. */
  append(group: number, timestamp: number, hash: number, row: number): void {
    this.heapOf(group).append(timestamp, hash, row);
    this.size++;
  }

  /** Puts everything in order; after `append`, and only at the beginning. */
  heapify(): void {
    for (const [group, heap] of this.heaps.entries()) {
      if (heap === undefined) continue;
      heap.heapify();
      this.addGroup(group, heap.firstTimestamp);
    }
  }

  private addGroup(group: number, timestamp: number): void {
    this.siftUp(this.groupCount++, group, timestamp);
  }

  /** The first timer of the first key group has changed. */
  private settleFirstGroup(heap: TimerHeap): void {
    // Timers that are due together: nothing changes up here.
    if (heap.size > 0 && heap.firstTimestamp === this.firstTimestamp) return;
    this.settle(0, heap);
  }

  /** The first timer of the key group at `place`, if it has any left, is not earlier than before. */
  private settle(place: number, heap: TimerHeap): void {
    if (heap.size > 0) {
      this.siftDown(place, this.groups[place]!, heap.firstTimestamp);
      return;
    }
    const last = this.groups[--this.groupCount]!;
    if (place === this.groupCount) return;
    const timestamp = this.firsts[last]!;
    this.siftDown(place, last, timestamp);
    this.siftUp(this.places[last]!, last, timestamp);
  }

  private set(place: number, group: number, timestamp: number): void {
    this.groups[place] = group;
    this.places[group] = place;
    this.firsts[group] = timestamp;
  }

  private siftUp(place: number, group: number, timestamp: number): void {
    while (place > 0) {
      const above = this.groups[(place - 1) >> 1]!;
      if (!this.isBefore(group, timestamp, above)) break;
      this.set(place, above, this.firsts[above]!);
      place = (place - 1) >> 1;
    }
    this.set(place, group, timestamp);
  }

  private siftDown(place: number, group: number, timestamp: number): void {
    const { groups, firsts, groupCount } = this;
    for (;;) {
      let child = place * 2 + 1;
      if (child >= groupCount) break;
      if (child + 1 < groupCount) {
        const left = groups[child]!;
        if (!this.isBefore(left, firsts[left]!, groups[child + 1]!)) child++;
      }
      const below = groups[child]!;
      if (this.isBefore(group, timestamp, below)) break;
      this.set(place, below, firsts[below]!);
      place = child;
    }
    this.set(place, group, timestamp);
  }

  private isBefore(group: number, timestamp: number, other: number): boolean {
    const otherTimestamp = this.firsts[other]!;
    return timestamp === otherTimestamp ? group < other : timestamp < otherTimestamp;
  }
}
