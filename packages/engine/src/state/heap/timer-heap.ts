/**
 * A heap of timers: row addresses ordered by timestamp, then by hash, then by whatever `compareRows` says.
 *
 * Four children a node, in columns: the children of a node lie in one or two cache lines, and ties (all windows that
 * end together) are mostly decided by the hash, without looking at a row. Each key group with timers has one
 * (timer-groups.ts).
 */

const CHILDREN_LOG = 2;
const FIRST_CAPACITY = 4;

export class TimerHeap {
  size = 0;
  /** Of the timers in it, those that were deleted: counted by the owner. */
  dead = 0;
  private timestamps = new Float64Array(FIRST_CAPACITY);
  private hashes = new Int32Array(FIRST_CAPACITY);
  private rows = new Int32Array(FIRST_CAPACITY);
  private readonly compareRows: (a: number, b: number) => number;

  constructor(compareRows: (a: number, b: number) => number) {
    this.compareRows = compareRows;
  }

  /** The earliest timestamp. Only if size > 0. */
  get firstTimestamp(): number {
    return this.timestamps[0]!;
  }

  /** The row of the earliest timer. Only if size > 0. */
  get firstRow(): number {
    return this.rows[0]!;
  }

  push(timestamp: number, hash: number, row: number): void {
    if (this.size === this.rows.length) this.grow();
    this.siftUp(this.size++, timestamp, hash, row);
  }

  /** Removes the earliest timer. */
  pop(): void {
    const last = --this.size;
    if (last > 0) this.siftDown(0, this.timestamps[last]!, this.hashes[last]!, this.rows[last]!);
  }

  /** Gives the earliest timer a later place. */
  postponeFirst(timestamp: number, hash: number): void {
    this.siftDown(0, timestamp, hash, this.rows[0]!);
  }

  /** Keeps the timers for whose rows `keep` returns true; it is called once for each. */
  filter(keep: (row: number) => boolean): void {
    let kept = 0;
    for (let i = 0; i < this.size; i++) {
      const row = this.rows[i]!;
      if (!keep(row)) continue;
      this.timestamps[kept] = this.timestamps[i]!;
      this.hashes[kept] = this.hashes[i]!;
      this.rows[kept++] = row;
    }
    this.size = kept;
    this.heapify();
    if (kept * 4 < this.rows.length) this.resize(Math.max(FIRST_CAPACITY, kept * 2));
  }

  /** Adds a timer without keeping the order; `heapify` comes after the last one. */
  append(timestamp: number, hash: number, row: number): void {
    if (this.size === this.rows.length) this.grow();
    this.set(this.size++, timestamp, hash, row);
  }

  /** Puts everything in order. */
  heapify(): void {
    for (let i = (this.size - 2) >> CHILDREN_LOG; i >= 0; i--) {
      this.siftDown(i, this.timestamps[i]!, this.hashes[i]!, this.rows[i]!);
    }
  }

  private set(i: number, timestamp: number, hash: number, row: number): void {
    this.timestamps[i] = timestamp;
    this.hashes[i] = hash;
    this.rows[i] = row;
  }

  private siftUp(i: number, timestamp: number, hash: number, row: number): void {
    const { timestamps, hashes, rows } = this;
    while (i > 0) {
      const parent = (i - 1) >> CHILDREN_LOG;
      if (!this.isBefore(timestamp, hash, row, parent)) break;
      timestamps[i] = timestamps[parent]!;
      hashes[i] = hashes[parent]!;
      rows[i] = rows[parent]!;
      i = parent;
    }
    this.set(i, timestamp, hash, row);
  }

  private siftDown(i: number, timestamp: number, hash: number, row: number): void {
    const { size, timestamps, hashes, rows } = this;
    for (;;) {
      const firstChild = (i << CHILDREN_LOG) + 1;
      if (firstChild >= size) break;
      const end = Math.min(firstChild + (1 << CHILDREN_LOG), size);
      let least = firstChild;
      let leastTimestamp = timestamps[least]!;
      let leastHash = hashes[least]!;
      for (let child = firstChild + 1; child < end; child++) {
        const childTimestamp = timestamps[child]!;
        if (childTimestamp > leastTimestamp) continue;
        const childHash = hashes[child]!;
        if (childTimestamp === leastTimestamp) {
          if (childHash > leastHash) continue;
          if (childHash === leastHash && this.compareRows(rows[child]!, rows[least]!) >= 0) continue;
        }
        least = child;
        leastTimestamp = childTimestamp;
        leastHash = childHash;
      }
      if (this.isBefore(timestamp, hash, row, least)) break;
      timestamps[i] = leastTimestamp;
      hashes[i] = leastHash;
      rows[i] = rows[least]!;
      i = least;
    }
    this.set(i, timestamp, hash, row);
  }

  /** True if the timer comes before the one at `i`. */
  private isBefore(timestamp: number, hash: number, row: number, i: number): boolean {
    const other = this.timestamps[i]!;
    if (timestamp !== other) return timestamp < other;
    const otherHash = this.hashes[i]!;
    if (hash !== otherHash) return hash < otherHash;
    return this.compareRows(row, this.rows[i]!) < 0;
  }

  private grow(): void {
    this.resize(this.rows.length * 2);
  }

  private resize(capacity: number): void {
    const { timestamps, hashes, rows, size } = this;
    this.timestamps = new Float64Array(capacity);
    this.hashes = new Int32Array(capacity);
    this.rows = new Int32Array(capacity);
    this.timestamps.set(timestamps.subarray(0, size));
    this.hashes.set(hashes.subarray(0, size));
    this.rows.set(rows.subarray(0, size));
  }
}
